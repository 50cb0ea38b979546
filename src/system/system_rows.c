/* Rows of constraints and coordinates in use: values, gradients on the relative motion, derivatives by attributes. */
#include "system/system_internal.h"

void mbg__term_in_of(const mbg__system *s, const mbg__term *t, mbg__term_in *in) {
  static const real zero[6] = {0};
  const bool on_pair = t->pair >= 0;
  *in = (mbg__term_in){.G = on_pair ? &s->G[t->pair] : NULL,
                       .v = on_pair ? s->vrel[t->pair] : zero,
                       .vd = on_pair ? s->vdrel[t->pair] : zero,
                       .attr = s->design->attr,
                       .law = t->law >= 0 ? s->jet[t->law].f : NULL,
                       .outer = t->outer >= 0 ? s->jet[t->outer].f : NULL,
                       .turns = (t->turn >= 0 ? s->turns[t->turn] : 0) * (t->quarters ? 4 : 1) + t->wind,
                       .contact = t->contact ? &s->contacts[(t->contact - 1) / 2].jet[(t->contact - 1) % 2] : NULL};
}

/* data of a joint that are functions of time are lengths */
static int check_law(mbg_context *ctx, const mbg__system *s, int term, real value) {
  const mbg__row *row = &s->model->rows[s->term_row[term]];
  if (row->kind != MBG__ROW_JOINT || re(value) > 0) {
    return MBG_OK;
  }
  const mbg__joint *joint = &s->model->joints[row->owner];
  return mbg__fail_at(ctx, MBG_ERROR_INPUT, &joint->where, 0, "the %s is %g at t = %g; it must stay positive",
                      row->name, re(value), mbg__time_shown(re(s->t)));
}

static int laws_update(mbg_context *ctx, mbg__system *s) {
  for (int i = 0; i < s->nlaw; i++) {
    const int law = s->model->terms[s->laws[i]].law;
    mbg__fn_env env;
    mbg__env(s, ctx, law, &env);
    int err = mbg__fn_time_jet(&env, 0, &s->jet[law]);
    err = err < 0 ? err : check_law(ctx, s, s->laws[i], s->jet[law].f[0]);
    if (err < 0) {
      return err;
    }
  }
  return MBG_OK;
}

/* functions of coordinates in couplings, at the coordinates of the state */
static int outers_update(mbg_context *ctx, mbg__system *s) {
  for (int i = 0; i < s->nouter; i++) {
    const mbg__term *t = &s->model->terms[s->outers[i]];
    mbg__term_in in;
    mbg__fn_env env;
    mbg__term_in_of(s, t, &in);
    mbg__env(s, ctx, t->outer, &env);
    const int err = mbg__fn_argument_jet(&env, 0, mbg__term_coordinate(t, &in), &s->jet[t->outer]);
    if (err < 0) {
      return err;
    }
  }
  return MBG_OK;
}

void mbg__coord_update(const mbg__system *s, int i) {
  mbg__term_in in;
  mbg__term_in_of(s, &s->coord_term[i], &in);
  mbg__term_eval(&s->coord_term[i], &in, &s->coord[i], NULL);
}

static void coord_update(void *user, int i) { mbg__coord_update(user, i); }

static void row_update(void *user, int i) {
  const mbg__system *s = user;
  const mbg__row *row = &s->model->rows[i];
  s->phi[i] = s->phid[i] = s->gamma[i] = 0;
  for (int k = row->term; row_on(s, i) && k < row->term + row->nterm; k++) {
    const mbg__term *t = &s->model->terms[k];
    if (mbg__term_plain(t) && !t->profile) {
      mbg__term_eval_plain(t, &s->G[t->pair], s->vrel[t->pair], &s->term[k]);
    } else {
      mbg__term_in in;
      mbg__term_in_of(s, t, &in);
      mbg__term_eval(t, &in, &s->term[k], NULL);
    }
    s->phi[i] += row->rate ? 0 : s->term[k].phi;
    s->phid[i] += s->term[k].phid;
    s->gamma[i] += s->term[k].gamma;
  }
}

/* joints that have no meaning at the relative frame of the state */
static int check_joints(mbg_context *ctx, const mbg__system *s) {
  const mbg_model *m = s->model;
  for (int i = 0; i < m->njoint; i++) {
    const mbg__joint *joint = &m->joints[i];
    const char *why = joint->type->broken && s->pair_on[joint->pair] ? joint->type->broken(&s->G[joint->pair]) : NULL;
    if (why) {
      return mbg__fail_at(ctx, MBG_ERROR_SINGULAR, &joint->where, 0, "t = %g: %s", mbg__time_shown(re(s->t)), why);
    }
  }
  return MBG_OK;
}

int mbg__rows_update(mbg_context *ctx, mbg__system *s) {
  int err = laws_update(ctx, s);
  err = err < 0 || !s->any_broken ? err : check_joints(ctx, s);
  err = err < 0 ? err : outers_update(ctx, s);
  err = err < 0 ? err : mbg__curves_update(ctx, s);
  err = err < 0 ? err : mbg__tendons_check(ctx, s);
  if (err < 0) {
    return err;
  }
  if (s->any_row) {
    mbg__pool_each(s->pool, MBG__EACH_ROW, s->model->nrow, row_update, s);
    mbg__rows_load(s);
  }
  mbg__pool_each(s->pool, MBG__EACH_COORD, s->model->ncoord, coord_update, s);
  return MBG_OK;
}

/* a row acts on B with -b^T lambda */
void mbg__rows_load(mbg__system *s) {
  const mbg_model *m = s->model;
  for (int i = 0; !s->unloaded && i < m->nrow; i++) {
    const bool loaded = r_some(s->lambda[i] != 0) && row_on(s, i);
    for (int k = m->rows[i].term; loaded && k < m->rows[i].term + m->rows[i].nterm; k++) {
      if (m->terms[k].pair >= 0) {
        v6_axpy(s->F[m->terms[k].pair], -s->lambda[i], s->term[k].b);
      }
    }
  }
}

/* ---------------------------------------------------------------------- derivatives */

/* F_G -= lambda L: a plain entry has one block, rows of its motion and columns of rotations */
static void load_slopes(const mbg__system *s, int k, real lambda) {
  const mbg__term *t = &s->model->terms[k];
  const real *L = s->row_g[k].L;
  real *F_G = s->F_G[t->pair];
  if (!mbg__term_plain(t)) {
    m6_axpy(F_G, -lambda, L);
    return;
  }
  for (int i = mbg__term_turns(t) ? 3 : 0, last = i + 3; i < last; i++) {
    v3_axpy(F_G + 6 * i + 3, -lambda, L + 6 * i + 3);
  }
}

/* phid_G += L^T dv */
static void shift_slopes(const mbg__system *s, int k, const real dv[6]) {
  const mbg__term *t = &s->model->terms[k];
  const real *L = s->row_g[k].L;
  real *phid_G = s->row_g[k].phid_G;
  if (!mbg__term_plain(t)) {
    m6_mulv_T_add(phid_G, L, dv);
    return;
  }
  for (int i = mbg__term_turns(t) ? 3 : 0, last = i + 3; i < last; i++) {
    v3_axpy(phid_G + 3, dv[i], L + 6 * i + 3);
  }
}

static void term_linearize(mbg__system *s, int k, real lambda) {
  const mbg__term *t = &s->model->terms[k];
  mbg__term_in in;
  mbg__term_value value;
  mbg__term_gradient g;
  mbg__term_in_of(s, t, &in);
  mbg__term_eval(t, &in, &value, &g);
  v6_copy(s->row_g[k].phid_G, g.phid_G);
  v6_add(s->row_g[k].phidd_G, g.bvd_G, g.gamma_G);
  v6_copy(s->row_g[k].gamma_v, g.gamma_v);
  m6_copy(s->row_g[k].L, g.L);
  if (t->pair >= 0 && r_some(lambda != 0)) {
    load_slopes(s, k, lambda);
  }
  const int fn = t->law >= 0 ? t->law : t->outer;
  const mbg__fn_jet *jet = fn >= 0 ? &s->jet[fn] : NULL;
  s->term_nattr[k] = mbg__term_attributes(t, &in, jet ? jet->nact : 0, jet ? jet->act : NULL, jet ? jet->f_act : NULL,
                                          s->term_attr + s->term_attr0[k]);
}

/* the terms of a pair, which add to its slopes; the last "pair" has the terms of none */
static void pair_linearize(void *user, int pair) {
  mbg__system *s = user;
  for (int i = s->pair_term0[pair]; i < s->pair_term0[pair + 1]; i++) {
    const int k = s->pair_term[i], row = s->term_row[k];
    if (row_on(s, row)) {
      term_linearize(s, k, s->lambda[row]);
    }
  }
}

void mbg__rows_linearize(mbg__system *s) {
  if (s->any_row) {
    mbg__curves_linearize(s);
    mbg__pool_each(s->pool, MBG__EACH_LINEARIZE, s->model->npair + 1, pair_linearize, s);
  }
}

/* phid = b v + F_t is linear in v, and so are its derivatives: phid_G += L^T dv, phid_a += b_a dv */
void mbg__rows_shift(mbg__system *s, int k, real lambda, const vec6 before) {
  const int pair = s->model->terms[k].pair;
  real dv[6];
  if (pair < 0) {
    return;
  }
  v6_sub(dv, s->vrel[pair], before);
  shift_slopes(s, k, dv);
  for (int j = s->term_attr0[k]; j < s->term_attr0[k] + s->term_nattr[k]; j++) {
    s->term_attr[j].phid += v6_dot(s->term_attr[j].b, dv);
  }
  if (r_some(lambda != 0)) {
    v6_axpy(s->F[pair], -lambda, s->term[k].b);
    load_slopes(s, k, lambda);
  }
}
