#include "identify_starts.h"

#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  const mbg_model *model;
  const mbg_identify_options *o;
} task;

/* A result as outputs of a record. */
static const char *const outputs[] = {"cost_start", "cost", "reason", "iterations", "evaluations", "failures"};
enum { OUTPUTS = sizeof(outputs) / sizeof(outputs[0]) };

static mbg_identify_start start_of(const double *row) {
  const double *x = row + 2;
  return row[0] > 0 ? (mbg_identify_start){.start_cost = x[0],
                                           .cost = x[1],
                                           .reason = (mbg_identify_reason)x[2],
                                           .iterations = (int)x[3],
                                           .evaluations = (int)x[4],
                                           .failures = (int)x[5]}
                    : (mbg_identify_start){.start_cost = NAN, .cost = NAN, .reason = MBG_IDENTIFY_STUCK};
}

static bool interrupt(void *user) { return cli_start_stops(user); }

static bool quiet(void *user, const mbg_identify_state *state) {
  (void)state;
  return interrupt(user);
}

static int search(void *user, mbg_context *ctx, int k, const char *file, double *out) {
  const task *t = user;
  mbg_identify_options o = *t->o;
  mbg_run_options run = *t->o->run;
  mbg_identify *id = NULL;
  o.place = k;
  o.restart = file;
  o.bias = o.hessian = false; /* of the best one alone */
  run.interrupt = interrupt;
  run.user = o.user = (void *)t->o->run;
  o.run = &run;
  o.progress = quiet;
  int status = mbg_identify_create(ctx, t->model, &o, &id);
  status = status == MBG_OK ? mbg_identify_solve(ctx, id) : status;
  const mbg_identify_start *s = id ? mbg_identify_get_start(id, k) : NULL;
  /* a start that cannot be simulated is a result */
  if (s && (status == MBG_OK || status == MBG_ERROR_CONVERGENCE)) {
    const double values[OUTPUTS] = {s->start_cost, s->cost, s->reason, s->iterations, s->evaluations, s->failures};
    memcpy(out, values, sizeof(values));
    status = s->reason == MBG_IDENTIFY_INTERRUPTED ? CLI_START_INTERRUPTED : CLI_START_ENDED;
  }
  mbg_identify_destroy(id);
  return status;
}

/* numbers on which results depend; *count of them */
static double *numbers_of(const cli_session *session, const mbg_identify_options *o, size_t *count) {
  const size_t np = (size_t)mbg_model_parameter_count(session->model);
  const char *name = o->optimizer ? o->optimizer : "";
  double *numbers = cli_resize(NULL, np + strlen(name) + 6, sizeof(double));
  memcpy(numbers, session->parameters, np * sizeof(double));
  *count = np;
  numbers[(*count)++] = o->iterations;
  numbers[(*count)++] = o->tolerance;
  numbers[(*count)++] = o->seed;
  numbers[(*count)++] = o->starts;
  numbers[(*count)++] = o->homotopy;
  numbers[(*count)++] = o->gain;
  for (; *name; name++) {
    numbers[(*count)++] = *name;
  }
  return numbers;
}

/* the lowest cost, as the library has it; the first one where none could be simulated */
static int best_of(int n, const mbg_identify_start *s) {
  int best = 0;
  for (int k = 1; k < n; k++) {
    best = isfinite(s[k].cost) && !(s[k].cost >= s[best].cost) ? k : best;
  }
  return best;
}

static void choose(mbg_identify_options *o, cli_fits *f) {
  o->place = best_of(o->starts, f->known);
  o->known = f->known;
  o->restart = f->file = cli_start_file(&f->rows, o->place);
  o->resume = true;
}

int cli_identify_starts(cli_session *session, mbg_identify_options *o, int jobs, const cli_record_options *record,
                        cli_fits *f) {
  *f = (cli_fits){.part = record->parts > 1, .known = cli_resize(NULL, (size_t)o->starts, sizeof(*f->known))};
  task t = {.model = session->model, .o = o};
  cli_search what = {.kind = "identify",
                     .n = o->starts,
                     .jobs = jobs,
                     .noutput = OUTPUTS,
                     .outputs = outputs,
                     .run = o->run,
                     .restart = o->restart,
                     .search = search,
                     .user = &t};
  double *numbers = numbers_of(session, o, &what.count);
  what.numbers = numbers;
  o->resume = o->resume || record->folder; /* evaluations of a start that did not end are there as well */
  int status = cli_starts_run(session, &what, record, &f->rows);
  for (int k = 0; k < o->starts; k++) {
    f->known[k] = start_of(cli_start_row(&what, &f->rows, k));
  }
  f->ended = cli_starts_ended(&what, &f->rows);
  if (status == CLI_DONE && f->part) {
    status = cli_starts_part(&what, &f->rows, record);
  } else if (status == CLI_DONE) {
    choose(o, f);
  }
  free(numbers);
  return status;
}

void cli_identify_starts_end(cli_fits *f) {
  cli_starts_end(&f->rows);
  free(f->file);
  free(f->known);
}
