/* step_error: the estimated error of the steps, for readers and for programs. */
#ifndef CLI_STEP_ERROR_H
#define CLI_STEP_ERROR_H

#include "mbgrad/control.h"
#include "mbgrad/error.h"
#include "run_options.h"

#define CLI_OPTION_NO_ERROR                                                                                            \
  { "no-error-estimate", NULL, false, "do not estimate the error of the steps (saves two or three runs)" }

/* Errors below this part of a value or gradient are called small. */
extern const double cli_error_small;
bool cli_error_is_small(const mbg_step_error *s);

/* Estimates the error of a run's steps, unless the command line says no. CLI_DONE also when there is no estimate (a
   message says why). */
int cli_error_estimate(cli_run *r, const cli_args *args, mbg_run *run, mbg_method method);

/* The result of an estimate without which the command goes on: failures become warnings. */
void cli_error_optional(cli_session *session, int result);

/* Error of the steps in the objective of a control problem, at a run under the control found; NAN (with a warning) when
   there is no estimate. */
void cli_error_of_control(cli_session *session, const mbg_control *control, mbg_run *run, double *error, bool *regular);

/* A search that went from one objective to another with this error of the steps: one paragraph, which says when the
   change is within the error; nothing for an error that is NAN. */
void cli_error_of_search(double objective, double start, double error, bool regular);

/* The largest errors of a run: of values and of gradients, relative, and where. */
typedef struct {
  bool known, regular, small;
  double value, gradient;
  int value_criterion, gradient_criterion, parameter;
} cli_worst;
/* criterion -1: of all */
cli_worst cli_error_worst(const mbg_run *run, const mbg_model *model, int criterion);

/* The errors of a criterion (-1: the worst of all) as a text: "value within 0.02 %, gradient within 0.3 % (by k1)";
   then advice, when they are not small. To be freed; NULL without an estimate. */
char *cli_error_text(const mbg_run *run, const mbg_model *model, int criterion);
/* One paragraph on standard output, nothing without an estimate. */
void cli_error_print(const mbg_run *run, const mbg_model *model);
/* An object: of one criterion; of the run. "null" without an estimate. */
void cli_error_json(const mbg_run *run, const mbg_model *model, int criterion);
void cli_error_json_all(const mbg_run *run, const mbg_model *model);

#endif
