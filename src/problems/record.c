/* Lines "KIND STATUS x.. values.. SUM" (io/record_line.h). */
#define _POSIX_C_SOURCE 200809L

#include "problems/record.h"

#include "io/file.h"
#include "io/record_line.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct mbg__record {
  FILE *file;
  const char *path;
  char *line;      /* the next recorded line, NULL: none is left */
  int number;      /* of the line, for messages */
  int replayed;    /* evaluations */
  mbg__arena text; /* the file as it was */
};

/* ---------------------------------------------------------------------- opening */

static int broken_line(mbg_context *ctx, const mbg__record *r, int number, const char *what) {
  return mbg__fail(ctx, MBG_ERROR_INPUT, "%s:%d: %s; remove the file or name another one", r->path, number, what);
}

static int broken(mbg_context *ctx, const mbg__record *r, const char *what) {
  return broken_line(ctx, r, r->number, what);
}

/* Checks every line; *length is cut to the whole ones. A bad line that another follows was changed after it was
   written. */
static int check_lines(mbg_context *ctx, mbg__record *r, const char *text, size_t *length) {
  size_t at = 0;
  for (r->number = 1; at < *length; r->number++) {
    const char *end = memchr(text + at, '\n', *length - at);
    const size_t n = end ? (size_t)(end - text) - at : *length - at;
    const bool last = !end || at + n + 1 == *length;
    if (!end || memchr(text + at, 0, n) || (r->number > 1 && !mbg__record_line_whole(text + at, n))) {
      if (!last) {
        return broken(ctx, r, "the line is damaged");
      }
      *length = at;
      break;
    }
    at += n + 1;
  }
  return MBG_OK;
}

/* does the text begin as the records of this kind do: "mbgrad optimize 1: ..." up to the version? */
static bool own(const char *text, size_t length, const char *head) {
  const size_t kind = strcspn(head, "0123456789"), n = length < kind ? length : kind;
  return strncmp(text, head, n) == 0;
}

static int foreign(mbg_context *ctx, const mbg__record *r) {
  return mbg__fail(ctx, MBG_ERROR_INPUT,
                   "'%s' is no restart file of this command, and is left alone: name another file", r->path);
}

static int fail_write(mbg_context *ctx, const char *path) {
  return mbg__fail(ctx, MBG_ERROR_IO, "cannot write '%s': %s", path, strerror(errno));
}

int mbg__record_keep(mbg_context *ctx, const char *path) {
  const size_t length = strlen(path);
  char *kept = mbg__alloc(ctx, length + 2, 1);
  if (!kept) {
    return mbg__fail_memory(ctx);
  }
  memcpy(kept, path, length);
  memcpy(kept + length, "~", 2);
  const int err = rename(path, kept) == 0 ? MBG_OK : fail_write(ctx, path);
  mbg__free(ctx, kept);
  return err;
}

static int replay(mbg_context *ctx, mbg__record *r, const char *head) {
  int err = MBG_OK;
  char *text;
  size_t length;
  MBG_TRY(mbg__file_read_data(ctx, &r->text, r->path, &text, &length));
  const size_t before = length;
  if (!own(text, length, head)) {
    return foreign(ctx, r);
  }
  MBG_TRY(check_lines(ctx, r, text, &length));
  if (length == 0) {
    return MBG_OK;
  }
  text[length] = 0;
  const size_t n = strcspn(text, "\n");
  if (n != strlen(head) || strncmp(text, head, n) != 0) {
    return mbg__fail(ctx, MBG_ERROR_INPUT,
                     "%s:1: written by another problem (other model, parameters, data, start or options); remove it or "
                     "name another file",
                     r->path);
  }
  r->line = text + n + 1;
  r->number = 2;
  /* lines that follow are appended to the whole ones */
  if (length < before && truncate(r->path, (off_t)length) != 0) {
    return fail_write(ctx, r->path);
  }
done:
  return err;
}

/* A record that was there becomes FILE~; devices and empty files stay. */
static int set_aside(mbg_context *ctx, const mbg__record *r, const struct stat *old, const char *head) {
  char start[64];
  if (!S_ISREG(old->st_mode) || old->st_size == 0) {
    return MBG_OK;
  }
  FILE *file = fopen(r->path, "rb");
  const size_t n = file ? fread(start, 1, sizeof(start), file) : 0;
  if (file) {
    fclose(file);
  }
  if (n == 0 || !own(start, n, head)) {
    return foreign(ctx, r);
  }
  return mbg__record_keep(ctx, r->path);
}

/* a line to the file and to the disk */
static int put(mbg_context *ctx, const mbg__record *r, const char *text, size_t length) {
  const bool done = fwrite(text, 1, length, r->file) == length && fflush(r->file) == 0 &&
                    (fsync(fileno(r->file)) == 0 || errno == EINVAL); /* a pipe cannot be forced */
  return done ? MBG_OK : fail_write(ctx, r->path);
}

static int begin(mbg_context *ctx, const mbg__record *r, const char *head) {
  const int err = put(ctx, r, head, strlen(head));
  return err < 0 ? err : put(ctx, r, "\n", 1);
}

int mbg__record_open(mbg_context *ctx, const char *path, const char *head, bool resume, mbg__record **out) {
  int err = MBG_OK;
  mbg__record *r = mbg__alloc_zero(ctx, 1, sizeof(*r));
  *out = NULL;
  if (!r) {
    return mbg__fail_memory(ctx);
  }
  r->path = path;
  mbg__arena_init(&r->text, mbg__context_allocator(ctx));
  struct stat old;
  if (stat(path, &old) == 0) {
    MBG_TRY(resume ? replay(ctx, r, head) : set_aside(ctx, r, &old, head));
  } else if (resume) {
    mbg__note(ctx, MBG_NOTE, "there is no restart file '%s' yet: the search begins anew", path);
  }
  r->file = fopen(path, r->line ? "a" : "w");
  if (!r->file) {
    err = fail_write(ctx, path);
    goto done;
  }
  if (!r->line) {
    MBG_TRY(begin(ctx, r, head));
  }
done:
  if (err < 0) {
    mbg__record_close(r);
    r = NULL;
  }
  *out = r;
  return err;
}

void mbg__record_close(mbg__record *r) {
  if (r) {
    const mbg_allocator a = r->text.allocator;
    if (r->file) {
      fclose(r->file);
    }
    mbg__arena_destroy(&r->text);
    a.release(a.user, r);
  }
}

bool mbg__record_left(const mbg__record *r) { return r && r->line && *r->line; }

int mbg__record_replayed(const mbg__record *r) { return r ? r->replayed : 0; }

/* ---------------------------------------------------------------------- replaying */

static bool all_finite(int n, const double *x) {
  for (int i = 0; i < n; i++) {
    if (!isfinite(x[i])) {
      return false;
    }
  }
  return true;
}

int mbg__record_next(mbg_context *ctx, mbg__record *r, char kind, int n, const double *x, int count, double *values,
                     int *status, bool *found) {
  int err = MBG_OK;
  *found = false;
  if (!mbg__record_left(r)) {
    return MBG_OK;
  }
  double *recorded = mbg__alloc(ctx, (size_t)n + 1, sizeof(double));
  if (!recorded) {
    return mbg__fail_memory(ctx);
  }
  char *p = r->line, *end = strchr(p, '\n');
  *end = 0;
  if (*p != kind) {
    err = broken(ctx, r, "an evaluation of another kind was expected");
  } else {
    *status = (int)strtol(p + 1, &p, 10);
    if (*status < 0) {
      err = broken(ctx, r, "an evaluation that ended the search is not recorded");
    } else if (!mbg__record_line_numbers(&p, n, recorded) ||
               !mbg__record_line_numbers(&p, *status == MBG_OK ? count : 0, values)) {
      err = broken(ctx, r, "the line is not complete");
    } else if (*status == MBG_OK && !all_finite(count, values)) {
      err = broken(ctx, r, "the line has a number that is not finite");
    } else if (memcmp(recorded, x, (size_t)n * sizeof(double)) != 0) {
      err = broken(ctx, r, "the evaluation is at other parameters: the model, its data or the program has changed");
    }
  }
  mbg__free(ctx, recorded);
  *end = '\n';
  *found = err == MBG_OK;
  r->line = end + 1;
  r->number++;
  r->replayed += *found;
  return err;
}

int mbg__record_refuse(mbg_context *ctx, const mbg__record *r, const char *what) {
  return broken_line(ctx, r, r->number - 1, what);
}

char mbg__record_kind(const mbg__record *r) { return *r->line; }

int mbg__record_any(mbg_context *ctx, mbg__record *r, char *kind, int most, double *out, int *count) {
  char *p = r->line + 1, *end = strchr(r->line, '\n'), *sum = end - MBG__RECORD_SUM;
  *kind = *r->line;
  *count = 0;
  *sum = 0;
  const long status = strtol(p, &p, 10);
  while (status == MBG_OK && *count < most && mbg__record_line_numbers(&p, 1, &out[*count])) {
    ++*count;
  }
  *sum = ' ';
  r->line = end + 1;
  r->number++;
  return status < 0 ? mbg__record_refuse(ctx, r, "an evaluation that ended the search is not recorded") : MBG_OK;
}

/* ---------------------------------------------------------------------- recording */

int mbg__record_add(mbg_context *ctx, mbg__record *r, char kind, int n, const double *x, int count,
                    const double *values, int status) {
  int err = MBG_OK;
  const char *text;
  size_t length;
  mbg__buffer b;
  if (!r) {
    return MBG_OK;
  }
  mbg__buffer_init(&b, ctx);
  mbg__buffer_format(&b, "%c %d", kind, status);
  mbg__record_line_add(&b, n, x);
  mbg__record_line_add(&b, status == MBG_OK ? count : 0, values);
  MBG_TRY(mbg__record_line_finish(&b, &text, &length));
  MBG_TRY(put(ctx, r, text, length));
done:
  mbg__buffer_destroy(&b);
  return err;
}
