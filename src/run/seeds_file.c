/* Cotangents of signals from a table: a column t and one for each signal, a row for each time. Between two nodes a
   signal is taken as linear, so that a row acts on both. */
#include "io/csv.h"
#include "run/run_internal.h"

#include <string.h>

typedef struct {
  mbg_context *ctx;
  const mbg_run *run;
  const char *path;
  mbg__csv table;
  int time;    /* column of the times */
  int *column; /* kept signal of each column, -1: the times     (ncolumns) */
} reader;

static int find_kept(const mbg_run *run, const char *name) {
  for (int k = 0; k < run->nused; k++) {
    const char *own = run->m->signals[run->used[k]].name;
    if (own && !strcmp(own, name)) {
      return k;
    }
  }
  return -1;
}

static bool is_signal(const mbg_model *m, const char *name) {
  for (int i = 0; i < m->nsignal; i++) {
    if (m->signals[i].name && !strcmp(m->signals[i].name, name)) {
      return true;
    }
  }
  return false;
}

static int read_names(reader *r) {
  for (int c = 0; c < r->table.ncolumns; c++) {
    const char *name = r->table.names[c];
    r->column[c] = c == r->time ? -1 : find_kept(r->run, name);
    if (c != r->time && r->column[c] < 0) {
      return is_signal(r->run->m, name)
                 ? mbg__fail(r->ctx, MBG_ERROR_INPUT, "%s: signal '%s' is not kept by this run (all_signals)", r->path,
                             name)
                 : mbg__fail(r->ctx, MBG_ERROR_INPUT, "%s: the model has no signal '%s'", r->path, name);
    }
  }
  return MBG_OK;
}

/* the node at or before t, and the share of the next one */
static int find_node(const mbg__nodes *nodes, double t, double *share) {
  int lo = 0, hi = nodes->nnode - 1;
  while (hi - lo > 1) {
    const int mid = (lo + hi) / 2;
    if (mbg__nodes_time(nodes, mid) <= t) {
      lo = mid;
    } else {
      hi = mid;
    }
  }
  const double length = mbg__nodes_time(nodes, hi) - mbg__nodes_time(nodes, lo);
  *share = length > 0 ? fmin(fmax((t - mbg__nodes_time(nodes, lo)) / length, 0), 1) : 0;
  /* times are written with few digits */
  *share = *share < 1e-6 ? 0 : *share > 1 - 1e-6 ? 1 : *share;
  return lo;
}

static int read_row(const reader *r, int row, double *signals) {
  const mbg__nodes *nodes = &r->run->nodes;
  const double t = mbg__csv_column(&r->table, r->time)[row], first = mbg__nodes_time(nodes, 0),
               last = mbg__nodes_time(nodes, nodes->nnode - 1);
  const double slack = 1e-9 * fmax(fabs(first), fabs(last));
  double share;
  if (!(t >= first - slack && t <= last + slack)) {
    return mbg__fail(r->ctx, MBG_ERROR_INPUT, "%s:%d: t = %g lies outside of the run, which goes from %g to %g",
                     r->path, r->table.lines[row], t, first, last);
  }
  const int node = find_node(nodes, t, &share);
  for (int c = 0; c < r->table.ncolumns; c++) {
    const double w = mbg__csv_column(&r->table, c)[row];
    if (r->column[c] < 0 || isnan(w)) { /* an empty cell */
      continue;
    }
    if (!isfinite(w)) {
      return mbg__fail(r->ctx, MBG_ERROR_INPUT, "%s:%d: the weight of '%s' is not a finite number", r->path,
                       r->table.lines[row], r->table.names[c]);
    }
    double *at = signals + (size_t)node * (size_t)r->run->nused + (size_t)r->column[c];
    at[0] += (1 - share) * w;
    if (share > 0) {
      at[r->run->nused] += share * w;
    }
  }
  return MBG_OK;
}

int mbg_run_read_cotangent(mbg_context *ctx, const mbg_run *run, const char *path, double *signals) {
  MBG_NEED(ctx, ctx && run && path && signals);
  reader r = {.ctx = ctx, .run = run, .path = path};
  mbg__arena arena;
  int err = MBG_OK;
  if (!run->simulated || run->nodes.nnode == 0) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "simulate first: there is no trajectory at these parameters");
  }
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  memset(signals, 0, (size_t)run->nodes.nnode * (size_t)run->nused * sizeof(double));
  MBG_TRY(mbg__csv_read(ctx, &arena, path, &r.table));
  r.time = r.table.named ? mbg__csv_find(&r.table, "t") : -1;
  if (r.time < 0) {
    err = mbg__fail(ctx, MBG_ERROR_INPUT, "%s: the first line must name a column \"t\" and signals", path);
    goto done;
  }
  r.column = MBG_TAKE(&arena, int, r.table.ncolumns);
  MBG_TRY(mbg__arena_check(ctx, &arena));
  MBG_TRY(read_names(&r));
  for (int i = 0; i < r.table.nrows; i++) {
    MBG_TRY(read_row(&r, i, signals));
  }
done:
  mbg__arena_destroy(&arena);
  return err;
}
