#define _XOPEN_SOURCE 700

#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TEMPORARY_TRIES = 100 };

/* ---------------------------------------------------------------------- errors */

/* `verb` is "read" or "write" */
static int fail_path(mbg_context *ctx, const char *verb, const char *path, const char *why) {
  return mbg__fail(ctx, MBG_ERROR_IO, "cannot %s '%s': %s", verb, path, why);
}

static int fail_errno(mbg_context *ctx, const char *verb, const char *path, int number) {
  char why[256];
  if (strerror_r(number, why, sizeof(why)) != 0) {
    mbg__format(why, sizeof(why), "error %d", number);
  }
  return fail_path(ctx, verb, path, why);
}

/* ---------------------------------------------------------------------- reading */

typedef struct {
  char *data;
  size_t length, capacity;
} block;

static int reserve(mbg_context *ctx, block *b, size_t capacity) {
  char *data = mbg__resize(ctx, b->data, capacity, 1);
  if (!data) {
    return mbg__fail_memory(ctx);
  }
  b->data = data;
  b->capacity = capacity;
  return MBG_OK;
}

/* opens for reading, and tells the size where the system knows it; data: does not wait for the writer of a pipe */
static int open_input(mbg_context *ctx, const char *path, bool data, int *fd, size_t *size) {
  *fd = open(path, O_RDONLY | O_CLOEXEC | (data ? O_NONBLOCK : 0));
  struct stat info;
  if (*fd < 0 || fstat(*fd, &info) < 0) {
    return fail_errno(ctx, "read", path, errno);
  }
  if (S_ISDIR(info.st_mode)) {
    return fail_path(ctx, "read", path, "it is a folder");
  }
  if (data && !S_ISREG(info.st_mode)) {
    return fail_path(ctx, "read", path, "it is a pipe or a device; data must be in a file");
  }
  if (S_ISREG(info.st_mode) && info.st_size > MBG__FILE_BYTES_MAX) {
    return fail_path(ctx, "read", path, "it is larger than 256 MiB");
  }
  *size = S_ISREG(info.st_mode) ? (size_t)info.st_size : 0;
  return MBG_OK;
}

/* to the end: files may grow while they are read, and pipes do not know their size */
static int read_all(mbg_context *ctx, const char *path, int fd, block *b) {
  int err = MBG_OK;
  for (;;) {
    if (b->length == b->capacity) {
      MBG_TRY(reserve(ctx, b, 2 * b->capacity));
    }
    const ssize_t got = read(fd, b->data + b->length, b->capacity - b->length);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return fail_errno(ctx, "read", path, errno);
    }
    if (got == 0) {
      return MBG_OK;
    }
    b->length += (size_t)got;
    if (b->length > MBG__FILE_BYTES_MAX) {
      return fail_path(ctx, "read", path, "it is larger than 256 MiB");
    }
  }
done:
  return err;
}

static int read_input(mbg_context *ctx, mbg__arena *arena, const char *path, bool data, char **text, size_t *length) {
  int err = MBG_OK;
  int fd = -1;
  size_t size = 0;
  block b = {NULL, 0, 0};
  *text = NULL;
  MBG_TRY(open_input(ctx, path, data, &fd, &size));
  /* one byte more than expected, so that the end is seen without growing */
  MBG_TRY(reserve(ctx, &b, size > 0 ? size + 1 : 4096));
  MBG_TRY(read_all(ctx, path, fd, &b));
  *text = mbg__arena_text(arena, b.data, b.length);
  MBG_TRY(mbg__arena_check(ctx, arena));
  if (length) {
    *length = b.length;
  }
done:
  mbg__free(ctx, b.data);
  if (fd >= 0) {
    close(fd);
  }
  return err;
}

int mbg__file_read(mbg_context *ctx, mbg__arena *arena, const char *path, char **text, size_t *length) {
  return read_input(ctx, arena, path, false, text, length);
}

int mbg__file_read_data(mbg_context *ctx, mbg__arena *arena, const char *path, char **text, size_t *length) {
  return read_input(ctx, arena, path, true, text, length);
}

/* ---------------------------------------------------------------------- writing */

/* 0 or an errno */
static int write_all(int fd, const char *text, size_t length) {
  while (length > 0) {
    const ssize_t put = write(fd, text, length);
    if (put < 0 && errno != EINTR) {
      return errno;
    }
    if (put > 0) {
      text += put;
      length -= (size_t)put;
    }
  }
  return 0;
}

/* writes and closes, whatever happens; 0 or an errno */
static int write_and_close(int fd, const char *text, size_t length, bool sync) {
  int number = write_all(fd, text, length);
  /* without it a crash soon after could leave the new name on empty blocks; some file systems cannot */
  if (number == 0 && sync && fsync(fd) < 0 && errno != EINVAL) {
    number = errno;
  }
  if (close(fd) < 0 && number == 0) {
    number = errno;
  }
  return number;
}

static int write_in_place(mbg_context *ctx, const char *path, const char *text, size_t length) {
  const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  const int number = fd < 0 ? errno : write_and_close(fd, text, length, false);
  return number ? fail_errno(ctx, "write", path, number) : MBG_OK;
}

/* a new file beside `path` under an unused name; its permissions follow the umask */
static int open_temporary(const char *path, char *name, size_t size) {
  int fd = -1;
  for (int i = 0; i < TEMPORARY_TRIES && fd < 0; i++) {
    mbg__format(name, size, "%s.%ld-%d.tmp", path, (long)getpid(), i);
    fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0 && errno != EEXIST) {
      break;
    }
  }
  return fd;
}

/* shown: the name of the file in messages */
static int write_and_rename(mbg_context *ctx, const char *path, const char *shown, const struct stat *old,
                            const char *text, size_t length) {
  const size_t size = strlen(path) + 48;
  char *name = mbg__alloc(ctx, size, 1);
  if (!name) {
    return mbg__fail_memory(ctx);
  }
  const int fd = open_temporary(path, name, size);
  int number = fd < 0 ? errno : 0;
  if (fd >= 0) {
    const bool kept = !old || fchmod(fd, old->st_mode & 07777) == 0;
    number = kept ? 0 : errno;
    const int written = write_and_close(fd, text, length, true);
    number = number ? number : written;
    if (number == 0 && rename(name, path) < 0) {
      number = errno;
    }
    if (number) {
      unlink(name);
    }
  }
  mbg__free(ctx, name);
  return number ? fail_errno(ctx, "write", shown, number) : MBG_OK;
}

int mbg__file_write(mbg_context *ctx, const char *path, const char *text, size_t length) {
  struct stat old;
  const bool exists = stat(path, &old) == 0;
  if (exists && S_ISDIR(old.st_mode)) {
    return fail_path(ctx, "write", path, "it is a folder");
  }
  if (exists && !S_ISREG(old.st_mode)) {
    return write_in_place(ctx, path, text, length);
  }
  /* the file that a link points to is replaced, not the link */
  char *target = exists ? realpath(path, NULL) : NULL;
  const int err = write_and_rename(ctx, target ? target : path, path, exists ? &old : NULL, text, length);
  free(target);
  return err;
}

/* ---------------------------------------------------------------------- paths */

const char *mbg__path_beside(mbg__arena *arena, const char *file, const char *path) {
  const char *slash = strrchr(file, '/');
  const size_t n = path[0] == '/' || !slash ? 0 : (size_t)(slash - file) + 1, m = strlen(path);
  char *joined = mbg__arena_take(arena, n + m + 1, 1);
  if (joined) {
    memcpy(joined, file, n);
    memcpy(joined + n, path, m + 1);
  }
  return joined;
}

bool mbg__path_outside(const char *path) {
  int depth = 0;
  if (path[0] == '/') {
    return true;
  }
  while (*path && depth >= 0) {
    const size_t n = strcspn(path, "/");
    const bool here = n == 0 || (n == 1 && path[0] == '.'), up = n == 2 && path[0] == '.' && path[1] == '.';
    depth += up ? -1 : !here;
    path += n + (path[n] == '/');
  }
  return depth < 0;
}
