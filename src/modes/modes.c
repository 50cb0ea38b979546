/* Modes of a model: what the public interface returns. */
#include "modes/modes.h"

#include "system/system_internal.h"

#include <string.h>

static const char *const at_names[] = {"equilibrium", "start", "steady"};

const char *mbg_modes_at_name(int at) { return at >= 0 && at < MBG_COUNT(at_names) ? at_names[at] : NULL; }

int mbg_modes_at_find(const char *name) {
  for (int i = 0; name && i < MBG_COUNT(at_names); i++) {
    if (!strcmp(name, at_names[i])) {
      return i;
    }
  }
  return -1;
}

const char *mbg_mode_kind_name(mbg_mode_kind kind) {
  static const char *const names[] = {"oscillation", "decay", "zero", "unstable"};
  return (int)kind >= 0 && (int)kind < MBG_COUNT(names) ? names[kind] : NULL;
}

static const mbg_modes_options defaults = {.at = MBG_MODES_EQUILIBRIUM, .count = 10};

void mbg_modes_options_default(mbg_modes_options *options, size_t size) {
  mbg__options_default(options, size, &defaults, sizeof(defaults));
}

/* ---------------------------------------------------------------------- lists */

static mbg_mode_kind kind_of(const mbg__mode *mode) {
  return mode->zero                                          ? MBG_MODE_ZERO
         : mode->s[0] > 1e-9 * hypot(mode->s[0], mode->s[1]) ? MBG_MODE_UNSTABLE
         : mode->s[1] > 0                                    ? MBG_MODE_OSCILLATION
                                                             : MBG_MODE_DECAY;
}

static bool same(const mbg__mode *a, const mbg__mode *b) {
  const double size = fmax(hypot(a->s[0], a->s[1]), hypot(b->s[0], b->s[1]));
  return !a->zero && !b->zero && hypot(a->s[0] - b->s[0], a->s[1] - b->s[1]) <= 1e-9 * size;
}

static void find_repeated(const mbg__modes_work *w, mbg_modes *modes) {
  for (int i = 0; i < w->count;) {
    int n = 1;
    while (i + n < w->count && same(&w->modes[i], &w->modes[i + n])) {
      n++;
    }
    for (int j = i; j < i + n; j++) {
      modes->modes[j].multiplicity = n;
      modes->modes[j].first = i;
    }
    i += n;
  }
}

/* what component k of a body's velocity counts for: modal coordinates for their body, states, after all bodies, for
   themselves */
static int owner_of(const mbg_model *m, int b, int k) {
  const mbg__body *body = &m->bodies[b];
  return body->carrier >= 0 ? m->modals[body->carrier].body : body->state >= 0 ? m->nbody + body->state + k : b;
}

/* share of each body or state in x^T M x */
static int find_body(mbg__modes_work *w, const mbg__mode *mode, mbg_mode *out) {
  const mbg_model *m = w->m;
  double *f = mbg__alloc(w->ctx, (size_t)m->nv, sizeof(double)), all = 0;
  double *own = mbg__alloc_zero(w->ctx, (size_t)(m->nbody + m->nstate), sizeof(double));
  int most = -1;
  if (!f || !own) {
    mbg__free(w->ctx, f);
    mbg__free(w->ctx, own);
    return mbg__fail_memory(w->ctx);
  }
  for (int part = 0; part < 2 && mode->x[part]; part++) {
    mbg__modes_mul(w, w->M, mode->x[part], f);
    for (int b = 0; b < m->nbody; b++) {
      for (int k = 0; k < m->bodies[b].nvel; k++) {
        const int j = m->dof[m->bodies[b].voff + k];
        if (j >= 0) {
          own[owner_of(m, b, k)] += mode->x[part][j] * f[j];
        }
      }
    }
  }
  for (int b = 0; b < m->nbody + m->nstate; b++) {
    all += own[b];
    /* the first of equal ones, whatever their rounding */
    most = own[b] > (most < 0 ? 0 : (1 + 1e-6) * own[most]) ? b : most;
  }
  out->body = most < m->nbody ? most : -1;
  out->state = most < m->nbody ? NULL : m->states[most - m->nbody].name;
  out->share = !isfinite(all) ? NAN : most >= 0 && all > 0 ? own[most] / all : 0;
  mbg__free(w->ctx, f);
  mbg__free(w->ctx, own);
  return MBG_OK;
}

/* a complex vector is turned so that its largest entry is real */
static void turn_phase(int n, double *a, double *b) {
  int at = 0;
  for (int i = 1; i < n; i++) {
    at = hypot(a[i], b[i]) > hypot(a[at], b[at]) * (1 + 1e-9) ? i : at;
  }
  const double l = n > 0 ? hypot(a[at], b[at]) : 0, c = l > 0 ? a[at] / l : 1, s = l > 0 ? -b[at] / l : 0;
  for (int i = 0; i < n; i++) {
    const double x = a[i], y = b[i];
    a[i] = c * x - s * y;
    b[i] = s * x + c * y;
  }
}

static void scale_shape(const mbg_model *m, int parts, double *const shape[2]) {
  const int count = 6 * mbg__masses(m);
  double most = 0;
  for (int i = 0; i < count; i++) {
    const double size = hypot(shape[0][i], parts > 1 ? shape[1][i] : 0) * (i % 6 >= 3 ? m->size : 1);
    most = fmax(most, size);
  }
  /* the first entry of some size is positive */
  double sign = 1;
  for (int i = 0; i < count; i++) {
    if (fabs(shape[0][i]) * (i % 6 >= 3 ? m->size : 1) > 0.1 * most) {
      sign = shape[0][i] < 0 ? -1 : 1;
      break;
    }
  }
  for (int part = 0; part < parts; part++) {
    for (int i = 0; most > 0 && i < count; i++) {
      shape[part][i] *= sign / most;
    }
  }
}

/* displacements and rotations in world axes */
static int make_shape(mbg__modes_work *w, mbg_modes *modes, int i) {
  const mbg_model *m = w->m;
  const mbg__mode *mode = &w->modes[i];
  const int parts = mode->x[1] && mode->s[1] > 0 ? 2 : 1;
  double *shape[2] = {NULL, NULL};
  for (int part = 0; part < parts; part++) {
    shape[part] = MBG_TAKE(&modes->arena, double, 6 * (size_t)m->nbody);
    if (mbg__arena_check(w->ctx, &modes->arena) < 0) {
      return MBG_ERROR_MEMORY;
    }
    for (int b = 0; b < m->nbody; b++) {
      for (int k = 0; k < 6; k++) {
        const int j = m->dof[m->bodies[b].voff + k];
        for (int l = 0; j >= 0 && l < 3; l++) {
          shape[part][6 * b + l + (k >= 3 ? 3 : 0)] += re(w->H[b].R[3 * l + k % 3]) * mode->x[part][j];
        }
      }
    }
    modes->shape[part][i] = shape[part];
  }
  if (parts > 1) {
    turn_phase(6 * mbg__masses(m), shape[0], shape[1]);
  }
  scale_shape(m, parts, shape);
  return MBG_OK;
}

static void warn_unresolved(const mbg__modes_work *w) {
  const double f = w->unresolved / (2 * M_PI);
  if (f > 1) {
    mbg__note(
        w->ctx, MBG_WARNING,
        "modes below %.2g Hz cannot be told from zero beside the largest stiffness and damping of the model; check "
        "the sizes of stiffnesses, dampings, masses and coordinates",
        f);
  }
}

static int not_finite(const mbg__modes_work *w, int mode) {
  return mbg__fail(w->ctx, MBG_ERROR_SINGULAR,
                   "mode %d is not a finite number; check the sizes of masses, stiffnesses and coordinates", mode + 1);
}

static int list_modes(mbg__modes_work *w, mbg_modes *modes) {
  int err = MBG_OK;
  modes->modes = MBG_TAKE(&modes->arena, mbg_mode, w->count);
  modes->shape[0] = MBG_TAKE(&modes->arena, double *, w->count);
  modes->shape[1] = MBG_TAKE(&modes->arena, double *, w->count);
  MBG_TRY(mbg__arena_check(w->ctx, &modes->arena));
  for (int i = 0; i < w->count; i++) {
    const mbg__mode *mode = &w->modes[i];
    mbg_mode *out = &modes->modes[i];
    const double size = hypot(mode->s[0], mode->s[1]);
    *out = (mbg_mode){.kind = kind_of(mode), .re = mode->s[0], .im = mode->s[1]};
    if (mode->zero) {
      out->re = out->im = 0;
    }
    out->frequency = !mode->zero && mode->s[1] > 0 ? size / (2 * M_PI) : 0;
    out->damping = !mode->zero && mode->s[0] != 0 ? -mode->s[0] / size : 0;
    modes->summary.zero += out->kind == MBG_MODE_ZERO;
    modes->summary.unstable += out->kind == MBG_MODE_UNSTABLE;
    MBG_TRY(find_body(w, mode, out));
    MBG_TRY(isfinite(out->re) && isfinite(out->im) && isfinite(out->share) ? MBG_OK : not_finite(w, i));
    MBG_TRY(make_shape(w, modes, i));
  }
  find_repeated(w, modes);
  warn_unresolved(w);
done:
  return err;
}

/* ---------------------------------------------------------------------- picture */

static void point_of(const mbg__modes_work *w, int marker, double x[3]) {
  for (int k = 0; k < 3; k++) {
    x[k] = re(w->sys->Hm[marker].x[k]);
  }
}

static bool coincide(const double a[3], const double b[3], double size) {
  return fabs(a[0] - b[0]) + fabs(a[1] - b[1]) + fabs(a[2] - b[2]) < 1e-9 * size;
}

static void add_line(mbg_modes *modes, mbg_modes_line line, double size) {
  if (!coincide(line.x[0], line.x[1], size)) {
    modes->lines[modes->summary.lines++] = line;
  }
}

/* bodies from their origins to the markers of joints and forces, elements of beams, forces along distances */
static int make_lines(mbg__modes_work *w, mbg_modes *modes) {
  const mbg_model *m = w->m;
  modes->position = mbg__arena_take(&modes->arena, (size_t)m->nbody, sizeof(*modes->position));
  modes->lines = MBG_TAKE(&modes->arena, mbg_modes_line, m->nmarker + m->nelement + m->nforce);
  if (mbg__arena_check(w->ctx, &modes->arena) < 0) {
    return MBG_ERROR_MEMORY;
  }
  for (int b = 0; b < m->nbody; b++) {
    for (int k = 0; k < 3; k++) {
      modes->position[b][k] = re(w->H[b].x[k]);
    }
  }
  for (int i = 0; i < m->nmarker; i++) {
    const int b = m->markers[i].body;
    mbg_modes_line line = {.kind = MBG_LINE_BODY, .body = {b, b}};
    if (b >= 0) {
      memcpy(line.x[0], modes->position[b], sizeof(line.x[0]));
      point_of(w, i, line.x[1]);
      add_line(modes, line, m->size);
    }
  }
  for (int i = 0; i < m->nelement; i++) {
    mbg_modes_line line = {.kind = MBG_LINE_BEAM, .body = {m->elements[i].body[0], m->elements[i].body[1]}};
    for (int k = 0; k < 2; k++) {
      memcpy(line.x[k], modes->position[line.body[k]], sizeof(line.x[k]));
    }
    add_line(modes, line, m->size);
  }
  for (int i = 0; i < mbg__forces(m); i++) {
    const mbg__pair *pair = &m->pairs[m->forces[i].pair];
    mbg_modes_line line = {.kind = MBG_LINE_FORCE, .body = {m->markers[pair->A].body, m->markers[pair->B].body}};
    if (m->forces[i].law) {
      point_of(w, pair->A, line.x[0]);
      point_of(w, pair->B, line.x[1]);
      add_line(modes, line, m->size);
    }
  }
  return MBG_OK;
}

static bool has(const mbg_modes *modes, int index) { return modes && index >= 0 && index < modes->summary.count; }

static bool has_body(const mbg_modes *modes, int body) { return modes && body >= 0 && body < modes->summary.bodies; }

int mbg_modes_displace(const mbg_modes *modes, int index, double amplitude, double phase, int body, const double x[3],
                       double out[3]) {
  MBG_NEED(NULL, has(modes, index) && x && out && (body < 0 || has_body(modes, body)));
  memcpy(out, x, 3 * sizeof(double));
  for (int part = 0; body >= 0 && part < 2 && modes->shape[part][index]; part++) {
    const double *u = modes->shape[part][index] + 6 * (size_t)body, *o = u + 3;
    const double c = amplitude * (part ? -sin(phase) : cos(phase));
    double r[3];
    for (int k = 0; k < 3; k++) {
      r[k] = x[k] - modes->position[body][k];
    }
    out[0] += c * (u[0] + o[1] * r[2] - o[2] * r[1]);
    out[1] += c * (u[1] + o[2] * r[0] - o[0] * r[2]);
    out[2] += c * (u[2] + o[0] * r[1] - o[1] * r[0]);
  }
  return MBG_OK;
}

/* ---------------------------------------------------------------------- solving */

int mbg__modes_room_gradient(mbg__modes_work *w, mbg_modes *modes) {
  for (int k = 0; k < 4; k++) {
    modes->gradient[k] = MBG_TAKE(&modes->arena, double *, w->count);
    for (int i = 0; modes->gradient[k] && i < w->count; i++) {
      modes->gradient[k][i] = w->modes[i].zero ? NULL : MBG_TAKE(&modes->arena, double, w->m->np);
    }
  }
  return mbg__arena_check(w->ctx, &modes->arena);
}

static void summarize(const mbg__modes_work *w, mbg_modes *modes) {
  mbg_modes_summary *s = &modes->summary;
  s->model = w->m->name ? w->m->name : "";
  s->at = w->opt.at;
  s->time = re(w->t);
  s->freedoms = s->position_freedoms = w->n - w->m->nstate;
  s->states = w->m->nstate;
  s->redundant = w->result->rank->ndropped;
  s->massless = w->massless;
  s->count = w->count;
  s->damped = !w->symmetric;
  s->solver = w->solver;
  s->iterations = w->iterations;
  s->parameters = w->m->np;
  s->gradient = w->opt.gradient;
  s->bodies = mbg__masses(w->m);
}

int mbg__modes_list(mbg__modes_work *w, mbg_modes *modes) {
  int err = MBG_OK;
  summarize(w, modes);
  MBG_TRY(list_modes(w, modes));
  MBG_TRY(make_lines(w, modes));
done:
  return err;
}

static int solve(mbg__modes_work *w, mbg_modes *modes) {
  int err = MBG_OK;
  if (mbg__model_has_rates(w->given)) {
    return mbg__modes_rolling(w, modes);
  }
  w->p = MBG_TAKE(&w->arena, real, w->given->np);
  MBG_TRY(mbg__arena_check(w->ctx, &w->arena));
  for (int i = 0; i < w->given->np; i++) {
    w->p[i] = w->opt.parameters ? w->opt.parameters[i] : w->given->p[i];
  }
  MBG_TRY(mbg__modes_state(w));
  MBG_TRY(mbg__modes_eigen(w));
  MBG_TRY(mbg__modes_list(w, modes));
  if (w->opt.gradient) {
    MBG_TRY(mbg__modes_room_gradient(w, modes));
    MBG_TRY(mbg__modes_gradient(w, modes));
  }
done:
  return err;
}

int mbg_modes_create(mbg_context *ctx, const mbg_model *model, const mbg_modes_options *options, mbg_modes **out) {
  MBG_NEED(ctx, ctx && model && out);
  mbg__modes_work w = {.ctx = ctx, .given = model, .opt = defaults};
  *out = NULL;
  int err = mbg__options_take(ctx, "modes", options, &w.opt, sizeof(w.opt));
  if (err == MBG_OK && w.opt.at == MBG_MODES_EQUILIBRIUM) {
    err = mbg__rates_refused(ctx, model, "a search for an equilibrium", "take the modes about 'steady' or 'start'");
  }
  if (err < 0) {
    return err;
  }
  if (w.opt.count < 0) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "the number of modes must not be negative, is %d", w.opt.count);
  }
  if (!mbg_modes_at_name((int)w.opt.at)) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "modes are computed about the equilibrium, the start or a steady motion");
  }
  w.opt.count = w.opt.count > 0 ? w.opt.count : 10;
  mbg_modes *modes = mbg__alloc_zero(ctx, 1, sizeof(*modes));
  if (!modes) {
    return mbg__fail_memory(ctx);
  }
  mbg__arena_init(&modes->arena, mbg__context_allocator(ctx));
  mbg__arena_init(&w.arena, mbg__context_allocator(ctx));
  modes->model = model;
  err = solve(&w, modes);
  mbg__saddle_destroy(&w.saddle);
  mbg__start_destroy(w.start);
  mbg__system_destroy(w.sys);
  mbg__arena_destroy(&w.arena);
  if (err < 0) {
    mbg_modes_destroy(modes);
    return err;
  }
  *out = modes;
  return MBG_OK;
}

void mbg_modes_destroy(mbg_modes *modes) {
  if (!modes) {
    return;
  }
  const mbg_allocator allocator = modes->arena.allocator;
  mbg__arena_destroy(&modes->arena);
  allocator.release(allocator.user, modes);
}

/* ---------------------------------------------------------------------- looking */

const mbg_modes_summary *mbg_modes_get_summary(const mbg_modes *modes) { return modes ? &modes->summary : NULL; }

const mbg_mode *mbg_modes_get_mode(const mbg_modes *modes, int index) {
  return has(modes, index) ? &modes->modes[index] : NULL;
}

const double *mbg_modes_shape(const mbg_modes *modes, int index, int part) {
  return has(modes, index) && (part == 0 || part == 1) ? modes->shape[part][index] : NULL;
}

static const double *gradient(const mbg_modes *modes, int index, int which) {
  return has(modes, index) && modes->gradient[which] ? modes->gradient[which][index] : NULL;
}

const double *mbg_modes_frequency_gradient(const mbg_modes *modes, int index) { return gradient(modes, index, 0); }

const double *mbg_modes_damping_gradient(const mbg_modes *modes, int index) { return gradient(modes, index, 1); }

const double *mbg_modes_eigenvalue_gradient(const mbg_modes *modes, int index, int part) {
  return part == 0 || part == 1 ? gradient(modes, index, 2 + part) : NULL;
}

const double *mbg_modes_body_position(const mbg_modes *modes, int body) {
  return has_body(modes, body) ? modes->position[body] : NULL;
}

const char *mbg_modes_body_name(const mbg_modes *modes, int body) {
  return has_body(modes, body) ? modes->model->bodies[body].name : NULL;
}

const mbg_modes_line *mbg_modes_get_line(const mbg_modes *modes, int index) {
  return modes && index >= 0 && index < modes->summary.lines ? &modes->lines[index] : NULL;
}
