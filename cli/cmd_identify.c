/* mbgrad identify: parameters from measurements */
#include "cli.h"
#include "identify_report.h"
#include "identify_starts.h"
#include "ranks.h"
#include "search.h"
#include "step_error.h"
#include "text.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---------------------------------------------------------------------- options */

/* shows every iteration on a terminal */
static bool show_iteration(void *user, const mbg_identify_state *state) {
  (void)user;
  fprintf(stderr, "\r\033[Kiteration %d, cost %.6g", state->iteration, state->cost);
  fflush(stderr);
  return false;
}

static bool is_known(const char *optimizer) {
  static const char *const known[] = {"lm", "lbfgs", "newton", "cg", "steepest"};
  bool yes = !optimizer;
  for (size_t i = 0; !yes && i < sizeof known / sizeof *known; i++) {
    yes = !strcmp(optimizer, known[i]);
  }
  return yes;
}

/* starts in processes, and where their results are recorded; experiments in threads and ranks */
typedef struct {
  int jobs;
  cli_record_options record;
  mbg_ranks ranks;
} sharing;

static int take_sharing(const cli_args *args, mbg_identify_options *o, sharing *s) {
  s->jobs = 1;
  int status = cli_count(args, "jobs", &s->jobs);
  status = status == CLI_DONE ? cli_record_take(args, &s->record) : status;
  if (status == CLI_DONE && s->record.folder && o->starts < 2) {
    status = cli_bad_input("--records records results of several starts: give --starts N");
  }
  if (status == CLI_DONE && o->starts > 1 && cli_ranks_count() > 1) {
    status = cli_bad_input("ranks share the experiments of one fit: give --records FOLDER --shard I/N, without mpirun, "
                           "for several starts");
  }
  o->threads = o->starts > 1 ? 1 : s->jobs;
  s->ranks = (mbg_ranks){.own = cli_ranks_own(), .count = cli_ranks_count(), .share = cli_ranks_share};
  o->ranks = s->ranks.count > 1 ? &s->ranks : NULL;
  return status;
}

static int take_options(const cli_args *args, const cli_run *r, mbg_identify_options *o) {
  mbg_identify_options_default(o, sizeof(*o));
  o->run = &r->options;
  o->parameters = cli_value(args, "set", 0) ? r->session.parameters : NULL;
  o->bias = !cli_flag(args, "no-error-estimate");
  o->progress = isatty(STDERR_FILENO) && cli_ranks_own() == 0 ? show_iteration : NULL;
  o->hessian = cli_flag(args, "hessian");
  o->optimizer = cli_value(args, "optimizer", 0);
  if (!is_known(o->optimizer)) {
    return cli_bad_input("--optimizer: '%s' is not known; give lm, lbfgs, newton, cg or steepest", o->optimizer);
  }
  int status = cli_count(args, "iterations", &o->iterations);
  status = status == CLI_DONE ? cli_start_options(args, &o->starts, &o->seed) : status;
  status = status == CLI_DONE ? cli_count(args, "homotopy", &o->homotopy) : status;
  status = status == CLI_DONE ? cli_positive(args, "gain", &o->gain) : status;
  status = status == CLI_DONE ? cli_positive(args, "fit-tolerance", &o->tolerance) : status;
  return status == CLI_DONE ? cli_restart_options(args, &o->restart, &o->resume) : status;
}

/* ---------------------------------------------------------------------- results */

static int put_results(const cli_args *args, cli_session *s, const mbg_identify *id) {
  const char *folder = cli_value(args, "output", 0), *model = cli_value(args, "write", 0);
  const mbg_identify_summary *summary = mbg_identify_get_summary(id);
  int status = folder ? cli_identify_plots(id, folder) : CLI_DONE;
  if (status == CLI_DONE && model) {
    char *text;
    const int result = mbg_identify_model_text(s->ctx, id, &text);
    status = cli_model_write(s, result, text, model);
  }
  if (status == CLI_DONE && cli_flag(args, "json")) {
    cli_identify_json(id);
  } else if (status == CLI_DONE) {
    cli_identify_print(id, cli_flag(args, "full"));
  }
  fflush(stdout);
  if (status == CLI_DONE && !summary->converged) {
    status = cli_failed("%s; the best parameters so far are given", mbg_identify_reason_text(summary->reason));
  }
  return status;
}

/* ---------------------------------------------------------------------- the command */

/* Several starts in processes; *o gives their best one. */
static int fit_starts(cli_session *s, mbg_identify_options *o, const sharing *how, cli_fits *fits) {
  if (o->starts < 2 || (!how->record.folder && how->jobs < 2)) {
    return CLI_DONE;
  }
  const int status = cli_identify_starts(s, o, how->jobs, &how->record, fits);
  return status == CLI_DONE && !fits->part && fits->ended < o->starts
             ? cli_failed("interrupted: %d of %d starts ended; --resume goes on", fits->ended, o->starts)
             : status;
}

static int fit(const cli_args *args, cli_session *s, const mbg_identify_options *o) {
  mbg_identify *id = NULL;
  int result = mbg_identify_create(s->ctx, s->model, o, &id);
  if (result == MBG_OK) {
    result = mbg_identify_solve(s->ctx, id);
  }
  if (o->progress) {
    cli_line_clear();
  }
  if (o->ranks) {
    cli_ranks_check(result);
  }
  int status = cli_session_written(s, result);
  if (status == CLI_DONE && cli_ranks_own() == 0) {
    status = put_results(args, s, id);
  }
  mbg_identify_destroy(id);
  return status;
}

static int identify(const cli_args *args) {
  cli_run r;
  mbg_identify_options o;
  sharing how;
  cli_fits fits = {0};
  cli_messages_off(cli_ranks_own() > 0);
  int status = cli_run_begin(&r, args, false, true);
  r.options.progress = NULL; /* no bar for each of many simulations */
  if (status == CLI_DONE) {
    status = take_options(args, &r, &o);
  }
  status = status == CLI_DONE ? take_sharing(args, &o, &how) : status;
  status = status == CLI_DONE ? fit_starts(&r.session, &o, &how, &fits) : status;
  if (status == CLI_DONE && !fits.part) {
    status = fit(args, &r.session, &o);
  }
  status = cli_ranks_worst(status);
  cli_identify_starts_end(&fits);
  cli_run_close(&r);
  return status;
}

static const cli_option options[] = {
    CLI_OPTIONS_RUN,
    {"optimizer", "NAME", false,
     "lm (default): Levenberg-Marquardt, direct; by the adjoint: lbfgs, newton, cg, steepest"},
    {"hessian", NULL, false, "standard errors by second derivatives of the cost, beside those of Gauss-Newton"},
    {"iterations", "N", false, "most iterations; default: 100"},
    {"fit-tolerance", "NUMBER", false, "relative steps at which the fit has converged; default: 1e-10"},
    CLI_OPTIONS_STARTS,
    {"jobs", "N", false, "experiments in N threads at a time, or starts in N processes"},
    CLI_OPTIONS_PARTS,
    {"homotopy", "N", false, "N fits of a model that is pulled to the data less and less, then the model itself"},
    {"gain", "NUMBER", false, "of the pull at its beginning; default: 1000"},
    CLI_OPTION_NO_ERROR,
    CLI_OPTIONS_RESTART,
    {"output", "FOLDER", CLI_FOLDER, "write a plot of each channel: data, model and residual"},
    {"write", "FILE", CLI_FILE_MODEL, "write the model file with the fitted parameters"},
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
        "the values of the file. Prints the values, their standard errors and correlations, undetermined\n"
        "combinations, and the residuals of each channel. Ctrl-C keeps the best parameters so far; exit status 1.\n",
    .least = 1,
    .most = 1,
    .options = options,
    .noption = (int)(sizeof(options) / sizeof(options[0])),
    .run = identify,
    .ranks = true,
};
