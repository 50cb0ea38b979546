#include "optimize_starts.h"

#include "text.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
  const mbg_model *model;
  const mbg_optimize_options *o;
} task;

/* A result as outputs of a record. */
static const char *const outputs[] = {"objective_start", "objective",  "violation", "optimality",
                                      "reason",          "iterations", "feasible"};
enum { OUTPUTS = sizeof(outputs) / sizeof(outputs[0]) };

static cli_start start_of(const double *row) {
  const double *x = row + 2;
  return row[0] > 0    ? (cli_start){MBG_OK, x[0], x[1], x[2], x[3], (int)x[4], (int)x[5], (int)x[6]}
         : row[0] == 0 ? (cli_start){.status = MBG_ERROR_INTERRUPTED}
                       : (cli_start){.status = (int)row[0]};
}

static bool interrupt(void *user) { return cli_start_stops(user); }

static bool quiet(void *user, const mbg_optimize_state *state) {
  (void)state;
  return interrupt(user);
}

static int search(void *user, mbg_context *ctx, int k, const char *file, double *out) {
  const task *t = user;
  mbg_optimize_options o = *t->o;
  mbg_run_options run = *t->o->run;
  mbg_optimize *opt = NULL;
  o.place = k;
  o.restart = file;
  run.interrupt = interrupt;
  run.user = o.user = (void *)t->o->run;
  o.run = &run;
  o.progress = quiet;
  int status = mbg_optimize_create(ctx, t->model, &o, &opt);
  status = status == MBG_OK ? mbg_optimize_solve(ctx, opt) : status;
  if (status == MBG_OK) {
    const mbg_optimize_summary *s = mbg_optimize_get_summary(opt);
    const double values[OUTPUTS] = {s->objective_start, s->objective,  s->violation, s->optimality,
                                    s->reason,          s->iterations, s->feasible};
    memcpy(out, values, sizeof(values));
    status = s->reason == MBG_OPTIMIZE_INTERRUPTED ? CLI_START_INTERRUPTED : CLI_START_ENDED;
  }
  mbg_optimize_destroy(opt);
  return status;
}

/* the lowest feasible start, else the one with the least violation */
static int best_of(int n, const cli_start *s) {
  int best = -1;
  for (int k = 0; k < n; k++) {
    if (s[k].status < 0) {
      continue;
    }
    const cli_start *b = best < 0 ? NULL : &s[best];
    const bool better = !b || (s[k].feasible != b->feasible ? s[k].feasible
                               : s[k].feasible              ? s[k].objective < b->objective
                                                            : s[k].violation < b->violation);
    best = better ? k : best;
  }
  return best;
}

/* numbers on which results depend; *count of them */
static double *numbers_of(const cli_session *session, const mbg_optimize_options *o, int n, size_t *count) {
  const size_t np = (size_t)mbg_model_parameter_count(session->model);
  const char *name = o->optimizer ? o->optimizer : "";
  double *numbers = cli_resize(NULL, np + strlen(name) + 4, sizeof(double));
  memcpy(numbers, session->parameters, np * sizeof(double));
  *count = np;
  numbers[(*count)++] = o->iterations;
  numbers[(*count)++] = o->tolerance;
  numbers[(*count)++] = o->seed;
  numbers[(*count)++] = n;
  for (; *name; name++) {
    numbers[(*count)++] = *name;
  }
  return numbers;
}

/* which one is best; *o replays the best one, or the first, for its message */
static void choose(mbg_optimize_options *o, int n, cli_starts *s) {
  s->best = best_of(n, s->list);
  o->place = s->best >= 0 ? s->best : 0;
  o->restart = s->file = cli_start_file(&s->rows, o->place);
  o->resume = true;
}

int cli_optimize_starts(cli_session *session, mbg_optimize_options *o, int n, int jobs,
                        const cli_record_options *record, cli_starts *s) {
  *s = (cli_starts){.part = record->parts > 1, .list = cli_resize(NULL, (size_t)n, sizeof(*s->list))};
  task t = {.model = session->model, .o = o};
  cli_search what = {.kind = "optimize",
                     .n = n,
                     .jobs = jobs,
                     .noutput = OUTPUTS,
                     .outputs = outputs,
                     .run = o->run,
                     .restart = o->restart,
                     .search = search,
                     .user = &t};
  double *numbers = numbers_of(session, o, n, &what.count);
  what.numbers = numbers;
  o->resume = o->resume || record->folder; /* evaluations of a start that did not end are there as well */
  int status = cli_starts_run(session, &what, record, &s->rows);
  for (int k = 0; k < n; k++) {
    s->list[k] = start_of(cli_start_row(&what, &s->rows, k));
  }
  s->ended = cli_starts_ended(&what, &s->rows);
  if (status == CLI_DONE && s->part) {
    status = cli_starts_part(&what, &s->rows, record);
  } else if (status == CLI_DONE) {
    choose(o, n, s);
  }
  free(numbers);
  return status;
}

void cli_optimize_starts_end(cli_starts *s) {
  cli_starts_end(&s->rows);
  free(s->file);
  free(s->list);
}
