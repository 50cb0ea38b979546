/* Tendons at positions where they have no path (theory 8, section 11). Their lengths are terms of rows and coordinates
   like others. */
#include "elements/strand_kernels.h"
#include "system/system_internal.h"

/* ---------------------------------------------------------------------- no path */

/* rho of a strand between pulleys, 0 between points */
static real rho_of(const mbg__system *s, const mbg__term *t) {
  const real *a = s->design->attr;
  return (t->nattr > 0 ? t->attr_sign * a[t->attr[0]] : 0) + (t->nattr > 1 ? t->joined * a[t->attr[1]] : 0);
}

static int no_path(mbg_context *ctx, const mbg__system *s, const mbg__strand *k, double d, double rho) {
  const mbg_model *m = s->model;
  const mbg__via *from = &m->vias[k->from], *to = &m->vias[k->to];
  const mbg__via *pulley = k->back ? to : from, *other = k->back ? from : to;
  const mbg__where *where = &m->tendons[k->tendon].where;
  const double t = mbg__time_shown(re(s->t));
  if (from->radius < 0 && to->radius < 0) {
    return mbg__fail_at(ctx, MBG_ERROR_SINGULAR, where, 0, "t = %g: the tendon has no length between '%s' and '%s'", t,
                        from->name, to->name);
  }
  if (other->radius >= 0) {
    return mbg__fail_at(ctx, MBG_ERROR_SINGULAR, where, 0,
                        "t = %g: no tangent between the pulleys '%s' and '%s': their axes are %.4g m apart, more than "
                        "%.4g m are needed",
                        t, from->name, to->name, d, rho);
  }
  return rho > 0 ? mbg__fail_at(ctx, MBG_ERROR_SINGULAR, where, 0,
                                "t = %g: '%s' is inside the pulley '%s': %.4g m from its axis, the radius is %.4g m", t,
                                other->name, pulley->name, d, rho)
                 : mbg__fail_at(ctx, MBG_ERROR_SINGULAR, where, 0, "t = %g: '%s' lies on the axis of the pulley '%s'",
                                t, other->name, pulley->name);
}

int mbg__tendons_check(mbg_context *ctx, const mbg__system *s) {
  static const double tiny = 1e-9; /* of the size of the model: directions have six digits left */
  for (int i = 0; i < s->model->nstrand; i++) {
    const mbg__strand *k = &s->model->strands[i];
    const mbg__term *t = k->length;
    if (!s->pair_on[t->pair]) {
      continue;
    }
    const real *x = s->G[t->pair].x;
    const bool points = t->nattr == 0;
    const double d = sqrt(re(x[0]) * re(x[0]) + re(x[1]) * re(x[1]) + (points ? (double)(re(x[2]) * re(x[2])) : 0));
    const double rho = fabs(re(rho_of(s, t)));
    if (!(d - rho > tiny * s->model->size)) {
      return no_path(ctx, s, k, d, rho);
    }
  }
  return MBG_OK;
}

/* ---------------------------------------------------------------------- wraps */

static int quarters_of(const mbg__system *s, const mbg__term *t) {
  mbg__term_in in;
  mbg__term_in_of(s, t, &in);
  return in.turns;
}

/* direction of a strand in the axes of the pulley that sees it */
static double direction(const mbg__system *s, const mbg__strand *k) {
  const real *x = s->G[k->length->pair].x;
  const real z[4] = {x[0], x[1], x[2], rho_of(s, k->length)};
  return re(mbg__strand_direction(z, quarters_of(s, k->length), k->back));
}

/* ... in those of the pulley that it reaches */
static double arrival(const mbg__system *s, const mbg__strand *k) {
  if (k->back) {
    return direction(s, k);
  }
  const real *R = s->G[k->length->pair].R, z[2] = {R[0], R[3]};
  mbg__jet3 turned = {0};
  mbg__strand_bearing(z, quarters_of(s, k->angle), 0, &turned);
  return direction(s, k) - re(turned.F);
}

static double wrap_of(const mbg__system *s, const mbg__via *v) {
  const mbg__strand *strands = s->model->strands;
  return v->side *
         ((v->out >= 0 ? direction(s, &strands[v->out]) : 0) - (v->in >= 0 ? arrival(s, &strands[v->in]) : 0));
}

int mbg__tendons_at_node(mbg_context *ctx, const mbg__system *s) {
  static const double least = -1e-6; /* rad: a tendon that just touches its pulley stays */
  const mbg_model *m = s->model;
  for (int i = 0; i < m->ntendon; i++) {
    const mbg__tendon *tendon = &m->tendons[i];
    for (int k = tendon->via; k < tendon->via + tendon->nvia; k++) {
      const mbg__via *v = &m->vias[k];
      if (v->radius >= 0 && !(wrap_of(s, v) > least)) {
        return mbg__fail_at(ctx, MBG_ERROR_SINGULAR, &tendon->where, 0,
                            "t = %g: the tendon would leave the pulley '%s': it touches it no more",
                            mbg__time_shown(re(s->t)), v->name);
      }
    }
  }
  return MBG_OK;
}

void mbg__tendons_energy_pull(mbg__system *s, real c) {
  for (int i = 0; i < s->model->nforce; i++) {
    const mbg__force *f = &s->model->forces[i];
    for (int k = s->cross_of[i]; f->law && f->law->tendon && cross_goes_on(s, k, i); k++) {
      const int fn = s->cross[k].fn;
      mbg__fn_weights(s, fn, c * s->energy_fn[i * MBG__LAW_FN + fn - f->fn]);
    }
  }
}
