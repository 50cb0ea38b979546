#include "math/order.h"

#include <amd.h>
#include <string.h>

/* of the graph; more are refused */
#define EDGES_MAX 1e8

/* unknowns in groups (the velocities of a body), and the graph of groups that share an entry or a row */
typedef struct {
  const mbg__csc *A;
  int ndef, ngroup;
  int *group;       /* of an unknown                                          (ndef) */
  int *first;       /* unknown of a group                                     (ngroup + 1) */
  int *start, *to;  /* neighbours of a group: to[start[g]] ...                (ngroup + 1, edges) */
  int *sequence;    /* place of a group in the order                          (ngroup) */
  int *room, *link; /* rows that a group can still carry, first of its rows   (ngroup each) */
  int *next;        /* row after a row of the same group, -1: none            (ncol - ndef) */
} graph;

/* entries of column j among the first ndef rows */
static int upper(const mbg__csc *A, int ndef, int j) {
  int k = A->colptr[j];
  while (k < A->colptr[j + 1] && A->rowind[k] < ndef) {
    k++;
  }
  return k - A->colptr[j];
}

static bool same_column(const mbg__csc *A, int ndef, int i, int j) {
  const int n = upper(A, ndef, i);
  if (n == 0 || n != upper(A, ndef, j)) {
    return false;
  }
  for (int k = 0; k < n; k++) {
    if (A->rowind[A->colptr[i] + k] != A->rowind[A->colptr[j] + k]) {
      return false;
    }
  }
  return true;
}

/* neighbouring columns with the same entries are one group */
static void find_groups(graph *g) {
  for (int j = 0; j < g->ndef; j++) {
    if (j == 0 || !same_column(g->A, g->ndef, j - 1, j)) {
      g->first[g->ngroup++] = j;
    }
    g->group[j] = g->ngroup - 1;
  }
  g->first[g->ngroup] = g->ndef;
}

/* the groups that column j meets, each once, in ascending order; returns their number */
static int groups_of(const graph *g, int j, int *list) {
  const int n = upper(g->A, g->ndef, j);
  int count = 0;
  for (int k = 0; k < n; k++) {
    const int at = g->group[g->A->rowind[g->A->colptr[j] + k]];
    if (count == 0 || list[count - 1] != at) {
      list[count++] = at;
    }
  }
  return count;
}

/* edges from a group to those of a list; to NULL: counts them */
static void edges_from(graph *g, int from, const int *list, int n) {
  if (!g->to) {
    g->start[from + 1] += n;
    return;
  }
  for (int k = 0; k < n; k++) {
    g->to[g->start[from]++] = list[k];
  }
}

/* All edges: of the first column of each group, and between the groups of each row (those of a joint have the same).
   Returns their number. list: two lists of groups. */
static double visit_edges(graph *g, int *list) {
  int *now = list, *before = list + g->ngroup, nbefore = 0;
  double edges = 0;
  for (int q = 0; q < g->ngroup; q++) {
    const int n = groups_of(g, g->first[q], now);
    edges_from(g, q, now, n);
    edges += n;
  }
  for (int i = g->ndef; i < g->A->ncol; i++) {
    const int n = groups_of(g, i, now);
    if (n == nbefore && memcmp(now, before, (size_t)n * sizeof(int)) == 0) {
      continue;
    }
    edges += (double)n * n;
    for (int k = 0; k < n && edges < EDGES_MAX; k++) {
      edges_from(g, now[k], now, n);
    }
    int *swap = before;
    before = now;
    now = swap;
    nbefore = n;
  }
  return edges;
}

/* Rows follow the first group that they act on, while it has velocities for them; else the last. */
static void place_rows(graph *g, int *list) {
  for (int i = g->A->ncol - 1; i >= g->ndef; i--) {
    const int n = groups_of(g, i, list);
    int first = -1, last = -1;
    for (int k = 0; k < n; k++) {
      first = first < 0 || g->sequence[list[k]] < g->sequence[first] ? list[k] : first;
      last = last < 0 || g->sequence[list[k]] > g->sequence[last] ? list[k] : last;
    }
    const int at = first >= 0 && g->room[first] > 0 ? first : last;
    if (at >= 0) {
      g->room[at]--;
      g->next[i - g->ndef] = g->link[at];
      g->link[at] = i;
    }
  }
}

static void write_order(const graph *g, const int *sorted, int *order) {
  int n = 0;
  for (int q = 0; q < g->ngroup; q++) {
    const int at = sorted[q];
    for (int j = g->first[at]; j < g->first[at + 1]; j++) {
      order[n++] = j;
    }
    for (int i = g->link[at]; i >= 0; i = g->next[i - g->ndef]) {
      order[n++] = i;
    }
  }
  for (int i = g->ndef; i < g->A->ncol; i++) { /* rows that act on nothing */
    if (upper(g->A, g->ndef, i) == 0) {
      order[n++] = i;
    }
  }
}

static bool make_order(graph *g, mbg__arena *arena, int *order) {
  int *list = MBG_TAKE(arena, int, 2 * (size_t)g->ngroup + 1);
  g->start = MBG_TAKE(arena, int, (size_t)g->ngroup + 2);
  int *sorted = MBG_TAKE(arena, int, (size_t)g->ngroup + 1);
  g->sequence = MBG_TAKE(arena, int, (size_t)g->ngroup + 1);
  g->room = MBG_TAKE(arena, int, (size_t)g->ngroup + 1);
  g->link = MBG_TAKE(arena, int, (size_t)g->ngroup + 1);
  if (!list || !g->start || !sorted || !g->sequence || !g->room || !g->link) {
    return false;
  }
  memset(g->start, 0, ((size_t)g->ngroup + 2) * sizeof(int));
  const double edges = visit_edges(g, list);
  g->to = edges < fmin(EDGES_MAX, 2.0 * mbg__csc_count(g->A)) ? MBG_TAKE(arena, int, (size_t)edges + 1) : NULL;
  if (!g->to) {
    return false;
  }
  for (int q = 0; q < g->ngroup; q++) {
    g->start[q + 1] += g->start[q];
    g->room[q] = g->first[q + 1] - g->first[q];
    g->link[q] = -1;
  }
  (void)visit_edges(g, list);
  for (int q = g->ngroup; q > 0; q--) {
    g->start[q] = g->start[q - 1];
  }
  g->start[0] = 0;
  if (amd_order(g->ngroup, g->start, g->to, sorted, NULL, NULL) < AMD_OK) {
    return false;
  }
  for (int q = 0; q < g->ngroup; q++) {
    g->sequence[sorted[q]] = q;
  }
  place_rows(g, list);
  write_order(g, sorted, order);
  return true;
}

bool mbg__order_saddle(const mbg_allocator *allocator, const mbg__csc *A, int ndef, int *order) {
  mbg__arena arena;
  graph g = {.A = A, .ndef = ndef};
  mbg__arena_init(&arena, allocator);
  g.group = MBG_TAKE(&arena, int, (size_t)ndef + 1);
  g.first = MBG_TAKE(&arena, int, (size_t)ndef + 2);
  g.next = MBG_TAKE(&arena, int, (size_t)(A->ncol - ndef) + 1);
  bool found = g.group && g.first && g.next;
  if (found) {
    find_groups(&g);
    found = g.ngroup > 0 && make_order(&g, &arena, order);
  }
  mbg__arena_destroy(&arena);
  return found;
}
