/* check --gradient: proof of the gradient of a model. */
#ifndef CLI_CMD_CHECK_GRADIENT_H
#define CLI_CMD_CHECK_GRADIENT_H

#include "cli.h"
#include "gradient_table.h"
#include "mbgrad/run.h"
#include "run_options.h"

#include <stdbool.h>
#include <stdio.h>

typedef struct cli_proof cli_proof;

/* Runs the proof. Returns CLI_DONE with a proof in *out, or another exit status with messages printed and NULL. */
int cli_proof_make(const cli_args *args, cli_proof **out);
/* The same with a run that the caller opened and keeps, and whose trajectory is then another one. */
int cli_proof_of(const cli_args *args, cli_run *run, cli_proof **out);
void cli_proof_destroy(cli_proof *proof);

/* What was proven: the criteria, and the run that has their proofs and the errors of its steps. */
const mbg_run *cli_proof_run(const cli_proof *proof);
const mbg_model *cli_proof_model(const cli_proof *proof);
const cli_criteria *cli_proof_criteria(const cli_proof *proof);
/* The verdicts on a criterion as a text of one or two lines, to be freed; good: proven, and the steps are small. */
char *cli_proof_verdict(const cli_proof *proof, int criterion, bool *good);

/* Prints it for readers, or the member "gradient": {...} for programs. */
void cli_proof_print(const cli_proof *proof, bool full);
void cli_proof_json(const cli_proof *proof);
/* Exit status of the command: CLI_FAILED when the gradient of a criterion is not proven. */
int cli_proof_status(const cli_proof *proof);
/* Plot of the remainders, as a file or one of them as an <svg> element. */
int cli_proof_plot(const cli_proof *proof, const char *path);
void cli_proof_put(const cli_proof *proof, int criterion, FILE *file);

#endif
