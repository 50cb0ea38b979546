/* Products with the Jacobian of signals, frames and twists at all nodes, by parameters, attributes and changes of the
   start. A change of the start (mbg_run_start_count numbers) is

     positions   6 numbers of each body, then the modal coordinates
     rates       as many
     states      one each

   in full vectors: w (nw) of the frames and v (nw) of the twists, where a state has a place of its own and a scale. */
#include "run/run_internal.h"

#include <string.h>

int mbg_run_forget_stepper(mbg_run *run) {
  MBG_NEED(NULL, run);
  mbg__start_drop_memory(run->start);
  mbg__start_let_follow(run->start);
  run->simulated = false;
  return MBG_OK;
}

/* ---------------------------------------------------------------------- changes of the start */

/* numbers of positions, and of rates */
static int half(const mbg_model *m) { return 6 * mbg__frames(m) + mbg_model_modal_count(m); }

/* which modal body a coordinate belongs to, and its number there */
static const mbg__modal *modal_of(const mbg_model *m, int *mode) {
  const mbg__modal *body = m->modals;
  for (; *mode >= body->n; body++) {
    *mode -= body->n;
  }
  return body;
}

/* where a position or rate lies in full vectors */
static int place_of(const mbg_model *m, int i) {
  const int bodies = 6 * mbg__frames(m);
  if (i < bodies) {
    return m->bodies[i / 6].voff + i % 6;
  }
  int mode = i - bodies;
  const mbg__modal *body = modal_of(m, &mode);
  return m->bodies[mbg__modal_carrier(body, mode)].voff + mode % 3;
}

static int state_place(const mbg_model *m, int i) { return m->bodies[m->states[i].body].voff + m->states[i].component; }

int mbg_run_start_count(const mbg_run *run) { return run ? 2 * half(run->m) + run->m->nstate : 0; }

int mbg_run_start_name(const mbg_run *run, int index, char *buffer, size_t size) {
  static const char *const axes[] = {"x", "y", "z", "turn-x", "turn-y", "turn-z"};
  MBG_NEED(NULL, run && buffer && size > 0 && index >= 0 && index < mbg_run_start_count(run));
  const mbg_model *m = run->m;
  const int n = half(m), bodies = 6 * mbg__frames(m), i = n > 0 ? index % n : 0;
  const char *rate = index < n ? "" : ".rate";
  if (index >= 2 * n) {
    mbg__format(buffer, size, "%s", m->states[index - 2 * n].name);
  } else if (i < bodies) {
    mbg__format(buffer, size, "%s.%s%s", m->bodies[i / 6].name, axes[i % 6], rate);
  } else {
    int mode = i - bodies;
    const mbg__modal *body = modal_of(m, &mode);
    mbg__format(buffer, size, "%s.mode[%d]%s", body->name, mode, rate);
  }
  return MBG_OK;
}

/* motions that a body does not have are 0 */
static void spread(const mbg_model *m, const double *start, real *w, real *v) {
  const int n = half(m);
  for (int i = 0; i < n; i++) {
    const int at = place_of(m, i);
    w[at] = m->dof[at] >= 0 ? start[i] : 0;
    v[at] = m->dof[at] >= 0 ? start[n + i] : 0;
  }
  for (int i = 0; i < m->nstate; i++) {
    v[state_place(m, i)] = start[2 * n + i] / m->states[i].scale;
  }
}

static void gather(const mbg_model *m, const real *gw, const real *gv, double *start) {
  const int n = half(m);
  for (int i = 0; i < n; i++) {
    start[i] = re(gw[place_of(m, i)]);
    start[n + i] = re(gv[place_of(m, i)]);
  }
  for (int i = 0; i < m->nstate; i++) {
    start[2 * n + i] = re(gv[state_place(m, i)]) / m->states[i].scale;
  }
}

static int check_change(mbg_context *ctx, const mbg_run *run, const double *start, const char *what) {
  for (int i = 0; i < mbg_run_start_count(run); i++) {
    if (!isfinite(start[i])) {
      char name[256];
      (void)mbg_run_start_name(run, i, name, sizeof(name));
      return mbg__fail(ctx, MBG_ERROR_INPUT, "%s '%s' of the start is not a finite number", what, name);
    }
  }
  return MBG_OK;
}

/* ---------------------------------------------------------------------- jvp */

typedef struct {
  mbg_context *ctx;
  const mbg_run *run;
  double *dy;
} along;

static int along_take(void *user, int node, const real *dy) {
  const along *a = user;
  const int kept = a->run->nused;
  for (int k = 0; k < kept; k++) {
    double *to = &a->dy[(size_t)node * (size_t)kept + (size_t)k];
    *to = re(dy[k]);
    if (!isfinite(*to)) {
      return mbg__fail(a->ctx, MBG_ERROR_CONVERGENCE,
                       "t = %.9g: the derivative of a signal along the direction is not a finite number (formulation "
                       "'%s'); take a smaller step",
                       mbg__time_shown(mbg__nodes_time(&a->run->nodes, node)), a->run->formulation->key);
    }
  }
  return MBG_OK;
}

typedef struct {
  mbg__arena arena;
  real *p, *da, *w, *v;
} direction;

static int make_direction(mbg_context *ctx, mbg_run *run, const double *p, const double *start, direction *d) {
  const mbg_model *m = run->m;
  int err = MBG_OK;
  d->p = MBG_TAKE(&d->arena, real, m->np);
  d->da = MBG_TAKE(&d->arena, real, m->na);
  d->w = MBG_TAKE(&d->arena, real, m->nw);
  d->v = MBG_TAKE(&d->arena, real, m->nw);
  MBG_TRY(mbg__arena_check(ctx, &d->arena));
  for (int i = 0; p && i < m->np; i++) {
    d->p[i] = p[i];
    if (!isfinite(p[i])) {
      char name[256];
      (void)mbg_model_parameter_name(m, i, name, sizeof(name));
      return mbg__fail(ctx, MBG_ERROR_INPUT, "the direction by parameter '%s' is not a finite number", name);
    }
  }
  MBG_TRY(start ? check_change(ctx, run, start, "the direction by") : MBG_OK);
  MBG_TRY(mbg__run_check_differentiable(ctx, run));
  mbg__design_push(run->design, d->p, d->da);
  if (start) {
    spread(m, start, d->w, d->v);
    MBG_TRY(mbg__start_project(ctx, run->start, 1, d->w, d->v));
  }
done:
  return err;
}

int mbg__run_columns(mbg_context *ctx, mbg_run *run, int n, const real *da, const real *w, const real *v,
                     int (*take)(void *user, int node, const real *dy), void *user) {
  const mbg__directions directions = {.n = n, .da = da};
  run->design->directions = &directions;
  mbg__start_change(run->start, w, v);
  const int err = run->formulation->ops->tangent(ctx, run->work, take, user);
  run->design->directions = NULL;
  mbg__start_change(run->start, NULL, NULL);
  mbg__run_count_work(run);
  return err;
}

int mbg_run_jvp_start(mbg_context *ctx, mbg_run *run, const double *p, const double *start, double *dy) {
  MBG_NEED(ctx, ctx && run && dy);
  direction d = {0};
  int err = MBG_OK;
  mbg__arena_init(&d.arena, mbg__context_allocator(ctx));
  MBG_TRY(make_direction(ctx, run, p, start, &d));
  MBG_TRY(mbg__run_columns(ctx, run, 1, d.da, d.w, d.v, along_take, &(along){ctx, run, dy}));
done:
  mbg__arena_destroy(&d.arena);
  return err;
}

int mbg_run_jvp(mbg_context *ctx, mbg_run *run, const double *p, double *dy) {
  MBG_NEED(ctx, ctx && run && p && dy);
  return mbg_run_jvp_start(ctx, run, p, NULL, dy);
}

/* ---------------------------------------------------------------------- seeds of cotangents */

static int bad_cotangent(mbg_context *ctx, const char *what, const char *name, int node) {
  return mbg__fail(ctx, MBG_ERROR_INPUT, "the cotangent of %s '%s' at node %d is not a finite number", what, name,
                   node);
}

static int signal_seeds(mbg_context *ctx, const mbg_run *run, mbg__arena *arena, const double *cotangent,
                        mbg__seeds *seeds) {
  const size_t kept = (size_t)run->nused, nnode = (size_t)run->nodes.nnode;
  int count = 0;
  for (size_t i = 0; i < nnode * kept; i++) {
    if (!isfinite(cotangent[i])) {
      return bad_cotangent(ctx, "signal", run->m->signals[run->nodes.used[i % kept]].name, (int)(i / kept));
    }
    count += cotangent[i] != 0;
  }
  *seeds = (mbg__seeds){.point = MBG_TAKE(arena, mbg__point_seed, count)};
  if (mbg__arena_check(ctx, arena) < 0) {
    return MBG_ERROR_MEMORY;
  }
  for (size_t i = 0; i < nnode * kept; i++) {
    if (cotangent[i] != 0) {
      seeds->point[seeds->npoint] = (mbg__point_seed){
          .node = (int)(i / kept), .column = (int)(i % kept), .order = seeds->npoint, .weight = cotangent[i]};
      seeds->npoint++;
    }
  }
  return MBG_OK;
}

/* of F : R + f . x by a motion (u, theta) along and about the axes of the body: R' = R hat(theta), x' = R u */
static void frame_cotangent(const real *pose, const double *g, real *out) {
  real A[9], f[3] = {g[9], g[10], g[11]};
  for (int i = 0; i < 3; i++) {
    out[i] += pose[i] * f[0] + pose[3 + i] * f[1] + pose[6 + i] * f[2];
    for (int j = 0; j < 3; j++) {
      A[3 * i + j] = pose[i] * g[j] + pose[3 + i] * g[3 + j] + pose[6 + i] * g[6 + j];
    }
  }
  out[3] += A[7] - A[5];
  out[4] += A[2] - A[6];
  out[5] += A[3] - A[1];
}

/* c[0] frames (12), c[1] twists (6) of each body at a node */
static int body_seeds(mbg_context *ctx, const mbg_run *run, int node, int body, const double *const c[2], real *out) {
  const mbg_model *m = run->m;
  const real *pose = mbg__nodes_values(&run->nodes, node) + run->nused + 12 * (size_t)body;
  for (int k = 0; k < 2; k++) {
    for (int i = 0; c[k] && i < (k == 0 ? 12 : 6); i++) {
      if (!isfinite(c[k][i])) {
        return bad_cotangent(ctx, k == 0 ? "the frame of body" : "the twist of body", m->bodies[body].name, node);
      }
    }
  }
  if (c[0]) {
    frame_cotangent(pose, c[0], out + m->bodies[body].voff);
  }
  for (int i = 0; c[1] && i < 6; i++) {
    out[m->nw + m->bodies[body].voff + i] += c[1][i];
  }
  return MBG_OK;
}

static int pose_seeds(mbg_context *ctx, const mbg_run *run, mbg__arena *arena, const mbg_cotangent *c,
                      const real **poses) {
  const size_t width = 2 * (size_t)run->m->nw, nnode = (size_t)run->nodes.nnode;
  const int bodies = mbg__frames(run->m);
  int err = MBG_OK;
  if (run->nodes.npose == 0) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "cotangents of frames and twists need a run that keeps them: keep_poses");
  }
  real *out = MBG_TAKE(arena, real, nnode * width);
  MBG_TRY(mbg__arena_check(ctx, arena));
  for (int n = 0; n < run->nodes.nnode; n++) {
    for (int b = 0; b < bodies; b++) {
      const size_t at = (size_t)n * (size_t)bodies + (size_t)b;
      const double *const own[2] = {c->frames ? c->frames + 12 * at : NULL, c->twists ? c->twists + 6 * at : NULL};
      MBG_TRY(body_seeds(ctx, run, n, b, own, out + (size_t)n * width));
    }
  }
  *poses = out;
done:
  return err;
}

int mbg__run_cotangent_seeds(mbg_context *ctx, const mbg_run *run, mbg__arena *arena, const mbg_cotangent *c,
                             mbg__criterion_seeds *seeds) {
  int err = MBG_OK;
  MBG_TRY(c->signals ? signal_seeds(ctx, run, arena, c->signals, &seeds->at) : MBG_OK);
  MBG_TRY(c->frames || c->twists ? pose_seeds(ctx, run, arena, c, &seeds->poses) : MBG_OK);
done:
  return err;
}

/* ---------------------------------------------------------------------- vjp */

/* gradient (count x np); attributes NULL, or count x na */
static int pull(mbg_context *ctx, mbg_run *run, mbg_method method, int count, const mbg_cotangent *cotangents,
                double *gradient, double *attributes) {
  mbg__gradient_row *rows = mbg__alloc_zero(ctx, (size_t)count + 1, sizeof(*rows));
  for (int k = 0; rows && k < count; k++) {
    rows[k].cotangent = &cotangents[k];
    rows[k].attributes = attributes ? attributes + (size_t)k * (size_t)run->m->na : NULL;
  }
  const int err = rows ? mbg__run_gradient_rows(ctx, run, method, count, rows, gradient, NULL) : mbg__fail_memory(ctx);
  mbg__free(ctx, rows);
  return err;
}

int mbg_run_vjp(mbg_context *ctx, mbg_run *run, mbg_method method, int count, const double *cotangents,
                double *gradient) {
  MBG_NEED(ctx, ctx && run && count >= 0 && (count == 0 || (cotangents && gradient)));
  const size_t size = (size_t)run->nodes.nnode * (size_t)run->nused;
  mbg_cotangent *list = mbg__alloc_zero(ctx, (size_t)count + 1, sizeof(*list));
  for (int k = 0; list && k < count; k++) {
    list[k].signals = cotangents + (size_t)k * size;
  }
  const int err = list ? pull(ctx, run, method, count, list, gradient, NULL) : mbg__fail_memory(ctx);
  mbg__free(ctx, list);
  return err;
}

int mbg_run_vjp_start(mbg_context *ctx, mbg_run *run, int count, const mbg_cotangent *cotangents, double *gradient,
                      double *start, double *attributes) {
  MBG_NEED(ctx, ctx && run && count >= 0 && (count == 0 || (cotangents && gradient)));
  const mbg_model *m = run->m;
  const size_t n = (size_t)count * (size_t)m->nw, width = (size_t)mbg_run_start_count(run);
  mbg__arena arena;
  int err = MBG_OK;
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  real *gw = MBG_TAKE(&arena, real, n), *gv = MBG_TAKE(&arena, real, n);
  MBG_TRY(mbg__arena_check(ctx, &arena));
  mbg__start_keep(run->start, start ? gw : NULL, start ? gv : NULL);
  err = pull(ctx, run, mbg_run_adjoint_method(run), count, cotangents, gradient, attributes);
  mbg__start_keep(run->start, NULL, NULL);
  MBG_TRY(err);
  if (start && count > 0) {
    MBG_TRY(mbg__start_project_T(ctx, run->start, count, gw, gv));
    for (size_t k = 0; k < (size_t)count; k++) {
      gather(m, gw + k * (size_t)m->nw, gv + k * (size_t)m->nw, start + k * width);
      MBG_TRY(check_change(ctx, run, start + k * width, "the derivative by"));
    }
  }
done:
  mbg__arena_destroy(&arena);
  return err;
}
