/* Joints on curves and surfaces: contact parameters are found and eliminated here, so that rows are functions of the
   relative frame alone (theory 8, section 9). With psi(y), y = (z, s), stationary in s,

     phi     = psi          phi_i  = psi_i          s_i = -psi_ss^-1 psi_si,    d_i = (e_i, s_i)
     phi_ij  = psi_yy(e_i, d_j)                     phi_ijk = psi_yyy(d_i, d_j, d_k)
     phi_a   = psi_a        phi_ia = psi_ay d_i     phi_ija = psi_ayy(d_i, d_j) + psi_yyy(d_i, d_j, (0, s_a))

   for the third derivatives of a stationary value need first derivatives of s alone. */
#include "model/curve.h"
#include "system/system_internal.h"

#include <string.h>

enum { Z = MBG__CONTACT_Z, S = MBG__CONTACT_S, Y = MBG__CONTACT_Y, ITERATIONS = 60 };

static const double singular = 1e-9, far = 10;

/* Samples of a curve at the design they were made for. */
struct mbg__curve_work {
  int ngiven;
  const int *given; /* attributes */
  real *value;      /* ... at which D and samples hold                      (ngiven) */
  real *D;          /* control points                                       (nbasis x dim) */
  double *samples;  /* (MBG__CURVE_SAMPLES x 3) */
  double extent;    /* of the samples */
  real *arc;        /* arc length up to the end of each panel, NULL: no signal asks for it */
  bool known;
};

/* ---------------------------------------------------------------------- memory */

static int curve_create(mbg__system *s, const mbg__curve *c, mbg__curve_work *w) {
  const mbg_model *m = s->model;
  int n = 0;
  for (int k = 0; c->fn >= 0 && k < c->dim; k++) {
    n += m->fns[c->fn + k].ninput;
  }
  int *given = MBG_TAKE(&s->arena, int, c->fn >= 0 ? n : c->npoint * c->dim);
  w->value = MBG_TAKE(&s->arena, real, c->fn >= 0 ? n : c->npoint * c->dim);
  w->D = MBG_TAKE(&s->arena, real, c->nbasis * c->dim);
  w->samples = MBG_TAKE(&s->arena, double, 3 * MBG__CURVE_SAMPLES);
  if (s->arena.failed) {
    return MBG_ERROR_MEMORY;
  }
  for (int k = 0; c->fn >= 0 && k < c->dim; k++) {
    const mbg__fn *fn = &m->fns[c->fn + k];
    for (int i = 0; i < fn->ninput; i++) {
      if (fn->input[i].role == MBG__ROLE_ATTR) {
        given[w->ngiven++] = fn->input[i].index;
      }
    }
  }
  for (int k = 0; c->fn < 0 && k < c->npoint * c->dim; k++) {
    given[w->ngiven++] = c->attr + k;
  }
  w->given = given;
  return MBG_OK;
}

/* what signals look at: contacts whose rows may have been dropped, lengths of curves */
static void find_signals(mbg__system *s) {
  const mbg_model *m = s->model;
  for (int i = 0; i < m->nsignal; i++) {
    const mbg__signal *sig = &m->signals[i];
    if (sig->type->role != MBG__ROLE_CURVE) {
      continue;
    }
    const int contact = m->joints[m->rows[sig->row].owner].contact, curve = m->contacts[contact].curve[sig->opt[1]];
    s->contacts[contact].seen = true;
    if (sig->opt[0] == MBG__CURVE_ARC && !s->curves[curve].arc) {
      s->curves[curve].arc = MBG_TAKE(&s->arena, real, mbg__curve_panels(&m->curves[curve]) + 1);
    }
  }
}

int mbg__curves_create(mbg_context *ctx, mbg__system *s) {
  const mbg_model *m = s->model;
  s->curves = MBG_TAKE(&s->arena, mbg__curve_work, m->ncurve);
  s->contacts = MBG_TAKE(&s->arena, mbg__contact_work, m->ncontact);
  for (int i = 0; !s->arena.failed && i < m->ncurve; i++) {
    (void)curve_create(s, &m->curves[i], &s->curves[i]);
  }
  for (int i = 0; !s->arena.failed && i < m->ncontact; i++) {
    mbg__contact_work *w = &s->contacts[i];
    w->act = MBG_TAKE(&s->arena, int, m->contacts[i].nact);
    w->s_a = mbg__arena_take(&s->arena, (size_t)m->contacts[i].nact, sizeof(*w->s_a));
    for (int k = 0; k < 2; k++) {
      w->slope[k] = MBG_TAKE(&s->arena, mbg__contact_slope, m->contacts[i].nact);
      w->jet[k].act = w->act;
      w->jet[k].slope = w->slope[k];
    }
  }
  if (!s->arena.failed) {
    find_signals(s);
  }
  return mbg__arena_check(ctx, &s->arena);
}

/* ---------------------------------------------------------------------- curves */

/* r[c][k]: derivative k of component c */
int mbg__curve_point(mbg_context *ctx, mbg__system *s, int i, real at, real r[3][4]) {
  const mbg__curve *c = &s->model->curves[i];
  memset(r, 0, 12 * sizeof(real));
  if (c->fn < 0) {
    mbg__spline_point(c, s->curves[i].D, at, r);
    return MBG_OK;
  }
  for (int k = 0; k < c->dim; k++) {
    mbg__fn_env env;
    mbg__fn_jet jet;
    mbg__env(s, ctx, c->fn, &env);
    const int err = mbg__fn_argument_jet(&env, k, at, &jet);
    if (err < 0) {
      return err;
    }
    memcpy(r[k], jet.f, sizeof(r[k]));
  }
  return MBG_OK;
}

/* control points and samples, when the numbers of the curve have changed */
static int curve_update(mbg_context *ctx, mbg__system *s, int i) {
  const mbg__curve *c = &s->model->curves[i];
  mbg__curve_work *w = &s->curves[i];
  double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, sum = 0;
  bool same = w->known;
  for (int k = 0; k < w->ngiven; k++) {
    same = same && w->value[k] == s->design->attr[w->given[k]];
    w->value[k] = s->design->attr[w->given[k]];
  }
  if (same) {
    return MBG_OK;
  }
  for (int j = 0; c->fn < 0 && j < c->nbasis; j++) {
    for (int x = 0; x < c->dim; x++) {
      real d = 0;
      for (int k = 0; k < c->npoint; k++) {
        d += c->C[(size_t)j * (size_t)c->npoint + (size_t)k] * w->value[k * c->dim + x];
      }
      w->D[j * c->dim + x] = d;
    }
  }
  for (int k = 0; k < MBG__CURVE_SAMPLES; k++) {
    real r[3][4];
    const int err = mbg__curve_point(ctx, s, i, mbg__curve_sample(c, k), r);
    if (err < 0) {
      return err;
    }
    for (int x = 0; x < 3; x++) {
      w->samples[3 * k + x] = re(r[x][0]);
      low[x] = fmin(low[x], re(r[x][0]));
      high[x] = fmax(high[x], re(r[x][0]));
    }
  }
  for (int x = 0; x < 3; x++) {
    sum += (high[x] - low[x]) * (high[x] - low[x]);
  }
  w->extent = sqrt(sum);
  const int err = w->arc ? mbg__curve_arcs(ctx, s, i, w->arc) : MBG_OK;
  w->known = err == MBG_OK;
  return err;
}

real mbg__curve_arc_sum(const mbg__system *s, int curve, int panel) { return s->curves[curve].arc[panel]; }

/* ---------------------------------------------------------------------- small matrices */

/* inverse of a symmetric n x n matrix, n <= 3; returns its determinant */
static real invert(int n, real A[S][S], real I[S][S]) {
  if (n == 1) {
    I[0][0] = 1 / A[0][0];
    return A[0][0];
  }
  if (n == 2) {
    const real det = A[0][0] * A[1][1] - A[0][1] * A[1][0];
    I[0][0] = A[1][1] / det;
    I[1][1] = A[0][0] / det;
    I[0][1] = I[1][0] = -A[0][1] / det;
    return det;
  }
  real det = 0;
  for (int i = 0; i < 3; i++) {
    const int a = (i + 1) % 3, b = (i + 2) % 3;
    det += A[0][i] * (A[1][a] * A[2][b] - A[1][b] * A[2][a]);
  }
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      const int a = (i + 1) % 3, b = (i + 2) % 3, c = (j + 1) % 3, d = (j + 2) % 3;
      I[j][i] = (A[a][c] * A[b][d] - A[a][d] * A[b][c]) / det;
    }
  }
  return det;
}

/* ---------------------------------------------------------------------- the contact */

/* What one contact is found with. */
typedef struct {
  const mbg__curve_contact *type;
  const mbg__contact *contact;
  const mbg__joint *joint;
  mbg__contact_in in;
  real r[2][3][4]; /* points of the curves */
  mbg__form form;
  real inverse[S][S];
  double extent, spacing[2];
} finder;

static int fail(mbg_context *ctx, const mbg__system *s, const finder *f, const char *what) {
  return mbg__fail_at(ctx, MBG_ERROR_SINGULAR, &f->joint->where, 0, "t = %g: %s", mbg__time_shown(re(s->t)), what);
}

/* psi at the contact parameters; order of derivatives */
static int build(mbg_context *ctx, mbg__system *s, finder *f, int order) {
  const mbg__curve_contact *t = f->type;
  memset(&f->form, 0, sizeof(f->form));
  f->form.n = t->nz + t->ns;
  t->base(&f->in, &f->form);
  for (int k = 0; k < t->ncurve; k++) {
    const int err = mbg__curve_point(ctx, s, f->contact->curve[k], f->in.y[t->nz + t->s_of[k]], f->r[k]);
    if (err < 0) {
      return err;
    }
    for (int c = 0; c < s->model->curves[f->contact->curve[k]].dim; c++) {
      t->along(&f->in, k, c, f->r[k][c], order, &f->form);
    }
  }
  return MBG_OK;
}

/* psi_ss^-1; the determinant in lengths of the curve, by which a singular contact is known */
static double invert_form(finder *f) {
  const int nz = f->type->nz, ns = f->type->ns;
  real A[S][S];
  double scale[S] = {1, 1, 1}, det;
  for (int i = 0; i < ns; i++) {
    for (int j = 0; j < ns; j++) {
      A[i][j] = f->form.h[nz + i][nz + j];
    }
  }
  det = re(invert(ns, A, f->inverse));
  for (int k = 0; k < f->type->ncurve; k++) {
    double t = 0;
    for (int c = 0; c < 3; c++) {
      t += re(f->r[k][c][1]) * re(f->r[k][c][1]);
    }
    scale[f->type->s_of[k]] = f->extent / sqrt(t);
  }
  for (int i = 0; i < ns; i++) {
    det *= scale[i] * scale[i] / f->extent;
  }
  return fabs(det);
}

/* one step of Newton's method; the largest change, in samples and radians */
static double step(finder *f) {
  const int nz = f->type->nz, ns = f->type->ns;
  real d[S];
  double most = 0, cut = 1;
  for (int i = 0; i < ns; i++) {
    d[i] = 0;
    for (int j = 0; j < ns; j++) {
      d[i] -= f->inverse[i][j] * f->form.g[nz + j];
    }
  }
  for (int k = 0; k < f->type->ncurve; k++) {
    const double x = fabs(re(d[f->type->s_of[k]])) / f->spacing[k];
    cut = fmin(cut, 3 / fmax(x, 3));
    most = fmax(most, x);
  }
  for (int i = 0; i < ns; i++) {
    bool curve = false;
    for (int k = 0; k < f->type->ncurve; k++) {
      curve = curve || f->type->s_of[k] == i;
    }
    most = curve ? most : (double)fmax(most, fabs(re(d[i])));
    f->in.y[nz + i] += cut * d[i];
  }
  return most;
}

/* from the nearest sample: s, tangents there, the triad of a spatial curve */
static int begin(mbg_context *ctx, mbg__system *s, finder *f, double triad[9]) {
  const mbg__curve_contact *t = f->type;
  mbg__curve_samples samples[2];
  real tangent[2][3];
  const real *list[2] = {tangent[0], tangent[1]};
  int at[2] = {0, 0};
  f->extent = 0;
  for (int k = 0; k < t->ncurve; k++) {
    const int i = f->contact->curve[k];
    const mbg__curve *c = &s->model->curves[i];
    f->spacing[k] = mbg__curve_sample(c, 1) - c->from;
    f->extent = fmax(f->extent, s->curves[i].extent);
    samples[k] = (mbg__curve_samples){MBG__CURVE_SAMPLES, c->dim, c->from, f->spacing[k], s->curves[i].samples};
  }
  t->nearest(&f->in, samples, at);
  for (int k = 0; k < t->ncurve; k++) {
    const double sk = mbg__curve_sample(&s->model->curves[f->contact->curve[k]], at[k]);
    const int err = mbg__curve_point(ctx, s, f->contact->curve[k], sk, f->r[k]);
    if (err < 0) {
      return err;
    }
    f->in.y[t->nz + t->s_of[k]] = sk;
    for (int c = 0; c < 3; c++) {
      tangent[k][c] = f->r[k][c][1];
    }
  }
  mbg__curve_triad(list[0], triad);
  f->in.triad = triad;
  t->begin(&f->in, list, f->in.y + t->nz);
  return MBG_OK;
}

/* an open curve ends */
static int check_ends(mbg_context *ctx, const mbg__system *s, const finder *f) {
  for (int k = 0; k < f->type->ncurve; k++) {
    const mbg__curve *c = &s->model->curves[f->contact->curve[k]];
    const double at = re(f->in.y[f->type->nz + f->type->s_of[k]]), slack = 1e-9 * (c->to - c->from);
    if (!c->closed && (at < c->from - slack || at > c->to + slack)) {
      char text[400];
      mbg__format(text, sizeof(text), "the contact leaves curve '%s' at its end s = %g", c->name,
                  at < c->from ? c->from : c->to);
      return fail(ctx, s, f, text);
    }
  }
  return MBG_OK;
}

static int check_far(mbg_context *ctx, const mbg__system *s, const finder *f) {
  if (!(fabs(re(f->form.f)) > far * f->extent)) {
    return MBG_OK;
  }
  char text[400];
  mbg__format(text, sizeof(text),
              "the joint is %.3g m away from curve '%s', which is %.3g m large; place its ends near it",
              fabs(re(f->form.f)), s->model->curves[f->contact->curve[0]].name, f->extent);
  return fail(ctx, s, f, text);
}

/* contact parameters to rounding; the twin needs one more iteration for its second part */
static int find(mbg_context *ctx, mbg__system *s, finder *f, double triad[9]) {
  int err = MBG_OK, more = MBG__TWIN ? 3 : 2;
  MBG_TRY(begin(ctx, s, f, triad));
  for (int i = 0; more > 0; i++) {
    MBG_TRY(build(ctx, s, f, 2));
    if (invert_form(f) < singular || i == ITERATIONS) {
      return fail(ctx, s, f, f->type->out);
    }
    more -= step(f) < 1e-6 || more < (MBG__TWIN ? 3 : 2);
  }
  MBG_TRY(build(ctx, s, f, 3));
  (void)invert_form(f);
  MBG_TRY(check_ends(ctx, s, f));
  MBG_TRY(check_far(ctx, s, f));
done:
  return err;
}

/* ---------------------------------------------------------------------- elimination */

/* d_i = (e_i, s_i) */
static void directions(const finder *f, real d[Z][Y]) {
  const int nz = f->type->nz, ns = f->type->ns;
  memset(d, 0, sizeof(real) * Z * Y);
  for (int i = 0; i < nz; i++) {
    d[i][i] = 1;
    for (int a = 0; a < ns; a++) {
      for (int b = 0; b < ns; b++) {
        d[i][nz + a] -= f->inverse[a][b] * f->form.h[nz + b][i];
      }
    }
  }
}

/* psi_yyy(d_i, d_j, e_k) */
static real twice(const finder *f, const real *di, const real *dj, int k) {
  const int n = f->form.n;
  real sum = 0;
  for (int a = 0; a < n; a++) {
    for (int b = 0; b < n && di[a] != 0; b++) {
      sum += di[a] * dj[b] * f->form.t[a][b][k];
    }
  }
  return sum;
}

static void eliminate(const finder *f, mbg__contact_work *w, int row) {
  const int nz = f->type->nz, n = f->form.n;
  mbg__jet3 *jet = &w->jet[row].jet;
  real(*d)[Y] = w->d[row];
  directions(f, d);
  memset(jet, 0, sizeof(*jet));
  jet->F = f->form.f;
  for (int i = 0; i < nz; i++) {
    jet->F_z[i] = f->form.g[i];
    for (int j = 0; j < nz; j++) {
      for (int y = 0; y < n; y++) {
        jet->F_zz[i][j] += f->form.h[i][y] * d[j][y];
        w->second[row][i][j][y] = twice(f, d[i], d[j], y);
      }
      for (int k = 0; k < nz; k++) {
        for (int y = 0; y < n; y++) {
          jet->F_zzz[i][j][k] += w->second[row][i][j][y] * d[k][y];
        }
      }
    }
  }
  memcpy(w->inverse[row], f->inverse, sizeof(f->inverse));
  memcpy(w->y[row], f->in.y, sizeof(f->in.y));
  memcpy(w->triad, f->in.triad, sizeof(w->triad));
}

/* entries of the relative frame that the contact uses, and its data */
static void open(const mbg__system *s, int i, int row, finder *f) {
  const mbg__contact *c = &s->model->contacts[i];
  const mbg__joint *joint = &s->model->joints[c->joint];
  const mbg__frame *G = &s->G[joint->pair];
  *f = (finder){.type = joint->type->contact, .contact = c, .joint = joint};
  f->in.attr = s->design->attr + joint->attr;
  f->in.opt = joint->opt;
  f->in.row = row;
  f->in.spatial = s->model->curves[c->curve[0]].dim == 3;
  for (int k = 0; k < f->type->nz; k++) {
    const int e = f->type->entry[k];
    f->in.y[k] = e < MBG__X1 ? G->R[e] : G->x[e - MBG__X1];
  }
}

static int contact_update(mbg_context *ctx, mbg__system *s, int i) {
  int err = MBG_OK;
  const mbg__contact *c = &s->model->contacts[i];
  mbg__contact_work *w = &s->contacts[i];
  double triad[9];
  finder f;
  if (s->model->joints[c->joint].type->profile) {
    return mbg__profile_update(ctx, s, i);
  }
  if (c->surface >= 0) {
    mbg__fn_env env;
    mbg__env(s, ctx, c->surface, &env);
    return mbg__fn_space_jet(&env, 0, s->G[s->model->joints[c->joint].pair].x, &w->jet[0].jet, &w->jet[0].nact, w->act,
                             w->slope[0]);
  }
  for (int k = 0; k < 2 && c->curve[k] >= 0; k++) {
    MBG_TRY(curve_update(ctx, s, c->curve[k]));
  }
  for (int row = 0; row < c->nrow; row++) {
    open(s, i, row, &f);
    MBG_TRY(find(ctx, s, &f, triad));
    eliminate(&f, w, row);
  }
done:
  return err;
}

/* is there anything that needs the contact? */
static bool contact_on(const mbg__system *s, int i) {
  const mbg__joint *joint = &s->model->joints[s->model->contacts[i].joint];
  return joint->nrow > 0 && (row_on(s, joint->row) || s->contacts[i].seen);
}

int mbg__curves_update(mbg_context *ctx, mbg__system *s) {
  for (int i = 0; i < s->model->ncontact; i++) {
    const int err = contact_on(s, i) ? contact_update(ctx, s, i) : MBG_OK;
    if (err < 0) {
      return err;
    }
  }
  return MBG_OK;
}

/* ---------------------------------------------------------------------- attributes */

/* the attribute whose derivative of psi is `a` */
static void add_slope(const finder *f, mbg__contact_work *w, const mbg__form *a, int attr) {
  const int nz = f->type->nz, ns = f->type->ns, row = f->in.row;
  const int at = w->jet[row].nact++;
  mbg__contact_slope *out = &w->slope[row][at];
  real(*d)[Y] = w->d[row];
  *out = (mbg__contact_slope){.F = a->f};
  w->act[at] = attr;
  for (int i = 0; i < ns; i++) {
    w->s_a[at][i] = 0;
    for (int j = 0; j < ns; j++) {
      w->s_a[at][i] -= w->inverse[row][i][j] * a->g[nz + j];
    }
  }
  for (int i = 0; i < nz; i++) {
    for (int y = 0; y < nz + ns; y++) {
      out->F_z[i] += a->g[y] * d[i][y];
    }
    for (int j = 0; j < nz; j++) {
      for (int k = 0; k < ns; k++) {
        out->F_zz[i][j] += w->second[row][i][j][nz + k] * w->s_a[at][k];
      }
      for (int y = 0; y < nz + ns; y++) {
        for (int x = 0; x < nz + ns && d[i][y] != 0; x++) {
          out->F_zz[i][j] += a->h[y][x] * d[i][y] * d[j][x];
        }
      }
    }
  }
}

static void clear(mbg__form *a) {
  a->f = 0;
  memset(a->g, 0, sizeof(a->g));
  memset(a->h, 0, sizeof(a->h));
}

/* u: change of component c of a curve by the attribute */
static void add_along(finder *f, mbg__contact_work *w, int curve, int c, const real u[4], int attr) {
  clear(&f->form);
  f->type->along(&f->in, curve, c, u, 2, &f->form);
  add_slope(f, w, &f->form, attr);
}

static void spline_slopes(const mbg__system *s, finder *f, mbg__contact_work *w, int k) {
  const mbg__curve *c = &s->model->curves[f->contact->curve[k]];
  real B[4][MBG__CURVE_DEGREE + 1];
  int first;
  mbg__spline_at(c, f->in.y[f->type->nz + f->type->s_of[k]], &first, B);
  for (int p = 0; p < c->npoint; p++) {
    real u[4] = {0};
    for (int m = 0; m <= c->degree; m++) {
      const size_t j = (size_t)mbg__spline_index(c, first, m);
      for (int e = 0; e < 3; e++) {
        u[e] += B[e][m] * c->C[j * (size_t)c->npoint + (size_t)p];
      }
    }
    for (int x = 0; x < c->dim; x++) {
      add_along(f, w, k, x, u, c->attr + p * c->dim + x);
    }
  }
}

static void expression_slopes(mbg__system *s, finder *f, mbg__contact_work *w, int k) {
  const mbg__curve *c = &s->model->curves[f->contact->curve[k]];
  for (int x = 0; x < c->dim; x++) {
    mbg__fn_env env;
    mbg__fn_jet jet;
    mbg__env(s, NULL, c->fn, &env);
    if (mbg__fn_argument_jet(&env, x, f->in.y[f->type->nz + f->type->s_of[k]], &jet) < 0) {
      continue; /* has been evaluated there */
    }
    for (int a = 0; a < jet.nact; a++) {
      const real u[4] = {jet.f_act[a][0], jet.f_act[a][1], jet.f_act[a][2], 0};
      add_along(f, w, k, x, u, jet.act[a]);
    }
  }
}

static void contact_slopes(mbg__system *s, int i, int row) {
  const mbg__contact *c = &s->model->contacts[i];
  mbg__contact_work *w = &s->contacts[i];
  finder f;
  open(s, i, row, &f);
  memcpy(f.in.y, w->y[row], sizeof(f.in.y));
  f.in.triad = w->triad;
  w->jet[row].nact = 0;
  for (int k = 0; k < f.type->ncurve; k++) {
    if (s->model->curves[c->curve[k]].fn < 0) {
      spline_slopes(s, &f, w, k);
    } else {
      expression_slopes(s, &f, w, k);
    }
  }
  for (int a = 0; a < f.joint->nattr && f.type->own; a++) {
    clear(&f.form);
    f.type->own(&f.in, a, &f.form);
    add_slope(&f, w, &f.form, f.joint->attr + a);
  }
}

void mbg__curves_linearize(mbg__system *s) {
  for (int i = 0; i < s->model->ncontact; i++) {
    const mbg__contact *c = &s->model->contacts[i];
    const bool on = contact_on(s, i);
    for (int row = 0; on && c->surface < 0 && row < c->nrow; row++) {
      contact_slopes(s, i, row);
    }
  }
}
