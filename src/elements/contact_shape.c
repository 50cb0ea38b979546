/* Depth and normal (theory 7, section 8). Centre x of the sphere in the axes of A:

     plane    d = r - x_up               n = e_up
     sphere   d = ra + r - |x|           n = x/|x|
     socket   d = |x| - (ra - r)         n = -x/|x|
     hole     as socket, with x in the plane x y of A
     road     d = r - (x - c).n          n = (e_up - h' e_along)/sqrt(1 + h'^2), c the foot of x on z = h(xi)

   In all of them d_x = -n. */
#include "elements/contact_shape.h"

enum { TIME = MBG__FN_ARGS };

static int round_place(const real x[3], real radius, real radius_a, mbg__contact_place *p, const char **why) {
  const bool inside = p->kind != MBG__CONTACT_SPHERE;
  real y[3] = {x[0], x[1], p->kind == MBG__CONTACT_HOLE ? 0 : x[2]};
  if (re(v3_dot(y, y)) == 0) {
    p->d = inside ? radius - radius_a : radius_a + radius;
    *why = "the centres of two spheres coincide, so that their contact has no direction";
    return re(p->d) > 0 ? MBG_ERROR_INPUT : MBG_OK;
  }
  p->far = v3_norm(y);
  v3_scale(p->n, (inside ? -1 : 1) / p->far, y);
  p->d = inside ? p->far - (radius_a - radius) : radius_a + radius - p->far;
  return MBG_OK;
}

/* the road at xi */
static int road_at(const mbg__force_in *in, real xi, mbg__contact_place *p) {
  const real arg[MBG__FN_ARGS] = {xi};
  const int err = mbg__fn_at(in->fn, 0, arg, 2, &p->road);
  p->slope = p->road.f_x[0];
  p->height = in->G->x[p->up] - p->road.f;
  p->curve = 1 + p->slope * p->slope - p->height * p->road.f_xx[0][0];
  return err;
}

/* Newton on (x - xi) + (z - h) h' = 0 from xi = x. Two more steps than the real parts need: the twin. */
static int find_foot(const mbg__force_in *in, mbg__contact_place *p, bool *found) {
  int err = MBG_OK, rest = 2;
  real xi = in->G->x[p->along];
  *found = false;
  for (int i = 0; i < 50 && !*found; i++) {
    MBG_TRY(road_at(in, xi, p));
    if (!(fabs(re(p->curve)) > 1e-12)) {
      break;
    }
    const real step = (in->G->x[p->along] - xi + p->height * p->slope) / p->curve;
    rest -= fabs(re(step)) <= 1e-9 * (fabs(re(xi)) + fabs(re(p->height)) + 1e-6);
    *found = rest < 0;
    xi += *found ? 0 : step;
  }
done:
  return err;
}

static int road_place(const mbg__force_in *in, real radius, mbg__contact_place *p, const char **why) {
  int err = MBG_OK;
  bool found;
  MBG_TRY(road_at(in, in->G->x[p->along], p));
  const mbg__contact_place below = *p;
  MBG_TRY(find_foot(in, p, &found));
  p->s = r_sqrt(1 + p->slope * p->slope);
  p->d = radius - p->height * p->s; /* x - c = height (e_up - slope e_along) */
  *why = "the road is more curved than the sphere";
  if (found && (re(p->curve) >= 0.1 || re(p->d) <= 0)) {
    v3_zero(p->n);
    p->n[p->up] = 1 / p->s;
    p->n[p->along] = -p->slope / p->s;
  } else if (re(below.height) > 4 * re(radius)) {
    *p = below; /* high above: the distance along the vertical, along which d_x = -n, too */
    MBG_TRY(road_at(in, in->G->x[p->along], p));
    p->d = radius - p->height;
    p->n[p->up] = 1;
    p->n[p->along] = -p->slope;
  } else {
    err = MBG_ERROR_INPUT;
  }
done:
  return err;
}

int mbg__contact_place_at(const mbg__force_in *in, real radius, real radius_a, mbg__contact_place *p,
                          const char **why) {
  *p = (mbg__contact_place){.kind = (mbg__contact_kind)in->opt[0], .up = in->opt[1], .along = in->opt[1] == 0};
  if (p->kind == MBG__CONTACT_ROAD) {
    return road_place(in, radius, p, why);
  }
  if (p->kind != MBG__CONTACT_PLANE) {
    return round_place(in->G->x, radius, radius_a, p, why);
  }
  p->n[p->up] = 1;
  p->d = radius - in->G->x[p->up];
  return MBG_OK;
}

/* n = n(h'), h' of the foot: dn = -(e_along + h' e_up) dh'/s^3; the foot moves by
   dxi = (dx_along + h' (dx_up - dh) + height dh')/curve */
static void road_push(const mbg__contact_place *p, mbg__contact_change *c) {
  c->d += p->n[p->up] * c->road;
  c->rate = c->road_rate;
  if (re(p->s) == 0) {
    c->rate += p->road.f_xx[0][TIME] * c->x[p->along];
    return;
  }
  const real dxi = (c->x[p->along] + p->slope * (c->x[p->up] - c->road) + p->height * c->road_slope) / p->curve;
  const real bend = -(c->road_slope + p->road.f_xx[0][0] * dxi) / (p->s * p->s * p->s);
  c->n[p->along] = bend;
  c->n[p->up] = bend * p->slope;
  c->rate += p->road.f_xx[0][TIME] * dxi;
}

void mbg__contact_place_push(const mbg__contact_place *p, mbg__contact_change *c) {
  v3_zero(c->n);
  c->rate = 0;
  c->d -= v3_dot(p->n, c->x);
  if (p->kind == MBG__CONTACT_ROAD) {
    road_push(p, c);
  } else if (re(p->far) > 0) {
    v3_copy(c->n, c->x);
    c->n[2] = p->kind == MBG__CONTACT_HOLE ? 0 : c->n[2];
    v3_axpy(c->n, -v3_dot(p->n, c->n), p->n);
    v3_scale(c->n, (p->kind == MBG__CONTACT_SPHERE ? 1 : -1) / p->far, c->n);
  }
}
