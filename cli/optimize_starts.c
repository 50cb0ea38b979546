#include "optimize_starts.h"

#include "files.h"
#include "jobs.h"
#include "text.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
  const mbg_model *model;
  const char *stem; /* of the restart files */
  const mbg_optimize_options *o;
  mbg_records *records; /* NULL: none */
  const int *todo;      /* numbers of the starts that are run */
} task;

/* A result as outputs of a record. */
static const char *const inputs[] = {"start"};
static const char *const outputs[] = {"objective_start", "objective",  "violation", "optimality",
                                      "reason",          "iterations", "feasible"};
enum { OUTPUTS = sizeof(outputs) / sizeof(outputs[0]) };

static void put_row(int k, const cli_start *s, double *row) {
  const double values[] = {k,         s->objective_start, s->objective, s->violation, s->optimality,
                           s->reason, s->iterations,      s->feasible};
  memcpy(row, values, sizeof(values));
}

static cli_start start_of(int status, const double *row) {
  return status > 0 ? (cli_start){MBG_OK, row[1], row[2], row[3], row[4], (int)row[5], (int)row[6], (int)row[7]}
                    : (cli_start){.status = status};
}

/* in the process of the start: its own file of records */
static void keep(const task *t, mbg_context *ctx, int k, const cli_start *s) {
  double row[1 + OUTPUTS];
  put_row(k, s, row);
  if (t->records && !(s->status == MBG_OK && s->reason == MBG_OPTIMIZE_INTERRUPTED)) {
    (void)mbg_records_add(ctx, t->records, k, s->status == MBG_OK ? 1 : s->status, row);
  }
}

static char *file_of(const char *stem, int k) { return cli_format("%s.%d", stem, k); }

/* Ctrl-C reaches every process; one whose parent is gone works for nobody */
static bool interrupt(void *user) {
  const mbg_run_options *run = user;
  return cli_jobs_parent_died() || (run->interrupt && run->interrupt(run->user));
}

static bool quiet(void *user, const mbg_optimize_state *state) {
  (void)state;
  return interrupt(user);
}

static void run_start(void *user, int piece, void *out) {
  const task *t = user;
  const int k = t->todo[piece];
  cli_start *result = out;
  mbg_optimize_options o = *t->o;
  mbg_run_options run = *t->o->run;
  mbg_context *ctx = NULL;
  mbg_optimize *opt = NULL;
  char *file = file_of(t->stem, k);
  o.place = k;
  o.restart = file;
  run.interrupt = interrupt;
  run.user = o.user = (void *)t->o->run;
  o.run = &run;
  o.progress = quiet;
  result->status = mbg_context_create(NULL, &ctx);
  if (result->status == MBG_OK) {
    result->status = mbg_optimize_create(ctx, t->model, &o, &opt);
  }
  if (result->status == MBG_OK) {
    result->status = mbg_optimize_solve(ctx, opt);
  }
  if (result->status == MBG_OK) {
    const mbg_optimize_summary *s = mbg_optimize_get_summary(opt);
    *result = (cli_start){MBG_OK,        s->objective_start, s->objective,  s->violation,
                          s->optimality, (int)s->reason,     s->iterations, s->feasible};
  }
  keep(t, ctx, k, result);
  mbg_optimize_destroy(opt);
  mbg_context_destroy(ctx);
  free(file);
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

/* ---------------------------------------------------------------------- temporary records */

static const char prefix[] = "mbgrad-optimize-";

static const char *temporary(void) {
  const char *folder = getenv("TMPDIR");
  return folder && *folder ? folder : "/tmp";
}

/* removes a folder of records */
static void remove_folder(const char *path) {
  DIR *dir = opendir(path);
  for (struct dirent *entry; dir && (entry = readdir(dir));) {
    char *file = cli_format("%s/%s", path, entry->d_name);
    unlink(file);
    free(file);
  }
  if (dir) {
    closedir(dir);
  }
  rmdir(path);
}

/* folders of processes that were killed */
static void remove_abandoned(void) {
  DIR *dir = opendir(temporary());
  for (struct dirent *entry; dir && (entry = readdir(dir));) {
    if (cli_abandoned(temporary(), entry->d_name, prefix)) {
      char *path = cli_format("%s/%s", temporary(), entry->d_name);
      remove_folder(path);
      free(path);
    }
  }
  if (dir) {
    closedir(dir);
  }
}

/* a folder of its own, NULL with a message */
static char *make_folder(void) {
  remove_abandoned();
  char *folder = cli_format("%s/%s%ld-XXXXXX", temporary(), prefix, (long)getpid());
  if (!mkdtemp(folder)) {
    (void)cli_failed("cannot make a folder for the records of the starts in '%s': %s", temporary(), strerror(errno));
    free(folder);
    return NULL;
  }
  return folder;
}

/* ---------------------------------------------------------------------- all starts */

static bool stop(void *user) {
  const mbg_run_options *run = ((const task *)user)->o->run;
  return run->interrupt && run->interrupt(run->user);
}

/* results depend on the options of the search, too */
static int identify(const cli_session *session, const mbg_optimize_options *o, int n, char *identity) {
  const size_t np = (size_t)mbg_model_parameter_count(session->model);
  const char *name = o->optimizer ? o->optimizer : "";
  double *numbers = cli_resize(NULL, np + strlen(name) + 4, sizeof(double));
  size_t count = 0;
  for (size_t i = 0; i < np; i++) {
    numbers[count++] = session->parameters[i];
  }
  numbers[count++] = o->iterations;
  numbers[count++] = o->tolerance;
  numbers[count++] = o->seed;
  numbers[count++] = n;
  for (; *name; name++) {
    numbers[count++] = *name;
  }
  const int result = mbg_records_identity(session->ctx, session->model, o->run, count, numbers, identity);
  free(numbers);
  return result;
}

static int open_records(cli_session *session, const mbg_optimize_options *o, int n, const cli_record_options *record,
                        mbg_records **out) {
  char identity[MBG_RECORDS_IDENTITY_SIZE];
  const int status = cli_session_status(session, identify(session, o, n, identity));
  const mbg_records_plan plan = {"optimize", mbg_model_name(session->model), identity, n, 1, OUTPUTS, inputs, outputs};
  return status == CLI_DONE ? cli_record_open(session, record, &plan, out) : status;
}

/* results of this folder, also those of other processes */
static int take_recorded(cli_session *session, const mbg_optimize_options *o, int n, const cli_record_options *record,
                         mbg_records **records, cli_start *list) {
  const cli_record_options again = {record->folder, record->part, record->parts, true};
  mbg_records_destroy(*records);
  *records = NULL;
  const int status = open_records(session, o, n, &again, records);
  for (int k = 0; *records && k < n; k++) {
    if (mbg_records_status(*records, k) != 0) {
      list[k] = start_of(mbg_records_status(*records, k), mbg_records_row(*records, k));
    }
  }
  return status;
}

/* the starts that have no result yet; their number */
static int list_todo(const mbg_records *records, const cli_record_options *record, int n, int *todo) {
  int count = 0;
  for (int k = 0; k < n; k++) {
    if (!records || (mbg_records_status(records, k) == 0 && cli_record_own(record, k))) {
      todo[count++] = k;
    }
  }
  return count;
}

/* runs the starts of `todo` into the list */
static int run_all(task *t, int count, int jobs, cli_start *list) {
  cli_start *results = cli_resize(NULL, (size_t)(count > 0 ? count : 1), sizeof(*results));
  for (int i = 0; i < count; i++) {
    results[i] = list[t->todo[i]];
  }
  const cli_jobs work = {.pieces = count,
                         .jobs = jobs,
                         .size = sizeof(*results),
                         .results = results,
                         .work = run_start,
                         .stop = stop,
                         .user = t};
  const int lost = count > 0 ? cli_jobs_run(&work) : 0;
  for (int i = 0; i < count; i++) {
    list[t->todo[i]] = results[i];
  }
  free(results);
  return lost < 0 ? CLI_FAILED : CLI_DONE;
}

static char *stem_of(const mbg_optimize_options *o, const cli_record_options *record, cli_starts *s) {
  if (o->restart) {
    return cli_copy(o->restart);
  }
  if (record->folder) {
    return cli_format("%s/start", record->folder);
  }
  s->folder = make_folder();
  return s->folder ? cli_format("%s/start", s->folder) : NULL;
}

/* which one is best, and how many have ended; *o replays the best one, or the first, for its message */
static void choose(mbg_optimize_options *o, int n, const char *stem, cli_starts *s) {
  s->best = best_of(n, s->list);
  for (int k = 0; k < n; k++) {
    s->ended += s->list[k].status != MBG_ERROR_INTERRUPTED && s->list[k].reason != MBG_OPTIMIZE_INTERRUPTED;
  }
  o->place = s->best >= 0 ? s->best : 0;
  o->restart = s->file = file_of(stem, o->place);
  o->resume = true;
}

int cli_optimize_starts(cli_session *session, mbg_optimize_options *o, int n, int jobs,
                        const cli_record_options *record, cli_starts *s) {
  *s = (cli_starts){.part = record->parts > 1};
  task t = {.model = session->model, .o = o};
  char *stem = stem_of(o, record, s);
  int *todo = cli_resize(NULL, (size_t)n, sizeof(int)), status = stem ? CLI_DONE : CLI_FAILED;
  s->list = cli_resize(NULL, (size_t)n, sizeof(*s->list));
  for (int k = 0; k < n; k++) {
    s->list[k] = (cli_start){.status = MBG_ERROR_INTERRUPTED};
  }
  if (status == CLI_DONE && record->folder) {
    o->resume = true; /* evaluations of a start that did not end are there as well */
    status = open_records(session, o, n, record, &t.records);
  }
  if (status == CLI_DONE) {
    t.stem = stem;
    t.todo = todo;
    status = run_all(&t, list_todo(t.records, record, n, todo), jobs, s->list);
  }
  if (status == CLI_DONE && record->folder) {
    status = take_recorded(session, o, n, record, &t.records, s->list);
  }
  if (status == CLI_DONE) {
    choose(o, n, stem, s);
  }
  mbg_records_destroy(t.records);
  free(todo);
  free(stem);
  return status;
}

void cli_optimize_starts_end(cli_starts *s) {
  if (s->folder) {
    remove_folder(s->folder);
  }
  free(s->folder);
  free(s->file);
  free(s->list);
}
