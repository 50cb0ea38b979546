#include "trajectory/march.h"

#include "trajectory/steps.h"

#include <string.h>

/* a stack of places for nodes */
typedef struct {
  int nplace, used;
  char *block;
  int *index; /* which node of the trajectory stands in a place */
} shelf;

struct mbg__march {
  mbg_allocator allocator;
  mbg__run_plan plan;
  mbg__march_method method;
  void *user;
  int nused;
  const int *used;
  size_t bytes; /* of a node, rounded up */
  int nstep;
  double *h; /* step n leads to node n             (nstep + 1) */
  double *t; /*                                    (nstep + 1) */
  real *omega, *y;
  int done;
  bool partial;
  shelf nodes;
  char *spare[2]; /* moving pair */
  char *last;     /* node of the last run */
  mbg__work_counts counts;
};

static void *grow(mbg__march *m, void *block, size_t count, size_t size) {
  return m->allocator.resize(m->allocator.user, block, count * size + 1);
}

static char *node_at(const mbg__march *m, int place) { return m->nodes.block + (size_t)place * m->bytes; }

/* ---------------------------------------------------------------------- creation */

static int take_arrays(mbg_context *ctx, mbg__march *m) {
  const size_t n = (size_t)m->nstep + 1;
  m->h = grow(m, NULL, n, sizeof(double));
  m->t = grow(m, NULL, n, sizeof(double));
  m->omega = grow(m, NULL, n, sizeof(real));
  m->y = grow(m, NULL, n * (size_t)(m->nused > 0 ? m->nused : 1), sizeof(real));
  m->spare[0] = grow(m, NULL, 1, m->bytes);
  m->spare[1] = grow(m, NULL, 1, m->bytes);
  m->last = grow(m, NULL, 1, m->bytes);
  const bool all = m->h && m->t && m->omega && m->y && m->spare[0] && m->spare[1] && m->last;
  return all ? MBG_OK : mbg__fail_memory(ctx);
}

int mbg__march_create(mbg_context *ctx, const mbg__run_plan *plan, const mbg__march_method *method, void *user,
                      int nused, const int *used, mbg__march **out) {
  int err = MBG_OK;
  mbg__march *m = mbg__alloc_zero(ctx, 1, sizeof(*m));
  *out = m;
  if (!m) {
    return mbg__fail_memory(ctx);
  }
  m->allocator = *mbg__context_allocator(ctx);
  m->plan = *plan;
  m->method = *method;
  m->user = user;
  m->nused = nused;
  m->used = used;
  m->bytes = (method->bytes + 15) / 16 * 16;
  MBG_TRY(mbg__plan_grid(ctx, &m->plan, NULL, &m->nstep));
  MBG_TRY(take_arrays(ctx, m));
  MBG_TRY(mbg__plan_grid(ctx, &m->plan, m->h, &m->nstep));
done:
  if (err < 0) {
    mbg__march_destroy(m);
    *out = NULL;
  }
  return err;
}

void mbg__march_destroy(mbg__march *m) {
  if (!m) {
    return;
  }
  const mbg_allocator a = m->allocator;
  void *all[] = {m->h, m->t, m->omega, m->y, m->spare[0], m->spare[1], m->last, m->nodes.block, m->nodes.index, m};
  for (int i = 0; i < MBG_COUNT(all); i++) {
    a.release(a.user, all[i]);
  }
}

mbg__work_counts *mbg__march_counts(mbg__march *m) { return &m->counts; }

/* ---------------------------------------------------------------------- simulation */

static int lay_nodes(mbg_context *ctx, mbg__march *m) {
  const int places = mbg__plan_places(&m->plan, m->nstep, m->bytes);
  if (places != m->nodes.nplace) {
    m->allocator.release(m->allocator.user, m->nodes.block);
    m->allocator.release(m->allocator.user, m->nodes.index);
    m->nodes = (shelf){0};
    m->nodes.block = grow(m, NULL, (size_t)places, m->bytes);
    m->nodes.index = grow(m, NULL, (size_t)places, sizeof(int));
    if (!m->nodes.block || !m->nodes.index) {
      return mbg__fail_memory(ctx);
    }
    m->nodes.nplace = places;
  }
  m->nodes.used = 0;
  m->counts.bytes = (double)places * (double)m->bytes;
  return MBG_OK;
}

static bool all_kept(const mbg__march *m) { return m->nodes.nplace > m->nstep; }

/* Distance of checkpoints: 1 when all nodes have a place. Half of the places hold checkpoints, the other half a stretch. */
static int stride_of(const mbg__march *m) {
  if (all_kept(m)) {
    return 1;
  }
  const int checkpoints = m->nodes.nplace / 2;
  return (m->nstep + checkpoints) / checkpoints;
}

static void keep_node(mbg__march *m, const char *node, int n) {
  m->nodes.index[m->nodes.used] = n;
  memcpy(node_at(m, m->nodes.used++), node, m->bytes);
}

static bool interrupted(const mbg__march *m) { return m->plan.interrupt && m->plan.interrupt(m->plan.user) != 0; }

static int record(mbg_context *ctx, mbg__march *m, const char *node, int n) {
  return m->method.record(ctx, m->user, node, &m->t[n], m->y + (size_t)n * (size_t)m->nused);
}

static int run(mbg_context *ctx, mbg__march *m) {
  int err = MBG_OK, now = 0;
  MBG_TRY(lay_nodes(ctx, m));
  const int stride = stride_of(m);
  for (int n = 0; n <= m->nstep; n++) {
    if (n > 0 && interrupted(m)) {
      m->partial = true;
      break;
    }
    MBG_TRY(n == 0 ? m->method.begin(ctx, m->user, m->spare[0])
                   : m->method.step(ctx, m->user, m->spare[now], m->h[n], m->spare[!now]));
    now = n == 0 ? 0 : !now;
    MBG_TRY(record(ctx, m, m->spare[now], n));
    if (n % stride == 0 && m->nodes.used < m->nodes.nplace) {
      keep_node(m, m->spare[now], n);
    }
    m->done = n + 1;
    m->counts.steps += n > 0;
    if (n > 0 && m->plan.progress) {
      m->plan.progress(m->plan.user, m->t[n]);
    }
  }
done:
  if (m->done > 0) {
    memcpy(m->last, m->spare[now], m->bytes);
  }
  return err;
}

int mbg__march_simulate(mbg_context *ctx, mbg__march *m, mbg__nodes *nodes) {
  m->partial = false;
  m->done = 0;
  m->counts.steps = 0;
  const int err = run(ctx, m);
  for (int n = 0; n < m->done; n++) {
    const double left = n > 0 ? m->t[n] - m->t[n - 1] : 0, right = n + 1 < m->done ? m->t[n + 1] - m->t[n] : 0;
    m->omega[n] = (left + right) / 2;
  }
  *nodes = (mbg__nodes){.nnode = m->done,
                        .partial = m->partial,
                        .t = m->t,
                        .omega = m->omega,
                        .nused = m->nused,
                        .used = m->used,
                        .y = m->y};
  return err;
}

const void *mbg__march_last(const mbg__march *m) { return m->done > 0 ? m->last : NULL; }

/* ---------------------------------------------------------------------- passes */

static int stopped(mbg_context *ctx, const mbg__march *m, int n, const char *what) {
  return interrupted(m) ? mbg__fail(ctx, MBG_ERROR_INTERRUPTED, "interrupted at t = %g of the %s", m->t[n], what)
                        : MBG_OK;
}

static int again(mbg_context *ctx, mbg__march *m, const char *from, int n, char *to) {
  m->counts.recomputed++;
  return m->method.step(ctx, m->user, from, m->h[n], to);
}

int mbg__march_forward(mbg_context *ctx, mbg__march *m,
                       int (*visit)(mbg_context *ctx, void *user, int n, const void *from, const void *node),
                       void *user) {
  int err = MBG_OK, now = 0;
  for (int n = 0; n < m->done; n++) {
    MBG_TRY(stopped(ctx, m, n, "tangent"));
    if (n == 0) {
      memcpy(m->spare[0], node_at(m, 0), m->bytes);
      MBG_TRY(visit(ctx, user, 0, NULL, m->spare[0]));
      continue;
    }
    if (all_kept(m)) {
      memcpy(m->spare[!now], node_at(m, n), m->bytes);
    } else {
      MBG_TRY(again(ctx, m, m->spare[now], n, m->spare[!now]));
    }
    MBG_TRY(visit(ctx, user, n, m->spare[now], m->spare[!now]));
    now = !now;
  }
done:
  return err;
}

/* puts node n on top of the shelf, computing again from the nearest one below it; nodes in between are kept as the room
   allows: all of them, or evenly spaced ones when the stretch is too long */
static int bring(mbg_context *ctx, mbg__march *m, int n, const char **node) {
  shelf *s = &m->nodes;
  int err = MBG_OK, now = 0;
  if (all_kept(m)) {
    *node = node_at(m, n);
    return MBG_OK;
  }
  while (s->used > 0 && s->index[s->used - 1] > n) {
    s->used--;
  }
  while (s->index[s->used - 1] < n) {
    const int from = s->index[s->used - 1], room = s->nplace - s->used, gap = n - from;
    const int stride = gap <= room ? 1 : (gap + room / 2 - 1) / (room / 2 > 0 ? room / 2 : 1);
    memcpy(m->spare[now], node_at(m, s->used - 1), m->bytes);
    for (int k = from + 1; k <= n; k++, now = !now) {
      MBG_TRY(again(ctx, m, m->spare[now], k, m->spare[!now]));
      if ((n - k) % stride == 0 || k == n) {
        if (s->used == s->nplace) {
          s->used--;
        }
        keep_node(m, m->spare[!now], k);
      }
    }
  }
  *node = node_at(m, s->used - 1);
done:
  return err;
}

int mbg__march_backward(mbg_context *ctx, mbg__march *m,
                        int (*visit)(mbg_context *ctx, void *user, int n, const void *node), void *user) {
  int err = MBG_OK;
  for (int n = m->done - 1; n >= 0; n--) {
    const char *node;
    MBG_TRY(stopped(ctx, m, n, "backward pass"));
    MBG_TRY(bring(ctx, m, n, &node));
    MBG_TRY(visit(ctx, user, n, node));
  }
done:
  return err;
}
