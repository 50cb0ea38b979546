/* Folders of records: opening, asking, appending. */
#define _POSIX_C_SOURCE 200809L

#include "problems/records.h"

#include "io/record_line.h"
#include "mbgrad/version.h"
#include "model/model.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
  FILE_BYTES = 64 * 1024 * 1024, /* a longer file is followed by another one */
  NAME_TRIES = 100000
};

/* ---------------------------------------------------------------------- identity */

static uint64_t sum_text(uint64_t sum, const char *text) {
  return mbg__sum(sum, text ? text : "", text ? strlen(text) + 1 : 1);
}

static uint64_t sum_options(uint64_t sum, const mbg_run_options *o) {
  const double numbers[] = {o->start,   o->end,      o->step,   o->tolerance, o->rho_inf,
                            o->alpha_f, o->interval, o->refine, o->accuracy,  o->adjoint_tolerance};
  for (int i = 0; i < MBG_COUNT(numbers); i++) {
    const double x = isnan(numbers[i]) ? NAN : numbers[i] + 0.0; /* one NAN, one zero */
    sum = isnan(x) ? mbg__sum(sum, "nan", 3) : mbg__sum(sum, &x, sizeof(x));
  }
  return sum_text(sum_text(sum, o->formulation), o->integrator);
}

int mbg_records_identity(mbg_context *ctx, const mbg_model *model, const mbg_run_options *run, size_t count,
                         const double *numbers, char *identity) {
  MBG_NEED(ctx, ctx && model && identity && (numbers || count == 0));
  int err = MBG_OK;
  mbg_run_options o, defaults;
  mbg_run_options_default(&defaults, sizeof(defaults));
  o = defaults;
  MBG_TRY(mbg__options_take(ctx, "run", run, &o, sizeof(o)));
  uint64_t sum = sum_text(MBG__SUM_START, mbg_version());
  sum = mbg__model_sum(sum, model);
  MBG_TRY(mbg__model_sum_files(ctx, model, &sum));
  sum = sum_options(sum, &o);
  sum = mbg__sum(sum, numbers, count * sizeof(double));
  mbg__format(identity, MBG_RECORDS_IDENTITY_SIZE, "%016" PRIx64, sum);
done:
  return err;
}

/* ---------------------------------------------------------------------- opening */

static int copy_names(mbg__arena *arena, int count, const char *const *names, const char *const **out) {
  const char **own = MBG_TAKE(arena, const char *, count + 1);
  for (int i = 0; own && i < count; i++) {
    own[i] = mbg__arena_text(arena, names[i], strlen(names[i]));
  }
  *out = own;
  return own ? MBG_OK : MBG_ERROR_MEMORY;
}

static int copy_plan(mbg_context *ctx, mbg_records *r, const mbg_records_plan *p) {
  r->plan = *p;
  r->plan.kind = mbg__arena_text(&r->arena, p->kind, strlen(p->kind));
  r->plan.model = mbg__arena_text(&r->arena, p->model, strlen(p->model));
  r->plan.identity = mbg__arena_text(&r->arena, p->identity, strlen(p->identity));
  (void)copy_names(&r->arena, p->input_count, p->inputs, &r->plan.inputs);
  (void)copy_names(&r->arena, p->output_count, p->outputs, &r->plan.outputs);
  return mbg__arena_check(ctx, &r->arena);
}

static int make_folder(mbg_context *ctx, const char *folder) {
  struct stat info;
  if (mkdir(folder, 0777) == 0) {
    return MBG_OK;
  }
  if (errno == EEXIST && stat(folder, &info) == 0) {
    return S_ISDIR(info.st_mode) ? MBG_OK
                                 : mbg__fail(ctx, MBG_ERROR_INPUT, "'%s' is a file; records need a folder", folder);
  }
  const bool wrong = errno == ENOENT || errno == ENOTDIR || errno == EEXIST; /* a name, not the disk */
  return mbg__fail(ctx, wrong ? MBG_ERROR_INPUT : MBG_ERROR_IO, "cannot make the folder '%s': %s", folder,
                   strerror(errno));
}

static int make_room(mbg_context *ctx, mbg_records *r) {
  const size_t n = (size_t)r->plan.point_count;
  r->width = (size_t)r->plan.input_count + (size_t)r->plan.output_count;
  r->status = MBG_TAKE(&r->arena, int, n);
  r->rows = MBG_TAKE(&r->arena, double, n * r->width + 1);
  r->file = MBG_TAKE(&r->arena, int, n);
  r->line = MBG_TAKE(&r->arena, int, n);
  r->found.missing = r->plan.point_count;
  mbg__format(r->head, sizeof(r->head), "mbgrad records 1: %.32s %.32s\n", r->plan.kind, r->plan.identity);
  return mbg__arena_check(ctx, &r->arena);
}

int mbg_records_create(mbg_context *ctx, const char *folder, const mbg_records_plan *plan, mbg_records **out) {
  MBG_NEED(ctx, ctx && folder && out);
  MBG_NEED(ctx, !plan || (plan->kind && plan->model && plan->identity && plan->point_count > 0 &&
                          (plan->inputs || plan->input_count == 0) && (plan->outputs || plan->output_count == 0)));
  *out = NULL;
  if (!*folder) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "the folder of records has no name");
  }
  int err = MBG_OK;
  mbg_records *r = mbg__alloc_zero(ctx, 1, sizeof(*r));
  if (!r) {
    return mbg__fail_memory(ctx);
  }
  r->out = -1;
  mbg__arena_init(&r->arena, mbg__context_allocator(ctx));
  r->folder = mbg__arena_text(&r->arena, folder, strlen(folder));
  MBG_TRY(mbg__arena_check(ctx, &r->arena));
  if (plan) {
    MBG_TRY(copy_plan(ctx, r, plan));
    MBG_TRY(make_folder(ctx, folder));
  }
  MBG_TRY(mbg__records_plan_agree(ctx, r));
  MBG_TRY(make_room(ctx, r));
  MBG_TRY(mbg__records_read(ctx, r));
done:
  if (err < 0) {
    mbg_records_destroy(r);
    r = NULL;
  }
  *out = r;
  return err;
}

void mbg_records_destroy(mbg_records *r) {
  if (r) {
    const mbg_allocator a = r->arena.allocator;
    if (r->out >= 0) {
      close(r->out);
    }
    mbg__arena_destroy(&r->arena);
    a.release(a.user, r);
  }
}

/* ---------------------------------------------------------------------- asking */

const mbg_records_plan *mbg_records_get_plan(const mbg_records *r) { return r ? &r->plan : NULL; }

const mbg_records_summary *mbg_records_get_summary(const mbg_records *r) { return r ? &r->found : NULL; }

static bool has(const mbg_records *r, int point) { return r && point >= 0 && point < r->plan.point_count; }

int mbg_records_status(const mbg_records *r, int point) { return has(r, point) ? r->status[point] : 0; }

const double *mbg_records_row(const mbg_records *r, int point) {
  return has(r, point) && r->status[point] != 0 ? r->rows + (size_t)point * r->width : NULL;
}

/* ---------------------------------------------------------------------- appending */

static int fail_write(mbg_context *ctx, const mbg_records *r, int number) {
  return mbg__fail(ctx, MBG_ERROR_IO, "cannot write '%s': %s; what is recorded stays", r->path, strerror(number));
}

/* The bytes, whole or not at all: what was written of them is taken back. */
static int append(mbg_context *ctx, mbg_records *r, const char *text, size_t length) {
  size_t done = 0;
  while (done < length) {
    const ssize_t n = write(r->out, text + done, length - done);
    if (n < 0 && errno != EINTR) {
      const int number = errno;
      const bool back = ftruncate(r->out, (off_t)r->size) == 0;
      (void)back; /* a rest without line break does not count */
      return fail_write(ctx, r, number);
    }
    done += n > 0 ? (size_t)n : 0;
  }
  r->size += length;
  return MBG_OK;
}

/* a file that no other process has: HOST-PID-NUMBER.records */
static int begin_file(mbg_context *ctx, mbg_records *r) {
  char host[65] = "host";
  (void)gethostname(host, sizeof(host) - 1);
  host[strcspn(host, ".")] = 0;
  const size_t size = strlen(r->folder) + sizeof(host) + 64;
  if (!r->path) {
    r->path = mbg__arena_take(&r->arena, size, 1);
  }
  if (!r->path) {
    return mbg__fail_memory(ctx);
  }
  if (r->out >= 0) {
    close(r->out);
  }
  r->out = -1;
  for (int i = 0; i < NAME_TRIES && r->out < 0; i++) {
    mbg__format(r->path, size, "%s/%s-%ld-%d" MBG__RECORDS_END, r->folder, host, (long)getpid(), i);
    r->out = open(r->path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
    if (r->out < 0 && errno != EEXIST) {
      break;
    }
  }
  r->size = 0;
  return r->out < 0 ? fail_write(ctx, r, errno) : append(ctx, r, r->head, strlen(r->head));
}

int mbg_records_add(mbg_context *ctx, mbg_records *r, int point, int status, const double *row) {
  MBG_NEED(ctx, ctx && r && row && has(r, point) && status != 0);
  int err = MBG_OK;
  const char *text;
  size_t length;
  mbg__buffer b;
  if (status == MBG_ERROR_MEMORY || status == MBG_ERROR_IO || status == MBG_ERROR_INTERRUPTED) {
    return MBG_OK;
  }
  mbg__buffer_init(&b, ctx);
  mbg__buffer_format(&b, "p %d %d", status, point);
  mbg__record_line_add(&b, status > 0 ? (int)r->width : r->plan.input_count, row);
  MBG_TRY(mbg__record_line_finish(&b, &text, &length));
  if (r->out < 0 || r->size > FILE_BYTES) {
    MBG_TRY(begin_file(ctx, r));
  }
  MBG_TRY(append(ctx, r, text, length));
  (void)mbg__records_take(r, point, status, row);
done:
  mbg__buffer_destroy(&b);
  return err;
}

int mbg_records_sync(mbg_context *ctx, mbg_records *r) {
  MBG_NEED(ctx, ctx && r);
  /* some file systems cannot */
  return r->out < 0 || fsync(r->out) == 0 || errno == EINVAL ? MBG_OK : fail_write(ctx, r, errno);
}
