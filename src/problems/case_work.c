#include "problems/case_work.h"

#include "problems/cases.h"

#include <pthread.h>
#include <string.h>

bool mbg__work_is_own(const mbg__case_work *w, int k) { return !w->ranks || k % w->ranks->count == w->ranks->own; }

static bool is_first(const mbg__case_work *w) { return !w->ranks || w->ranks->own == 0; }

/* ---------------------------------------------------------------------- threads */

/* The cases of this rank that no thread has taken yet. */
typedef struct {
  mbg__case_work *w;
  const void *stage;
  pthread_mutex_t lock;
  int next;
} case_queue;

static int next_case(case_queue *q) {
  pthread_mutex_lock(&q->lock);
  while (q->next < q->w->count && !mbg__work_is_own(q->w, q->next)) {
    q->next++;
  }
  const int k = q->next < q->w->count ? q->next++ : -1;
  pthread_mutex_unlock(&q->lock);
  return k;
}

static void *evaluate_cases(void *user) {
  case_queue *q = user;
  for (int k = next_case(q); k >= 0; k = next_case(q)) {
    q->w->evaluate(q->w->user, q->stage, k);
  }
  return NULL;
}

enum { THREADS_MAX = 256 };

static void evaluate_in_threads(mbg__case_work *w, const void *stage) {
  case_queue q = {.w = w, .stage = stage};
  pthread_t threads[THREADS_MAX];
  const int wanted = w->threads < w->count ? w->threads : w->count;
  int n = 0;
  pthread_mutex_init(&q.lock, NULL);
  while (n < wanted - 1 && n < THREADS_MAX && pthread_create(&threads[n], NULL, evaluate_cases, &q) == 0) {
    n++;
  }
  evaluate_cases(&q);
  while (n > 0) {
    pthread_join(threads[--n], NULL);
  }
  pthread_mutex_destroy(&q.lock);
}

/* ---------------------------------------------------------------------- results of cases */

/* a message of a case, text and severity */
static void put_message(mbg__work_case *c, mbg__parcel *p, int i) {
  const char *text = mbg_context_message(c->ctx, i);
  mbg_severity severity = mbg_context_message_severity(c->ctx, i);
  size_t length = strlen(text) + 1;
  mbg__parcel_bytes(p, sizeof(severity), &severity);
  mbg__parcel_bytes(p, sizeof(length), &length);
  mbg__parcel_bytes(p, length, (void *)text); /* which goes in */
}

static void take_message(mbg__work_case *c, mbg__parcel *p) {
  mbg_severity severity = MBG_ERROR;
  size_t length = 0;
  mbg__parcel_bytes(p, sizeof(severity), &severity);
  mbg__parcel_bytes(p, sizeof(length), &length);
  if (p->failed || length == 0 || length > p->size - p->at) {
    p->failed = true;
    return;
  }
  const char *text = p->data + p->at;
  p->at += length;
  if (severity == MBG_ERROR) {
    (void)mbg__fail(c->ctx, *c->status, "%s", text);
  } else {
    mbg__note(c->ctx, severity, "%s", text);
  }
}

static void carry_case(mbg__case_work *w, int k, mbg__parcel *p, const void *stage) {
  mbg__work_case *c = &w->cases[k];
  int messages = p->taking ? 0 : mbg_context_message_count(c->ctx);
  mbg__parcel_bytes(p, sizeof(*c->status), c->status);
  mbg__parcel_bytes(p, sizeof(messages), &messages);
  for (int i = 0; i < messages && !p->failed; i++) {
    if (p->taking) {
      take_message(c, p);
    } else {
      put_message(c, p, i);
    }
  }
  if (*c->status == MBG_OK) {
    w->results(w->user, stage, k, p);
  }
}

/* Every rank learns the sums of all, so that all or none of them stop here. */
static int check_sum(mbg_context *ctx, int rank, uint64_t own, uint64_t other) {
  return own == other ? MBG_OK
                      : mbg__fail(ctx, MBG_ERROR_INPUT,
                                  "rank %d is at another point of the search: the ranks differ in model, options, "
                                  "libraries or kind of processor",
                                  rank);
}

/* the sum and the cases of one rank; cases of a rank that differs cannot be read */
static uint64_t carry_cases(mbg__case_work *w, const void *stage, int from, mbg__parcel *p) {
  const uint64_t own = w->sum(w->user);
  uint64_t sum = own;
  mbg__parcel_bytes(p, sizeof(sum), &sum);
  for (int k = from; k < w->count && sum == own; k += w->ranks->count) {
    carry_case(w, k, p, stage);
  }
  return sum;
}

static int share_cases(mbg_context *ctx, mbg__case_work *w, const void *stage, int from, mbg__parcel *p, int *differ) {
  const uint64_t own = w->sum(w->user);
  uint64_t sum = own;
  int err = MBG_OK;
  mbg__parcel_clear(p);
  if (from == w->ranks->own) {
    sum = carry_cases(w, stage, from, p);
  }
  MBG_TRY(mbg__parcel_share(w->ranks, from, p));
  if (from != w->ranks->own) {
    sum = carry_cases(w, stage, from, p);
  }
  if (*differ == MBG_OK) {
    *differ = check_sum(ctx, from, own, sum);
  }
  if (*differ == MBG_OK && p->failed) {
    *differ = mbg__fail(ctx, MBG_ERROR_INPUT, "results of rank %d are not those of this search", from);
  }
done:
  return err;
}

static int share_all(mbg_context *ctx, mbg__case_work *w, const void *stage) {
  mbg__parcel p = {.ctx = ctx};
  int err = MBG_OK, differ = MBG_OK;
  for (int r = 0; w->ranks && r < w->ranks->count; r++) {
    MBG_TRY(share_cases(ctx, w, stage, r, &p, &differ));
  }
  err = differ;
done:
  mbg__parcel_free(&p);
  return err;
}

/* ---------------------------------------------------------------------- all cases */

/* messages of a case into the common context, with the name of its run */
static void hand_over(mbg_context *ctx, const mbg__work_case *c, bool all) {
  for (int i = 0; i < mbg_context_message_count(c->ctx); i++) {
    const mbg_severity severity = mbg_context_message_severity(c->ctx, i);
    const char *text = mbg_context_message(c->ctx, i), *run = c->run ? c->run : "";
    if (severity == MBG_ERROR) {
      (void)mbg__fail(ctx, *c->status, "%s%s%s%s", c->run ? "run '" : "", run, c->run ? "': " : "", text);
    } else if (all) {
      mbg__note(ctx, severity, "%s%s%s%s", c->run ? "run '" : "", run, c->run ? "': " : "", text);
    }
  }
  mbg_context_clear(c->ctx);
}

int mbg__work_evaluate(mbg_context *ctx, mbg__case_work *w, const void *stage, bool all, int *status) {
  *status = MBG_OK;
  evaluate_in_threads(w, stage);
  const int err = share_all(ctx, w, stage);
  for (int k = 0; err == MBG_OK && k < w->count; k++) {
    const int own = *w->cases[k].status;
    if (own < 0 && (*status == MBG_OK || (mbg__curable(*status) && !mbg__curable(own)))) {
      *status = own;
    }
    hand_over(ctx, &w->cases[k], all);
  }
  return err;
}

bool mbg__work_any(mbg_context *ctx, const mbg__case_work *w, bool own) {
  mbg__parcel p = {.ctx = ctx};
  bool any = own;
  int err = MBG_OK;
  for (int r = 0; w->ranks && r < w->ranks->count; r++) {
    bool other = own;
    mbg__parcel_clear(&p);
    mbg__parcel_bytes(&p, sizeof(other), &other);
    MBG_TRY(mbg__parcel_share(w->ranks, r, &p));
    mbg__parcel_bytes(&p, sizeof(other), &other);
    any = any || other;
  }
done:
  mbg__parcel_free(&p);
  return any || err < 0;
}

/* ---------------------------------------------------------------------- the restart file */

/* what rank 0 says about an evaluation */
typedef struct {
  int err, status;
  bool found, left;
} verdict;

/* of rank 0, with the values of an evaluation that was found */
static int share_verdict(mbg_context *ctx, mbg__case_work *w, verdict *v, int count, double *values) {
  mbg__parcel p = {.ctx = ctx};
  int err = MBG_OK;
  if (!w->ranks || !w->recording) {
    w->replaying = v->left;
    return v->err;
  }
  if (is_first(w)) {
    mbg__parcel_bytes(&p, sizeof(*v), v);
    mbg__parcel_numbers(&p, v->found && v->status == MBG_OK ? (size_t)count : 0, values);
  }
  MBG_TRY(mbg__parcel_share(w->ranks, 0, &p));
  mbg__parcel_bytes(&p, sizeof(*v), v);
  mbg__parcel_numbers(&p, v->found && v->status == MBG_OK ? (size_t)count : 0, values);
  w->replaying = v->left;
  err = p.failed ? mbg__fail(ctx, MBG_ERROR_INPUT, "results of rank 0 are not those of this search") : v->err;
done:
  mbg__parcel_free(&p);
  return err;
}

int mbg__work_open_record(mbg_context *ctx, mbg__case_work *w, const char *path, const char *head, bool resume) {
  verdict v = {0};
  if (is_first(w)) {
    v.err = mbg__record_open(ctx, path, head, resume, &w->record);
    v.left = mbg__record_left(w->record);
  }
  w->recording = true;
  w->replayed = 0;
  return share_verdict(ctx, w, &v, 0, NULL);
}

void mbg__work_close_record(mbg__case_work *w) {
  mbg__record_close(w->record);
  w->record = NULL;
  w->recording = false;
}

int mbg__work_recorded(mbg_context *ctx, mbg__case_work *w, char kind, int n, const double *x, int count,
                       double *values, int *status, bool *found) {
  verdict v = {.status = *status};
  if (is_first(w)) {
    v.err = mbg__record_next(ctx, w->record, kind, n, x, count, values, &v.status, &v.found);
    v.left = mbg__record_left(w->record);
  }
  const int err = share_verdict(ctx, w, &v, count, values);
  *status = v.status;
  *found = v.found;
  w->replayed += v.found;
  return err;
}

int mbg__work_add_record(mbg_context *ctx, mbg__case_work *w, char kind, int n, const double *x, int count,
                         const double *values, int status) {
  verdict v = {.left = w->replaying};
  if (is_first(w)) {
    v.err = mbg__record_add(ctx, w->record, kind, n, x, count, values, status);
  }
  return share_verdict(ctx, w, &v, 0, NULL);
}
