/* The gap of an impact, g = F(y, a, t) with signals y of positions, whose rates r are signals too. With fixed twists u
   in the place of those of the motion N u = sum_k F_k r_k(u), so that second derivatives of the gap by frames are first
   ones of rates, and of F. */
#include "event/event_internal.h"

#include <string.h>

/* F, its gradient and Hessian by the inputs of its function, unless they are known */
static int evaluate(mbg_context *ctx, mbg__events *ev, const mbg__fn *fn, real t) {
  real F;
  bool known = ev->F == fn;
  for (int i = 0, k = 0; i < fn->ninput; i++) {
    const mbg__input *in = &fn->input[i];
    const real x = in->role == MBG__ROLE_T        ? t
                   : in->role == MBG__ROLE_SIGNAL ? ev->y[k++]
                                                  : ev->design->attr[in->index];
    known = known && x == ev->Fx[i];
    ev->Fx[i] = x;
  }
  ev->F = fn;
  return known ? MBG_OK : mbg__expr_hessian(ctx, fn->expr, ev->Fx, ev->scratch, &F, ev->Fg, ev->Fh);
}

/* Q = c sum_k F_k r_k + ct F_t: its weights of rates and, by the Hessian, of signals, attributes and time */
static void spread(mbg__events *ev, const mbg__event *e, const mbg__fn *fn, real c, real ct, real *gw, real *ga) {
  const int n = mbg__expr_ninputs(fn->expr);
  for (int i = 0, k = 0; i < n; i++) {
    const mbg__input *in = &fn->input[i];
    real weight = 0;
    for (int j = 0, l = 0; j < n; j++) {
      const mbg__input_role role = fn->input[j].role;
      const real x = role == MBG__ROLE_T ? ct : role == MBG__ROLE_SIGNAL ? c * ev->y[e->nbase + l++] : 0;
      weight += x * ev->Fh[j * n + i];
    }
    if (in->role == MBG__ROLE_T) {
      ga[ev->m->clock] += weight;
    } else if (in->role == MBG__ROLE_ATTR) {
      ga[in->index] += weight;
    } else {
      mbg__system_signal_pull(ev->sys, e->rate[k], c * ev->Fg[i], gw, NULL, NULL, NULL, ga);
      mbg__system_signal_pull(ev->sys, e->base[k++], weight, gw, NULL, NULL, NULL, ga);
    }
  }
}

int mbg__gap_pull(mbg_context *ctx, mbg__events *ev, int event, const mbg__state *state, const real *u, real c, real ct,
                  real ctan, real *gw, real *ga) {
  const mbg__event *e = &ev->m->events[event];
  const int fn = ev->m->signals[e->guard].fn;
  mbg__state moved = *state;
  int err = MBG_OK;
  moved.v = u;
  moved.vd = moved.lambda = NULL;
  MBG_TRY(mbg__event_sample(ctx, ev, &ev->gaps[event], &moved));
  if (fn >= 0) {
    MBG_TRY(evaluate(ctx, ev, &ev->m->fns[fn], state->t));
    spread(ev, e, &ev->m->fns[fn], c, ct, gw, ga);
  } else {
    mbg__system_signal_pull(ev->sys, e->rate[0], c, gw, NULL, NULL, NULL, ga);
  }
  if (ctan != 0) {
    mbg__system_signal_pull(ev->sys, e->tangent, ctan, gw, NULL, NULL, NULL, ga);
  }
done:
  return err;
}
