/* Counts of operations: all of them, and those on the longest path through the tree. */
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

/* nodes by level, children first */
int mbg__dca_assembly_levels(mbg_context *ctx, mbg__arena *arena, mbg__dca_assembly *a) {
  for (int i = 0; i < a->nnode; i++) {
    a->depth = a->nodes[i].level > a->depth ? a->nodes[i].level : a->depth;
  }
  a->order = MBG_TAKE(arena, int, a->nnode);
  a->level = MBG_TAKE(arena, int, a->depth + 3);
  a->failed = MBG_TAKE(arena, mbg__dca_failure, a->nnode);
  a->path = MBG_TAKE(arena, double, a->nnode);
  if (arena->failed) {
    return mbg__fail_memory(ctx);
  }
  for (int i = 0; i < a->nnode; i++) {
    a->level[a->nodes[i].level + 2]++;
  }
  for (int l = 1; l < a->depth + 3; l++) {
    a->level[l] += a->level[l - 1];
  }
  for (int i = 0; i < a->nnode; i++) {
    a->order[a->level[a->nodes[i].level + 1]++] = i;
  }
  return MBG_OK;
}
