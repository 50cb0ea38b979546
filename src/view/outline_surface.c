/* Lines of a surface f = 0: in planes through a box, signs of f at the corners of cells tell which of their edges the
   line crosses, and where f is 0 between them. Each edge has two cells, so that it has at most two neighbours on its
   line. */
#include "view/outline.h"

#include <math.h>
#include <string.h>

enum { CELLS = 28, SIDE = CELLS + 1, EDGES = 2 * SIDE * SIDE, SLICES = 9 };

typedef struct {
  mbg__arena *arena;
  mbg__space_fn f;
  void *user;
  const double *low, *high;
  double off;
  int axis;                 /* normal of the plane */
  double at;                /* its place */
  double value[SIDE][SIDE]; /* along axes axis + 1 and axis + 2 */
  int neighbour[EDGES][2];  /* -1: none */
  double point[EDGES][3];
  double line[EDGES + 1][3]; /* one that is closed repeats its first point */
  mbg__outline *out;
  int room, lines; /* of points and lines */
} slicer;

static void corner(const slicer *o, int i, int k, double x[3]) {
  const int a = (o->axis + 1) % 3, b = (o->axis + 2) % 3;
  x[o->axis] = o->at;
  x[a] = o->low[a] + (o->high[a] - o->low[a]) * i / CELLS;
  x[b] = o->low[b] + (o->high[b] - o->low[b]) * k / CELLS;
}

static void take_values(slicer *o) {
  for (int i = 0; i < SIDE; i++) {
    for (int k = 0; k < SIDE; k++) {
      double x[3];
      corner(o, i, k, x);
      o->value[i][k] = o->f(o->user, x);
    }
  }
  for (int e = 0; e < EDGES; e++) {
    o->neighbour[e][0] = o->neighbour[e][1] = -1;
  }
}

/* number of the edge from corner (i, k) on along the first (0) or second axis, and its point */
static int edge(slicer *o, int i, int k, int along) {
  const int e = 2 * (SIDE * i + k) + along, i1 = i + !along, k1 = k + along;
  const double u = o->value[i][k], v = o->value[i1][k1], part = u / (u - v);
  double a[3], b[3];
  corner(o, i, k, a);
  corner(o, i1, k1, b);
  for (int c = 0; c < 3; c++) {
    o->point[e][c] = (1 - part) * a[c] + part * b[c];
  }
  return e;
}

static void join(slicer *o, int a, int b) {
  o->neighbour[a][o->neighbour[a][0] >= 0] = b;
  o->neighbour[b][o->neighbour[b][0] >= 0] = a;
}

/* the edges of a cell that f changes its sign on: two, or four at a saddle */
static void cell(slicer *o, int i, int k) {
  const double v[4] = {o->value[i][k], o->value[i + 1][k], o->value[i + 1][k + 1], o->value[i][k + 1]};
  int crossed[4], n = 0;
  if (!isfinite(v[0] + v[1] + v[2] + v[3])) {
    return;
  }
  for (int c = 0; c < 4; c++) {
    if ((v[c] > 0) != (v[(c + 1) % 4] > 0)) {
      crossed[n++] = edge(o, i + (c == 1), k + (c == 2), c % 2);
    }
  }
  if (n == 2) {
    join(o, crossed[0], crossed[1]);
  } else if (n == 4) { /* the middle of the cell belongs to corner 0, or not */
    const int first = (v[0] + v[1] + v[2] + v[3] > 0) == (v[0] > 0);
    join(o, crossed[0], crossed[first ? 1 : 3]);
    join(o, crossed[2], crossed[first ? 3 : 1]);
  }
}

/* more room for points and lines of the grid */
static bool reserve(slicer *o, int points) {
  mbg__outline *g = o->out;
  if (g->n + points > o->room) {
    o->room = 2 * o->room + points;
    double(*at)[3] = mbg__arena_take(o->arena, (size_t)o->room, sizeof(*at));
    if (!at) {
      return false;
    }
    if (g->n > 0) {
      memcpy(at, g->at, (size_t)g->n * sizeof(*at));
    }
    g->at = at;
  }
  if (g->nline == o->lines) {
    o->lines = 2 * o->lines + 32;
    int *count = MBG_TAKE(o->arena, int, o->lines);
    if (!count) {
      return false;
    }
    if (g->nline > 0) {
      memcpy(count, g->count, (size_t)g->nline * sizeof(*count));
    }
    g->count = count;
  }
  return true;
}

/* the line from an edge on, which is taken away */
static void trace(slicer *o, int start) {
  int n = 0, here = start;
  while (here >= 0) {
    memcpy(o->line[n++], o->point[here], sizeof(*o->line));
    const int next = o->neighbour[here][0] >= 0 ? o->neighbour[here][0] : o->neighbour[here][1];
    o->neighbour[here][0] = o->neighbour[here][1] = -1;
    for (int s = 0; next >= 0 && s < 2; s++) {
      if (o->neighbour[next][s] == here) {
        o->neighbour[next][s] = -1;
      }
    }
    here = next;
  }
  n = mbg__outline_thin(n, o->line, false, o->off);
  if (n > 1 && reserve(o, n)) {
    memcpy(o->out->at + o->out->n, o->line, (size_t)n * sizeof(*o->line));
    o->out->n += n;
    o->out->count[o->out->nline++] = n;
  }
}

static void slice(slicer *o, int axis, double part) {
  o->axis = axis;
  o->at = o->low[axis] + part * (o->high[axis] - o->low[axis]);
  take_values(o);
  for (int i = 0; i < CELLS; i++) {
    for (int k = 0; k < CELLS; k++) {
      cell(o, i, k);
    }
  }
  for (int rings = 0; rings < 2; rings++) { /* lines with ends first */
    for (int e = 0; e < EDGES; e++) {
      const bool one = (o->neighbour[e][0] >= 0) != (o->neighbour[e][1] >= 0);
      if (one || (rings && o->neighbour[e][0] >= 0)) {
        trace(o, e);
      }
    }
  }
}

int mbg__outline_surface(mbg_context *ctx, mbg__arena *arena, mbg__space_fn f, void *user, const double low[3],
                         const double high[3], int normal, double off, mbg__outline *out) {
  slicer *o = MBG_TAKE(arena, slicer, 1);
  if (!o) {
    return mbg__fail_memory(ctx);
  }
  *o = (slicer){.arena = arena, .f = f, .user = user, .low = low, .high = high, .off = off, .out = out};
  for (int axis = 0; axis < 3; axis++) {
    const int step = axis == normal ? SLICES - 1 : 1; /* along its normal the rims alone */
    for (int i = 0; i < SLICES; i += step) {
      slice(o, axis, (double)i / (SLICES - 1));
    }
  }
  return mbg__arena_check(ctx, arena);
}
