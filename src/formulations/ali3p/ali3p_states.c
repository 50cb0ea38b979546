/* States of the model, in a mechanism with loops. Their velocities have no rows, so that projections leave them as the
   trapezoidal rule made them; but the forces on them, their rates, depend on the projected rates of the others:

     a_S+ = F(z+, w+)/s instead of the projection of as_S     i.e. E1_S(z+, w+, a+) = 0

   which keeps states of second order (theory 6, section 5). Without rows w+ = ws, and it is so already. */
#include "formulations/ali3p/ali3p_work.h"

bool mbg__ali3p_has_states(const mbg__ali3p *a) { return a->m->nstate > 0 && a->nrow > 0; }

static bool carries(const mbg__ali3p *a, int link) { return a->m->bodies[a->links[link].body].state >= 0; }

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
