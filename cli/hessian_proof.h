/* hessian_proof: check --gradient --hessian, the proof of second derivatives. */
#ifndef CLI_HESSIAN_PROOF_H
#define CLI_HESSIAN_PROOF_H

#include "gradient_table.h"
#include "mbgrad/hessian.h"
#include "run_options.h"

typedef struct {
  const cli_run *run;
  cli_criteria chosen;       /* those that have second derivatives; index is its own */
  mbg_hessian_proof *proofs; /* (chosen.count) */
} cli_hessian_proof;

/* Of some criteria; one that is the largest value of a path gets a note instead. Destroy it in either case. */
int cli_hessian_prove(cli_hessian_proof *h, cli_run *run, const cli_criteria *criteria);
void cli_hessian_proof_destroy(cli_hessian_proof *h);

void cli_hessian_proof_print(const cli_hessian_proof *h);
/* The member "hessian": {...}. */
void cli_hessian_proof_json(const cli_hessian_proof *h);
/* CLI_FAILED with a message when one is not proven. */
int cli_hessian_proof_status(const cli_hessian_proof *h);

#endif
