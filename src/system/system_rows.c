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
                       .turns = t->turn >= 0 ? s->turns[t->turn] : 0};
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
    mbg__term_in in;
    mbg__term_in_of(s, &s->model->terms[k], &in);
    mbg__term_eval(&s->model->terms[k], &in, &s->term[k], NULL);
    s->phi[i] += s->term[k].phi;
    s->phid[i] += s->term[k].phid;
    s->gamma[i] += s->term[k].gamma;
  }
}

int mbg__rows_update(mbg_context *ctx, mbg__system *s) {
  const int err = laws_update(ctx, s);
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
    const bool loaded = s->lambda[i] != 0 && row_on(s, i);
    for (int k = m->rows[i].term; loaded && k < m->rows[i].term + m->rows[i].nterm; k++) {
      if (m->terms[k].pair >= 0) {
        v6_axpy(s->F[m->terms[k].pair], -s->lambda[i], s->term[k].b);
      }
    }
  }
}

/* ---------------------------------------------------------------------- derivatives */

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
  if (t->pair >= 0 && lambda != 0) {
    m6_axpy(s->F_G[t->pair], -lambda, g.L);
  }
  const mbg__fn_jet *jet = t->law >= 0 ? &s->jet[t->law] : NULL;
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
  m6_mulv_T_add(s->row_g[k].phid_G, s->row_g[k].L, dv);
  for (int j = s->term_attr0[k]; j < s->term_attr0[k] + s->term_nattr[k]; j++) {
    s->term_attr[j].phid += v6_dot(s->term_attr[j].b, dv);
  }
  if (lambda != 0) {
    v6_axpy(s->F[pair], -lambda, s->term[k].b);
    m6_axpy(s->F_G[pair], -lambda, s->row_g[k].L);
  }
}
