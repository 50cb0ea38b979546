/* Grid, nodes in memory or checkpoints, and the passes over them.

   A backward pass needs one node after the other from the end. When all fit the memory limit they are kept. Otherwise a
   pass keeps checkpoints evenly, and the nodes between two checkpoints are computed again: stretches that fit the rest of
   the memory directly, longer ones by the same rule once more. The repeated steps start from stored nodes and are
   bit-identical (theory 0, section 8: nothing but a node influences what follows). */
#include "formulations/alpha/alpha.h"

#include "formulations/alpha/alpha_continuous.h"
#include "formulations/alpha/alpha_gradient.h"
#include "formulations/alpha/alpha_index2.h"
#include "formulations/alpha/alpha_paper.h"
#include "formulations/formulation.h"
#include "trajectory/steps.h"

#include <string.h>

/* a stack of places for nodes */
typedef struct {
  int nplace, used;
  mbg__node *node;
  int *index; /* which node of the trajectory stands in a place */
} shelf;

struct mbg__formulation_work {
  mbg__arena arena;
  const mbg_model *m;
  mbg__system *sys;
  mbg__start_work *start;
  mbg__run_plan plan;
  mbg__alpha *alpha;
  mbg__alpha_index2 *index2; /* NULL: index 3 */
  int nused;
  const int *used;
  mbg_allocator allocator;

  int nstep; /* planned (fixed) or accepted (controlled) */
  double *h; /* step n leads to node n                       (nstep + 1) */
  int room;
  int done; /* nodes of the last run */
  bool partial;
  double *t;
  real *omega, *y;
  shelf nodes;
  void *memory;       /* of the shelf */
  mbg__node spare[2]; /* moving pair when nodes are not kept */
  mbg__work_counts counts;
};

/* ---------------------------------------------------------------------- grid */

static void *grow(mbg__formulation_work *w, void *block, size_t count, size_t size) {
  return w->allocator.resize(w->allocator.user, block, count * size + 1);
}

static int reserve(mbg_context *ctx, mbg__formulation_work *w, int steps) {
  if (steps <= w->room) {
    return MBG_OK;
  }
  const int room = steps > 2 * w->room ? steps : 2 * w->room;
  double *h = grow(w, w->h, (size_t)room + 1, sizeof(double));
  w->h = h ? h : w->h;
  double *t = grow(w, w->t, (size_t)room + 1, sizeof(double));
  w->t = t ? t : w->t;
  real *omega = grow(w, w->omega, (size_t)room + 1, sizeof(real));
  w->omega = omega ? omega : w->omega;
  real *y = grow(w, w->y, ((size_t)room + 1) * (size_t)(w->nused > 0 ? w->nused : 1), sizeof(real));
  w->y = y ? y : w->y;
  if (!h || !t || !omega || !y) {
    return mbg__fail_memory(ctx);
  }
  w->room = room;
  return MBG_OK;
}

static int fixed_grid(mbg_context *ctx, mbg__formulation_work *w) {
  int err = MBG_OK;
  MBG_TRY(mbg__plan_grid(ctx, &w->plan, NULL, &w->nstep));
  MBG_TRY(reserve(ctx, w, w->nstep));
  MBG_TRY(mbg__plan_grid(ctx, &w->plan, w->h, &w->nstep));
done:
  return err;
}

/* ---------------------------------------------------------------------- preparation */

/* of a place, aligned */
static size_t node_bytes(const mbg__formulation_work *w) { return (mbg__node_bytes(w->m) + 15) / 16 * 16; }

static int lay_nodes(mbg_context *ctx, mbg__formulation_work *w, int places) {
  const size_t bytes = node_bytes(w);
  w->allocator.release(w->allocator.user, w->memory);
  w->memory = grow(w, NULL, (size_t)places, bytes + sizeof(mbg__node) + sizeof(int));
  if (!w->memory) {
    return mbg__fail_memory(ctx);
  }
  char *block = w->memory;
  w->nodes = (shelf){.nplace = places};
  w->nodes.node = (mbg__node *)(void *)(block + (size_t)places * bytes);
  w->nodes.index = (int *)(void *)(w->nodes.node + places);
  for (int i = 0; i < places; i++) {
    mbg__node_place(w->m, block + (size_t)i * bytes, &w->nodes.node[i]);
    w->nodes.index[i] = -1;
  }
  w->counts.bytes = (double)places * (double)bytes;
  return MBG_OK;
}

static int places_for(const mbg__formulation_work *w) { return mbg__plan_places(&w->plan, w->nstep, node_bytes(w)); }

static void destroy(mbg__formulation_work *w) {
  if (!w) {
    return;
  }
  const mbg_allocator a = w->allocator;
  mbg__alpha_index2_destroy(w->index2);
  mbg__alpha_destroy(w->alpha);
  a.release(a.user, w->h);
  a.release(a.user, w->t);
  a.release(a.user, w->omega);
  a.release(a.user, w->y);
  a.release(a.user, w->memory);
  mbg__arena_destroy(&w->arena);
  a.release(a.user, w);
}

static int prepare(mbg_context *ctx, mbg__system *sys, mbg__start_work *start, const mbg__run_plan *plan, int nused,
                   const int *used, mbg__formulation_work **out) {
  const mbg__alpha_coefs coefs =
      isnan(plan->alpha_f) ? mbg__alpha_from_rho(plan->rho_inf) : mbg__alpha_from_hht(plan->alpha_f);
  int err = MBG_OK;
  mbg__formulation_work *w = mbg__alloc_zero(ctx, 1, sizeof(*w));
  if (!w) {
    *out = NULL;
    return mbg__fail_memory(ctx);
  }
  mbg__arena_init(&w->arena, mbg__context_allocator(ctx));
  w->allocator = *mbg__context_allocator(ctx);
  w->m = mbg__system_model(sys);
  w->sys = sys;
  w->start = start;
  w->plan = *plan;
  w->nused = nused;
  w->used = used;
  for (int i = 0; i < 2; i++) {
    void *block = mbg__arena_take(&w->arena, mbg__node_bytes(w->m), 1);
    if (!block) {
      err = mbg__fail_memory(ctx);
      goto done;
    }
    mbg__node_place(w->m, block, &w->spare[i]);
  }
  MBG_TRY(mbg__alpha_create(ctx, sys, mbg__start_result_of(start)->rank, coefs, &w->alpha));
  if (plan->index == 2) {
    MBG_TRY(mbg__alpha_index2_create(ctx, w->alpha, &w->index2));
  }
  if (plan->step > 0) {
    MBG_TRY(fixed_grid(ctx, w));
  }
done:
  if (err < 0) {
    destroy(w);
    w = NULL;
  }
  *out = w;
  return err;
}

static void take_counts(mbg__formulation_work *w) {
  const mbg__alpha_work *c = mbg__alpha_counts(w->alpha);
  w->counts.newton_iterations = c->newton_iterations;
  w->counts.factorizations = c->factorizations;
  w->counts.assemblies = c->assemblies;
  w->counts.solves = c->solves;
}

static const mbg__work_counts *counts(const mbg__formulation_work *w) { return &w->counts; }

/* ---------------------------------------------------------------------- forward */

/* signals at a node; the stepper has evaluated the system there */
static int record(mbg_context *ctx, mbg__formulation_work *w, const mbg__node *node, int n) {
  const mbg__state state = {
      .t = node->t, .H = node->H, .v = node->v, .vd = node->vd, .lambda = node->lambda, .turns = node->turns};
  const real *y;
  int err = MBG_OK;
  w->t[n] = node->t;
  if (w->nused > 0) {
    MBG_TRY(mbg__system_update(ctx, w->sys, &state));
    MBG_TRY(mbg__system_signals(ctx, w->sys, &y));
    for (int k = 0; k < w->nused; k++) {
      w->y[(size_t)n * (size_t)w->nused + (size_t)k] = y[w->used[k]];
    }
  }
done:
  return err;
}

/* every `stride`-th node is put on the shelf while there is room */
static void keep_node(mbg__formulation_work *w, const mbg__node *node, int n, int stride) {
  if (n % stride == 0 && w->nodes.used < w->nodes.nplace) {
    w->nodes.index[w->nodes.used] = n;
    mbg__node_copy(w->m, node, &w->nodes.node[w->nodes.used++]);
  }
}

static int one_step(mbg_context *ctx, mbg__formulation_work *w, const mbg__node *from, double h, mbg__node *to) {
  return w->index2 ? mbg__alpha_index2_step(ctx, w->index2, from, h, to) : mbg__alpha_step(ctx, w->alpha, from, h, to);
}

static int refuse_index2(mbg_context *ctx, const mbg__formulation_work *w) {
  return w->index2
             ? mbg__fail(ctx, MBG_ERROR_UNSUPPORTED,
                         "the index-2 variant is for simulation only; gradients need \"index\": 3 in the run section")
             : MBG_OK;
}

static bool interrupted(const mbg__formulation_work *w) {
  return w->plan.interrupt && w->plan.interrupt(w->plan.user) != 0;
}

/* Distance of checkpoints: 1 when all nodes have a place. Half of the places hold checkpoints, the other half a stretch. */
static int stride_of(const mbg__formulation_work *w) {
  if (w->nodes.nplace > w->nstep) {
    return 1;
  }
  const int checkpoints = w->nodes.nplace / 2;
  return (w->nstep + checkpoints) / checkpoints;
}

static int run_fixed(mbg_context *ctx, mbg__formulation_work *w) {
  int err = MBG_OK, now = 0;
  MBG_TRY(lay_nodes(ctx, w, places_for(w)));
  const int stride = stride_of(w);
  MBG_TRY(mbg__alpha_begin(ctx, w->alpha, mbg__start_result_of(w->start), &w->spare[0]));
  MBG_TRY(record(ctx, w, &w->spare[0], 0));
  keep_node(w, &w->spare[0], 0, stride);
  w->done = 1;
  for (int n = 1; n <= w->nstep; n++, now = !now) {
    if (interrupted(w)) {
      w->partial = true;
      break;
    }
    MBG_TRY(one_step(ctx, w, &w->spare[now], w->h[n], &w->spare[!now]));
    MBG_TRY(mbg__alpha_check_dropped(ctx, w->alpha, &w->spare[!now]));
    MBG_TRY(record(ctx, w, &w->spare[!now], n));
    keep_node(w, &w->spare[!now], n, stride);
    w->done = n + 1;
    w->counts.steps++;
    if (w->plan.progress) {
      w->plan.progress(w->plan.user, w->t[n]);
    }
  }
done:
  return err;
}

/* step control: the accepted lengths are noted, nodes are not kept (a backward pass repeats the run frozen) */
static int run_controlled(mbg_context *ctx, mbg__formulation_work *w) {
  const double span = w->plan.t1 - w->plan.t0, least = 1e-12 * span;
  double h = 1e-3 * span;
  int err = MBG_OK, now = 0;
  w->nstep = 0;
  MBG_TRY(mbg__alpha_begin(ctx, w->alpha, mbg__start_result_of(w->start), &w->spare[0]));
  while (w->spare[now].t < w->plan.t1 - least) {
    const mbg__node *from = &w->spare[now];
    const double left = mbg__plan_next_break(&w->plan, from->t) - from->t;
    const double try_h = h >= left ? left : h > 0.5 * left ? 0.5 * left : h;
    if (interrupted(w)) {
      w->partial = true;
      break;
    }
    MBG_TRY(reserve(ctx, w, w->nstep + 1));
    const int before = mbg__message_mark(ctx);
    err = one_step(ctx, w, from, try_h, &w->spare[!now]);
    if (err < 0 && (err != MBG_ERROR_CONVERGENCE || try_h < 5 * least)) { /* the next one would be a fifth */
      goto done;
    }
    const double error = err < 0 ? INFINITY : mbg__alpha_error(w->alpha) / w->plan.tolerance;
    if (err < 0) {
      mbg__message_rewind(ctx, before);
      err = MBG_OK;
    }
    h = try_h * (error > 0 ? fmin(2, fmax(0.2, 0.9 * pow(error, -1.0 / 3))) : 2);
    if (error > 1) {
      if (h < least) {
        err =
            mbg__fail(ctx, MBG_ERROR_CONVERGENCE, "the step fell below %.1e at t = %g; the tolerance %g cannot be met",
                      least, from->t, w->plan.tolerance);
        goto done;
      }
      continue;
    }
    w->h[++w->nstep] = try_h;
    now = !now;
  }
done:
  return err;
}

static int simulate(mbg_context *ctx, mbg__formulation_work *w, bool frozen, mbg__nodes *nodes) {
  int err = MBG_OK;
  w->partial = false;
  w->done = 0;
  w->counts.steps = 0;
  if (w->plan.step <= 0 && !frozen) {
    MBG_TRY(run_controlled(ctx, w));
  }
  MBG_TRY(reserve(ctx, w, w->nstep));
  MBG_TRY(run_fixed(ctx, w));
done:
  for (int n = 0; n < w->done; n++) {
    const double left = n > 0 ? w->t[n] - w->t[n - 1] : 0, right = n + 1 < w->done ? w->t[n + 1] - w->t[n] : 0;
    w->omega[n] = (left + right) / 2;
  }
  take_counts(w);
  *nodes = (mbg__nodes){.nnode = w->done,
                        .partial = w->partial,
                        .t = w->t,
                        .omega = w->omega,
                        .nused = w->nused,
                        .used = w->used,
                        .y = w->y};
  return err;
}

static int last(const mbg__formulation_work *w, double *t, mbg__frame *H, real *v, int *turns) {
  const mbg__node *node = &w->spare[(w->done - 1) % 2];
  if (w->done < 1) {
    return MBG_ERROR_INPUT;
  }
  *t = node->t;
  memcpy(H, node->H, (size_t)w->m->nbody * sizeof(*H));
  memcpy(v, node->v, (size_t)w->m->nw * sizeof(real));
  memcpy(turns, node->turns, (size_t)w->m->nturn * sizeof(int));
  return MBG_OK;
}

/* ---------------------------------------------------------------------- tangent */

static int tangent(mbg_context *ctx, mbg__formulation_work *w, int (*take)(void *user, int node, const real *dy),
                   void *user) {
  const size_t np = (size_t)w->m->np;
  mbg__alpha_tangent *s = NULL;
  int err = refuse_index2(ctx, w), now = 0;
  if (err < 0) {
    return err;
  }
  real *dy = grow(w, NULL, np * (size_t)(w->nused > 0 ? w->nused : 1), sizeof(real));
  if (!dy) {
    return mbg__fail_memory(ctx);
  }
  MBG_TRY(mbg__alpha_tangent_create(ctx, w->alpha, &s));
  mbg__node_copy(w->m, &w->nodes.node[0], &w->spare[0]);
  for (int n = 0; n < w->done; n++) {
    const bool kept = w->nodes.nplace > w->nstep;
    if (n == 0) {
      MBG_TRY(mbg__alpha_tangent_begin(ctx, s, w->start, &w->spare[0]));
    } else {
      if (kept) {
        mbg__node_copy(w->m, &w->nodes.node[n], &w->spare[!now]);
      } else {
        MBG_TRY(one_step(ctx, w, &w->spare[now], w->h[n], &w->spare[!now]));
        w->counts.recomputed++;
      }
      MBG_TRY(mbg__alpha_tangent_step(ctx, s, &w->spare[now], &w->spare[!now]));
      now = !now;
    }
    if (interrupted(w)) {
      err = mbg__fail(ctx, MBG_ERROR_INTERRUPTED, "interrupted at t = %g of the tangent", w->t[n]);
      goto done;
    }
    MBG_TRY(mbg__system_linearize_signals(ctx, w->sys));
    for (int k = 0; k < w->nused; k++) {
      mbg__alpha_tangent_signal(s, w->used[k], dy + (size_t)k * np);
    }
    MBG_TRY(take(user, n, dy));
  }
done:
  take_counts(w);
  mbg__alpha_tangent_destroy(s);
  w->allocator.release(w->allocator.user, dy);
  return err;
}

/* ---------------------------------------------------------------------- backward access to nodes */

/* puts node n on top of the shelf, computing again from the nearest one below it; nodes in between are kept as the room
   allows: all of them, or evenly spaced ones when the stretch is too long */
static int bring(mbg_context *ctx, mbg__formulation_work *w, int n, const mbg__node **node) {
  shelf *s = &w->nodes;
  int err = MBG_OK, now = 0;
  if (s->nplace > w->nstep) {
    *node = &s->node[n];
    return MBG_OK;
  }
  while (s->used > 0 && s->index[s->used - 1] > n) {
    s->used--;
  }
  while (s->index[s->used - 1] < n) {
    const int from = s->index[s->used - 1], room = s->nplace - s->used, gap = n - from;
    const int stride = gap <= room ? 1 : (gap + room / 2 - 1) / (room / 2 > 0 ? room / 2 : 1);
    mbg__node_copy(w->m, &s->node[s->used - 1], &w->spare[now]);
    for (int k = from + 1; k <= n; k++, now = !now) {
      MBG_TRY(one_step(ctx, w, &w->spare[now], w->h[k], &w->spare[!now]));
      w->counts.recomputed++;
      if ((n - k) % stride == 0 || k == n) {
        if (s->used == s->nplace) {
          s->used--;
        }
        s->index[s->used] = k;
        mbg__node_copy(w->m, &w->spare[!now], &s->node[s->used++]);
      }
    }
  }
  *node = &s->node[s->used - 1];
done:
  return err;
}

/* seeds of all criteria at a node, both kinds together */
static void seeds_at(const mbg__formulation_work *w, int ncrit, const mbg__criterion_seeds *seeds, int n, real *out) {
  for (int c = 0; c < ncrit; c++) {
    for (int k = 0; k < w->nused; k++) {
      const size_t at = (size_t)n * (size_t)w->nused + (size_t)k;
      out[(size_t)c * (size_t)w->nused + (size_t)k] = w->omega[n] * seeds[c].density[at] + seeds[c].point[at];
    }
  }
}

static int discrete(mbg_context *ctx, mbg__formulation_work *w, int ncrit, const mbg__criterion_seeds *seeds,
                    real *psi_a) {
  mbg__alpha_adjoint *s = NULL;
  int err = MBG_OK;
  real *seed = grow(w, NULL, (size_t)ncrit * (size_t)(w->nused > 0 ? w->nused : 1), sizeof(real));
  if (!seed) {
    return mbg__fail_memory(ctx);
  }
  MBG_TRY(mbg__alpha_adjoint_create(ctx, w->alpha, ncrit, &s));
  for (int n = w->done - 1; n >= 0; n--) {
    const mbg__node *node;
    const mbg__seeds at = {.nused = w->nused, .signal = w->used, .seed = seed};
    if (interrupted(w)) {
      err = mbg__fail(ctx, MBG_ERROR_INTERRUPTED, "interrupted at t = %g of the backward pass", w->t[n]);
      goto done;
    }
    MBG_TRY(bring(ctx, w, n, &node));
    seeds_at(w, ncrit, seeds, n, seed);
    if (n > 0) {
      MBG_TRY(mbg__alpha_adjoint_step(ctx, s, node, &at, psi_a));
    } else {
      MBG_TRY(mbg__alpha_adjoint_end(ctx, s, w->start, node, &at, psi_a));
    }
  }
done:
  mbg__alpha_adjoint_destroy(s);
  w->allocator.release(w->allocator.user, seed);
  return err;
}

/* The paper's form follows motions only: a frame that a parameter moves where its body cannot (the height of a planar body, the axes
   of a point) is beyond it. */
static int check_paper(mbg_context *ctx, const mbg__formulation_work *w) {
  const mbg__design *d = mbg__system_design(w->sys);
  for (int b = 0; b < w->m->nbody; b++) {
    const mbg__body *body = &w->m->bodies[b];
    const mbg__placed *pose = &d->poses[body->guess];
    for (int k = 0; k < pose->ndep; k++) {
      const bool varies = d->start[pose->dep[k]] < d->start[pose->dep[k] + 1];
      for (int i = 0; varies && i < 6; i++) {
        if (!(body->mask >> i & 1) && fabs(re(pose->omega[k][i])) > 1e-12) {
          return mbg__fail(
              ctx, MBG_ERROR_UNSUPPORTED,
              "the method 'continuous-paper' does not follow parameters that move body '%s' out of its motions; "
              "'adjoint' and 'continuous' do",
              body->name);
        }
      }
    }
  }
  return MBG_OK;
}

static int continuous(mbg_context *ctx, mbg__formulation_work *w, bool paper, int ncrit,
                      const mbg__criterion_seeds *seeds, real *psi_a) {
  mbg__alpha_continuous *s = NULL;
  const mbg__node *node;
  const int last = w->done - 1;
  int err = MBG_OK;
  MBG_TRY(paper ? check_paper(ctx, w) : MBG_OK);
  MBG_TRY(mbg__alpha_continuous_create(ctx, w->alpha, ncrit, w->nused, w->used, &s));
  for (int n = last; n >= 0; n--) {
    mbg__start_work *start = n == 0 ? w->start : NULL;
    const double omega = re(w->omega[n]);
    if (interrupted(w)) {
      err = mbg__fail(ctx, MBG_ERROR_INTERRUPTED, "interrupted at t = %g of the backward pass", w->t[n]);
      goto done;
    }
    MBG_TRY(bring(ctx, w, n, &node));
    MBG_TRY(paper ? mbg__alpha_paper_node(ctx, s, node, n, last, omega, seeds, start, psi_a)
                  : mbg__alpha_continuous_node(ctx, s, node, n, omega, seeds, start, psi_a));
  }
  for (int n = last; paper && n > last - MBG__PAPER_LATE; n--) {
    MBG_TRY(bring(ctx, w, n, &node));
    MBG_TRY(mbg__alpha_paper_late(ctx, s, node, re(w->omega[n]), psi_a));
  }
done:
  mbg__alpha_continuous_destroy(s);
  return err;
}

static int adjoint(mbg_context *ctx, mbg__formulation_work *w, mbg_method method, int ncrit,
                   const mbg__criterion_seeds *seeds, real *psi_a) {
  int err = refuse_index2(ctx, w);
  if (err < 0) {
    return err;
  }
  err = method == MBG_METHOD_ADJOINT ? discrete(ctx, w, ncrit, seeds, psi_a)
                                     : continuous(ctx, w, method == MBG_METHOD_PAPER, ncrit, seeds, psi_a);
  take_counts(w);
  return err;
}

extern const mbg__formulation_ops mbg__alpha_ops;

const mbg__formulation_ops mbg__alpha_ops = {
    .prepare = prepare,
    .simulate = simulate,
    .tangent = tangent,
    .adjoint = adjoint,
    .last = last,
    .counts = counts,
    .destroy = destroy,
};
