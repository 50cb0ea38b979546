/* event_proof: what the proof of a gradient says about events. */
#ifndef MBGRAD_CLI_EVENT_PROOF_H
#define MBGRAD_CLI_EVENT_PROOF_H

#include "mbgrad/proof.h"

#include <stdbool.h>

/* Is the gradient proven below the eps where the sequence of events changes, though not over three decades? */
bool cli_proof_limited(const mbg_proof *q);

/* Is it linear: is the remainder of the largest step below that eps rounding, over three decades at least? */
bool cli_proof_linear(const mbg_proof *q);

/* What becomes of the event that changes the sequence: "is gone". */
const char *cli_proof_event_change(const mbg_proof *q);

/* A paragraph on the events of the run; nothing without events. */
void cli_proof_print_events(const mbg_run *run, const mbg_proof *q);

/* Further members of a JSON object, when the sequence changes. */
void cli_proof_json_events(const mbg_proof *q);

#endif
