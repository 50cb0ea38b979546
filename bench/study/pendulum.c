/* The torsional pendulum of the paper: a point of mass m at the distance l from the origin, spring of stiffness c on
   its direction.

     alpha'' = -k alpha,  k = c/(m l^2),  w = sqrt(k)        alpha(t) = alpha0 cos(w t) + alpha0' sin(w t)/w
     psi = l sin(alpha(t1))                                  (S38), (S39) with alpha0' = 0 */
#include "bench/study/study_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  int l, m, c; /* attributes */
  double T;
  double value_l, value_m, value_c, k;
  double x[2], v[2]; /* at the start */
  double alpha, alphad;
} pendulum;

/* psi by l (explicit), k, alpha0 and alpha0' */
typedef struct {
  double psi, l, k, alpha, alphad;
  double m, c; /* explicit */
} result;

/* ---------------------------------------------------------------------- the model */

static int attribute(const mbg_model *m, const char *kind, const char *name, const char *key) {
  char owner[256];
  snprintf(owner, sizeof(owner), "%s '%s'", kind, name);
  for (int i = 0; i < m->na; i++) {
    if (!strcmp(m->attributes[i].owner, owner) && !strcmp(m->attributes[i].label->key, key)) {
      return i;
    }
  }
  return -1;
}

/* a rod and a spring from the origin of the ground to the bob, nothing else */
static bool has_the_parts(const mbg_model *m) {
  return m->nbody == 1 && m->bodies[0].motion == MBG__PLANAR_POINT && m->njoint == 1 && m->nrow == 1 &&
         !strcmp(m->joints[0].type->key, "distance") && m->nforce == 1 && m->forces[0].law && m->gravity < 0 &&
         !strcmp(m->forces[0].law->key, "torsion-about-point");
}

static bool ends_at_the_height(const mbg_model *m) {
  for (int k = 0; k < m->ncriterion; k++) {
    const mbg__signal *y = m->criteria[k].signal >= 0 ? &m->signals[m->criteria[k].signal] : NULL;
    if (m->criteria[k].kind != MBG__TERMINAL || !y || strcmp(y->type->key, "position") != 0 || y->opt[0] != 1) {
      return false;
    }
  }
  return m->ncriterion > 0;
}

static bool describe(const study *s, pendulum *p) {
  const mbg_model *m = s->w->m;
  const mbg__start_result *start = mbg__start_result_of(s->w->start);
  const double *attr = mbg__system_design(s->w->flow->sys)->attr;
  if (!has_the_parts(m) || !ends_at_the_height(m)) {
    return false;
  }
  p->l = attribute(m, "joint", m->joints[0].name, "length");
  p->m = attribute(m, "body", m->bodies[0].name, "mass");
  p->c = attribute(m, "force", m->forces[0].name, "stiffness");
  if (p->l < 0 || p->m < 0 || p->c < 0) {
    return false;
  }
  p->value_l = attr[p->l];
  p->value_m = attr[p->m];
  p->value_c = attr[p->c];
  p->k = p->value_c / (p->value_m * p->value_l * p->value_l);
  p->T = s->w->plan.t1 - s->w->plan.t0;
  for (int i = 0; i < 2; i++) {
    p->x[i] = start->H[0].x[i];
    p->v[i] = start->H[0].R[3 * i] * start->v[0] + start->H[0].R[3 * i + 1] * start->v[1];
  }
  p->alpha = atan2(p->x[1], p->x[0]);
  p->alphad = (p->x[0] * p->v[1] - p->x[1] * p->v[0]) / (p->value_l * p->value_l);
  return p->k > 0;
}

/* the closed form must be that of the run: something unusual (an offset, a second spring) would show */
bool study_is_pendulum(const study *s) {
  pendulum p;
  double z[2];
  if (!describe(s, &p)) {
    return false;
  }
  const double w = sqrt(p.k), alpha = p.alpha * cos(w * p.T) + p.alphad * sin(w * p.T) / w;
  mbg__frame H;
  double v[6];
  mbg__qr_state_read(&s->w->flow->state, s->w->z, &H, v);
  z[0] = p.value_l * cos(alpha) - H.x[0];
  z[1] = p.value_l * sin(alpha) - H.x[1];
  return hypot(z[0], z[1]) < 1e-3 * p.value_l;
}

/* from (l, k, alpha0, alpha0') to the parameters */
static int collect(mbg_context *ctx, const study *s, const pendulum *p, const result *r, double *psi,
                   double *gradient) {
  const mbg_model *m = s->w->m;
  const mbg__design *design = mbg__system_design(s->w->flow->sys);
  const double *R = mbg__start_result_of(s->w->start)->H[0].R, l2 = p->value_l * p->value_l;
  /* alpha0 and alpha0' by position and velocity in the world; alpha0' by l through l^2 */
  const double x[2] = {(-r->alpha * p->x[1] + r->alphad * p->v[1]) / l2,
                       (r->alpha * p->x[0] - r->alphad * p->v[0]) / l2};
  const double v[2] = {-r->alphad * p->x[1] / l2, r->alphad * p->x[0] / l2};
  double gw[6] = {0}, gv[6] = {0};
  int err = MBG_OK;
  double *ga = mbg__alloc_zero(ctx, (size_t)m->na, sizeof(double));
  if (!ga) {
    return mbg__fail_memory(ctx);
  }
  for (int j = 0; j < 2; j++) {
    gw[j] = R[j] * x[0] + R[3 + j] * x[1];
    gv[j] = R[j] * v[0] + R[3 + j] * v[1];
  }
  ga[p->l] = r->l - 2 * r->k * p->k / p->value_l - 2 * r->alphad * p->alphad / p->value_l;
  ga[p->m] = r->m - r->k * p->k / p->value_m;
  ga[p->c] = r->c + r->k * p->k / p->value_c;
  MBG_TRY(mbg__start_pull(ctx, s->w->start, gw, gv, ga));
  for (int c = 0; c < m->ncriterion; c++) {
    psi[c] = r->psi;
    memset(gradient + (size_t)c * (size_t)m->np, 0, (size_t)m->np * sizeof(double));
    mbg__design_pull(design, ga, gradient + (size_t)c * (size_t)m->np);
  }
done:
  mbg__free(ctx, ga);
  return err;
}

/* ---------------------------------------------------------------------- closed form */

int study_pendulum_exact(mbg_context *ctx, study *s, double *psi, double *gradient) {
  pendulum p;
  if (!describe(s, &p)) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "the model is not a torsional pendulum");
  }
  const double w = sqrt(p.k), C = cos(w * p.T), S = sin(w * p.T);
  const double alpha = p.alpha * C + p.alphad * S / w, slope = p.value_l * cos(alpha);
  const double alpha_w = -p.alpha * p.T * S + p.alphad * (p.T * C / w - S / (w * w));
  const result r = {.psi = p.value_l * sin(alpha),
                    .l = sin(alpha),
                    .k = slope * alpha_w / (2 * w),
                    .alpha = slope * C,
                    .alphad = slope * S / w};
  return collect(ctx, s, &p, &r, psi, gradient);
}

/* ---------------------------------------------------------------------- minimal coordinates */

typedef struct {
  double k;
  mbg__rk_dense *dense;
} minimal;

static int forward(void *user, double t, const double *y, double *yd) {
  const minimal *a = user;
  (void)t;
  yd[0] = y[1];
  yd[1] = -a->k * y[0];
  return MBG_OK;
}

/* mu' = k nu, nu' = -mu, g' = alpha nu: backward g grows by the integral of -alpha nu */
static int backward(void *user, double t, const double *y, double *yd) {
  const minimal *a = user;
  double alpha;
  mbg__rk_dense_eval(a->dense, t, MBG__RK_LEFT, 0, 1, &alpha, NULL);
  yd[0] = a->k * y[1];
  yd[1] = -y[0];
  yd[2] = alpha * y[1];
  return MBG_OK;
}

static int integrate(mbg_context *ctx, const study *s, const pendulum *p, double *z, double *y, mbg__rk_dense *dense) {
  const mbg__run_plan *plan = &s->w->plan;
  mbg__rk_options options = mbg__rk_options_default();
  minimal a = {.k = p->k, .dense = dense};
  mbg__rk_run run = {.rhs = forward, .user = &a, .t0 = plan->t0, .t1 = plan->t1};
  mbg__rk *rk = NULL;
  int err = MBG_OK;
  options.rtol = plan->relative;
  options.atol = plan->relative + plan->absolute;
  options.dense = true;
  options.max_steps = 10000000;
  MBG_TRY(mbg__rk_create(ctx, 2, &mbg__rk_dop853, &options, &rk));
  MBG_TRY(mbg__rk_integrate(ctx, rk, &run, z, dense));
  mbg__rk_destroy(rk);
  rk = NULL;
  /* as the library: a tenth of the tolerance, relative to the size of the adjoint */
  y[0] = p->value_l * cos(z[0]);
  y[1] = y[2] = 0;
  const double most = fabs(y[0]) * fmax(1, 1 / sqrt(p->k));
  const double atol[3] = {0.1 * plan->relative * most, 0.1 * plan->relative * most, 0.1 * plan->relative * most};
  options.rtol = 0;
  options.atol_vector = atol;
  options.dense = false;
  run = (mbg__rk_run){.rhs = backward, .user = &a, .t0 = plan->t1, .t1 = plan->t0};
  MBG_TRY(mbg__rk_create(ctx, 3, &mbg__rk_dop853, &options, &rk));
  MBG_TRY(mbg__rk_integrate(ctx, rk, &run, y, NULL));
done:
  mbg__rk_destroy(rk);
  return err;
}

int study_pendulum_minimal(mbg_context *ctx, study *s, double *psi, double *gradient) {
  pendulum p;
  mbg__rk_dense dense;
  if (!describe(s, &p)) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "the model is not a torsional pendulum");
  }
  double z[2] = {p.alpha, p.alphad}, y[3];
  int err = MBG_OK;
  mbg__rk_dense_init(&dense, &mbg__rk_dop853, 2);
  MBG_TRY(integrate(ctx, s, &p, z, y, &dense));
  const result r = {.psi = p.value_l * sin(z[0]), .l = sin(z[0]), .k = y[2], .alpha = y[0], .alphad = y[1]};
  MBG_TRY(collect(ctx, s, &p, &r, psi, gradient));
done:
  mbg__rk_dense_free(&s->allocator, &dense);
  return err;
}

/* ---------------------------------------------------------------------- as a revolute body */

char *study_pendulum_revolute(mbg_context *ctx, const study *s) {
  static const char text[] =
      "{\"mbgrad\": 1, \"name\": \"revolute pendulum\", \"parameters\": {\"l\": %.17g, \"m\": %.17g, \"c\": %.17g, "
      "\"alpha\": %.17g}, \"bodies\": {\"bob\": {\"motion\": \"planar\", \"mass\": \"m\", \"inertia\": 0, "
      "\"position\": "
      "[\"l*cos(alpha)\", \"l*sin(alpha)\", 0]}}, \"joints\": {\"rod\": {\"type\": \"revolute\", \"between\": "
      "[\"ground\", "
      "\"bob\"], \"at\": [0, 0, 0]}}, \"forces\": {\"spring\": {\"type\": \"torsion-spring-damper\", \"joint\": "
      "\"rod\", "
      "\"stiffness\": \"c\", \"rest\": \"-alpha\"}}, \"signals\": {\"y\": {\"type\": \"position\", \"of\": \"bob\", "
      "\"component\": \"y\"}}, \"criteria\": {\"psi\": {\"terminal\": \"y\"}}, \"initial\": {\"pin\": {\"rod\": "
      "{\"joint\": "
      "\"rod\", \"coordinate\": \"angle\", \"value\": 0, \"rate\": %.17g}}}, \"run\": {\"start\": %.17g, \"end\": "
      "%.17g}}";
  pendulum p;
  const size_t size = sizeof(text) + 256;
  char *out = malloc(size);
  if (!out || !describe(s, &p)) {
    free(out);
    mbg__fail_memory(ctx);
    return NULL;
  }
  snprintf(out, size, text, p.value_l, p.value_m, p.value_c, p.alpha, p.alphad, s->w->plan.t0, s->w->plan.t1);
  return out;
}

int study_pendulum_gradient(mbg_context *ctx, study *s, const double by[4], double *gradient) {
  pendulum p;
  if (!describe(s, &p)) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "the model is not a torsional pendulum");
  }
  const result r = {.l = by[0], .m = by[1], .c = by[2], .alpha = by[3]};
  double *psi = mbg__alloc_zero(ctx, (size_t)s->w->m->ncriterion, sizeof(double));
  const int err = psi ? collect(ctx, s, &p, &r, psi, gradient) : mbg__fail_memory(ctx);
  mbg__free(ctx, psi);
  return err;
}
