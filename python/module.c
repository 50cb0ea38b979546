/* What the Python module adds to the library: callbacks that look after signals and progress without the interpreter
   lock, and loops that would be slow in Python. build_module.py puts this text before the code of cffi. */
#include <mbgrad/mbgrad.h>

#include <math.h>
#include <string.h>
#include <time.h>

/* ---------------------------------------------------------------------- interruption and progress */

/* One computation: `cancel` may be set by any thread; with `poll` Python is asked from time to time, which lets it
   handle signals (Ctrl-C) and show progress. */
typedef struct {
  volatile int cancel;
  int poll;
  int stopped; /* the computation was told to stop: its results are not whole */
  double t;    /* reached by the simulation */
  double next; /* when to ask Python again, on the clock */
  void *owner; /* handle of the Python object */
} mbg_py_watch;

static int mbg_py_poll(void *owner, double t);
static int mbg_py_optimize_state(void *owner, const mbg_optimize_state *state);
static int mbg_py_identify_state(void *owner, const mbg_identify_state *state);
static int mbg_py_control_state(void *owner, const mbg_control *control);

static double clock_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static bool interrupt(void *user) {
  mbg_py_watch *w = user;
  if (w->poll && !w->cancel) {
    const double now = clock_seconds();
    if (now >= w->next) {
      w->next = now + 0.02;
      w->cancel = mbg_py_poll(w->owner, w->t);
    }
  }
  w->stopped = w->stopped || w->cancel;
  return w->cancel != 0;
}

static void reached(void *user, double t) { ((mbg_py_watch *)user)->t = t; }

static bool optimize_state(void *user, const mbg_optimize_state *state) {
  mbg_py_watch *w = user;
  w->cancel = w->cancel || (w->poll && mbg_py_optimize_state(w->owner, state));
  w->stopped = w->stopped || w->cancel;
  return w->cancel != 0;
}

static bool identify_state(void *user, const mbg_identify_state *state) {
  mbg_py_watch *w = user;
  w->cancel = w->cancel || (w->poll && mbg_py_identify_state(w->owner, state));
  w->stopped = w->stopped || w->cancel;
  return w->cancel != 0;
}

static bool control_state(void *user, const mbg_control *control) {
  mbg_py_watch *w = user;
  w->cancel = w->cancel || (w->poll && mbg_py_control_state(w->owner, control));
  w->stopped = w->stopped || w->cancel;
  return w->cancel != 0;
}

static void mbg_py_watch_run(mbg_run_options *options, mbg_py_watch *watch) {
  options->interrupt = interrupt;
  options->progress = reached;
  options->user = watch;
}

static void mbg_py_watch_optimize(mbg_optimize_options *options, mbg_py_watch *watch) {
  options->progress = optimize_state;
  options->user = watch;
}

static void mbg_py_watch_identify(mbg_identify_options *options, mbg_py_watch *watch) {
  options->progress = identify_state;
  options->user = watch;
}

static void mbg_py_watch_control(mbg_control_options *options, mbg_py_watch *watch) {
  options->progress = control_state;
  options->user = watch;
}

/* ---------------------------------------------------------------------- one call for many */

/* A simulation with criteria (psi) and their gradient (NULL: not wanted), in one call. p NULL: the run is simulated
   already. MBG_ERROR_INTERRUPTED when the simulation did not reach its end. */
static int mbg_py_evaluate(mbg_context *ctx, mbg_run *run, const double *p, int method, double *psi, double *gradient) {
  int status = MBG_OK;
  if (p) {
    status = mbg_run_set_parameters(ctx, run, p);
    status = status == MBG_OK ? mbg_run_simulate(ctx, run) : status;
    status = status == MBG_OK && mbg_run_partial(run) ? MBG_ERROR_INTERRUPTED : status;
  }
  status = status == MBG_OK && psi ? mbg_run_criteria(ctx, run, psi) : status;
  return status == MBG_OK && gradient ? mbg_run_gradient(ctx, run, (mbg_method)method, gradient, NULL) : status;
}

/* A run for calls that follow each other, each as by a run of its own. */
typedef struct {
  mbg_run *run; /* NULL before the first call */
  mbg_py_watch *watch;
  int keep;  /* worth another call: made without messages, which would be missing then, and not large */
  int clean; /* the last call has succeeded, without messages */
} mbg_py_slot;

static const double keep_bytes = 4e6; /* of a trajectory: a longer simulation gains nothing */

static void begin(mbg_py_watch *watch, int poll) {
  watch->cancel = watch->stopped = 0;
  watch->poll = poll;
  watch->next = clock_seconds() + 0.02;
}

/* The same by the run of a slot, anew; n criteria are differentiated. */
static int mbg_py_evaluate_new(mbg_context *ctx, const mbg_model *model, const mbg_run_options *options,
                               mbg_py_slot *slot, int poll, const double *p, int n, const int *criteria, int method,
                               double *psi, double *gradient) {
  int status;
  begin(slot->watch, poll);
  if (slot->run) {
    status = mbg_run_renew(ctx, slot->run);
  } else {
    status = mbg_run_create(ctx, model, options, &slot->run);
    slot->keep = status == MBG_OK && mbg_context_message_count(ctx) == 0;
  }
  status = status == MBG_OK && gradient ? mbg_run_select(ctx, slot->run, n, criteria) : status;
  status = status == MBG_OK ? mbg_py_evaluate(ctx, slot->run, p, method, psi, gradient) : status;
  slot->keep = slot->keep && status == MBG_OK && mbg_run_get_work(slot->run)->peak_bytes <= keep_bytes;
  slot->clean = status == MBG_OK && !slot->watch->stopped && mbg_context_message_count(ctx) == 0;
  return status;
}

static void mbg_py_release(mbg_py_slot *slot) { mbg_run_destroy(slot->run); }

/* ---------------------------------------------------------------------- derivatives of signals */

typedef struct {
  double *out;
  size_t row; /* numbers a node */
} taker;

static int take_rows(void *user, int node, const double *dy) {
  const taker *k = user;
  memcpy(k->out + (size_t)node * k->row, dy, k->row * sizeof(double));
  return MBG_OK;
}

/* All derivatives of kept signals: dy (nodes x row), row = kept signals x parameters. */
static int mbg_py_history(mbg_context *ctx, mbg_run *run, double *dy, size_t row) {
  taker k = {.out = dy, .row = row};
  return mbg_run_history(ctx, run, take_rows, &k);
}

/* All derivatives of poses: dx (nodes x row), row = (6 bodies + modal coordinates) x parameters. */
static int mbg_py_pose_history(mbg_context *ctx, mbg_run *run, double *dx, size_t row) {
  taker k = {.out = dx, .row = row};
  return mbg_run_pose_history(ctx, run, take_rows, &k);
}
