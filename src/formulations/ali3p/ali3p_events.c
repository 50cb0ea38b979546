/* Runs with events: nodes inside a step, and the guess of a shorter one. */
#include "formulations/ali3p/ali3p_work.h"

#include <string.h>

/* by the formulas of a step of this length, with accelerations between those of both ends; the projections grow */
void mbg__ali3p_inside(void *user, const void *from_block, const void *to_block, double length, void *block) {
  const mbg__ali3p *a = user;
  const mbg__ali3p_node from = mbg__ali3p_view(a, from_block), to = mbg__ali3p_view(a, to_block);
  const mbg__ali3p_node n = mbg__ali3p_view(a, block);
  const real x = length / *to.h;
  *n.t = *from.t + length;
  *n.h = length;
  vn_copy(a->nrow, n.lambda, to.lambda);
  memcpy(n.turns, to.turns, (size_t)a->m->nturn * sizeof(int));
  for (int i = 0; i < a->n; i++) {
    n.as[i] = from.a[i] + x * (to.as[i] - from.a[i]);
    n.ws[i] = from.w[i] + length / 2 * (from.a[i] + n.as[i]);
    n.D[i] = length / 2 * (from.w[i] + n.ws[i]);
    n.a[i] = n.as[i] + x * (to.a[i] - to.as[i]);
    n.w[i] = n.ws[i] + x * x * (to.w[i] - to.ws[i]);
  }
  mbg__tree_move(a->tree, from.E, n.D, n.E);
}

/* the guess of a step that is shorter than the one that `to` ends, as inside it */
void mbg__ali3p_predict_shorter(const mbg__ali3p *a, const mbg__ali3p_node *from, real h, const mbg__ali3p_node *to) {
  const real x = h / *to->h;
  *to->t = *from->t + h;
  *to->h = h;
  for (int i = 0; i < a->n; i++) {
    to->D[i] = h * (from->w[i] + h / 4 * ((2 - x) * from->a[i] + x * to->as[i]));
  }
  for (int i = 0; i < a->nrow; i++) {
    to->lambda[i] = from->lambda[i] + x * (to->lambda[i] - from->lambda[i]);
  }
  memcpy(to->turns, from->turns, (size_t)a->m->nturn * sizeof(int));
  mbg__ali3p_follow(a, from, to);
}
