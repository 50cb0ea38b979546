/* A search by several processes: each goes the same way, evaluates its own load cases and gets the results of the
   others from their ranks. Sums over the cases are formed by each of them, in the order of the cases. */
#include "problems/optimize.h"

#include <string.h>

bool mbg__optimize_is_own(const mbg_optimize *opt, int k) {
  return !opt->o.ranks || k % opt->o.ranks->count == opt->o.ranks->own;
}

static bool is_first(const mbg_optimize *opt) { return !opt->o.ranks || opt->o.ranks->own == 0; }

/* ---------------------------------------------------------------------- results of cases */

/* a message of a case, text and severity */
static void put_message(mbg__case *c, mbg__parcel *p, int i) {
  const char *text = mbg_context_message(c->ctx, i);
  mbg_severity severity = mbg_context_message_severity(c->ctx, i);
  size_t length = strlen(text) + 1;
  mbg__parcel_bytes(p, sizeof(severity), &severity);
  mbg__parcel_bytes(p, sizeof(length), &length);
  mbg__parcel_bytes(p, length, (void *)text); /* which goes in */
}

static void take_message(mbg__case *c, mbg__parcel *p) {
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
    (void)mbg__fail(c->ctx, c->status, "%s", text);
  } else {
    mbg__note(c->ctx, severity, "%s", text);
  }
}

static void carry_case(mbg__case *c, mbg__parcel *p, const mbg__stage *stage) {
  int messages = p->taking ? 0 : mbg_context_message_count(c->ctx);
  mbg__parcel_bytes(p, sizeof(c->status), &c->status);
  mbg__parcel_bytes(p, sizeof(messages), &messages);
  for (int i = 0; i < messages && !p->failed; i++) {
    if (p->taking) {
      take_message(c, p);
    } else {
      put_message(c, p, i);
    }
  }
  if (c->status == MBG_OK) {
    stage->results(c, p);
  }
}

/* what ranks have in common when they evaluate */
static uint64_t sum_of(const mbg_optimize *opt) {
  uint64_t h = mbg__sum(MBG__SUM_START, opt->p, (size_t)opt->np * sizeof(double));
  h = mbg__sum(h, &opt->m, sizeof(opt->m));
  for (int k = 0; k < opt->ncase; k++) {
    h = mbg__sum(h, &opt->load[k].nrow, sizeof(opt->load[k].nrow));
  }
  return h;
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
static uint64_t carry_cases(mbg_optimize *opt, const mbg__stage *stage, int from, mbg__parcel *p) {
  const uint64_t own = sum_of(opt);
  uint64_t sum = own;
  mbg__parcel_bytes(p, sizeof(sum), &sum);
  for (int k = from; k < opt->ncase && sum == own; k += opt->o.ranks->count) {
    carry_case(&opt->load[k], p, stage);
  }
  return sum;
}

static int share_cases(mbg_context *ctx, mbg_optimize *opt, const mbg__stage *stage, int from, mbg__parcel *p,
                       int *differ) {
  const uint64_t own = sum_of(opt);
  uint64_t sum = own;
  int err = MBG_OK;
  mbg__parcel_clear(p);
  if (from == opt->o.ranks->own) {
    sum = carry_cases(opt, stage, from, p);
  }
  MBG_TRY(mbg__parcel_share(opt->o.ranks, from, p));
  if (from != opt->o.ranks->own) {
    sum = carry_cases(opt, stage, from, p);
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

int mbg__optimize_share(mbg_context *ctx, mbg_optimize *opt, const mbg__stage *stage) {
  mbg__parcel p = {.ctx = ctx};
  int err = MBG_OK, differ = MBG_OK;
  for (int r = 0; opt->o.ranks && r < opt->o.ranks->count; r++) {
    MBG_TRY(share_cases(ctx, opt, stage, r, &p, &differ));
  }
  err = differ;
done:
  mbg__parcel_free(&p);
  return err;
}

bool mbg__optimize_any(mbg_context *ctx, const mbg_optimize *opt, bool own) {
  mbg__parcel p = {.ctx = ctx};
  bool any = own;
  int err = MBG_OK;
  for (int r = 0; opt->o.ranks && r < opt->o.ranks->count; r++) {
    bool other = own;
    mbg__parcel_clear(&p);
    mbg__parcel_bytes(&p, sizeof(other), &other);
    MBG_TRY(mbg__parcel_share(opt->o.ranks, r, &p));
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
static int share_verdict(mbg_context *ctx, mbg_optimize *opt, verdict *v, int count, double *values) {
  mbg__parcel p = {.ctx = ctx};
  int err = MBG_OK;
  if (!opt->o.ranks || !opt->recording) {
    opt->replaying = v->left;
    return v->err;
  }
  if (is_first(opt)) {
    mbg__parcel_bytes(&p, sizeof(*v), v);
    mbg__parcel_numbers(&p, v->found && v->status == MBG_OK ? (size_t)count : 0, values);
  }
  MBG_TRY(mbg__parcel_share(opt->o.ranks, 0, &p));
  mbg__parcel_bytes(&p, sizeof(*v), v);
  mbg__parcel_numbers(&p, v->found && v->status == MBG_OK ? (size_t)count : 0, values);
  opt->replaying = v->left;
  err = p.failed ? mbg__fail(ctx, MBG_ERROR_INPUT, "results of rank 0 are not those of this search") : v->err;
done:
  mbg__parcel_free(&p);
  return err;
}

int mbg__optimize_open_record(mbg_context *ctx, mbg_optimize *opt, const char *head) {
  verdict v = {0};
  if (is_first(opt)) {
    v.err = mbg__record_open(ctx, opt->o.restart, head, opt->o.resume, &opt->record);
    v.left = mbg__record_left(opt->record);
  }
  opt->recording = true;
  return share_verdict(ctx, opt, &v, 0, NULL);
}

void mbg__optimize_close_record(mbg_optimize *opt) {
  mbg__record_close(opt->record);
  opt->record = NULL;
  opt->recording = false;
}

int mbg__optimize_recorded(mbg_context *ctx, mbg_optimize *opt, char kind, int n, const double *x, int count,
                           double *values, int *status, bool *found) {
  verdict v = {.status = *status};
  if (is_first(opt)) {
    v.err = mbg__record_next(ctx, opt->record, kind, n, x, count, values, &v.status, &v.found);
    v.left = mbg__record_left(opt->record);
  }
  const int err = share_verdict(ctx, opt, &v, count, values);
  *status = v.status;
  *found = v.found;
  return err;
}

int mbg__optimize_add_record(mbg_context *ctx, mbg_optimize *opt, char kind, int n, const double *x, int count,
                             const double *values, int status) {
  verdict v = {.left = opt->replaying};
  if (is_first(opt)) {
    v.err = mbg__record_add(ctx, opt->record, kind, n, x, count, values, status);
  }
  return share_verdict(ctx, opt, &v, 0, NULL);
}
