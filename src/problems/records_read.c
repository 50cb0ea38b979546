/* Files of records: a first line that names the plan, then lines "p STATUS POINT inputs.. outputs.. SUM". */
#define _POSIX_C_SOURCE 200809L

#include "problems/records.h"

#include "io/file.h"
#include "io/record_line.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---------------------------------------------------------------------- one record */

bool mbg__records_take(mbg_records *r, int point, int status, const double *row) {
  const size_t inputs = (size_t)r->plan.input_count, given = status > 0 ? r->width : inputs;
  double *own = r->rows + (size_t)point * r->width;
  if (r->status[point] != 0) {
    r->found.duplicate++;
    return r->status[point] == status && memcmp(own, row, given * sizeof(double)) == 0;
  }
  memcpy(own, row, given * sizeof(double));
  for (size_t i = given; i < r->width; i++) {
    own[i] = NAN;
  }
  r->status[point] = status;
  r->found.done += status > 0;
  r->found.failed += status < 0;
  r->found.missing--;
  return true;
}

/* Takes the line, which ends with a 0; false: it is damaged. */
static bool parse(const mbg_records *r, char *line, int *point, int *status, double *row) {
  char *p = line;
  if (*p++ != 'p') {
    return false;
  }
  *status = (int)strtol(p, &p, 10);
  const long number = strtol(p, &p, 10);
  *point = (int)number;
  return *status != 0 && number >= 0 && number < r->plan.point_count &&
         mbg__record_line_numbers(&p, *status > 0 ? (int)r->width : r->plan.input_count, row) && *p == 0;
}

static int contradiction(mbg_context *ctx, const mbg_records *r, int point, int file, int line) {
  return mbg__fail(ctx, MBG_ERROR_INPUT,
                   "%s/%s:%d and %s/%s:%d give different results for point %d: they were not computed by the same "
                   "program on the same kind of processor; remove one of these files and resume",
                   r->folder, r->names[r->file[point]], r->line[point], r->folder, r->names[file], line, point);
}

static int take_line(mbg_context *ctx, mbg_records *r, int file, int number, char *line, size_t length, double *row) {
  int point, status;
  if (!mbg__record_line_whole(line, length)) {
    return MBG_ERROR_INPUT;
  }
  line[length - MBG__RECORD_SUM] = 0;
  if (memchr(line, 0, length - MBG__RECORD_SUM) || !parse(r, line, &point, &status, row)) {
    return MBG_ERROR_INPUT;
  }
  const bool first = r->status[point] == 0;
  if (!mbg__records_take(r, point, status, row)) {
    (void)contradiction(ctx, r, point, file, number);
    return MBG_ERROR_IO; /* not damaged: with a message */
  }
  if (first) {
    r->file[point] = file;
    r->line[point] = number;
  }
  return MBG_OK;
}

/* ---------------------------------------------------------------------- one file */

/* A last line without its line break was not written to its end: it does not count. A first line inside: several files
   were put together. */
static int read_lines(mbg_context *ctx, mbg_records *r, int file, char *text, size_t length, double *row) {
  enum { NAMED = 20 };
  const size_t head = strlen(r->head);
  int number = 2;
  for (char *line = text, *end; (end = memchr(line, '\n', length - (size_t)(line - text))); line = end + 1) {
    const size_t n = (size_t)(end - line);
    const bool first = n + 1 == head && memcmp(line, r->head, n) == 0;
    const int status = first ? MBG_OK : take_line(ctx, r, file, number, line, n, row);
    if (status == MBG_ERROR_IO) {
      return MBG_ERROR_INPUT;
    }
    if (status != MBG_OK && ++r->found.damaged <= NAMED) {
      mbg__note(ctx, MBG_WARNING, "%s/%s:%d: the record is damaged and does not count", r->folder, r->names[file],
                number);
    }
    number++;
  }
  return MBG_OK;
}

/* Why a file is none of this plan, or NULL. */
static const char *foreign(const mbg_records *r, const char *text, size_t length) {
  static const char begin[] = "mbgrad records 1: ";
  const size_t head = strlen(r->head), n = sizeof(begin) - 1;
  if (memcmp(text, r->head, length < head ? length : head) == 0) {
    return NULL;
  }
  const char *end = memchr(text, '\n', length);
  const bool records = end && (size_t)(end - text) > n && memcmp(text, begin, n) == 0 && end[-1] != '\r';
  return records ? "has records of another plan"
                 : "does not begin as a file of records does (it was damaged, or copied as text)";
}

/* Folders, pipes and links to nothing have the names of records, too. */
static bool is_file(mbg_context *ctx, mbg_records *r, const char *path) {
  struct stat info;
  if (stat(path, &info) == 0 && S_ISREG(info.st_mode)) {
    return true;
  }
  r->found.foreign++;
  mbg__note(ctx, MBG_WARNING, "'%s' is no file and is left alone", path);
  return false;
}

static int read_file(mbg_context *ctx, mbg_records *r, int file, double *row) {
  int err = MBG_OK;
  mbg__arena arena;
  char *text;
  size_t length;
  const size_t size = strlen(r->folder) + strlen(r->names[file]) + 2, head = strlen(r->head);
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  char *path = mbg__arena_take(&arena, size, 1);
  MBG_TRY(mbg__arena_check(ctx, &arena));
  mbg__format(path, size, "%s/%s", r->folder, r->names[file]);
  if (!is_file(ctx, r, path)) {
    goto done;
  }
  MBG_TRY(mbg__file_read_data(ctx, &arena, path, &text, &length));
  const char *why = foreign(r, text, length);
  if (why) {
    r->found.foreign++;
    mbg__note(ctx, MBG_WARNING, "'%s' %s and is left alone", path, why);
    goto done;
  }
  if (length < head) { /* killed while it was begun */
    goto done;
  }
  r->found.files++;
  MBG_TRY(read_lines(ctx, r, file, text + head, length - head, row));
done:
  mbg__arena_destroy(&arena);
  return err;
}

/* ---------------------------------------------------------------------- the folder */

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* names of the files, sorted: messages do not depend on the order of a folder */
static int list_files(mbg_context *ctx, mbg_records *r) {
  const size_t end = strlen(MBG__RECORDS_END);
  int room = 0;
  DIR *dir = opendir(r->folder);
  if (!dir) {
    return mbg__fail(ctx, MBG_ERROR_IO, "cannot read '%s': %s", r->folder, strerror(errno));
  }
  for (struct dirent *entry; (entry = readdir(dir));) {
    const size_t n = strlen(entry->d_name);
    if (n <= end || strcmp(entry->d_name + n - end, MBG__RECORDS_END) != 0) {
      continue;
    }
    if (r->name_count == room) {
      room = room ? 2 * room : 64;
      char **names = MBG_TAKE(&r->arena, char *, room);
      if (names && r->name_count > 0) {
        memcpy(names, r->names, (size_t)r->name_count * sizeof(*names));
      }
      r->names = names;
    }
    char *name = mbg__arena_text(&r->arena, entry->d_name, n);
    if (r->arena.failed) {
      break;
    }
    r->names[r->name_count++] = name;
  }
  closedir(dir);
  if (!r->arena.failed && r->name_count > 1) {
    qsort(r->names, (size_t)r->name_count, sizeof(*r->names), by_name);
  }
  return mbg__arena_check(ctx, &r->arena);
}

int mbg__records_read(mbg_context *ctx, mbg_records *r) {
  int err = MBG_OK;
  double *row = mbg__alloc(ctx, r->width + 1, sizeof(double));
  if (!row) {
    return mbg__fail_memory(ctx);
  }
  MBG_TRY(list_files(ctx, r));
  for (int i = 0; i < r->name_count; i++) {
    MBG_TRY(read_file(ctx, r, i, row));
  }
done:
  mbg__free(ctx, row);
  return err;
}
