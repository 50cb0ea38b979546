/* mbgrad optimize: designs that minimize criteria, under constraints */
#include "cli.h"
#include "gallery.h"
#include "optimize_report.h"
#include "optimize_starts.h"
#include "results.h"
#include "run_options.h"
#include "text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---------------------------------------------------------------------- progress */

/* a line that is written over, when somebody watches */
static int show(void *user, const mbg_optimize_state *s) {
  const mbg_run_options *run = user;
  char left[64] = "";
  if (!s->replayed && s->iteration > 0 && s->seconds > 0) {
    snprintf(left, sizeof(left), ", %.0f s, at most %.0f s left", s->seconds,
             s->seconds / s->iteration * (s->most - s->iteration));
  }
  fprintf(stderr, "\r\033[Kiteration %d: objective %.6g, violation %.2g, step %.2g%s", s->iteration, s->objective,
          s->violation, s->step, left);
  fflush(stderr);
  return run->interrupt && run->interrupt(run->user);
}

static int silent(void *user, const mbg_optimize_state *s) {
  const mbg_run_options *run = user;
  (void)s;
  return run->interrupt && run->interrupt(run->user);
}

static void clear_line(const mbg_optimize_options *o) {
  if (o->progress == show) {
    fputs("\r\033[K", stderr);
    fflush(stderr);
  }
}

/* ---------------------------------------------------------------------- options */

/* What the command line asks for beyond the options of the library. */
typedef struct {
  int starts, jobs;
} extent;

static int take_options(const cli_args *args, const cli_run *r, mbg_optimize_options *o, extent *e) {
  int seed = 1;
  mbg_optimize_options_default(o);
  *e = (extent){1, 1};
  o->run = r->options;
  o->run.progress = NULL;
  o->user = (void *)&r->options;
  o->progress = isatty(STDERR_FILENO) && !cli_flag(args, "quiet") ? show : silent;
  o->optimizer = cli_value(args, "optimizer", 0);
  o->run_name = cli_value(args, "run", 0);
  o->restart = cli_value(args, "restart", 0);
  o->resume = cli_flag(args, "resume");
  int status = cli_count(args, "iterations", &o->iterations);
  status = status == CLI_DONE ? cli_positive(args, "accuracy", &o->tolerance) : status;
  status = status == CLI_DONE ? cli_count(args, "starts", &e->starts) : status;
  status = status == CLI_DONE ? cli_count(args, "jobs", &e->jobs) : status;
  status = status == CLI_DONE ? cli_count(args, "seed", &seed) : status;
  o->seed = (unsigned)seed;
  if (status == CLI_DONE && o->resume && !o->restart) {
    status = cli_bad_input("--resume needs --restart FILE, the file to resume from");
  }
  o->threads = e->starts > 1 ? 1 : e->jobs;
  return status;
}

/* ---------------------------------------------------------------------- results */

static int write_model(cli_session *s, const mbg_optimize *opt, const char *path) {
  char *text;
  int status = cli_session_status(s, mbg_optimize_model_text(s->ctx, opt, &text));
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

static int put_results(const cli_args *args, cli_run *r, const mbg_optimize *opt, int nstart, const cli_start *starts,
                       int best) {
  const char *folder = cli_value(args, "output", 0), *model = cli_value(args, "write", 0);
  const mbg_optimize_summary *s = mbg_optimize_summary_of(opt);
  int status = folder ? cli_optimize_plots(r->session.ctx, opt, &r->options, folder) : CLI_DONE;
  if (status == CLI_DONE && model) {
    status = write_model(&r->session, opt, model);
  }
  if (status == CLI_DONE && cli_flag(args, "json")) {
    cli_optimize_json(opt, nstart, starts, best);
  } else if (status == CLI_DONE && !cli_flag(args, "quiet")) {
    cli_optimize_print(opt, nstart, starts, best, cli_flag(args, "full"));
  }
  fflush(stdout);
  if (status == CLI_DONE && !s->converged) {
    status = cli_failed("%s; the best design so far is given%s", mbg_optimize_reason_text(s->reason),
                        s->feasible ? "" : ", which violates constraints");
  }
  return status;
}

/* ---------------------------------------------------------------------- the command */

static int search(const cli_args *args, cli_run *r, mbg_optimize_options *o, const extent *e) {
  mbg_optimize *opt = NULL;
  cli_start *starts = NULL;
  int best = 0, status = CLI_DONE;
  char *path = cli_model_path(args->argument[0]);
  if (!path) {
    return CLI_BAD_INPUT;
  }
  o->parameters = cli_value(args, "set", 0) ? r->session.parameters : NULL;
  if (e->starts > 1) {
    status = cli_optimize_starts(&r->session, path, o, e->starts, e->jobs, &starts, &best);
  }
  int result = status == CLI_DONE ? mbg_optimize_create(r->session.ctx, path, o, &opt) : MBG_OK;
  if (opt && result == MBG_OK) {
    result = mbg_optimize_solve(r->session.ctx, opt);
  }
  clear_line(o);
  if (status == CLI_DONE) {
    status = cli_session_status(&r->session, result);
  }
  if (status == CLI_DONE) {
    status = put_results(args, r, opt, e->starts, starts, best);
  }
  mbg_optimize_destroy(opt);
  cli_optimize_starts_end(o, e->starts, cli_value(args, "restart", 0));
  free(starts);
  free(path);
  return status;
}

static int optimize(const cli_args *args) {
  cli_run r;
  mbg_optimize_options o;
  extent e;
  int status = cli_run_begin(&r, args, false, true);
  if (status == CLI_DONE) {
    status = take_options(args, &r, &o, &e);
  }
  if (status == CLI_DONE) {
    status = search(args, &r, &o, &e);
  }
  cli_run_close(&r);
  return status;
}

static const cli_option options[] = {
    CLI_OPTIONS_RUN,
    {"optimizer", "NAME", false, "lbfgs, nlopt-lbfgs, slsqp, mma, ipopt, ipopt-gn; default: by the problem"},
    {"iterations", "N", false, "most iterations (points with gradients); default: 200"},
    {"accuracy", "NUMBER", false, "residual of the conditions of optimality, relative to the start; default: 1e-6"},
    {"starts", "N", false, "the best of N starts, spread over the bounds of the parameters"},
    {"seed", "N", false, "other places of these starts; default: 1"},
    {"jobs", "N", false, "load cases in N threads at a time, or starts in N processes"},
    {"restart", "FILE", false, "record every evaluation in this file"},
    {"resume", NULL, false, "with --restart: replay what is recorded there, then go on"},
    {"output", "FOLDER", false, "write plots: history.svg, and design.svg of beams with a filling"},
    {"write", "FILE", false, "write the model file with the optimized parameters; put it beside the model"},
    CLI_OPTION_FULL,
    CLI_OPTION_JSON,
    {"quiet", NULL, false, "print nothing but messages"},
};

extern const cli_command cli_cmd_optimize;

const cli_command cli_cmd_optimize = {
    .name = "optimize",
    .arguments = "MODEL",
    .summary = "designs that minimize criteria, under constraints at every time step",
    .details =
        "Finds the parameters that minimize the objective of the section \"optimize\" of the model within its limits,\n"
        "over all of its load cases, on exact gradients. Prints what changed, which constraints are active, their\n"
        "multipliers and whether the conditions of optimality hold. Ctrl-C keeps the best feasible design.\n"
        "Exit status: 0 an optimum was found, 1 it was not, or the start cannot be simulated, 2 bad input.\n",
    .least = 1,
    .most = 1,
    .options = options,
    .noption = (int)(sizeof(options) / sizeof(options[0])),
    .run = optimize,
};
