/* What tests of gradients of `qr` share: direct, continuous and discrete adjoint and complex twin on random models. A
   failing seed is repeated with MBG_SEED=number. */
#ifndef PROPERTY_GRADIENT_QR_PROOF_H
#define PROPERTY_GRADIENT_QR_PROOF_H

#include "property/gradient_proof.h"

static const double tolerance = 1e-12;

/* Relative as in theory 0, section 11. Direct and adjoint control their errors: the tolerance times the growth of
   variations over a run. The discrete run, whose derivative the twin has, controls those of the motion only. */
static const double tol_adjoint = 1e-9, tol_discrete = 1e-7;
/* Direct sums and the twin share the nodes of the values, which are refined until the values are right. Where an
   integrand has a kink its derivative jumps, and a panel of length h that is good for the value (h^2 = tolerance) is
   off by h in the derivative: the root of the tolerance of 1e-12, for few. */
static const double tol_kink = 1e-6;
static int compared, kinked;

static void open_qr(gradient_case *c, const char *text) {
  gradient_case_open(c, NULL, text);
  c->options.formulation = "qr";
  c->options.tolerance = tolerance;
}

/* ---------------------------------------------------------------------- random models */

static double far[4];

static double sum_along(int np, const double *g, const double *d) {
  double sum = 0;
  for (int j = 0; j < np; j++) {
    sum += g[j] * d[j];
  }
  return sum;
}

/* a path stands for its largest node; nodes of the twin may differ where rounding decided about a step */
/* special: at a kink or a jump, or at rest, where criteria are rounding; few may be */
static void compare_all(gradient_case *c, const char *name, bool special) {
  double *direct = gradient_case_gradient(c, MBG_METHOD_DIRECT),
         *adjoint = gradient_case_gradient(c, MBG_METHOD_CONTINUOUS),
         *discrete = gradient_case_gradient(c, MBG_METHOD_ADJOINT);
  double *d = calloc((size_t)c->np + 1, sizeof *d), *exact = calloc((size_t)c->nc + 1, sizeof *exact);
  support_rng rng = support_rng_make(5);
  for (int j = 0; j < c->np; j++) {
    d[j] = c->p[j] * support_uniform(&rng, -1, 1);
  }
  twin_along(c, d, exact);
  for (int k = 0; k < c->nc; k++) {
    const bool nodes = c->m->criteria[k].kind == MBG__PATH && !(c->m->criteria[k].every > 0);
    const double a = gradient_difference(c->np, c->p, direct + k * c->np, adjoint + k * c->np, unit);
    const double b = nodes ? 0 : along(c->np, adjoint + k * c->np, d, exact[k]);
    const double e = along(c->np, discrete + k * c->np, d, sum_along(c->np, direct + k * c->np, d));
    far[0] = fmax(far[0], a);
    far[1] = fmax(far[1], b);
    const double x = nodes ? 0 : along(c->np, discrete + k * c->np, d, exact[k]);
    far[2] = fmax(far[2], e);
    far[3] = fmax(far[3], x);
    const double most = fmax(b, e);
    const bool exact_enough = a <= tol_adjoint && most <= tol_discrete, near = a <= tol_kink && most <= tol_kink;
    compared++;
    kinked += !exact_enough && (near || special);
    if (!exact_enough && !near && special) {
      print_message("%s, '%s': %.2e, %.2e, %.2e\n", name, c->m->criteria[k].name, a, b, e);
    } else if (!exact_enough && !near) {
      fail_msg(
          "%s, '%s': direct and continuous differ by %.2e, continuous and twin by %.2e, direct and discrete by %.2e, "
          "discrete and twin by %.2e",
          name, c->m->criteria[k].name, a, b, e, x);
    }
  }
  free(direct);
  free(adjoint);
  free(discrete);
  free(exact);
  free(d);
}

static bool count_down(void *user) { return (*(int *)user)-- <= 0; }

/* Redundant rows that a parameter would contradict, singular positions, and motions that need thousands of steps (a law
   that jumps back and forth: neither does lie converge there). */
static bool runs_qr(gradient_case *c, const char *name, int *left) {
  double *g = gradient_case_matrix(c);
  *left = 2000;
  int err = mbg_run_simulate(c->ctx, c->run);
  const bool partial = err == MBG_OK && mbg_run_partial(c->run);
  *left = 5000;
  err = err < 0 || partial ? err : mbg_run_gradient(c->ctx, c->run, MBG_METHOD_CONTINUOUS, g, NULL);
  if (err < 0 || partial) {
    print_message("%s: skipped: %s\n", name, partial ? "too many steps" : mbg_context_error(c->ctx));
    mbg_context_clear(c->ctx);
    skipped++;
  }
  free(g);
  return err == MBG_OK && !partial;
}

static void check_random_qr(uint64_t number) {
  gradient_case c;
  double step, end;
  char name[40], *text = random_text(number, &step, &end);
  int left;
  snprintf(name, sizeof name, "seed %llu", (unsigned long long)number);
  keep_text(number, text);
  open_qr(&c, text);
  c.options.end = end;
  c.options.interrupt = count_down;
  c.options.user = &left;
  gradient_case_run(&c);
  if (runs_qr(&c, name, &left)) {
    compare_all(&c, name, number >= PROOF_SPECIAL);
  }
  gradient_case_close(&c);
  free(text);
}

/* Few models may be skipped; more of those that mix rows, which are redundant or cannot be closed more often: as many
   as in gradient_proof.h (`test_mixed`). */
static void few_skipped(int rounds) { few(skipped, with_mixed ? 1 + rounds / 8 : 1 + rounds / 20); }

/* random models with modal bodies, beams or states */
static void check_with_qr(uint64_t first, int rounds, bool *with) {
  skipped = compared = kinked = 0;
  unit = 1e-3;
  *with = true;
  for (int i = 0; i < rounds; i++) {
    const uint64_t number = first + (uint64_t)(i * (RANDOM_KINDS + 1));
    if (asked() == UINT64_MAX ? support_part(i) : asked() == number) {
      check_random_qr(number);
    }
  }
  few_skipped(rounds);
  few(kinked, compared / 50);
  unit = 0;
  *with = false;
}

/* ---------------------------------------------------------------------- the discrete adjoint is exact */

/* Under error control rounding decides about lengths of steps in their last digits; those of the twin differ. So the
   steps are fixed, and long: their derivative is another one than that of the motion. */
static const char *const pairs[] = {"dop853", "dp5", "rk4"};

/* adjoint against twin and Taylor slope of every criterion; a path stands for its largest node */
static void check_exact(gradient_case *c, const char *name) {
  const size_t nc = (size_t)c->nc + 1;
  trial x = {.c = c, .name = name, .adjoint = gradient_case_matrix(c)};
  x.noise = calloc(nc, sizeof(double));
  x.size = calloc(nc, sizeof(double));
  x.proofs = calloc(nc, sizeof(mbg_proof));
  gradient_case_check(c, mbg_run_prove(c->ctx, c->run), name);
  for (int k = 0; k < c->nc; k++) {
    x.proofs[k] = *mbg_run_get_proof(c->run, k);
    memcpy(x.adjoint + k * c->np, x.proofs[k].gradient, (size_t)c->np * sizeof(double));
  }
  measure_noise(&x);
  for (int k = 0; k < c->nc; k++) {
    if (c->m->criteria[k].kind != MBG__PATH || c->m->criteria[k].every > 0) {
      compare(&x, "adjoint and twin", x.adjoint, x.exact, tol_direct, &worst_twin, k);
    }
    if (c->m->criteria[k].kind != MBG__PATH) {
      check_taylor(&x, k);
    }
  }
  double *all[] = {x.adjoint, x.exact, x.noise, x.size};
  for (int i = 0; i < MBG_COUNT(all); i++) {
    free(all[i]);
  }
  free(x.proofs);
}

/* few criteria may be too noisy to be judged, few too curved for three decades above rounding */
static void check_shares(void) {
  few(noisy, judged / 20);
  few(short_, 1 + judged / 20);
  (void)report(NULL);
  judged = flat = short_ = noisy = skipped = 0;
  worst_twin = 0;
  worst_slope = 2;
  least_decades = 99;
}

static void check_random_exact(uint64_t number) {
  gradient_case c;
  double step, end;
  char name[40], *text = random_text(number, &step, &end);
  int left;
  snprintf(name, sizeof name, "seed %llu", (unsigned long long)number);
  open_qr(&c, text);
  c.options.tolerance = NAN;
  c.options.integrator = pairs[number % MBG_COUNT(pairs)];
  c.options.step = step;
  c.options.end = end;
  c.options.interrupt = count_down;
  c.options.user = &left;
  gradient_case_run(&c);
  if (runs_qr(&c, name, &left)) {
    check_exact(&c, name);
  }
  gradient_case_close(&c);
  free(text);
}

static void check_seeds_exact(uint64_t first, int rounds) {
  const char *one = getenv("MBG_SEED");
  unit = 1e-3;
  skipped = 0;
  for (int i = 0; i < (one ? 1 : rounds); i++) {
    if (one || support_part(i)) {
      check_random_exact(one ? strtoull(one, NULL, 10) : first + (uint64_t)i);
    }
  }
  few_skipped(rounds);
  check_shares();
  unit = 0;
}

#endif
