/* mbgrad optimize: designs that minimize criteria, under constraints */
#include "cli.h"
#include "optimize_report.h"
#include "optimize_starts.h"
#include "ranks.h"
#include "search.h"
#include "step_error.h"
#include "text.h"
#include "view_page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
  mbg_optimize_options o;
  mbg_run_options run;
  mbg_ranks ranks;
  int starts, jobs;
  cli_record_options record; /* of the starts */
  bool keep;                 /* the iterates, for a page */
  int np, niterate;
  double *iterates; /* (niterate x np) */
} search;

/* ---------------------------------------------------------------------- progress */

static void keep_iterate(search *s, const double *parameters) {
  const size_t np = (size_t)s->np, n = (size_t)s->niterate;
  if (s->keep) {
    s->iterates = cli_resize(s->iterates, (n + 1) * np, sizeof(double));
    memcpy(s->iterates + n * np, parameters, np * sizeof(double));
    s->niterate++;
  }
}

static bool silent(void *user, const mbg_optimize_state *state) {
  search *s = user;
  keep_iterate(s, state->parameters);
  return s->run.interrupt && s->run.interrupt(s->run.user);
}

/* a line that the next iteration overwrites */
static bool show(void *user, const mbg_optimize_state *s) {
  char left[64] = "";
  if (!s->replayed && s->iteration > 0 && s->seconds > 0) {
    snprintf(left, sizeof(left), ", %.0f s, at most %.0f s left", s->seconds,
             s->seconds / s->iteration * (s->most - s->iteration));
  }
  fprintf(stderr, "\r\033[Kiteration %d: objective %.6g, violation %.2g, step %.2g%s", s->iteration, s->objective,
          s->violation, s->step, left);
  fflush(stderr);
  return silent(user, s);
}

/* ---------------------------------------------------------------------- options */

static int take_options(const cli_args *args, const cli_run *r, search *s) {
  mbg_optimize_options *o = &s->o;
  mbg_optimize_options_default(o, sizeof(*o));
  s->starts = s->jobs = 1;
  s->run = r->options;
  s->run.progress = NULL;
  o->run = &s->run;
  o->user = s;
  s->keep = cli_value(args, "view", 0) != NULL;
  s->np = mbg_model_parameter_count(r->session.model);
  o->progress = isatty(STDERR_FILENO) && cli_ranks_own() == 0 && !cli_flag(args, "quiet") ? show : silent;
  o->optimizer = cli_value(args, "optimizer", 0);
  o->parameters = cli_value(args, "set", 0) ? r->session.parameters : NULL;
  int status = cli_count(args, "iterations", &o->iterations);
  status = status == CLI_DONE ? cli_positive(args, "optimality", &o->tolerance) : status;
  status = status == CLI_DONE ? cli_start_options(args, &s->starts, &o->seed) : status;
  status = status == CLI_DONE ? cli_count(args, "jobs", &s->jobs) : status;
  status = status == CLI_DONE ? cli_restart_options(args, &o->restart, &o->resume) : status;
  status = status == CLI_DONE ? cli_record_take(args, &s->record) : status;
  if (status == CLI_DONE && s->record.folder && s->starts < 2) {
    status = cli_bad_input("--records records results of several starts: give --starts N");
  }
  if (status == CLI_DONE && s->starts > 1 && cli_ranks_count() > 1) {
    status = cli_bad_input("ranks share the load cases of one search: give --records FOLDER --shard I/N, without "
                           "mpirun, for several starts");
  }
  o->threads = s->starts > 1 ? 1 : s->jobs;
  s->ranks = (mbg_ranks){.own = cli_ranks_own(), .count = cli_ranks_count(), .share = cli_ranks_share};
  o->ranks = s->ranks.count > 1 ? &s->ranks : NULL;
  return status;
}

/* ---------------------------------------------------------------------- results */

static int outcome(const mbg_optimize *opt, int nstart, const cli_starts *starts) {
  const mbg_optimize_summary *s = mbg_optimize_get_summary(opt);
  const char *violates = s->feasible ? "" : ", which violates constraints";
  if (nstart > 1 && starts->ended < nstart) {
    return cli_failed("interrupted: %d of %d starts ended; the best design so far is given%s", starts->ended, nstart,
                      violates);
  }
  return s->converged
             ? CLI_DONE
             : cli_failed("%s; the best design so far is given%s", mbg_optimize_reason_text(s->reason), violates);
}

/* the optimum, and over it the start and iterates on the way, at most LAID in all */
static int write_page(const cli_args *args, cli_run *r, const mbg_optimize *opt, const search *s) {
  enum { LAID = 8 };
  mbg_context *ctx = r->session.ctx;
  const mbg_model *model = mbg_optimize_get_summary(opt)->model;
  mbg_view_options options;
  cli_others others = {0};
  mbg_run *run = NULL;
  mbg_run_options own = r->options;
  const int n = s->niterate < LAID ? s->niterate : LAID;
  int status = CLI_DONE;
  own.all_signals = own.keep_poses = true;
  own.progress = NULL;
  cli_run_forward(&own);
  for (int i = 0; i < n && status == CLI_DONE; i++) {
    const int k = n > 1 ? i * (s->niterate - 1) / (n - 1) : 0;
    char *label = cli_format("iteration %d", k + 1);
    status = cli_others_add(&others, r, model, s->iterates + (size_t)k * (size_t)s->np, label);
    free(label);
  }
  if (status == CLI_DONE) {
    int result = mbg_run_create(ctx, model, &own, &run);
    result = result == MBG_OK ? mbg_run_set_parameters(ctx, run, mbg_optimize_parameters(opt)) : result;
    status = cli_run_status(r, result == MBG_OK ? mbg_run_simulate(ctx, run) : result);
  }
  if (status == CLI_DONE) {
    mbg_view_options_default(&options, sizeof(options));
    cli_others_show(&others, &options);
    options.label = "optimum";
    status = cli_view_write(r, run, &options, cli_value(args, "view", 0), true);
  }
  mbg_run_destroy(run);
  cli_others_destroy(&others);
  return status;
}

static int put_results(const cli_args *args, cli_run *r, const mbg_optimize *opt, const search *s,
                       const cli_starts *starts) {
  const int nstart = s->starts;
  const char *folder = cli_value(args, "output", 0), *model = cli_value(args, "write", 0);
  int status = folder ? cli_optimize_plots(r->session.ctx, opt, &r->options, folder) : CLI_DONE;
  if (status == CLI_DONE && s->keep) {
    status = write_page(args, r, opt, s);
  }
  if (status == CLI_DONE && model) {
    char *text;
    const int result = mbg_optimize_model_text(r->session.ctx, opt, &text);
    status = cli_model_write(&r->session, result, text, model);
  }
  if (status == CLI_DONE && cli_flag(args, "json")) {
    cli_optimize_json(opt, nstart, starts->list, starts->best);
  } else if (status == CLI_DONE && !cli_flag(args, "quiet")) {
    cli_optimize_print(opt, nstart, starts->list, starts->best, cli_flag(args, "full"));
  }
  fflush(stdout);
  return status == CLI_DONE ? outcome(opt, nstart, starts) : status;
}

/* ---------------------------------------------------------------------- the command */

static int find_optimum(const cli_args *args, cli_run *r, search *s) {
  mbg_context *ctx = r->session.ctx;
  mbg_optimize *opt = NULL;
  cli_starts starts = {0};
  int status = CLI_DONE;
  if (s->starts > 1) {
    status = cli_optimize_starts(&r->session, &s->o, s->starts, s->jobs, &s->record, &starts);
  }
  if (starts.part) {
    cli_optimize_starts_end(&starts);
    return status;
  }
  int result = status == CLI_DONE ? mbg_optimize_create(ctx, r->session.model, &s->o, &opt) : MBG_OK;
  if (opt && result == MBG_OK) {
    result = mbg_optimize_solve(ctx, opt);
  }
  if (s->o.progress == show) {
    cli_line_clear();
  }
  if (s->o.ranks) {
    cli_ranks_check(result);
  }
  if (status == CLI_DONE) {
    status = cli_session_written(&r->session, result);
  }
  if (status == CLI_DONE && !cli_flag(args, "no-error-estimate")) {
    cli_error_optional(&r->session, mbg_optimize_error(ctx, opt));
  }
  if (status == CLI_DONE && cli_flag(args, "curvature") && mbg_optimize_get_summary(opt)->feasible) {
    status = cli_session_written(&r->session, mbg_optimize_curvature(ctx, opt));
  }
  if (status == CLI_DONE && cli_ranks_own() == 0) {
    status = put_results(args, r, opt, s, &starts);
  }
  mbg_optimize_destroy(opt);
  cli_optimize_starts_end(&starts);
  return status;
}

static int optimize(const cli_args *args) {
  cli_run r;
  search s = {0};
  cli_messages_off(cli_ranks_own() > 0);
  int status = cli_run_begin(&r, args, false, true);
  if (status == CLI_DONE) {
    status = take_options(args, &r, &s);
  }
  if (status == CLI_DONE) {
    status = find_optimum(args, &r, &s);
  }
  status = cli_ranks_worst(status);
  free(s.iterates);
  cli_run_close(&r);
  return status;
}

static const cli_option options[] = {
    CLI_OPTIONS_RUN,
    {"optimizer", "NAME", false,
     "lbfgs, nlopt-lbfgs, newton, slsqp, mma, conlin, ipopt, ipopt-gn, ipopt-exact; default: by the problem"},
    {"iterations", "N", false, "most iterations (points with gradients); default: 200"},
    {"optimality", "NUMBER", false, "residual of the conditions of optimality, relative to the start; default: 1e-6"},
    {"curvature", NULL, false,
     "second-order conditions at the optimum, and how it moves with every number of the model"},
    CLI_OPTION_NO_ERROR,
    CLI_OPTIONS_STARTS,
    {"jobs", "N", false, "load cases in N threads at a time, or starts in N processes"},
    CLI_OPTIONS_PARTS,
    CLI_OPTIONS_RESTART,
    {"output", "FOLDER", CLI_FOLDER, "write plots: history.svg, and design.svg of beams with a filling"},
    {"write", "FILE", CLI_FILE_MODEL, "write the model file with the optimized parameters; put it beside the model"},
    {"view", "FILE.html", CLI_FILE_OUT, "write a page that shows the motions of the optimum and of iterates before it"},
    CLI_OPTION_FULL,
    CLI_OPTION_JSON,
    CLI_OPTION_QUIET,
};

extern const cli_command cli_cmd_optimize;

const cli_command cli_cmd_optimize = {
    .name = "optimize",
    .arguments = "MODEL",
    .summary = "designs that minimize criteria, under constraints at every time step",
    .details =
        "Finds the parameters that minimize the objective of the section \"optimize\" of the model within its limits,\n"
        "over all of its load cases, on exact gradients. Prints the changes, the active constraints, their\n"
        "multipliers and whether the conditions of optimality hold. Ctrl-C keeps the best feasible design.\n"
        "Exit status: 0 an optimum was found, 1 it was not, or the start cannot be simulated, 2 bad input.\n",
    .least = 1,
    .most = 1,
    .options = options,
    .noption = (int)(sizeof(options) / sizeof(options[0])),
    .run = optimize,
    .ranks = true,
};
