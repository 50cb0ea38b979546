/* With phi_D = T phi_I up to second order along a parameter:

     positions   phi_D,p = T phi_I,p
     motions     (dB_D - T dB_I) v = 0 for v with B v = 0, d along the parameter with the start following (w0)

   The second finds a hinge that moves out of line: its rows hold at the start and forbid the motion. */
#include "start/redundancy.h"

#include "mbgrad/model.h"
#include "system/saddle.h"

enum { MOTIONS = 2 };

typedef struct {
  mbg_context *ctx;
  mbg__arena arena;
  const mbg_model *m;
  mbg__system *sys;
  mbg__start_work *start;
  const mbg__start_result *at;
  real *dp, *da, *w, *v, *row; /* np, na, nw, nw, nrow */
  real *motion[MOTIONS];       /* feasible twists of unit size  (nw) */
  real *B, *x;                 /* scratch: by the pattern of B, nv + nrow */
  bool *geometric, *sample;    /* parameters that may move rows (np); samples of controls (na) */
} probe;

static int take_arrays(probe *b) {
  const mbg_model *m = b->m;
  b->dp = MBG_TAKE(&b->arena, real, m->np);
  b->da = MBG_TAKE(&b->arena, real, m->na);
  b->w = MBG_TAKE(&b->arena, real, m->nw);
  b->v = MBG_TAKE(&b->arena, real, m->nw);
  b->row = MBG_TAKE(&b->arena, real, m->nrow);
  for (int k = 0; k < MOTIONS; k++) {
    b->motion[k] = MBG_TAKE(&b->arena, real, m->nw);
  }
  b->geometric = MBG_TAKE(&b->arena, bool, m->np);
  b->sample = MBG_TAKE(&b->arena, bool, m->na);
  b->B = MBG_TAKE(&b->arena, real, mbg__csc_count(mbg__system_pattern_B(b->sys)));
  b->x = MBG_TAKE(&b->arena, real, m->nv + m->nrow);
  return mbg__arena_check(b->ctx, &b->arena);
}

/* constraints alone at the start, with a twist */
static int at_start(probe *b, const real *v) {
  const mbg__state state = {.t = b->at->t, .H = b->at->H, .v = v, .turns = b->at->turns};
  const int err = mbg__system_update_bare(b->ctx, b->sys, &state);
  return err < 0 ? err : mbg__system_linearize(b->ctx, b->sys);
}

/* arbitrary twists, projected: [1 B^T; B 0] (v, .) = (x, 0) */
static int make_motions(probe *b) {
  const mbg_model *m = b->m;
  mbg__saddle saddle = {0};
  real one[36] = {0};
  int err = MBG_OK;
  real *B = b->B, *x = b->x;
  MBG_TRY(at_start(b, NULL));
  MBG_TRY(mbg__saddle_create(b->ctx, &b->arena, b->sys, 0, NULL, MBG__KLU_FRESH, &saddle));
  mbg__system_matrices(b->sys, &(mbg__matrices){.B = B});
  mbg__saddle_clear(&saddle);
  for (int k = 0; k < 6; k++) {
    one[7 * k] = 1;
  }
  for (int i = 0; i < m->nbody; i++) {
    mbg__saddle_add_body(&saddle, i, 1, one);
  }
  mbg__saddle_add_rows(&saddle, B, B, b->at->rank->keep, NULL);
  MBG_TRY(mbg__saddle_factor(b->ctx, &saddle, "redundant rows"));
  for (int k = 0; k < MOTIONS; k++) {
    vn_zero(m->nv + m->nrow, x);
    for (int j = 0; j < m->nv; j++) {
      x[j] = sin(1.7 * (j + 1) * (k + 1)) + 0.3;
    }
    mbg__klu_solve(saddle.klu, x, 1);
    mbg__to_full(m, 1, x, b->motion[k]);
  }
done:
  mbg__saddle_destroy(&saddle);
  return err;
}

static int refuse(const probe *b, int p, int row) {
  char name[128], label[160];
  mbg_model_parameter_name(b->m, p, name, sizeof(name));
  mbg__row_label(b->m, row, label, sizeof(label));
  return mbg__fail(b->ctx, MBG_ERROR_INPUT,
                   "parameter '%s' cannot be varied: the redundant %s would no longer agree with the other rows, so "
                   "the mechanism could not be assembled",
                   name, label);
}

/* size of a direction, to tell a difference from rounding */
static double size_of(int n, const real *x) {
  double most = 0;
  for (int i = 0; i < n; i++) {
    most = fmax(most, fabs(re(x[i])));
  }
  return most;
}

static int check_parameter(probe *b, int p) {
  const mbg_model *m = b->m;
  const mbg__direction geometry = {.da = b->da}, both = {.w = b->w, .da = b->da};
  int err = MBG_OK, row;
  b->dp[p] = 1;
  mbg__design_push(mbg__system_design(b->sys), b->dp, b->da);
  b->dp[p] = 0;
  const double size = size_of(m->na, b->da);
  MBG_TRY(at_start(b, NULL));
  mbg__system_push(b->sys, &geometry, NULL, b->row, NULL, NULL);
  row = mbg__rank_inconsistent(m, b->at->rank, b->row, false, 1e-9 * size);
  if (row >= 0) {
    return refuse(b, p, row);
  }
  MBG_TRY(mbg__start_push(b->ctx, b->start, b->da, b->w, b->v));
  for (int k = 0; k < MOTIONS; k++) {
    MBG_TRY(at_start(b, b->motion[k]));
    mbg__system_push(b->sys, &both, NULL, NULL, b->row, NULL);
    row = mbg__rank_inconsistent(m, b->at->rank, b->row, true, 1e-7 * (size + size_of(m->nw, b->w)));
    if (row >= 0) {
      return refuse(b, p, row);
    }
  }
done:
  return err;
}

/* does a driver follow the control? */
static bool drives(const mbg_model *m, int control) {
  for (int i = 0; i < m->nterm; i++) {
    const mbg__fn *fn = m->terms[i].law >= 0 ? &m->fns[m->terms[i].law] : NULL;
    for (int k = 0; fn && k < fn->ninput; k++) {
      if (fn->input[k].role == MBG__ROLE_CTRL && fn->input[k].index == control) {
        return true;
      }
    }
  }
  return false;
}

/* Parameters that may move rows: all but the samples of controls that act by forces alone, of which there may be
   thousands. In an equilibrium forces move the start. */
static void mark_geometric(const probe *b) {
  const mbg_model *m = b->m;
  const mbg__design *d = mbg__system_design(b->sys);
  for (int c = 0; m->start != MBG__START_EQUILIBRIUM && c < m->ncontrol; c++) {
    const int n = drives(m, c) ? 0 : m->controls[c].spline->n;
    for (int k = 0; k < n; k++) {
      b->sample[m->controls[c].attr + k] = true;
    }
  }
  for (int i = 0; i < m->na; i++) {
    for (int e = d->start[i]; !b->sample[i] && e < d->start[i + 1]; e++) {
      b->geometric[d->col[e]] = true;
    }
  }
}

int mbg__check_parameters(mbg_context *ctx, mbg__system *sys, mbg__start_work *start) {
  probe b = {.ctx = ctx, .m = mbg__system_model(sys), .sys = sys, .start = start, .at = mbg__start_result_of(start)};
  int err = MBG_OK;
  if (b.at->rank->ndropped == 0) {
    return MBG_OK;
  }
  mbg__arena_init(&b.arena, mbg__context_allocator(ctx));
  MBG_TRY(take_arrays(&b));
  MBG_TRY(make_motions(&b));
  mark_geometric(&b);
  for (int p = 0; p < b.m->np; p++) {
    if (b.geometric[p]) {
      MBG_TRY(check_parameter(&b, p));
    }
  }
done:
  mbg__arena_destroy(&b.arena);
  return err;
}
