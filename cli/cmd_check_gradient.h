/* check --gradient: proof of the gradient of a model. */
#ifndef CLI_CMD_CHECK_GRADIENT_H
#define CLI_CMD_CHECK_GRADIENT_H

#include "cli.h"

#include <stdbool.h>

typedef struct cli_proof cli_proof;

/* Runs the proof. Returns CLI_DONE with a proof in *out, or another exit status with messages printed and NULL. */
int cli_proof_make(const cli_args *args, cli_proof **out);
void cli_proof_destroy(cli_proof *proof);

/* Prints it for readers, or the member "gradient": {...} for programs. */
void cli_proof_print(const cli_proof *proof, bool full);
void cli_proof_json(const cli_proof *proof);
/* Exit status of the command: CLI_FAILED when the gradient of a criterion is not proven. */
int cli_proof_status(const cli_proof *proof);
/* Plot of the remainders. */
int cli_proof_plot(const cli_proof *proof, const char *path);

#endif
