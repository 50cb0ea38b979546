#include "starts.h"

#include "files.h"
#include "jobs.h"
#include "text.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
  const cli_search *s;
  const cli_start_rows *rows;
  mbg_records *records; /* NULL: none */
  const int *todo;      /* numbers of the starts that are run */
} task;

static size_t width(const cli_search *s) { return 2 + (size_t)s->noutput; }

double *cli_start_row(const cli_search *s, const cli_start_rows *rows, int k) {
  return rows->rows + (size_t)k * width(s);
}

char *cli_start_file(const cli_start_rows *rows, int k) { return cli_format("%s.%d", rows->stem, k); }

/* ---------------------------------------------------------------------- one start */

/* Ctrl-C reaches every process; one whose parent is gone works for nobody */
bool cli_start_stops(const mbg_run_options *run) {
  return cli_jobs_parent_died() || (run->interrupt && run->interrupt(run->user));
}

/* in its process, with its own file of records */
static void run_start(void *user, int piece, void *out) {
  const task *t = user;
  const int k = t->todo[piece];
  double *row = out;
  mbg_context *ctx = NULL;
  char *file = cli_start_file(t->rows, k);
  int status = mbg_context_create(NULL, &ctx);
  status = status == MBG_OK ? t->s->search(t->s->user, ctx, k, file, row + 2) : status;
  row[0] = status == MBG_ERROR_INTERRUPTED ? CLI_START_NOT_RUN : status;
  row[1] = k;
  if (t->records && (row[0] == CLI_START_ENDED || row[0] < 0)) {
    (void)mbg_records_add(ctx, t->records, k, status, row + 1);
  }
  mbg_context_destroy(ctx);
  free(file);
}

/* ---------------------------------------------------------------------- temporary records */

static const char prefix[] = "mbgrad-starts-";

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

static char *stem_of(const cli_search *s, const cli_record_options *record, cli_start_rows *rows) {
  if (s->restart) {
    return cli_copy(s->restart);
  }
  if (record->folder) {
    return cli_format("%s/start", record->folder);
  }
  rows->folder = make_folder();
  return rows->folder ? cli_format("%s/start", rows->folder) : NULL;
}

/* ---------------------------------------------------------------------- records */

static int open_records(cli_session *session, const cli_search *s, const cli_record_options *record,
                        mbg_records **out) {
  static const char *const inputs[] = {"start"};
  char identity[MBG_RECORDS_IDENTITY_SIZE];
  const int result = mbg_records_identity(session->ctx, session->model, s->run, s->count, s->numbers, identity);
  const int status = cli_session_status(session, result);
  const mbg_records_plan plan = {s->kind,   mbg_model_name(session->model), identity, s->n, 1, s->noutput, inputs,
                                 s->outputs};
  return status == CLI_DONE ? cli_record_open(session, record, &plan, out) : status;
}

/* results of this folder, also those of other processes */
static int take_recorded(cli_session *session, const cli_search *s, const cli_record_options *record,
                         mbg_records **records, const cli_start_rows *rows) {
  const cli_record_options again = {record->folder, record->part, record->parts, true, true};
  mbg_records_destroy(*records);
  *records = NULL;
  const int status = open_records(session, s, &again, records);
  for (int k = 0; *records && k < s->n; k++) {
    double *row = cli_start_row(s, rows, k);
    if (mbg_records_status(*records, k) != 0) {
      row[0] = mbg_records_status(*records, k);
      memcpy(row + 1, mbg_records_row(*records, k), (width(s) - 1) * sizeof(double));
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

/* ---------------------------------------------------------------------- all starts */

static bool stop(void *user) {
  const mbg_run_options *run = ((const task *)user)->s->run;
  return run->interrupt && run->interrupt(run->user);
}

/* runs the starts of `todo` into the rows */
static int run_all(task *t, int count) {
  const size_t bytes = width(t->s) * sizeof(double);
  double *results = cli_resize(NULL, (size_t)(count > 0 ? count : 1), bytes);
  for (int i = 0; i < count; i++) {
    memcpy(results + (size_t)i * width(t->s), cli_start_row(t->s, t->rows, t->todo[i]), bytes);
  }
  const cli_jobs work = {.pieces = count,
                         .jobs = t->s->jobs,
                         .size = bytes,
                         .results = results,
                         .work = run_start,
                         .stop = stop,
                         .user = t};
  const int lost = count > 0 ? cli_jobs_run(&work) : 0;
  for (int i = 0; i < count; i++) {
    memcpy(cli_start_row(t->s, t->rows, t->todo[i]), results + (size_t)i * width(t->s), bytes);
  }
  free(results);
  return lost < 0 ? CLI_FAILED : CLI_DONE;
}

int cli_starts_run(cli_session *session, const cli_search *s, const cli_record_options *record, cli_start_rows *out) {
  *out = (cli_start_rows){0};
  task t = {.s = s, .rows = out};
  int *todo = cli_resize(NULL, (size_t)s->n, sizeof(int));
  out->stem = stem_of(s, record, out);
  out->rows = cli_resize(NULL, (size_t)s->n * width(s), sizeof(double));
  memset(out->rows, 0, (size_t)s->n * width(s) * sizeof(double));
  int status = out->stem ? CLI_DONE : CLI_FAILED;
  if (status == CLI_DONE && record->folder) {
    status = open_records(session, s, record, &t.records);
  }
  if (status == CLI_DONE) {
    t.todo = todo;
    status = run_all(&t, list_todo(t.records, record, s->n, todo));
  }
  if (status == CLI_DONE && record->folder) {
    status = take_recorded(session, s, record, &t.records, out);
  }
  mbg_records_destroy(t.records);
  free(todo);
  return status;
}

void cli_starts_end(cli_start_rows *rows) {
  if (rows->folder) {
    remove_folder(rows->folder);
  }
  free(rows->folder);
  free(rows->stem);
  free(rows->rows);
}

int cli_starts_ended(const cli_search *s, const cli_start_rows *rows) {
  int ended = 0;
  for (int k = 0; k < s->n; k++) {
    const int how = (int)*cli_start_row(s, rows, k);
    ended += how != CLI_START_NOT_RUN && how != CLI_START_INTERRUPTED;
  }
  return ended;
}

int cli_starts_part(const cli_search *s, const cli_start_rows *rows, const cli_record_options *record) {
  int own = 0, left = 0;
  for (int k = 0; k < s->n; k++) {
    const int how = (int)*cli_start_row(s, rows, k);
    own += cli_record_own(record, k);
    left += cli_record_own(record, k) && (how == CLI_START_NOT_RUN || how == CLI_START_INTERRUPTED);
  }
  if (left > 0) {
    return cli_failed("interrupted; %d of %d starts of this part are recorded: --resume goes on", own - left, own);
  }
  fprintf(stderr, "part %d of %d is recorded, %d starts: without --shard, with --resume, the best of all is given\n",
          record->part, record->parts, own);
  return CLI_DONE;
}
