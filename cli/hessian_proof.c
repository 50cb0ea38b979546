#include "hessian_proof.h"

#include "results.h"
#include "table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------- computing */

int cli_hessian_prove(cli_hessian_proof *h, cli_run *run, const cli_criteria *criteria) {
  const mbg_model *model = run->session.model;
  int status = cli_run_status(run, mbg_run_set_parameters(run->session.ctx, run->run, run->session.parameters));
  status = status == CLI_DONE ? cli_run_status(run, mbg_run_simulate(run->session.ctx, run->run)) : status;
  *h = (cli_hessian_proof){.run = run};
  h->chosen.index = cli_resize(NULL, (size_t)criteria->count, sizeof(int));
  h->proofs = cli_resize(NULL, (size_t)criteria->count, sizeof(*h->proofs));
  for (int c = 0; status == CLI_DONE && c < criteria->count; c++) {
    const int k = criteria->index[c];
    if (strcmp(mbg_model_criterion_kind(model, k), "path") == 0) {
      fprintf(stderr, "note: criterion '%s' is the largest value of a path, which has no second derivatives here\n",
              mbg_model_criterion_name(model, k));
      continue;
    }
    status = cli_run_status(run, mbg_run_prove_hessian(run->session.ctx, run->run, k, &h->proofs[h->chosen.count]));
    h->chosen.index[h->chosen.count] = k;
    h->chosen.count += status == CLI_DONE;
  }
  return status;
}

void cli_hessian_proof_destroy(cli_hessian_proof *h) {
  free(h->chosen.index);
  free(h->proofs);
}

/* ---------------------------------------------------------------------- verdicts */

typedef enum { PROVEN, QUADRATIC, NOT_PROVEN } verdict;

/* rounding of the largest difference: the criterion has no third derivative, or no second one */
static bool is_quadratic(const mbg_hessian_proof *q) {
  for (int i = 0; i < MBG_HESSIAN_POINTS; i++) {
    if (isfinite(q->points[i].remainder)) {
      return q->points[i].remainder <= 1e-12 * fmax(fabs(q->value), fabs(q->curvature));
    }
  }
  return false;
}

/* transposed steps are symmetric to rounding */
static double symmetric(const mbg_hessian_proof *q) { return fmax(1e-11, 10 * q->rounding); }

static verdict judge(const mbg_hessian_proof *q) {
  const bool falls = fabs(q->slope - 3) <= 0.05 && q->decades >= 1.99;
  const bool differences = fabs(q->difference_slope - 2) <= 0.05 && q->difference_decades >= 1.99;
  if (!(q->asymmetry <= symmetric(q))) {
    return NOT_PROVEN;
  }
  return (falls || differences) && q->best_difference <= 1e-5 ? PROVEN : is_quadratic(q) ? QUADRATIC : NOT_PROVEN;
}

static char *verdict_text(const mbg_hessian_proof *q) {
  const verdict v = judge(q);
  char slope[96] = "the remainder never falls with slope 3", gradients[96] = "";
  if (!isnan(q->slope)) {
    snprintf(slope, sizeof(slope), "slope %.2f over %.1f decades", q->slope, q->decades);
  }
  if (!isnan(q->difference_slope)) {
    snprintf(gradients, sizeof(gradients), ", with slope %.2f over %.1f decades", q->difference_slope,
             q->difference_decades);
  }
  return v == QUADRATIC
             ? cli_format("second derivatives proven: no third ones, the remainder is rounding; symmetric to %.1g",
                          fmax(q->asymmetry, 1e-16))
             : cli_format("second derivatives %s: %s; symmetric to %.1g; differences of gradients come as near as %.1g "
                          "(relative step %.0e)%s",
                          v == PROVEN ? "proven exact for these steps" : "NOT proven", slope, fmax(q->asymmetry, 1e-16),
                          q->best_difference, q->best_step, gradients);
}

int cli_hessian_proof_status(const cli_hessian_proof *h) {
  for (int c = 0; c < h->chosen.count; c++) {
    if (judge(&h->proofs[c]) == NOT_PROVEN) {
      return cli_failed("the second derivatives of '%s' are not proven",
                        mbg_model_criterion_name(h->run->session.model, h->chosen.index[c]));
    }
  }
  return CLI_DONE;
}

/* ---------------------------------------------------------------------- printing */

static void print_points(const mbg_hessian_proof *q) {
  cli_table t = cli_table_make("lrr");
  cli_table_texts(&t, "eps", "remainder", "difference of gradients", NULL);
  for (int i = 0; i < MBG_HESSIAN_POINTS; i += 3) {
    const mbg_hessian_point *p = &q->points[i];
    cli_table_format(&t, "%.1e", p->eps);
    if (!isfinite(p->remainder)) {
      cli_table_texts(&t, "-", "-", NULL);
      continue;
    }
    cli_table_format(&t, p->remainder > 10 * q->floor ? "%.2e" : "~%.2e", p->remainder);
    cli_table_format(&t, "%.2e", p->difference);
  }
  cli_table_print(&t, 2);
  cli_table_destroy(&t);
}

void cli_hessian_proof_print(const cli_hessian_proof *h) {
  const mbg_model *model = h->run->session.model;
  for (int c = 0; c < h->chosen.count; c++) {
    char *title = cli_format("\n%s: second derivatives", mbg_model_criterion_name(model, h->chosen.index[c]));
    char *text = verdict_text(&h->proofs[c]);
    cli_heading(title);
    cli_paragraph("  ", text);
    print_points(&h->proofs[c]);
    free(title);
    free(text);
  }
  if (h->chosen.count > 0) {
    putchar('\n');
    cli_paragraph("  ", "Remainder |psi(p + eps d) - psi(p) - eps g.d - eps^2/2 d.H d| falls with eps^3, by 1000 per "
                        "decade; (g(p + eps d) - g(p - eps d))/(2 eps) - H d with eps^2, until rounding.");
  }
}

static void json_member(const char *key, double value) {
  printf(", \"%s\": ", key);
  cli_json_number(stdout, value);
}

void cli_hessian_proof_json(const cli_hessian_proof *h) {
  fputs("  \"hessian\": {", stdout);
  for (int c = 0; c < h->chosen.count; c++) {
    const mbg_hessian_proof *q = &h->proofs[c];
    fputs(c > 0 ? ",\n    " : "\n    ", stdout);
    cli_json_string(mbg_model_criterion_name(h->run->session.model, h->chosen.index[c]));
    printf(": {\"proven\": %s", judge(q) == NOT_PROVEN ? "false" : "true");
    json_member("asymmetry", q->asymmetry);
    json_member("rounding", q->rounding);
    json_member("slope", q->slope);
    json_member("decades", q->decades);
    json_member("difference_slope", q->difference_slope);
    json_member("difference_decades", q->difference_decades);
    json_member("best_difference", q->best_difference);
    json_member("best_step", q->best_step);
    fputs(",\n      \"points\": [", stdout);
    for (int i = 0; i < MBG_HESSIAN_POINTS; i++) {
      printf("%s{\"eps\": %.6g", i > 0 ? ", " : "", q->points[i].eps);
      json_member("remainder", q->points[i].remainder);
      json_member("difference", q->points[i].difference);
      putchar('}');
    }
    fputs("]}", stdout);
  }
  fputs("\n  }", stdout);
}
