/* mbgrad identify: parameters from measurements */
#include "cli.h"
#include "gallery.h"
#include "identify_report.h"
#include "results.h"
#include "run_options.h"
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---------------------------------------------------------------------- options */

static int take_optimizer(const cli_args *args, mbg_fit_optimizer *optimizer) {
  static const char *const names[] = {"lm", "lbfgs"};
  const char *text = cli_value(args, "optimizer", 0);
  for (int i = 0; text && i < 2; i++) {
    if (!strcmp(text, names[i])) {
      *optimizer = i == 0 ? MBG_FIT_LM : MBG_FIT_LBFGS;
      return CLI_DONE;
    }
  }
  return text ? cli_bad_input("--optimizer: '%s' is not known; give lm or lbfgs", text) : CLI_DONE;
}

static int take_counts(const cli_args *args, mbg_identify_options *o) {
  int seed = (int)o->seed;
  int status = cli_count(args, "iterations", &o->iterations);
  status = status == CLI_DONE ? cli_count(args, "starts", &o->starts) : status;
  status = status == CLI_DONE ? cli_count(args, "seed", &seed) : status;
  status = status == CLI_DONE ? cli_count(args, "homotopy", &o->homotopy) : status;
  status = status == CLI_DONE ? cli_positive(args, "gain", &o->gain) : status;
  status = status == CLI_DONE ? cli_positive(args, "accuracy", &o->tolerance) : status;
  o->seed = (unsigned)seed;
  return status;
}

/* after every iteration, when somebody watches */
static void show_iteration(void *user, int iteration, double cost) {
  (void)user;
  fprintf(stderr, "\r\033[Kiteration %d, cost %.6g", iteration, cost);
  fflush(stderr);
}

static void clear_iteration(const mbg_identify_options *o) {
  if (o->report) {
    fputs("\r\033[K", stderr);
    fflush(stderr);
  }
}

static int take_options(const cli_args *args, const cli_run *r, mbg_identify_options *o) {
  mbg_identify_options_default(o);
  o->run = r->options;
  o->run.progress = NULL; /* a bar for each of many simulations says nothing */
  int status = take_optimizer(args, &o->optimizer);
  status = status == CLI_DONE ? take_counts(args, o) : status;
  o->run_name = cli_value(args, "run", 0);
  o->bias = !cli_flag(args, "no-bias");
  o->restart = cli_value(args, "restart", 0);
  o->resume = cli_flag(args, "resume");
  o->report = isatty(STDERR_FILENO) ? show_iteration : NULL;
  if (status == CLI_DONE && o->resume && !o->restart) {
    status = cli_bad_input("--resume needs --restart FILE, the file to resume from");
  }
  return status;
}

/* ---------------------------------------------------------------------- results */

static int write_model(cli_session *s, const mbg_identify *id, const char *path) {
  char *text;
  int status = cli_session_status(s, mbg_identify_model_text(s->ctx, id, &text));
  FILE *file = status == CLI_DONE ? cli_file_open(path) : NULL;
  if (status == CLI_DONE && !file) {
    status = CLI_BAD_INPUT;
  }
  if (file) {
    fputs(text, file);
    status = cli_file_close(file, path);
  }
  mbg_text_destroy(s->ctx, text);
  return status;
}

static int put_results(const cli_args *args, cli_session *s, const mbg_identify *id) {
  const char *folder = cli_value(args, "output", 0), *model = cli_value(args, "write", 0);
  const mbg_identify_summary *summary = mbg_identify_summary_of(id);
  int status = folder ? cli_identify_plots(id, folder) : CLI_DONE;
  if (status == CLI_DONE && model) {
    status = write_model(s, id, model);
  }
  if (status == CLI_DONE && cli_flag(args, "json")) {
    cli_identify_json(id);
  } else if (status == CLI_DONE) {
    cli_identify_print(id, cli_flag(args, "full"));
  }
  fflush(stdout);
  if (status == CLI_DONE && !summary->converged) {
    status = cli_failed("%s; the best parameters so far are given", mbg_fit_reason_text(summary->reason));
  }
  return status;
}

/* ---------------------------------------------------------------------- the command */

static int fit(const cli_args *args, cli_session *s, mbg_identify_options *o) {
  mbg_identify *id = NULL;
  char *path = cli_model_path(args->argument[0]);
  if (!path) {
    return CLI_BAD_INPUT;
  }
  o->parameters = cli_value(args, "set", 0) ? s->parameters : NULL;
  int result = mbg_identify_create(s->ctx, path, o, &id);
  if (result == MBG_OK) {
    result = mbg_identify_solve(s->ctx, id);
  }
  clear_iteration(o);
  int status = cli_session_status(s, result);
  if (status == CLI_DONE) {
    status = put_results(args, s, id);
  }
  mbg_identify_destroy(id);
  free(path);
  return status;
}

static int identify(const cli_args *args) {
  cli_run r;
  mbg_identify_options o;
  int status = cli_run_begin(&r, args, false, true);
  if (status == CLI_DONE) {
    status = take_options(args, &r, &o);
  }
  if (status == CLI_DONE) {
    status = fit(args, &r.session, &o);
  }
  cli_run_close(&r);
  return status;
}

static const cli_option options[] = {
    CLI_OPTIONS_RUN,
    {"optimizer", "NAME", false, "lm (default): Levenberg-Marquardt, direct; lbfgs: L-BFGS, adjoint"},
    {"iterations", "N", false, "most iterations; default: 100"},
    {"accuracy", "NUMBER", false, "relative steps at which the fit has converged; default: 1e-10"},
    {"starts", "N", false, "the best of N starts, spread over the bounds of the parameters"},
    {"seed", "N", false, "other places of these starts; default: 1"},
    {"homotopy", "N", false, "N fits of a model that is pulled to the data less and less, then the model itself"},
    {"gain", "NUMBER", false, "of the pull at its beginning; default: 1000"},
    {"no-bias", NULL, false, "do not fit again with half the step to see what the step adds"},
    {"restart", "FILE", false, "record every evaluation in this file"},
    {"resume", NULL, false, "with --restart: replay what is recorded there, then go on"},
    {"output", "FOLDER", false, "write a plot of each channel: data, model and residual"},
    {"write", "FILE", false, "write the model file with the fitted parameters"},
    CLI_OPTION_FULL,
    CLI_OPTION_JSON,
};

extern const cli_command cli_cmd_identify;

const cli_command cli_cmd_identify = {
    .name = "identify",
    .arguments = "MODEL",
    .summary = "parameters from measured signals, with their uncertainty",
    .details =
        "Fits the parameters of a model to the data of its least_squares criteria, over all of its runs, starting at\n"
        "the values of the file. Prints the values, their standard errors and correlations, what the data cannot tell\n"
        "apart, and how well each channel is met. Ctrl-C keeps the best parameters so far; the exit status is then "
        "1.\n",
    .least = 1,
    .most = 1,
    .options = options,
    .noption = (int)(sizeof(options) / sizeof(options[0])),
    .run = identify,
};
