/* Evaluations of an identification in a file: each is appended when it is done, and replayed when the identification is
   resumed, so that the optimizer goes the way it went. */
#include "io/file.h"
#include "problems/identify.h"
#include "sensitivity/run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct mbg__restart {
  FILE *file;
  const char *path;
  char *line;      /* the next recorded line, NULL: none is left */
  int number;      /* of the line, for messages */
  mbg__arena text; /* the file as it was */
};

/* ---------------------------------------------------------------------- opening */

static void hash(unsigned long *h, const void *data, size_t size) {
  const unsigned char *bytes = data;
  for (size_t i = 0; i < size; i++) {
    *h = (*h ^ bytes[i]) * 1099511628211UL;
  }
}

/* what an identification must have in common with the one that wrote the file */
static void head(const mbg_identify *id, char *buffer, size_t size) {
  unsigned long h = 14695981039346656037UL;
  hash(&h, id->p0, (size_t)id->np * sizeof(double));
  hash(&h, id->lower, (size_t)id->n * sizeof(double));
  hash(&h, id->upper, (size_t)id->n * sizeof(double));
  hash(&h, &id->o.seed, sizeof(id->o.seed));
  for (int i = 0; i < id->n; i++) {
    hash(&h, id->parameter[i].name, strlen(id->parameter[i].name));
  }
  for (int k = 0; k < id->nchannel; k++) {
    hash(&h, id->channel[k].data, (size_t)id->channel[k].shown.samples * sizeof(double));
  }
  for (int k = 0; k < id->nexperiment; k++) {
    const double step = mbg__run_step(id->experiment[k].run);
    hash(&h, &step, sizeof(step));
    hash(&h, mbg_run_formulation(id->experiment[k].run), strlen(mbg_run_formulation(id->experiment[k].run)));
  }
  mbg__format(buffer, size, "mbgrad identify 1: %d parameters, %d samples, %d starts, %s, %016lx", id->n, id->m,
              id->o.starts, id->o.optimizer == MBG_FIT_LM ? "lm" : "lbfgs", h);
}

/* the end of a line that was cut off when the program was ended does not count */
static size_t whole_lines(const char *text, size_t length) {
  while (length > 0 && text[length - 1] != '\n') {
    length--;
  }
  return length;
}

static int replay(mbg_context *ctx, mbg__restart *r, const char *own) {
  int err = MBG_OK;
  char *text;
  size_t length;
  MBG_TRY(mbg__file_read(ctx, &r->text, r->path, &text, &length));
  text[whole_lines(text, length)] = 0;
  char *end = strchr(text, '\n');
  const size_t n = end ? (size_t)(end - text) : 0;
  if (n != strlen(own) || strncmp(text, own, n) != 0) {
    return mbg__fail(ctx, MBG_ERROR_INPUT,
                     "%s:1: written by another identification (other parameters, data, start or options); remove it or "
                     "name another file",
                     r->path);
  }
  r->line = end + 1;
  r->number = 2;
  /* lines that follow are appended to the whole ones */
  MBG_TRY(mbg__file_write(ctx, r->path, text, strlen(text)));
done:
  return err;
}

int mbg__restart_open(mbg_context *ctx, mbg_identify *id) {
  int err = MBG_OK;
  char own[256];
  head(id, own, sizeof(own));
  mbg__restart *r = mbg__alloc_zero(ctx, 1, sizeof(*r));
  if (!r) {
    return mbg__fail_memory(ctx);
  }
  id->restart = r;
  r->path = id->o.restart;
  mbg__arena_init(&r->text, mbg__context_allocator(ctx));
  if (id->o.resume) {
    MBG_TRY(replay(ctx, r, own));
  }
  r->file = fopen(r->path, id->o.resume ? "a" : "w");
  if (!r->file) {
    return mbg__fail(ctx, MBG_ERROR_IO, "cannot write '%s': %s", r->path, strerror(errno));
  }
  if (!id->o.resume) {
    fwrite(own, 1, strlen(own), r->file);
    fwrite("\n", 1, 1, r->file);
  }
done:
  return err;
}

void mbg__restart_close(mbg_identify *id) {
  mbg__restart *r = id->restart;
  if (r) {
    const mbg_allocator a = r->text.allocator;
    if (r->file) {
      fclose(r->file);
    }
    mbg__arena_destroy(&r->text);
    a.release(a.user, r);
  }
  id->restart = NULL;
}

/* ---------------------------------------------------------------------- replaying */

static int broken(mbg_context *ctx, const mbg__restart *r, const char *what) {
  return mbg__fail(ctx, MBG_ERROR_INPUT, "%s:%d: %s; remove the file or name another one", r->path, r->number, what);
}

/* n numbers at *p, each as the 16 hexadecimal digits of its bits; false when there are not so many */
static bool numbers(char **p, int n, double *out) {
  for (int i = 0; i < n; i++) {
    char *end;
    const uint64_t bits = strtoull(*p, &end, 16);
    if (end == *p) {
      return false;
    }
    memcpy(&out[i], &bits, sizeof(bits));
    *p = end;
  }
  return true;
}

int mbg__restart_next(mbg_context *ctx, mbg_identify *id, char kind, const double *x, int count, double *values,
                      int *status, bool *found) {
  mbg__restart *r = id->restart;
  int err = MBG_OK;
  *found = false;
  if (!r || !r->line || !*r->line) {
    return MBG_OK;
  }
  double *recorded = mbg__alloc(ctx, (size_t)id->n, sizeof(double));
  if (!recorded) {
    return mbg__fail_memory(ctx);
  }
  char *p = r->line, *end = strchr(p, '\n');
  *end = 0;
  if (*p != kind) {
    err = broken(ctx, r, "an evaluation of another kind was expected");
  } else {
    *status = (int)strtol(p + 1, &p, 10);
    if (!numbers(&p, id->n, recorded) || !numbers(&p, *status == MBG_OK ? count : 0, values)) {
      err = broken(ctx, r, "the line is not complete");
    } else if (memcmp(recorded, x, (size_t)id->n * sizeof(double)) != 0) {
      err = broken(ctx, r, "the evaluation is at other parameters: the model, its data or the program has changed");
    }
  }
  mbg__free(ctx, recorded);
  *end = '\n';
  *found = err == MBG_OK;
  r->line = end + 1;
  r->number++;
  return err;
}

/* ---------------------------------------------------------------------- recording */

int mbg__restart_add(mbg_context *ctx, mbg_identify *id, char kind, const double *x, int count, const double *values,
                     int status) {
  const mbg__restart *r = id->restart;
  char text[64];
  if (!r) {
    return MBG_OK;
  }
  mbg__format(text, sizeof(text), "%c %d", kind, status);
  fwrite(text, 1, strlen(text), r->file);
  for (int i = 0; i < id->n + (status == MBG_OK ? count : 0); i++) {
    uint64_t bits;
    memcpy(&bits, i < id->n ? &x[i] : &values[i - id->n], sizeof(bits));
    mbg__format(text, sizeof(text), " %016llx", (unsigned long long)bits);
    fwrite(text, 1, strlen(text), r->file);
  }
  fwrite("\n", 1, 1, r->file);
  return fflush(r->file) == 0 ? MBG_OK
                              : mbg__fail(ctx, MBG_ERROR_IO, "cannot write '%s': %s", r->path, strerror(errno));
}
