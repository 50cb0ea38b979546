/* hessian_table: second derivatives of criteria, all or along a direction. */
#ifndef CLI_HESSIAN_TABLE_H
#define CLI_HESSIAN_TABLE_H

#include "gradient_table.h"
#include "run_options.h"

typedef struct {
  bool along;        /* a direction is given: products instead of matrices */
  double *direction; /*                                             (np) */
  double **H;        /* of each criterion, NULL: not computed       (criteria; np x np, or np) */
  double *asymmetry; /* of matrices                                 (criteria) */
  int nc;
} cli_hessian;

/* `gradient --hessian [--along NAME=VALUE ...]`, after a simulation: of the chosen criteria, but for paths, which a
   note names. Returns an exit status; destroy the result in any case. */
int cli_hessian_make(const cli_args *args, cli_run *r, const cli_criteria *chosen, cli_hessian *out);
void cli_hessian_destroy(cli_hessian *h);

/* The `top` entries with the largest effect; or members ", \"hessian\": ..." of a criterion's JSON object. */
void cli_hessian_print(const cli_hessian *h, const cli_run *r, int criterion, int top);
void cli_hessian_json(const cli_hessian *h, const cli_run *r, int criterion);

#endif
