/* Counts of operations: all of them, and those on the longest path through the tree; the order in which nodes are
   worked on. */
#include "formulations/dca/dca_assembly_internal.h"

static double cube(double n) { return n * n * n; }

/* multiplications and additions, counted apart */
static double factor_count(const mbg__dca_assembly *a, const mbg__dca_node *n) {
  const double ne = n->nelim, no = n->nopen, nf = n->nf, front = ne + no;
  double count = cube(ne) / 3 + 2 * ne * ne * no + ne * no * (no + 1);
  if (n->body >= 0) {
    count += cube(nf) / 3 + 2 * nf * nf * front + nf * front * (front + 1);
    for (int i = 0; i < n->nabsorbed; i++) {
      const double nc = a->nodes[n->absorbed[i]].nopen;
      count += cube(nc) / 3 + 2 * nc * nc * nf + 2 * nc * nf * nf;
    }
  } else {
    const double A = a->nodes[n->child[0]].nopen, B = a->nodes[n->child[1]].nopen;
    count += A * A + B * B;
  }
  return count;
}

static double solve_count(const mbg__dca_assembly *a, const mbg__dca_node *n) {
  const double ne = n->nelim, no = n->nopen, nf = n->nf, front = ne + no;
  double count = 2 * ne * ne + 4 * ne * no;
  if (n->body >= 0) {
    count += 2 * nf * nf + 4 * nf * front;
    for (int i = 0; i < n->nabsorbed; i++) {
      const double nc = a->nodes[n->absorbed[i]].nopen;
      count += 2 * nc * nc + 4 * nc * nf;
    }
  }
  return count;
}

/* longest path to each node, children first */
static double longest(const mbg__dca_assembly *a, double *path,
                      double (*count)(const mbg__dca_assembly *a, const mbg__dca_node *n), double *all) {
  double most = 0;
  *all = 0;
  for (int i = 0; i < a->nnode; i++) {
    const mbg__dca_node *n = &a->nodes[a->order[i]];
    const double own = count(a, n);
    double below = 0;
    for (int side = 0; n->body < 0 && side < 2; side++) {
      below = fmax(below, path[n->child[side]]);
    }
    for (int k = 0; k < n->nabsorbed; k++) {
      below = fmax(below, path[n->absorbed[k]]);
    }
    path[a->order[i]] = below + own;
    *all += own;
    most = fmax(most, path[a->order[i]]);
  }
  return most;
}

mbg__dca_shape mbg__dca_assembly_shape(const mbg__dca_assembly *a) {
  mbg__dca_shape s = {.nodes = a->nnode, .depth = a->depth, .most_open = a->most_open};
  s.factor_path = longest(a, a->path, factor_count, &s.factor);
  s.solve_path = longest(a, a->path, solve_count, &s.solve);
  return s;
}

/* ---------------------------------------------------------------------- order */

enum { LARGE = 192, SUBTREES = 64 }; /* nodes of a large tree; subtrees that it is cut into, or more */

/* nodes by level into order (nnode), where each level begins (depth + 3, the last two are spare) */
static void sort_levels(const mbg__dca_assembly *a, int *order, int *level) {
  for (int i = 0; i < a->nnode; i++) {
    level[a->nodes[i].level + 2]++;
  }
  for (int l = 1; l < a->depth + 3; l++) {
    level[l] += level[l - 1];
  }
  for (int i = 0; i < a->nnode; i++) {
    order[level[a->nodes[i].level + 1]++] = i;
  }
}

/* parents of all nodes, -1: none, and nodes below each, itself included; zero before */
static void measure(const mbg__dca_assembly *a, const int *order, int *parent, int *size) {
  for (int i = 0; i < a->nnode; i++) {
    parent[i] = -1;
  }
  for (int i = 0; i < a->nnode; i++) {
    const mbg__dca_node *n = &a->nodes[order[i]];
    size[order[i]]++;
    for (int k = 0; k < 2 + n->nabsorbed; k++) {
      const int child = k < 2 ? n->child[k] : n->absorbed[k - 2];
      if (child >= 0) {
        parent[child] = order[i];
        size[order[i]] += size[child];
      }
    }
  }
}

/* the subtree of each node, -1: above them; their number */
static int find_subtrees(const mbg__dca_assembly *a, const int *order, const int *parent, const int *size, int *of) {
  int count = 0;
  for (int i = a->nnode - 1; i >= 0; i--) {
    const int n = order[i], above = parent[n];
    if (a->nnode < LARGE || size[n] > a->nnode / SUBTREES) {
      of[n] = -1;
    } else {
      of[n] = above >= 0 && of[above] >= 0 ? of[above] : count++;
    }
  }
  return count;
}

/* subtree by subtree, then the others by level */
static void sort_subtrees(mbg__dca_assembly *a, const int *order, const int *of) {
  int above = 0;
  for (int i = 0; i < a->nnode; i++) {
    a->task[of[i] >= 0 ? of[i] + 2 : 0]++;
  }
  a->task[0] = 0;
  for (int t = 1; t < a->ntask + 2; t++) {
    a->task[t] += a->task[t - 1];
  }
  const int below = a->task[a->ntask + 1];
  for (int l = 0, i = 0; l <= a->depth; l++) {
    a->level[l] = below + above;
    for (; i < a->nnode && a->nodes[order[i]].level == l; i++) {
      const int t = of[order[i]];
      a->order[t >= 0 ? a->task[t + 1]++ : below + above++] = order[i];
    }
  }
  a->level[a->depth + 1] = a->nnode;
}

int mbg__dca_assembly_levels(mbg_context *ctx, mbg__arena *arena, mbg__dca_assembly *a) {
  mbg__arena scratch;
  int err = MBG_OK;
  for (int i = 0; i < a->nnode; i++) {
    a->depth = a->nodes[i].level > a->depth ? a->nodes[i].level : a->depth;
  }
  mbg__arena_init(&scratch, mbg__context_allocator(ctx));
  int *order = MBG_TAKE(&scratch, int, a->nnode), *level = MBG_TAKE(&scratch, int, a->depth + 3);
  int *parent = MBG_TAKE(&scratch, int, a->nnode), *size = MBG_TAKE(&scratch, int, a->nnode);
  int *of = MBG_TAKE(&scratch, int, a->nnode);
  a->order = MBG_TAKE(arena, int, a->nnode);
  a->level = MBG_TAKE(arena, int, a->depth + 3);
  a->failed = MBG_TAKE(arena, mbg__dca_failure, a->nnode);
  a->path = MBG_TAKE(arena, double, a->nnode);
  MBG_TRY(mbg__arena_check(ctx, &scratch));
  MBG_TRY(mbg__arena_check(ctx, arena));
  sort_levels(a, order, level);
  measure(a, order, parent, size);
  a->ntask = find_subtrees(a, order, parent, size, of);
  a->task = MBG_TAKE(arena, int, a->ntask + 3);
  MBG_TRY(mbg__arena_check(ctx, arena));
  sort_subtrees(a, order, of);
done:
  mbg__arena_destroy(&scratch);
  return err;
}
