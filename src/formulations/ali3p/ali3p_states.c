/* States of the model, in a mechanism with loops. Their velocities have no rows, so that projections leave them as the
   trapezoidal rule made them; but the forces on them, their rates, depend on the projected rates of the others:

     a_S+ = F(z+, w+)/s instead of the projection of as_S     i.e. E1_S(z+, w+, a+) = 0

   which keeps states of second order (theory 6, section 5). Without rows w+ = ws, and it is so already.

   A late rate uses accelerations, which are of first order across the rows before their projection: so is as_S, and
   ws_S is wrong by O(h^2) after each step. With the projected accelerations the trapezoidal rule is applied again:

     a_S+ = F(z+, w+, ws_S, a+),     w_S+ = ws_S + (h/2) (a_S+ - as_S)     i.e. w_S + (h/2) (a_S + a_S+)

   The step's forces see ws_S, and its error of O(h^2) does not accumulate: order 2. Without rows the correction is 0.

   Where a late rate uses reactions, which the step does not have for joints of the tree, late rates are left out of it:
   as_S = a_S, so that ws_S = w_S + h a_S (E1_S = as_S - a_S). Then a_S+ = F(z+, w+, ws_S, vd1, lambda1) with index 1 at
   (z+, w+, ws_S), as reactions have it (ali3p_signals.c). */
#include "formulations/ali3p/ali3p_work.h"

#include <string.h>

bool mbg__ali3p_has_states(const mbg__ali3p *a) { return a->m->nstate > 0 && (a->nrow > 0 || a->held); }

static bool carries(const mbg__ali3p *a, int link) { return a->m->bodies[a->links[link].body].state >= 0; }

int mbg__ali3p_states_create(mbg_context *ctx, mbg__ali3p *a) {
  const mbg_model *m = a->m;
  const bool reactions = mbg__system_late_reactions(a->sys);
  if (!mbg__system_has_late(a->sys) || (a->nrow == 0 && !reactions)) {
    return MBG_OK;
  }
  a->late = MBG_TAKE(&a->arena, bool, a->n);
  if (reactions) {
    a->held = MBG_TAKE(&a->arena, real, a->n);
    a->dvd1 = MBG_TAKE(&a->arena, real, m->nw);
    a->dlambda1 = MBG_TAKE(&a->arena, real, m->nrow);
    a->bodies1[0] = MBG_TAKE(&a->arena, real, m->nw);
    a->bodies1[1] = MBG_TAKE(&a->arena, real, m->nw);
    mbg__tree_leave_late(a->tree);
  }
  for (int i = 0; a->late && i < m->nstate; i++) {
    const mbg__user_state *state = &m->states[i];
    for (int k = 0; m->forces[state->force].late && k < m->nbody; k++) {
      const mbg__link *l = &a->links[k];
      for (int j = 0; l->body == state->body && j < l->nz; j++) {
        a->late[l->first + j] = a->late[l->first + j] || l->comp[j] == state->component;
      }
    }
  }
  return mbg__arena_check(ctx, &a->arena);
}

void mbg__ali3p_states_held(const mbg__ali3p *a, const real *from, real *to) {
  for (int k = a->m->nstate > 0 ? 0 : a->m->nbody; k < a->m->nbody; k++) {
    for (int i = a->links[k].first; carries(a, k) && i < a->links[k].first + a->links[k].nz; i++) {
      to[i] = from[i];
    }
  }
}

void mbg__ali3p_states_take(const mbg__ali3p *a, double c, const real *from, real *to) {
  for (int k = 0; k < a->m->nbody; k++) {
    for (int i = a->links[k].first; carries(a, k) && i < a->links[k].first + a->links[k].nz; i++) {
      to[i] += c * from[i];
    }
  }
}

/* ---------------------------------------------------------------------- by index 1 */

/* accelerations of states (n) from those of their carriers (nw), and transposed */
static void take_carriers(const mbg__ali3p *a, const real *vd, real *to) {
  for (int k = 0; k < a->m->nbody; k++) {
    const mbg__link *l = &a->links[k];
    for (int i = 0; carries(a, k) && i < l->nz; i++) {
      to[l->first + i] = vd[a->m->bodies[l->body].voff + l->comp[i]];
    }
  }
}

static void give_carriers(const mbg__ali3p *a, real *from, real *vd) {
  memset(vd, 0, (size_t)a->m->nw * sizeof(real));
  for (int k = 0; k < a->m->nbody; k++) {
    const mbg__link *l = &a->links[k];
    for (int i = 0; carries(a, k) && i < l->nz; i++) {
      vd[a->m->bodies[l->body].voff + l->comp[i]] = from[l->first + i];
      from[l->first + i] = 0;
    }
  }
}

/* vd1, with late rates, and lambda1 at the tree's last update */
static int complete(mbg_context *ctx, mbg__ali3p *a) {
  int err = MBG_OK;
  MBG_TRY(mbg__ali3p_index1(ctx, a));
  mbg__state bodies = mbg__tree_bodies(a->tree);
  bodies.vd = a->vd1;
  bodies.lambda = a->lambda1;
  MBG_TRY(mbg__system_update(ctx, a->sys, &bodies));
  MBG_TRY(mbg__system_late(ctx, a->sys, a->vd1));
done:
  return err;
}

void mbg__ali3p_states_push(mbg__ali3p *a, const mbg__tree_direction *d, real *v) {
  const mbg__direction x = {.w = a->bodies1[0], .dv = a->bodies1[1], .da = d->attributes};
  mbg__tree_kin_push(a->tree, d, a->bodies1[0], a->bodies1[1], NULL);
  mbg__system_push(a->sys, &x, a->r1, NULL, NULL, a->gamma1);
  mbg__gather(a->m, a->rank->keep, -1, a->r1, -1, a->gamma1, a->x1);
  mbg__klu_solve(a->index1.klu, a->x1, 1);
  mbg__scatter(a->m, a->rank->keep, 1, a->x1, a->dvd1, a->dlambda1);
  mbg__system_late_push(a->sys, a->dvd1, a->dlambda1);
  take_carriers(a, a->dvd1, v);
}

void mbg__ali3p_states_pull(mbg__ali3p *a, real *ab, real *ze, real *wb, real *gattr) {
  const mbg_model *m = a->m;
  give_carriers(a, ab, a->dvd1);
  memset(a->dlambda1, 0, (size_t)m->nrow * sizeof(real));
  mbg__system_late_pull(a->sys, a->dvd1, a->dlambda1);
  mbg__gather(m, a->rank->keep, -1, a->dvd1, -1, a->dlambda1, a->x1);
  mbg__klu_solve_T(a->index1.klu, a->x1, 1);
  mbg__scatter(m, a->rank->keep, 1, a->x1, a->r1, a->gamma1);
  memset(a->bodies1[0], 0, (size_t)m->nw * sizeof(real));
  memset(a->bodies1[1], 0, (size_t)m->nw * sizeof(real));
  mbg__system_pull(a->sys, a->r1, NULL, NULL, a->gamma1, a->bodies1[0], a->bodies1[1], NULL, NULL, gattr);
  mbg__tree_kin_pull(a->tree, a->bodies1[0], a->bodies1[1], NULL, ze, wb, NULL, gattr);
}

/* ---------------------------------------------------------------------- rates */

int mbg__ali3p_states_rates(mbg_context *ctx, mbg__ali3p *a, const mbg__ali3p_node *n) {
  const mbg__tree_state s = {.t = *n->t, .E = n->E, .w = n->w, .a = n->a, .turns = n->turns};
  int err = mbg__tree_update(ctx, a->tree, &s);
  if (a->held) {
    err = err < 0 ? err : complete(ctx, a);
    take_carriers(a, a->vd1, n->a);
    return err;
  }
  mbg__tree_residual(a->tree, a->E1, NULL, NULL, NULL);
  mbg__ali3p_states_take(a, -1, a->E1, n->a);
  return err;
}

/* w with ws_S of late rates, at which a_S+ is evaluated, in a->q */
static const real *before(const mbg__ali3p *a, const mbg__ali3p_node *n) {
  vn_copy(a->n, a->q, n->w);
  for (int i = 0; a->late && i < a->n; i++) {
    a->q[i] = a->late[i] && re(*n->h) > 0 ? n->ws[i] : a->q[i];
  }
  return a->q;
}

int mbg__ali3p_at_states(mbg_context *ctx, mbg__ali3p *a, const mbg__ali3p_node *n) {
  if (!a->late) {
    return mbg__ali3p_at_start(ctx, a, n);
  }
  const mbg__tree_state s = {
      .t = *n->t, .E = n->E, .w = before(a, n), .a = n->a, .lambda = n->lambda, .turns = n->turns};
  int err = mbg__tree_update(ctx, a->tree, &s);
  a->counts->assemblies++;
  if (a->held) {
    err = err < 0 ? err : complete(ctx, a);
    return err < 0 ? err : mbg__system_linearize(ctx, a->sys);
  }
  mbg__tree_residual(a->tree, a->E1, a->phi, a->rates ? a->phid : NULL, NULL);
  return err < 0 ? err : mbg__tree_linearize(ctx, a->tree);
}

void mbg__ali3p_states_hold(const mbg__ali3p *a, real c, const real *from, real *to) {
  for (int i = 0; a->held && i < a->n; i++) {
    to[i] += a->late[i] ? c * from[i] : 0;
  }
}

void mbg__ali3p_states_correct(const mbg__ali3p *a, real c, const real *v, const real *as, real *w) {
  for (int i = 0; a->late && i < a->n; i++) {
    w[i] += a->late[i] ? c * (v[i] - as[i]) : 0;
  }
}

void mbg__ali3p_states_correct_T(const mbg__ali3p *a, real c, const real *wb, real *ab, real *asb) {
  for (int i = 0; a->late && i < a->n; i++) {
    asb[i] = a->late[i] ? -c * wb[i] : 0;
    ab[i] -= asb[i];
  }
}
