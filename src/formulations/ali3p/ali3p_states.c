/* States of the model, in a mechanism with loops. Their velocities have no rows, so that projections leave them as the
   trapezoidal rule made them; but the forces on them, their rates, depend on the projected rates of the others:

     a_S+ = F(z+, w+)/s instead of the projection of as_S     i.e. E1_S(z+, w+, a+) = 0

   which keeps states of second order (theory 6, section 5). Without rows w+ = ws, and it is so already.

   A late rate uses accelerations, which are of first order across the rows before their projection: so is as_S, and ws_S
   is wrong by O(h^2) after each step. With the projected accelerations the trapezoidal rule is applied again:

     a_S+ = F(z+, w+, ws_S, a+),     w_S+ = ws_S + (h/2) (a_S+ - as_S)     i.e. w_S + (h/2) (a_S + a_S+)

   The step's forces see ws_S, and its error of O(h^2) does not accumulate: order 2. Without rows the correction is 0. */
#include "formulations/ali3p/ali3p_work.h"

bool mbg__ali3p_has_states(const mbg__ali3p *a) { return a->m->nstate > 0 && a->nrow > 0; }

static bool carries(const mbg__ali3p *a, int link) { return a->m->bodies[a->links[link].body].state >= 0; }

int mbg__ali3p_states_create(mbg_context *ctx, mbg__ali3p *a) {
  const mbg_model *m = a->m;
  if (!mbg__system_has_late(a->sys) || a->nrow == 0) {
    return MBG_OK;
  }
  a->late = MBG_TAKE(&a->arena, bool, a->n);
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

int mbg__ali3p_states_rates(mbg_context *ctx, mbg__ali3p *a, const mbg__ali3p_node *n) {
  const mbg__tree_state s = {.t = *n->t, .E = n->E, .w = n->w, .a = n->a, .turns = n->turns};
  const int err = mbg__tree_update(ctx, a->tree, &s);
  mbg__tree_residual(a->tree, a->E1, NULL, NULL, NULL);
  mbg__ali3p_states_take(a, -1, a->E1, n->a);
  return err;
}

/* w with ws_S of late rates, at which a_S+ is evaluated, in a->q */
static const real *before(const mbg__ali3p *a, const mbg__ali3p_node *n) {
  vn_copy(a->n, a->q, n->w);
  for (int i = 0; a->late && i < a->n; i++) {
    a->q[i] = a->late[i] && *n->h > 0 ? n->ws[i] : a->q[i];
  }
  return a->q;
}

int mbg__ali3p_at_states(mbg_context *ctx, mbg__ali3p *a, const mbg__ali3p_node *n) {
  if (!a->late) {
    return mbg__ali3p_at_start(ctx, a, n);
  }
  const mbg__tree_state s = {
      .t = *n->t, .E = n->E, .w = before(a, n), .a = n->a, .lambda = n->lambda, .turns = n->turns};
  const int err = mbg__tree_update(ctx, a->tree, &s);
  mbg__tree_residual(a->tree, a->E1, a->phi, a->rates ? a->phid : NULL, NULL);
  a->counts->assemblies++;
  return err < 0 ? err : mbg__tree_linearize(ctx, a->tree);
}

void mbg__ali3p_states_correct(const mbg__ali3p *a, double c, const real *v, const real *as, real *w) {
  for (int i = 0; a->late && i < a->n; i++) {
    w[i] += a->late[i] ? c * (v[i] - as[i]) : 0;
  }
}

void mbg__ali3p_states_correct_T(const mbg__ali3p *a, double c, const real *wb, real *ab, real *asb) {
  for (int i = 0; a->late && i < a->n; i++) {
    asb[i] = a->late[i] ? -c * wb[i] : 0;
    ab[i] -= asb[i];
  }
}
