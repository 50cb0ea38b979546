#include "points.h"

#include "mbgrad/ensemble.h"
#include "ranks.h"
#include "text.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Work under way. */
typedef struct {
  cli_points *s;
  mbg_records *records; /* NULL: none */
  int *todo;            /* points that are computed                             (count) */
  int count, done;
  pthread_mutex_t lock; /* of records, done, failed */
  bool failed;          /* a result could not be recorded */
} work;

/* points that a thread takes at a time, for an ensemble */
enum { GROUP = 4 };

/* A thread: a run of its own on the shared model, or an ensemble. */
typedef struct {
  work *w;
  mbg_context *ctx;
  mbg_run *run;
  mbg_ensemble *ensemble;
  double *p, *psi, *gradient; /* of one point; with an ensemble of GROUP points */
} worker;

/* ---------------------------------------------------------------------- one point */

static bool has_warning(const mbg_context *ctx) {
  for (int i = 0; i < mbg_context_message_count(ctx); i++) {
    if (mbg_context_message_severity(ctx, i) == MBG_WARNING) {
      return true;
    }
  }
  return false;
}

/* A run for the next point: the former one serves unless it failed or its making has warned. */
static int ready(worker *k) {
  const cli_points *s = k->w->s;
  if (k->run) {
    return mbg_run_renew(k->ctx, k->run);
  }
  return mbg_run_create(k->ctx, s->run->session.model, &s->run->options, &k->run);
}

static int evaluate(worker *k, bool *warned) {
  const cli_points *s = k->w->s;
  const bool fresh = !k->run;
  int err = ready(k);
  const bool again = !fresh || mbg_context_message_count(k->ctx) == 0;
  err = err == MBG_OK ? mbg_run_set_parameters(k->ctx, k->run, k->p) : err;
  if (err == MBG_OK && s->gradient) {
    err = mbg_run_select(k->ctx, k->run, s->ncriterion, s->criterion);
  }
  err = err == MBG_OK ? mbg_run_simulate(k->ctx, k->run) : err;
  err = err == MBG_OK && mbg_run_partial(k->run) ? MBG_ERROR_INTERRUPTED : err;
  err = err == MBG_OK ? mbg_run_criteria(k->ctx, k->run, k->psi) : err;
  if (err == MBG_OK && s->gradient) {
    err = mbg_run_gradient(k->ctx, k->run, MBG_METHOD_AUTO, k->gradient, NULL);
  }
  *warned = has_warning(k->ctx);
  mbg_context_clear(k->ctx);
  if (err != MBG_OK || !again) {
    mbg_run_destroy(k->run);
    k->run = NULL;
  }
  return err;
}

static int evaluate_other(worker *k, double *outputs, bool *warned) {
  const cli_points *s = k->w->s;
  const int err = s->evaluate(s->user, k->ctx, k->p, outputs);
  *warned = has_warning(k->ctx);
  mbg_context_clear(k->ctx);
  return err;
}

/* those of number `place` of the points that were taken together */
static void put_outputs(const cli_points *s, const worker *k, int place, double *out) {
  const mbg_model *m = s->run->session.model;
  const size_t np = (size_t)mbg_model_parameter_count(m), nc = (size_t)mbg_model_criterion_count(m);
  const double *psi = k->psi + (size_t)place * nc, *gradient = k->gradient + (size_t)place * nc * np;
  for (int c = 0; c < s->ncriterion; c++) {
    out[c] = psi[s->criterion[c]];
    for (int i = 0; s->gradient && i < s->ninput; i++) {
      out[s->ncriterion + c * s->ninput + i] = gradient[(size_t)s->criterion[c] * np + (size_t)s->input[i]];
    }
  }
}

/* one simulation, perhaps with its gradients: a row of the table */
static int compute(worker *k, int point, double *row) {
  const cli_points *s = k->w->s;
  bool warned = false;
  memcpy(k->p, s->run->session.parameters, (size_t)mbg_model_parameter_count(s->run->session.model) * sizeof(double));
  s->place(s->user, point, k->p);
  const int err = s->evaluate ? evaluate_other(k, row + 1 + s->ninput, &warned) : evaluate(k, &warned);
  if (err == MBG_OK && !s->evaluate) {
    put_outputs(s, k, 0, row + 1 + s->ninput);
  }
  return err != MBG_OK ? err : warned ? CLI_POINT_WARNED : CLI_POINT_DONE;
}

/* into the table and the records */
static void keep(work *w, int point, int status, double *row) {
  pthread_mutex_lock(&w->lock);
  row[0] = status == MBG_ERROR_INTERRUPTED ? CLI_POINT_NOT_RUN : status;
  if (w->records && !w->failed) {
    w->failed = mbg_records_add(w->s->run->session.ctx, w->records, point, status, row + 1) < 0;
  }
  w->done++;
  if (w->s->run->bar) {
    fprintf(stderr, "\r\033[Kpoint %d of %d", w->done, w->count);
    fflush(stderr);
  }
  pthread_mutex_unlock(&w->lock);
}

static bool stopped(work *w) {
  pthread_mutex_lock(&w->lock);
  const bool failed = w->failed;
  pthread_mutex_unlock(&w->lock);
  return failed || cli_points_interrupted(w->s);
}

/* ---------------------------------------------------------------------- points together */

static int ready_ensemble(worker *k) {
  const cli_points *s = k->w->s;
  int err = MBG_OK;
  if (!k->ensemble) {
    err = mbg_ensemble_create(k->ctx, s->run->session.model, &s->run->options, &k->ensemble);
    err = err == MBG_OK && s->gradient ? mbg_ensemble_select(k->ctx, k->ensemble, s->ncriterion, s->criterion) : err;
  }
  return err;
}

/* rows of n points; they do not depend on which points are taken together */
static void compute_group(worker *k, int n, const int *points) {
  const cli_points *s = k->w->s;
  const size_t np = (size_t)mbg_model_parameter_count(s->run->session.model);
  mbg_ensemble_sample samples[GROUP];
  for (int i = 0; i < n; i++) {
    double *p = k->p + (size_t)i * np;
    memcpy(p, s->run->session.parameters, np * sizeof(double));
    s->place(s->user, points[i], p);
  }
  int err = ready_ensemble(k);
  err = err == MBG_OK
            ? mbg_ensemble_run(k->ctx, k->ensemble, n, k->p, k->psi, s->gradient ? k->gradient : NULL, samples)
            : err;
  mbg_context_clear(k->ctx);
  for (int i = 0; i < n; i++) {
    double *row = cli_point_table_row(&s->table, points[i]);
    int status = err == MBG_OK ? samples[i].status : err;
    if (status == MBG_OK) {
      put_outputs(s, k, i, row + 1 + s->ninput);
      status = samples[i].warned ? CLI_POINT_WARNED : CLI_POINT_DONE;
    }
    keep(k->w, points[i], status, row);
  }
}

static void take_groups(worker *k) {
  work *w = k->w;
  int points[GROUP], n = GROUP;
  while (n == GROUP && !stopped(w)) {
    int i = 0;
    for (n = 0; n < GROUP && (i = cli_queue_next()) < w->count; n++) {
      points[n] = w->todo[i];
    }
    compute_group(k, n, points);
  }
}

/* Is an ensemble possible, and of use? Its tolerances are refused, the reason why points go one by one is told. */
static int check_ensemble(cli_points *s) {
  cli_session *session = &s->run->session;
  mbg_ensemble *e = NULL;
  const int err = mbg_ensemble_create(session->ctx, session->model, &s->run->options, &e);
  if (err == MBG_OK && mbg_ensemble_reason(e) && cli_ranks_own() == 0) {
    fprintf(stderr, "mbgrad: note: --ensemble: points are computed one by one, because %s\n", mbg_ensemble_reason(e));
  }
  s->ensemble = mbg_ensemble_width(e) > 1;
  mbg_ensemble_destroy(e);
  const int status = cli_session_status(session, err);
  mbg_context_clear(session->ctx);
  return status;
}

/* ---------------------------------------------------------------------- threads */

static void *take_points(void *user) {
  work *w = user;
  cli_points *s = w->s;
  const mbg_model *m = s->run->session.model;
  const size_t np = (size_t)mbg_model_parameter_count(m), nc = (size_t)mbg_model_criterion_count(m);
  const size_t group = s->ensemble ? GROUP : 1;
  worker k = {.w = w, .p = cli_resize(NULL, group * (np + nc * (np + 1)) + 1, sizeof(double))};
  k.psi = k.p + group * np;
  k.gradient = k.psi + group * nc;
  const bool made = mbg_context_create(NULL, &k.ctx) == MBG_OK;
  if (made && s->ensemble) {
    take_groups(&k);
  }
  for (int i; made && !s->ensemble && !stopped(w) && (i = cli_queue_next()) < w->count;) {
    double *row = cli_point_table_row(&s->table, w->todo[i]);
    const int status = compute(&k, w->todo[i], row);
    keep(w, w->todo[i], status, row);
  }
  mbg_ensemble_destroy(k.ensemble);
  mbg_run_destroy(k.run);
  mbg_context_destroy(k.ctx);
  free(k.p);
  return NULL;
}

/* the calling thread works, too */
static void run_threads(work *w) {
  const int jobs = w->s->jobs < w->count ? w->s->jobs : w->count;
  pthread_t *threads = cli_resize(NULL, (size_t)(jobs > 0 ? jobs : 1), sizeof(*threads));
  int started = 0;
  while (started + 1 < jobs && pthread_create(&threads[started], NULL, take_points, w) == 0) {
    started++;
  }
  (void)take_points(w);
  for (int i = 0; i < started; i++) {
    pthread_join(threads[i], NULL);
  }
  free(threads);
  if (w->s->run->bar) {
    fputs("\r\033[K", stderr);
  }
}

/* ---------------------------------------------------------------------- the table */

static char *name_of(const mbg_model *m, int parameter) {
  char name[1024];
  (void)mbg_model_parameter_name(m, parameter, name, sizeof(name));
  return cli_copy(name);
}

/* columns: inputs, criteria, derivatives of each criterion by each input */
static void name_columns(cli_points *s, const char *kind) {
  const mbg_model *m = s->run->session.model;
  const int noutput = s->ncriterion * (1 + (s->gradient ? s->ninput : 0));
  char **names = cli_resize(NULL, (size_t)(s->ninput + noutput), sizeof(*names)), **outputs = names + s->ninput;
  for (int i = 0; i < s->ninput; i++) {
    names[i] = name_of(m, s->input[i]);
  }
  for (int c = 0; c < s->ncriterion; c++) {
    const char *criterion = s->evaluate ? s->names[c] : mbg_model_criterion_name(m, s->criterion[c]);
    outputs[c] = cli_copy(criterion);
    for (int i = 0; s->gradient && i < s->ninput; i++) {
      outputs[s->ncriterion + c * s->ninput + i] = cli_format("d%s/d%s", criterion, names[i]);
    }
  }
  s->table = (cli_point_table){.model = mbg_model_name(m),
                               .kind = kind,
                               .points = s->points,
                               .ninput = s->ninput,
                               .noutput = noutput,
                               .inputs = (const char *const *)names,
                               .outputs = (const char *const *)outputs};
}

/* all points, not run */
static void place_points(cli_points *s) {
  cli_point_table *t = &s->table;
  const size_t np = (size_t)mbg_model_parameter_count(s->run->session.model), width = cli_point_table_width(t);
  double *p = cli_resize(NULL, np + 1, sizeof(double));
  t->rows = cli_resize(NULL, (size_t)s->points * width, sizeof(double));
  for (int k = 0; k < s->points; k++) {
    double *row = cli_point_table_row(t, k);
    row[0] = CLI_POINT_NOT_RUN;
    memcpy(p, s->run->session.parameters, np * sizeof(double));
    s->place(s->user, k, p);
    for (int i = 0; i < s->ninput; i++) {
      row[1 + i] = p[s->input[i]];
    }
    for (size_t c = 1 + (size_t)s->ninput; c < width; c++) {
      row[c] = NAN;
    }
  }
  free(p);
}

void cli_points_destroy(cli_points *s) {
  for (int i = 0; s->table.inputs && i < s->table.ninput + s->table.noutput; i++) {
    free((char *)s->table.inputs[i]);
  }
  free((void *)s->table.inputs);
  free(s->table.rows);
}

/* ---------------------------------------------------------------------- records */

/* results depend on the nominal parameters and the points */
static int identify(const cli_points *s, char *identity) {
  const cli_session *session = &s->run->session;
  const size_t np = (size_t)mbg_model_parameter_count(session->model), n = (size_t)s->ninput;
  double *numbers = cli_resize(NULL, np + (size_t)s->points * n + 1, sizeof(double));
  memcpy(numbers, session->parameters, np * sizeof(double));
  for (int k = 0; k < s->points; k++) {
    memcpy(numbers + np + (size_t)k * n, cli_point_table_row(&s->table, k) + 1, n * sizeof(double));
  }
  const int result = mbg_records_identity(session->ctx, session->model, &s->run->options, np + (size_t)s->points * n,
                                          numbers, identity);
  free(numbers);
  return result;
}

static int open_records(cli_points *s, mbg_records **out) {
  const cli_point_table *t = &s->table;
  char identity[MBG_RECORDS_IDENTITY_SIZE];
  int status = cli_session_status(&s->run->session, identify(s, identity));
  const mbg_records_plan plan = {.kind = t->kind,
                                 .model = t->model,
                                 .identity = identity,
                                 .point_count = t->points,
                                 .input_count = t->ninput,
                                 .output_count = t->noutput,
                                 .inputs = t->inputs,
                                 .outputs = t->outputs};
  status = status == CLI_DONE ? cli_record_open(&s->run->session, &s->record, &plan, out) : status;
  if (*out) {
    cli_record_rows(*out, t);
  }
  return status;
}

/* the first rank makes the folder; its plan is there when the others come */
static int open_in_turn(cli_points *s, mbg_records **out) {
  *out = NULL;
  if (!s->record.folder) {
    return cli_ranks_count() > 1 ? cli_bad_input("several ranks need --records FOLDER, where results meet") : CLI_DONE;
  }
  s->record.quiet = cli_ranks_own() > 0;
  int status = cli_ranks_own() == 0 ? open_records(s, out) : CLI_DONE;
  status = cli_ranks_worst(status);
  status = status == CLI_DONE && cli_ranks_own() > 0 ? open_records(s, out) : status;
  return cli_ranks_worst(status);
}

/* after all ranks: what the others have recorded */
static int gather(cli_points *s) {
  mbg_records *all = NULL;
  if (cli_ranks_count() == 1 || cli_ranks_own() > 0) {
    return CLI_DONE;
  }
  s->record.resume = s->record.quiet = true;
  const int status = open_records(s, &all);
  mbg_records_destroy(all);
  return status;
}

/* ---------------------------------------------------------------------- all points */

/* The list of rank 0 counts for all: while ranks open the folder, another program may add records to it, and a number
   of the queue must mean one point. */
static void list_todo(work *w) {
  const cli_points *s = w->s;
  w->todo = cli_resize(NULL, (size_t)s->points, sizeof(int));
  for (int k = 0; k < s->points; k++) {
    if (*cli_point_table_row(&s->table, k) == CLI_POINT_NOT_RUN && cli_record_own(&s->record, k)) {
      w->todo[w->count++] = k;
    }
  }
  (void)cli_ranks_share(NULL, 0, sizeof(w->count), &w->count);
  (void)cli_ranks_share(NULL, 0, (size_t)w->count * sizeof(int), w->todo);
}

static int end_records(work *w) {
  cli_session *session = &w->s->run->session;
  int result = w->failed ? MBG_ERROR_IO : MBG_OK;
  if (w->records && !w->failed) {
    result = mbg_records_sync(session->ctx, w->records);
  }
  return cli_session_written(session, result);
}

int cli_points_run(cli_points *s, const char *kind) {
  work w = {.s = s};
  name_columns(s, kind);
  place_points(s);
  int status = s->ensemble ? check_ensemble(s) : CLI_DONE;
  status = status == CLI_DONE ? open_in_turn(s, &w.records) : status;
  if (status == CLI_DONE) {
    pthread_mutex_init(&w.lock, NULL);
    list_todo(&w);
    cli_queue_begin();
    run_threads(&w);
    status = end_records(&w);
    cli_queue_end();
    status = cli_ranks_worst(status);
    pthread_mutex_destroy(&w.lock);
  }
  mbg_records_destroy(w.records);
  free(w.todo);
  return status == CLI_DONE ? gather(s) : status;
}

bool cli_points_interrupted(const cli_points *s) { return s->run->options.interrupt(s->run->options.user); }

int cli_points_complete(const cli_points *s, const char *what) {
  const cli_point_counts n = cli_point_table_count(&s->table);
  if (n.not_run == 0 && !cli_points_interrupted(s)) {
    return CLI_DONE;
  }
  const char *why = cli_points_interrupted(s) ? "interrupted" : "incomplete";
  return s->record.folder ? cli_failed("%s; %d of %d %s are recorded: --resume computes the others", why,
                                       n.done + n.failed, s->points, what)
                          : cli_failed("%s; %d of %d %s were computed", why, n.done, s->points, what);
}

bool cli_points_partial(const cli_points *s, int *status) {
  int left = 0, own = 0, failed = 0;
  if (cli_ranks_own() > 0) {
    *status = CLI_DONE;
    return true;
  }
  if (s->record.parts == 1) {
    return false;
  }
  for (int k = 0; k < s->points; k++) {
    const bool mine = cli_record_own(&s->record, k);
    const double outcome = *cli_point_table_row(&s->table, k);
    own += mine;
    left += mine && outcome == CLI_POINT_NOT_RUN;
    failed += mine && outcome < 0;
  }
  if (left > 0) {
    *status = cli_failed("interrupted; %d of %d points of this part are recorded: --resume goes on", own - left, own);
  } else {
    if (failed > 0) {
      cli_warning("%d of %d points of this part could not be simulated", failed, own);
    }
    fprintf(stderr, "part %d of %d is recorded, %d points: mbgrad merge %s makes a table of all parts\n",
            s->record.part, s->record.parts, own, s->record.folder);
    *status = CLI_DONE;
  }
  return true;
}
