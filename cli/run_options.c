#include "run_options.h"

#include "text.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---------------------------------------------------------------------- options */

static int number(const char *name, const char *text, double *value, char **end) {
  *value = strtod(text, end);
  return *end != text && isfinite(*value) ? CLI_DONE : cli_bad_input("--%s: '%s' is no number", name, text);
}

int cli_positive(const cli_args *args, const char *name, double *value) {
  const char *text = cli_value(args, name, 0);
  char *end;
  double x;
  if (!text) {
    return CLI_DONE;
  }
  int status = number(name, text, &x, &end);
  if (status == CLI_DONE && (*end || !(x > 0))) {
    status = cli_bad_input("--%s: '%s' is not a positive number", name, text);
  }
  *value = status == CLI_DONE ? x : *value;
  return status;
}

int cli_count(const cli_args *args, const char *name, int *value) {
  double x = *value;
  const int status = cli_positive(args, name, &x);
  if (status == CLI_DONE && (x != floor(x) || x > 1e9)) {
    return cli_bad_input("--%s: '%s' is not a whole number", name, cli_value(args, name, 0));
  }
  *value = (int)x;
  return status;
}

/* end may be any number: whether it comes after the start is for the library to say */
static int take_end(const cli_args *args, double *value) {
  const char *text = cli_value(args, "end", 0);
  char *end;
  if (!text) {
    return CLI_DONE;
  }
  const int status = number("end", text, value, &end);
  return status == CLI_DONE && *end ? cli_bad_input("--end: '%s' is no number", text) : status;
}

/* What a limit of the whole process leaves to the library: the program with its libraries and the work space of a small
   model take up to 22 MB. Limits of less than 16 MB are limits of the trajectory alone, those up to 60 MB leave the
   program a part. */
static double beside_program(double limit) {
  const double MB = 1024.0 * 1024;
  return limit - fmin(22 * MB, fmax(0, (limit - 16 * MB) / 2));
}

/* bytes with an optional k, M, G */
static int take_memory(const cli_args *args, double *value) {
  static const char letters[] = "kMG";
  const char *text = cli_value(args, "memory", 0);
  char *end;
  if (!text) {
    return CLI_DONE;
  }
  const int status = number("memory", text, value, &end);
  if (status != CLI_DONE) {
    return status;
  }
  const char *letter = *end ? strchr(letters, *end) : NULL;
  if ((*end && (!letter || end[1])) || !(*value > 0)) {
    return cli_bad_input("--memory: '%s' is no number of bytes (64M, 2G)", text);
  }
  *value = beside_program(*value * (letter ? pow(1024, (double)(letter - letters + 1)) : 1));
  return CLI_DONE;
}

int cli_run_options(const cli_args *args, mbg_run_options *o) {
  mbg_run_options_default(o, sizeof(*o));
  o->formulation = cli_value(args, "formulation", 0);
  o->integrator = cli_value(args, "integrator", 0);
  const int given = (cli_value(args, "step", 0) != NULL) + (cli_value(args, "tolerance", 0) != NULL) +
                    (cli_takes(args, "accuracy") && cli_value(args, "accuracy", 0) != NULL);
  if (given > 1) {
    return cli_bad_input("--step, --tolerance and --accuracy exclude each other");
  }
  int status = cli_positive(args, "step", &o->step);
  if (status == CLI_DONE && cli_takes(args, "accuracy")) {
    status = cli_positive(args, "accuracy", &o->accuracy);
  }
  status = status == CLI_DONE ? cli_positive(args, "tolerance", &o->tolerance) : status;
  if (status == CLI_DONE && cli_takes(args, "adjoint-tolerance")) {
    status = cli_positive(args, "adjoint-tolerance", &o->adjoint_tolerance);
  }
  status = status == CLI_DONE ? take_end(args, &o->end) : status;
  if (status == CLI_DONE && cli_takes(args, "threads")) {
    status = cli_count(args, "threads", &o->threads);
  }
  if (status == CLI_DONE && cli_takes(args, "interval")) {
    status = cli_positive(args, "interval", &o->interval);
  }
  return status == CLI_DONE ? take_memory(args, &o->memory) : status;
}

/* ---------------------------------------------------------------------- Ctrl-C */

static volatile sig_atomic_t stop_asked;

static void on_signal(int signal_number) {
  (void)signal_number;
  stop_asked = 1;
}

/* Ctrl-C, the end that a system or a batch queue asks for, the end of a terminal; the second one of its kind ends the
   program; one that the caller ignores (nohup) stays ignored */
static void catch_interrupts(void) {
  static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND}, old;
  sigemptyset(&action.sa_mask);
  for (int i = 0; i < 3; i++) {
    if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN) {
      sigaction(signals[i], &action, NULL);
    }
  }
}

static bool interrupt(void *user) {
  (void)user;
  return stop_asked != 0;
}

/* ---------------------------------------------------------------------- progress */

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void progress(void *user, double t) {
  enum { WIDTH = 40 };
  cli_run *r = user;
  const double now = seconds();
  if (!r->bar || now - r->last < 0.1) {
    return;
  }
  const double part = fmin(1, fmax(0, (t - r->start) / (r->end - r->start)));
  const int filled = (int)(part * WIDTH);
  static const char full[] = "########################################",
                    empty[] = "........................................";
  fprintf(stderr, "\r[%.*s%.*s] %3.0f %%  t = %-10.4g", filled, full, WIDTH - filled, empty, 100 * part, t);
  fflush(stderr);
  r->last = now;
  r->shown = true;
}

static void clear_bar(cli_run *r) {
  if (r->shown) {
    fputs("\r\033[K", stderr);
    fflush(stderr);
  }
  r->shown = false;
}

/* ---------------------------------------------------------------------- the run */

int cli_run_status(cli_run *r, int result) {
  clear_bar(r);
  return cli_session_status(&r->session, result);
}

int cli_run_begin(cli_run *r, const cli_args *args, bool all_signals, bool quiet) {
  *r = (cli_run){0};
  const int status = cli_run_options(args, &r->options);
  if (status != CLI_DONE) {
    return status;
  }
  r->options.all_signals = all_signals;
  r->options.interrupt = interrupt;
  r->options.progress = progress;
  r->options.user = r;
  r->bar = !quiet && isatty(STDERR_FILENO);
  catch_interrupts();
  return cli_session_open(&r->session, args);
}

int cli_run_open(cli_run *r, const cli_args *args, bool all_signals, bool quiet) {
  const int status = cli_run_begin(r, args, all_signals, quiet);
  return status == CLI_DONE ? cli_run_make(r) : status;
}

static bool has_word(const char *words, const char *word) {
  const size_t n = strlen(word);
  for (const char *at = words; *at; at += strcspn(at, " "), at += *at == ' ') {
    if (strcspn(at, " ") == n && !strncmp(at, word, n)) {
      return true;
    }
  }
  return false;
}

void cli_run_formulation(mbg_run_options *options, const char *key) {
  options->formulation = key;
  for (int i = 0; i < mbg_formulation_count() && options->integrator; i++) {
    if (!strcmp(mbg_formulation_key(i), key) && !has_word(mbg_formulation_integrators(i), options->integrator)) {
      options->integrator = NULL;
    }
  }
}

void cli_run_forward(mbg_run_options *o) {
  if (!(o->memory > 0)) {
    o->memory = 1; /* the fewest checkpoints that the library keeps */
  }
}

int cli_run_make(cli_run *r) {
  mbg_context *ctx = r->session.ctx;
  int status = cli_run_status(r, mbg_run_create(ctx, r->session.model, &r->options, &r->run));
  if (status == CLI_DONE) {
    r->start = mbg_run_start(r->run);
    r->end = mbg_run_end(r->run);
    status = cli_run_status(r, mbg_run_set_parameters(ctx, r->run, r->session.parameters));
  }
  return status;
}

void cli_run_close(cli_run *r) {
  mbg_run_destroy(r->run);
  cli_session_close(&r->session);
}

int cli_run_simulate(cli_run *r) { return cli_run_status(r, mbg_run_simulate(r->session.ctx, r->run)); }

int cli_run_interrupted(const cli_run *r, const char *what) {
  const int n = mbg_run_node_count(r->run);
  return cli_failed("interrupted at t = %.6g; %s", mbg_run_node_time(r->run, n - 1), what);
}
