/* run_options: options of a run that several commands share, and a run with a progress bar that Ctrl-C stops. */
#ifndef CLI_RUN_OPTIONS_H
#define CLI_RUN_OPTIONS_H

#include "mbgrad/run.h"
#include "session.h"

/* Entries of a table of options; a command that calls cli_run_open has all of them. */
#define CLI_OPTIONS_RUN                                                                                                \
  CLI_OPTION_SET, CLI_OPTION_RUN, {"formulation", "NAME", false, "{formulations}; default: the model's, else lie"},    \
      {"integrator", "NAME", false, "{integrators}"}, {"step", "SECONDS", false, "fixed step"},                        \
      {"tolerance", "NUMBER", false, "controlled steps of this relative error instead"},                               \
      {"accuracy", "NUMBER", false, "find the step (qr, dca: the tolerance) for this relative error of the results"},  \
      {"end", "SECONDS", false, "end of the run"},                                                                     \
      {"threads", "N", false, "threads of dca and of Hessians; results do not depend on N"}, {                         \
    "memory", "BYTES", false, "most memory of the program beside the model (64M, 2G); what does not fit is recomputed" \
  }

#define CLI_OPTION_PLOT                                                                                                \
  { "plot", "FILE", CLI_PICTURE, "write a plot: FILE.svg, FILE.png or FILE.pdf" }

/* What the command line gave; NAN, 0 and NULL when not given. */
int cli_run_options(const cli_args *args, mbg_run_options *options);

/* A number of an option that must be positive; *value is left alone when it is not given. */
int cli_positive(const cli_args *args, const char *name, double *value);
/* A count of at least 1, in the same way. */
int cli_count(const cli_args *args, const char *name, int *value);

typedef struct {
  cli_session session;
  mbg_run_options options;
  mbg_run *run;
  /* progress bar */
  bool bar, shown;
  double start, end, last;
} cli_run;

/* Opens the model of the command line, makes its run and sets the parameters. Returns CLI_DONE, or another exit status
   with messages printed; close it in either case. */
int cli_run_open(cli_run *run, const cli_args *args, bool all_signals, bool quiet);
/* The same without the run: options and model, for commands that make runs of their own. */
int cli_run_begin(cli_run *run, const cli_args *args, bool all_signals, bool quiet);
/* ... and then the run. */
int cli_run_make(cli_run *run);
/* Options of a run of which no gradient is asked: its nodes need not be kept, unless --memory says so. */
void cli_run_forward(mbg_run_options *options);
/* Options of a run by another formulation; an integrator that it does not have is left to its preset. */
void cli_run_formulation(mbg_run_options *options, const char *key);
void cli_run_close(cli_run *run);

/* Simulates, with a progress bar when standard error is a terminal. CLI_DONE also when Ctrl-C stopped it: ask
   mbg_run_partial. */
int cli_run_simulate(cli_run *run);

/* Prints the messages of the library; the exit status for its result. */
int cli_run_status(cli_run *run, int result);

/* "interrupted at t = ...": CLI_FAILED. what: "the results up to there are kept". */
int cli_run_interrupted(const cli_run *run, const char *what);

#endif
