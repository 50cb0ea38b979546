/* States of a random model: lags, nonlinear filters, integrators, oscillators as vectors, stiff ones; late ones, whose
   rates use accelerations, reactions, forces, energies and rates of other states. */
#include "support/random_internal.h"

#include <stdio.h>

/* a signal that a rate may use */
static const char *some(rm_gen *g) {
  for (int tries = 0; tries < 20 && g->nsignal > 0; tries++) {
    const rm_item *s = &g->signals[support_index(&g->rng, g->nsignal)];
    if (s->plain) {
      return s->name;
    }
  }
  return rm_name(g);
}

/* laws and criteria may use it, as a signal of velocities */
static const char *add(rm_gen *g, const char *name) {
  rm_item *s = &g->signals[g->nsignal++];
  assert_true(g->nsignal < RM_LIST);
  *s = (rm_item){.level = 2, .plain = true};
  snprintf(s->name, sizeof s->name, "%s", name);
  return s->name;
}

static void put_start(rm_gen *g, bool may_be_steady) {
  if (may_be_steady && rm_chance(g, 0.5)) {
    rm_put(&g->state, ", \"initial\": \"steady\"");
    if (rm_chance(g, 0.3)) {
      rm_put(&g->state, ", \"guess\": %s", rm_number(g, rm_sign(g, 0.1, 1), 0.1));
    }
  } else if (rm_chance(g, 0.8)) {
    rm_put(&g->state, ", \"initial\": %s", rm_number(g, rm_sign(g, 0.1, 1), 0.5));
  }
  if (rm_chance(g, 0.3)) {
    rm_put(&g->state, ", \"scale\": %.3g", rm_between(g, 0.01, 100));
  }
  rm_put(&g->state, "}");
}

/* time constants of a step of 0.01 s and below are stiff */
static void make_state(rm_gen *g, int k) {
  const char *name = rm_string(g, "w%d", k), *a = some(g), *b = some(g);
  const char *T = rm_expression(
      g, g->opt->stiff && rm_chance(g, 0.5) ? rm_between(g, 5e-4, 0.005) : rm_between(g, 0.03, 0.5), 0.001);
  const char *c = rm_expression(g, rm_sign(g, 0.5, 2), 0.5);
  rm_entry(&g->state, name);
  switch (support_index(&g->rng, 4)) {
  case 0:
    rm_put(&g->state, "{\"rate\": \"((%s)*%s - %s)/(%s)\"", c, a, name, T);
    put_start(g, true);
    break;
  case 1:
    rm_put(&g->state, "{\"rate\": \"(tanh((%s)*%s + 0.3*%s) - %s - 0.2*%s^3)/(%s)\"", c, a, b, name, name, T);
    put_start(g, true);
    break;
  case 2:
    rm_put(&g->state, "{\"rate\": \"(%s)*%s + 0.1*sin(3*t)*%s\"", c, a, b);
    put_start(g, false);
    break;
  default:
    rm_put(&g->state, "{\"rate\": [\"%s[1]\", \"(%s)*%s - 20*%s[0] - 3*%s[1]\"]", name, c, a, name, name);
    put_start(g, false);
    (void)add(g, rm_string(g, "%s[0]", name));
    (void)add(g, rm_string(g, "%s[1]", name));
    return;
  }
  (void)add(g, name);
}

/* ---------------------------------------------------------------------- late states */

enum { LATE = 2 };

/* a signal that comes after the accelerations: of them alone, or any */
static const char *some_late(rm_gen *g) {
  for (int tries = 0; tries < 60; tries++) {
    const rm_item *s = &g->signals[support_index(&g->rng, g->nsignal)];
    if (g->opt->late == RANDOM_LATE_ACCELERATIONS ? s->acceleration : !s->plain) {
      return s->name;
    }
  }
  return some(g);
}

/* a signal of positions and velocities at the start */
static const char *some_early(rm_gen *g) {
  const rm_item *s = &g->signals[support_index(&g->rng, 3)];
  return s->plain ? s->name : rm_name(g);
}

static void put_late(rm_gen *g, int k) {
  const char *name = rm_string(g, "l%d", k), *a = some_late(g), *b = some_late(g),
             *other = rm_string(g, "l%d", k > 0 ? k - 1 : LATE - 1);
  const char *T = rm_expression(g, rm_between(g, 0.05, 0.5), 0.001), *c = rm_expression(g, rm_sign(g, 0.02, 0.1), 0.02);
  rm_entry(&g->state, name);
  if (k > 0 && rm_chance(g, 0.5)) {
    rm_put(&g->state, "{\"rate\": \"(tanh((%s)*%s) + 0.2*rate(%s) - %s)/(%s)\"", c, a, other, name, T);
  } else if (rm_chance(g, 0.5)) {
    rm_put(&g->state, "{\"rate\": \"(tanh((%s)*%s + 0.1*sin(%s)) - %s)/(%s)\"", c, a, b, name, T);
  } else {
    rm_put(&g->state, "{\"rate\": \"(atan((%s)*%s) - 0.3*sin(%s) - %s)/(%s)\"", c, a, other, name, T);
  }
  if (rm_chance(g, 0.4)) {
    rm_put(&g->state, ", \"initial\": \"0.2*sin(%s) + %s\"}", some_early(g), rm_expression(g, 0.1, 0.1));
  } else {
    put_start(g, true);
  }
}

void rm_make_late_states(rm_gen *g) {
  for (int k = 0; k < LATE && g->opt->late; k++) {
    put_late(g, k);
    rm_entry(&g->signal, rm_string(g, "of_l%d", k));
    rm_put(&g->signal, "{\"type\": \"expression\", \"value\": \"rate(l%d) + 0.5*l%d^2\"}", k, k);
  }
}

void rm_make_states(rm_gen *g) {
  const int n = 1 + support_index(&g->rng, 4);
  for (int k = 0; k < n; k++) {
    make_state(g, k);
  }
  for (int k = 0; k < LATE && g->opt->late; k++) { /* laws may use them, their rates come after all signals */
    (void)add(g, rm_string(g, "l%d", k));
  }
}
