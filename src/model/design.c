/* a = A(p): constants, attributes, poses, mass matrices at one set of parameters, and dA/dp as a sparse matrix.

   With s = (p, c) and c = c(s) the constants, a formula f(s) has df/dp = f_p + sum_k f_ck dc_k/dp; rows of dc/dp and
   da/dp are sparse, their patterns are fixed when the design is made. The curvatures of a cubic control are m = S y
   with the samples y: S is full, so their rows are not kept, and products with them are solves with the spline's band
   matrix. */
#include "model/design.h"

#include "model/pose.h"

#include <string.h>

struct mbg__design_work {
  /* rows of dc/dp */
  int *cstart, *ccol;
  real *cval;
  /* one dense row of parameters, its stamps, and the inputs of one formula */
  real *row;
  int *stamp;
  real *x, *g, *scratch;
  /* one control's column of samples and its curvatures */
  real *column, *curvature;
  /* attributes of the nominal design that the report of a bad value may name are found in the model */
};

/* ---------------------------------------------------------------------- patterns */

/* adds the parameters of a formula to the row being built (stamped by `mark`), returns how many were new */
static int formula_pattern(const mbg__design *d, const mbg__formula *f, int mark, int *col, int n) {
  const mbg_model *m = d->model;
  struct mbg__design_work *w = d->work;
  const int ninput = mbg__formula_inputs(f);
  for (int k = 0; k < ninput; k++) {
    const int i = f->input[k];
    const int first = i < m->np ? 0 : w->cstart[i - m->np];
    const int last = i < m->np ? 1 : w->cstart[i - m->np + 1];
    for (int e = first; e < last; e++) {
      const int p = i < m->np ? i : w->ccol[e];
      if (w->stamp[p] != mark) {
        w->stamp[p] = mark;
        if (col) {
          col[n] = p;
        }
        n++;
      }
    }
  }
  return n;
}

/* one row of da/dp: count (col NULL) or fill; curvatures have none */
static int attribute_pattern(const mbg__design *d, int i, int mark, int *col) {
  const mbg__attribute *a = &d->model->attributes[i];
  return a->control < 0 ? formula_pattern(d, &a->formula, mark, col, 0) : 0;
}

static int constants_pattern(mbg_context *ctx, mbg__arena *arena, mbg__design *d) {
  const mbg_model *m = d->model;
  struct mbg__design_work *w = d->work;
  size_t room = 64;
  int *col = mbg__alloc(ctx, room, sizeof(int));
  int nnz = 0;
  w->ccol = col;
  for (int i = 0; w->ccol && i < m->nconstant; i++) {
    /* a constant needs np entries at most */
    if (room < (size_t)nnz + (size_t)m->np) {
      room = 2 * ((size_t)nnz + (size_t)m->np);
      int *more = mbg__resize(ctx, w->ccol, room, sizeof(int));
      if (!more) {
        mbg__free(ctx, w->ccol);
        w->ccol = NULL;
        break;
      }
      w->ccol = more;
    }
    w->cstart[i] = nnz;
    nnz += formula_pattern(d, &m->constants[i].formula, i + 1, w->ccol + nnz, 0);
    w->cstart[i + 1] = nnz;
  }
  int *kept = w->ccol ? MBG_TAKE(arena, int, nnz) : NULL;
  w->cval = MBG_TAKE(arena, real, nnz);
  if (kept && nnz > 0) {
    memcpy(kept, w->ccol, (size_t)nnz * sizeof(int));
  }
  mbg__free(ctx, w->ccol);
  w->ccol = kept;
  return kept && w->cval ? MBG_OK : mbg__fail_memory(ctx);
}

static int attributes_pattern(mbg_context *ctx, mbg__arena *arena, mbg__design *d) {
  const mbg_model *m = d->model;
  int mark = m->nconstant + 1;
  d->start[0] = 0;
  for (int i = 0; i < m->na; i++) {
    d->start[i + 1] = d->start[i] + attribute_pattern(d, i, mark++, NULL);
  }
  d->col = MBG_TAKE(arena, int, d->start[m->na]);
  d->val = MBG_TAKE(arena, real, d->start[m->na]);
  if (mbg__arena_check(ctx, arena) < 0) {
    return MBG_ERROR_MEMORY;
  }
  for (int i = 0; i < m->na; i++) {
    attribute_pattern(d, i, mark++, d->col + d->start[i]);
  }
  return MBG_OK;
}

/* ---------------------------------------------------------------------- creation */

static void largest_formula(const mbg__formula *f, int *ninput, size_t *scratch) {
  if (f->expr) {
    const size_t s = mbg__expr_scratch(f->expr);
    const int n = mbg__formula_inputs(f);
    *ninput = n > *ninput ? n : *ninput;
    *scratch = s > *scratch ? s : *scratch;
  }
}

static int create_work(mbg_context *ctx, mbg__arena *arena, mbg__design *d) {
  const mbg_model *m = d->model;
  struct mbg__design_work *w = d->work;
  int ninput = 1, nknot = 1;
  size_t scratch = 1;
  for (int i = 0; i < m->nconstant; i++) {
    largest_formula(&m->constants[i].formula, &ninput, &scratch);
  }
  for (int i = 0; i < m->na; i++) {
    largest_formula(&m->attributes[i].formula, &ninput, &scratch);
  }
  for (int i = 0; i < m->ncontrol; i++) {
    nknot = m->controls[i].spline->n > nknot ? m->controls[i].spline->n : nknot;
  }
  w->cstart = MBG_TAKE(arena, int, m->nconstant + 1);
  w->row = MBG_TAKE(arena, real, m->np);
  w->stamp = MBG_TAKE(arena, int, m->np);
  w->x = MBG_TAKE(arena, real, ninput);
  w->g = MBG_TAKE(arena, real, ninput);
  w->scratch = MBG_TAKE(arena, real, scratch);
  w->column = MBG_TAKE(arena, real, nknot);
  w->curvature = MBG_TAKE(arena, real, nknot);
  return mbg__arena_check(ctx, arena);
}

/* without them the poses and masses have values alone */
static int take_derivatives(mbg_context *ctx, mbg__arena *arena, mbg__design *d) {
  const mbg_model *m = d->model;
  for (int i = 0; i < m->npose; i++) {
    const int n = m->poses[i].ndep;
    d->poses[i].dep = MBG_TAKE(arena, int, n);
    d->poses[i].omega = mbg__arena_take(arena, (size_t)n, sizeof(real[6]));
  }
  for (int i = 0; i < m->nbody; i++) {
    d->M_a[i] = MBG_TAKE(arena, real, 36 * m->bodies[i].nattr);
  }
  return mbg__arena_check(ctx, arena);
}

static int create(mbg_context *ctx, mbg__arena *arena, const mbg_model *m, bool derivatives, mbg__design **out) {
  int err = MBG_OK;
  mbg__design *d = MBG_TAKE(arena, mbg__design, 1);
  *out = d;
  MBG_TRY(mbg__arena_check(ctx, arena));
  d->model = m;
  d->work = MBG_TAKE(arena, struct mbg__design_work, 1);
  d->p = MBG_TAKE(arena, real, m->np);
  d->constants = MBG_TAKE(arena, real, m->nconstant);
  d->attr = MBG_TAKE(arena, real, m->na);
  d->start = MBG_TAKE(arena, int, m->na + 1);
  d->poses = MBG_TAKE(arena, mbg__placed, m->npose);
  d->markers = MBG_TAKE(arena, mbg__placed *, m->nmarker);
  d->M = MBG_TAKE(arena, real, 36 * m->nbody);
  d->M_a = MBG_TAKE(arena, real *, m->nbody);
  d->guess_v = MBG_TAKE(arena, real, m->nw);
  d->shapes = MBG_TAKE(arena, mbg__beam_shape, m->nreference);
  d->elements = MBG_TAKE(arena, mbg__beam_data, m->nelement);
  d->modals = MBG_TAKE(arena, mbg__modal_data, m->nmodal);
  d->handles = MBG_TAKE(arena, mbg__modal_handle, m->nmarker);
  MBG_TRY(mbg__arena_check(ctx, arena));
  for (int i = 0; i < m->nmarker; i++) {
    d->markers[i] = &d->poses[m->markers[i].pose];
  }
  MBG_TRY(create_work(ctx, arena, d));
  if (derivatives) {
    MBG_TRY(take_derivatives(ctx, arena, d));
  }
  MBG_TRY(mbg__design_create_modals(ctx, arena, d));
  MBG_TRY(constants_pattern(ctx, arena, d));
  MBG_TRY(attributes_pattern(ctx, arena, d));
done:
  return err;
}

int mbg__design_create(mbg_context *ctx, mbg__arena *arena, const mbg_model *m, mbg__design **out) {
  return create(ctx, arena, m, true, out);
}

int mbg__design_create_plain(mbg_context *ctx, mbg__arena *arena, const mbg_model *m, mbg__design **out) {
  return create(ctx, arena, m, false, out);
}

/* ---------------------------------------------------------------------- values and dA/dp */

/* value of a formula; its derivative is added to the dense row */
static int formula_value(mbg_context *ctx, const mbg__design *d, const mbg__formula *f, real *value) {
  const mbg_model *m = d->model;
  struct mbg__design_work *w = d->work;
  if (!f->expr) {
    *value = f->number;
    return MBG_OK;
  }
  const int n = mbg__formula_inputs(f);
  for (int k = 0; k < n; k++) {
    const int i = f->input[k];
    w->x[k] = i < m->np ? d->p[i] : d->constants[i - m->np];
  }
  const int err = mbg__expr_gradient(ctx, f->expr, w->x, w->scratch, value, w->g);
  for (int k = 0; err == MBG_OK && k < n; k++) {
    const int i = f->input[k];
    if (i < m->np) {
      w->row[i] += w->g[k];
      continue;
    }
    for (int e = w->cstart[i - m->np]; e < w->cstart[i - m->np + 1]; e++) {
      w->row[w->ccol[e]] += w->g[k] * w->cval[e];
    }
  }
  return err;
}

/* moves the dense row to its sparse place and clears it */
static void take_row(const mbg__design *d, const int *col, real *val, int n) {
  for (int e = 0; e < n; e++) {
    val[e] = d->work->row[col[e]];
    d->work->row[col[e]] = 0;
  }
}

static bool is_cubic(const mbg__control *c) { return c->spline->interpolation == MBG__CUBIC; }

static int update_numbers(mbg_context *ctx, mbg__design *d) {
  const mbg_model *m = d->model;
  struct mbg__design_work *w = d->work;
  int err = MBG_OK;
  memset(w->row, 0, (size_t)m->np * sizeof(real));
  for (int i = 0; i < m->nconstant; i++) {
    MBG_TRY(formula_value(ctx, d, &m->constants[i].formula, &d->constants[i]));
    take_row(d, w->ccol + w->cstart[i], w->cval + w->cstart[i], w->cstart[i + 1] - w->cstart[i]);
  }
  for (int i = 0; i < m->na; i++) {
    if (m->attributes[i].control < 0) {
      MBG_TRY(formula_value(ctx, d, &m->attributes[i].formula, &d->attr[i]));
      take_row(d, d->col + d->start[i], d->val + d->start[i], d->start[i + 1] - d->start[i]);
    }
  }
  mbg__design_curvatures(d, d->attr);
done:
  return err;
}

/* ---------------------------------------------------------------------- checks */

static int check_keys(mbg_context *ctx, const mbg__design *d, const mbg__key *keys, int nkey, int attr) {
  for (int k = 0; k < nkey; k++) {
    static const int width[] = {1, 3, 21};
    if (keys[k].kind > MBG__KEY_SYM6) {
      continue;
    }
    for (int j = 0; j < width[keys[k].kind]; j++, attr++) {
      const mbg__part x = re(d->attr[attr]);
      const bool bad = (keys[k].sign == MBG__NOT_NEGATIVE && x < 0) || (keys[k].sign == MBG__POSITIVE && x <= 0);
      if (bad) {
        const mbg__attribute *a = &d->model->attributes[attr];
        const mbg__where at = mbg__attribute_where(a);
        return mbg__fail_at(ctx, MBG_ERROR_INPUT, &at, 0, "%s is %g at these parameters; it must be %s", a->label->key,
                            (double)x, keys[k].sign == MBG__POSITIVE ? "positive" : "zero or positive");
      }
    }
  }
  return MBG_OK;
}

/* Products of mass and inverse mass lose digits where doubles underflow. */
static int check_mass(mbg_context *ctx, const mbg__design *d, const mbg__body *body) {
  static const double least = 1e-290;
  for (int i = 0; body->modal < 0 && body->carrier < 0 && i < body->nattr; i++) {
    const mbg__attribute *a = &d->model->attributes[body->attr + i];
    const mbg__part x = fabs(re(d->attr[body->attr + i]));
    if (!strcmp(a->label->key, "mass") && x > 0 && x < least) {
      const mbg__where at = mbg__attribute_where(a);
      return mbg__fail_at(ctx, MBG_ERROR_INPUT, &at, 0,
                          "mass is %g at these parameters; double precision needs at least %g, or 0", (double)x, least);
    }
  }
  return MBG_OK;
}

static int check_values(mbg_context *ctx, const mbg__design *d) {
  const mbg_model *m = d->model;
  int err = MBG_OK;
  for (int i = 0; i < m->na; i++) {
    if (isnan(re(d->attr[i]))) {
      const mbg__attribute *a = &m->attributes[i];
      const mbg__where at = mbg__attribute_where(a);
      return mbg__fail_at(ctx, MBG_ERROR_INPUT, &at, 0, "%s is not a number at these parameters", a->label->key);
    }
  }
  for (int i = 0; i < m->nbody; i++) {
    MBG_TRY(check_keys(ctx, d, m->bodies[i].type->keys, m->bodies[i].type->nkey, m->bodies[i].attr));
    MBG_TRY(check_mass(ctx, d, &m->bodies[i]));
  }
  for (int i = 0; i < m->njoint; i++) {
    const mbg__joint *j = &m->joints[i];
    MBG_TRY(j->law < 0 ? check_keys(ctx, d, j->type->keys, j->type->nkey, j->attr) : MBG_OK); /* a law: no attribute */
  }
  for (int i = 0; i < m->nforce; i++) {
    const mbg__force *f = &m->forces[i];
    MBG_TRY(check_keys(ctx, d, f->law ? f->law->keys : f->type->keys, f->law ? f->law->nkey : f->type->nkey, f->attr));
  }
  MBG_TRY(mbg__design_check_beams(ctx, d));
done:
  return err;
}

/* ---------------------------------------------------------------------- geometry */

static int update_poses(mbg_context *ctx, mbg__design *d) {
  const mbg_model *m = d->model;
  for (int i = 0; i < m->npose; i++) {
    const mbg__pose *pose = &m->poses[i];
    int where = 0;
    if (!mbg__pose_eval(m->ops + pose->first, pose->count, d->attr, d->poses, &d->poses[i], &where)) {
      const mbg__attribute *a = &m->attributes[m->ops[pose->first + where].attr];
      const mbg__where at = mbg__attribute_where(a);
      return mbg__fail_at(ctx, MBG_ERROR_INPUT, &at, 0,
                          "%s: a direction has length zero, or two directions are parallel", a->label->key);
    }
  }
  return MBG_OK;
}

/* The guessed velocity (V, Om) is given in the world, in a part's frame P mirrored by S, or in the body itself:
     U = A S V,  W = A det(S) S Om,  A = R^T R_P  (1 in the body). */
static void guess_given(const mbg__body *b, const real *a, real s[6]) {
  const double det = b->velocity_sign[0] * b->velocity_sign[1] * b->velocity_sign[2];
  for (int k = 0; k < 3; k++) {
    s[k] = b->velocity_sign[k] * a[b->velocity + k];
    s[3 + k] = det * b->velocity_sign[k] * a[b->velocity + 3 + k];
  }
}

static void guess_axes(const mbg__design *d, const mbg__body *b, real A[9]) {
  const mbg__frame *H = &d->poses[b->guess].h;
  if (b->velocity_in_body) {
    m3_identity(A);
  } else if (b->velocity_frame >= 0) {
    m3_mul_TN(A, H->R, d->poses[b->velocity_frame].h.R);
  } else {
    m3_transpose(A, H->R);
  }
}

/* ... at the point where it is given */
static void guess_twist(const mbg__design *d, const mbg__body *b, real v[6]) {
  real A[9], s[6];
  guess_axes(d, b, A);
  guess_given(b, d->attr, s);
  m3_mulv(v, A, s);
  m3_mulv(v + 3, A, s + 3);
}

/* ... and at the body's origin: U + W x rho */
static void guess_at_origin(const mbg__design *d, const mbg__body *b, real v[6]) {
  guess_twist(d, b, v);
  if (b->velocity_point >= 0) {
    real rho[3];
    mbg__design_lever(d, b, rho);
    v3_cross_add(v, 1, v + 3, rho);
  }
}

static void update_bodies(mbg__design *d) {
  const mbg_model *m = d->model;
  for (int i = 0; i < m->nbody; i++) {
    const mbg__body *b = &m->bodies[i];
    b->type->inertia(d->attr + b->attr, b->opt, d->M + 36 * i, d->M_a[i]);
    guess_at_origin(d, b, d->guess_v + b->voff);
    for (int k = 0; k < 6; k++) {
      if (!(b->mask >> k & 1)) {
        d->guess_v[b->voff + k] = 0;
      }
    }
  }
}

int mbg__design_update(mbg_context *ctx, mbg__design *d, const real *p) {
  int err = MBG_OK;
  for (int i = 0; i < d->model->np; i++) {
    if (!isfinite(re(p[i]))) {
      return mbg__fail(ctx, MBG_ERROR_INPUT, "parameter %d of %d is not finite", i, d->model->np);
    }
    d->p[i] = p[i];
  }
  MBG_TRY(update_numbers(ctx, d));
  MBG_TRY(check_values(ctx, d));
  MBG_TRY(mbg__design_refresh(ctx, d));
  MBG_TRY(mbg__design_check_modals(ctx, d));
done:
  return err;
}

int mbg__design_refresh(mbg_context *ctx, mbg__design *d) {
  const int err = update_poses(ctx, d);
  if (err == MBG_OK) {
    update_bodies(d);
    mbg__design_update_beams(d);
    mbg__design_update_modals(d);
  }
  return err;
}

/* ---------------------------------------------------------------------- products */

void mbg__design_curvatures(const mbg__design *d, real *a) {
  for (int i = 0; i < d->model->ncontrol; i++) {
    const mbg__control *c = &d->model->controls[i];
    if (is_cubic(c)) {
      mbg__spline_curvature(c->spline, a + c->attr, a + c->attr + c->spline->n);
    }
  }
}

/* g_p += A_p^T g_a by one row */
static void pull_row(const mbg__design *d, int i, real ga, real *gp) {
  for (int e = d->start[i]; e < d->start[i + 1]; e++) {
    gp[d->col[e]] += d->val[e] * ga;
  }
}

void mbg__design_push(const mbg__design *d, const real *dp, real *da) {
  for (int i = 0; i < d->model->na; i++) {
    da[i] = 0;
    for (int e = d->start[i]; e < d->start[i + 1]; e++) {
      da[i] += d->val[e] * dp[d->col[e]];
    }
  }
  mbg__design_curvatures(d, da);
}

/* y_bar = S^T m_bar of a cubic control, in the scratch */
static const real *samples_bar(const mbg__design *d, const mbg__control *c, const real *ga) {
  struct mbg__design_work *w = d->work;
  const size_t n = (size_t)c->spline->n;
  memcpy(w->curvature, ga + (size_t)c->attr + n, n * sizeof(real));
  memset(w->column, 0, n * sizeof(real));
  mbg__spline_curvature_T(c->spline, w->curvature, w->column);
  return w->column;
}

void mbg__design_pull(const mbg__design *d, const real *ga, real *gp) {
  const mbg_model *m = d->model;
  for (int i = 0; i < m->na; i++) {
    pull_row(d, i, ga[i], gp);
  }
  for (int i = 0; i < m->ncontrol; i++) {
    const mbg__control *c = &m->controls[i];
    const real *bar = is_cubic(c) ? samples_bar(d, c, ga) : NULL;
    for (int k = 0; bar && k < c->spline->n; k++) {
      pull_row(d, c->attr + k, bar[k], gp);
    }
  }
}

void mbg__design_fold(const mbg__design *d, real *ga) {
  for (int i = 0; i < d->model->ncontrol; i++) {
    const mbg__control *c = &d->model->controls[i];
    const int n = c->spline->n;
    const real *bar = is_cubic(c) ? samples_bar(d, c, ga) : NULL;
    for (int k = 0; bar && k < n; k++) {
      ga[c->attr + k] += bar[k];
      ga[c->attr + n + k] = 0;
    }
  }
}

/* dU = A S dV + U x w_W when the twist is not given in the body (R^T varies), the same for W; a part's frame with the
   variation w_P adds A (w_P x S V). */
void mbg__design_guess_push(const mbg__design *d, int body, const real *da, real w[6], real dv[6]) {
  const mbg__body *b = &d->model->bodies[body];
  const mbg__placed *g = &d->poses[b->guess];
  real A[9], s[6], ds[6], v[6] = {0};
  v6_zero(w);
  for (int k = 0; k < g->ndep; k++) {
    v6_axpy(w, da[g->dep[k]], g->omega[k]);
  }
  guess_axes(d, b, A);
  guess_given(b, d->attr, s);
  guess_given(b, da, ds);
  if (!b->velocity_in_body && b->velocity_frame >= 0) {
    const mbg__placed *P = &d->poses[b->velocity_frame];
    for (int k = 0; k < P->ndep; k++) {
      v3_cross_add(ds, da[P->dep[k]], P->omega[k] + 3, s);
      v3_cross_add(ds + 3, da[P->dep[k]], P->omega[k] + 3, s + 3);
    }
  }
  m3_mulv(dv, A, ds);
  m3_mulv(dv + 3, A, ds + 3);
  if (!b->velocity_in_body) {
    guess_twist(d, b, v);
    v3_cross_add(dv, 1, v, w + 3);
    v3_cross_add(dv + 3, 1, v + 3, w + 3);
  }
  if (b->velocity_point >= 0) {
    mbg__design_lever_push(d, b, da, w, v, dv);
  }
}

void mbg__design_guess_pull(const mbg__design *d, int body, const real gw[6], const real gv0[6], real *ga) {
  const mbg__body *b = &d->model->bodies[body];
  const mbg__placed *g = &d->poses[b->guess];
  const double det = b->velocity_sign[0] * b->velocity_sign[1] * b->velocity_sign[2];
  real A[9], s[6], gs[6], w[6], v[6], gv[6];
  v6_copy(gv, gv0);
  v6_copy(w, gw);
  if (b->velocity_point >= 0) {
    guess_twist(d, b, v);
    mbg__design_lever_pull(d, b, v, gv, w, ga);
  }
  guess_axes(d, b, A);
  guess_given(b, d->attr, s);
  m3_mulv_T(gs, A, gv);
  m3_mulv_T(gs + 3, A, gv + 3);
  for (int k = 0; k < 3; k++) {
    ga[b->velocity + k] += b->velocity_sign[k] * gs[k];
    ga[b->velocity + 3 + k] += det * b->velocity_sign[k] * gs[3 + k];
  }
  if (!b->velocity_in_body) {
    /* gv.(U x w) = w.(gv x U) */
    guess_twist(d, b, v);
    v3_cross_add(w + 3, 1, gv, v);
    v3_cross_add(w + 3, 1, gv + 3, v + 3);
  }
  for (int k = 0; k < g->ndep; k++) {
    ga[g->dep[k]] += v6_dot(w, g->omega[k]);
  }
  if (!b->velocity_in_body && b->velocity_frame >= 0) {
    const mbg__placed *P = &d->poses[b->velocity_frame];
    real c[3];
    v3_cross(c, s, gs);
    v3_cross_add(c, 1, s + 3, gs + 3);
    for (int k = 0; k < P->ndep; k++) {
      ga[P->dep[k]] += v3_dot(c, P->omega[k] + 3);
    }
  }
}
