/* Wheels and balls on height profiles: where they touch (term_profile.h has the equations). */
#include "system/system_internal.h"
#include "system/term_profile.h"

enum { ITERATIONS = 40 };

static int fail(mbg_context *ctx, const mbg__system *s, const mbg__joint *joint, const char *what) {
  return mbg__fail_at(ctx, MBG_ERROR_SINGULAR, &joint->where, 0, "t = %g: %s", mbg__time_shown(re(s->t)), what);
}

/* below the centre, at the lowest point of the wheel on a plane */
static void begin(const mbg__frame *G, real r, real at[3]) {
  const double x = re(G->R[6]), y = re(G->R[7]), angle = r == 0 ? 0 : atan2(-y, -x);
  at[2] = angle;
  for (int k = 0; k < 2; k++) {
    at[k] = G->x[k] + r * (G->R[3 * k] * cos(angle) + G->R[3 * k + 1] * sin(angle));
  }
}

int mbg__profile_update(mbg_context *ctx, mbg__system *s, int i) {
  const mbg__contact *c = &s->model->contacts[i];
  const mbg__joint *joint = &s->model->joints[c->joint];
  const mbg__frame *G = &s->G[joint->pair];
  mbg__contact_work *w = &s->contacts[i];
  mbg__contact_jet *jet = &w->jet[0];
  const bool wheel = joint->type->profile == MBG__PROFILE_WHEEL;
  const int n = wheel ? 3 : 2;
  const real r = wheel ? s->design->attr[joint->attr] : 0;
  double change = 1, metric, upright;
  begin(G, r, jet->s);
  /* once more after convergence, twice in the twin for its second part */
  for (int more = MBG__TWIN ? 3 : 2, it = 0; more > 0; it++) {
    const real x[3] = {jet->s[0], jet->s[1], 0};
    real F[3], J[3][3];
    mbg__fn_env env;
    mbg__env(s, ctx, c->surface, &env);
    const int err = mbg__fn_space_jet(&env, 0, x, &jet->jet, &jet->nact, w->act, w->slope[0]);
    if (err < 0) {
      return err;
    }
    mbg__profile_equations(G, r, &jet->jet, jet->s, F, J, &metric, &upright);
    if (!(metric > 1e-6) || it == ITERATIONS) {
      return fail(ctx, s, joint, "the profile is as curved as the wheel or ball: two contact points meet");
    }
    if (wheel && !(upright > 1e-3)) {
      return fail(ctx, s, joint, "the wheel lies on its side: its axle is normal to the profile");
    }
    mbg__profile_invert(n, J, jet->inverse);
    more -= change < 1e-6;
    change = 0;
    for (int k = 0; k < n && more > 0; k++) {
      real d = 0;
      for (int l = 0; l < n; l++) {
        d -= jet->inverse[k][l] * F[l];
      }
      jet->s[k] += d;
      change = fmax(change, fabs(re(d)));
    }
  }
  return MBG_OK;
}
