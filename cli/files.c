#define _XOPEN_SOURCE 700 /* realpath */

#include "files.h"

#include "canvas.h"

#include "cli.h"
#include "text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { TRIES = 100, ABANDONED_SECONDS = 10, BLOCK = 65536 };

/* ---------------------------------------------------------------------- names beside a file */

static int cannot_write(const char *path, int number) {
  return cli_failed("cannot write '%s': %s", path, strerror(number ? number : EIO));
}

/* the file that a path leads to through links; to be freed */
static char *target_of(const char *path) {
  char *real = realpath(path, NULL);
  char *copy = cli_copy(real ? real : path);
  free(real);
  return copy;
}

static char *folder_of(const char *path) {
  const char *slash = strrchr(path, '/');
  return !slash ? cli_copy(".") : slash == path ? cli_copy("/") : cli_format("%.*s", (int)(slash - path), path);
}

bool cli_abandoned(const char *folder, const char *name, const char *prefix) {
  const size_t n = strlen(prefix);
  char *end;
  struct stat s;
  if (strncmp(name, prefix, n) != 0 || name[n] < '1' || name[n] > '9') {
    return false;
  }
  const long process = strtol(name + n, &end, 10);
  if (*end != '-' || process > INT_MAX || kill((pid_t)process, 0) == 0 || errno != ESRCH) {
    return false;
  }
  /* a process of another machine that writes into the same folder has a young file */
  char *path = cli_format("%s/%s", folder, name);
  const bool old = lstat(path, &s) == 0 && s.st_uid == geteuid() && s.st_mtime + ABANDONED_SECONDS < time(NULL);
  free(path);
  return old;
}

/* files that a run which was killed left beside this one */
static void remove_abandoned(const char *path) {
  const char *slash = strrchr(path, '/');
  char *folder = folder_of(path), *prefix = cli_format("%s.", slash ? slash + 1 : path);
  DIR *dir = opendir(folder);
  for (struct dirent *entry; dir && (entry = readdir(dir));) {
    const size_t n = strlen(entry->d_name);
    if (n > 4 && !strcmp(entry->d_name + n - 4, ".tmp") && cli_abandoned(folder, entry->d_name, prefix)) {
      char *file = cli_format("%s/%s", folder, entry->d_name);
      unlink(file);
      free(file);
    }
  }
  if (dir) {
    closedir(dir);
  }
  free(prefix);
  free(folder);
}

/* an unused name beside the file that make() can make; NULL with errno */
static char *make_beside(const char *path, int (*make)(const char *name, const void *user), const void *user) {
  for (int i = 0; i < TRIES; i++) {
    char *name = cli_format("%s.%ld-%d.tmp", path, (long)getpid(), i);
    if (make(name, user) == 0) {
      return name;
    }
    free(name);
    if (errno != EEXIST) {
      break;
    }
  }
  return NULL;
}

static int make_file(const char *name, const void *user) {
  const struct stat *old = user; /* NULL: none; its permissions stay */
  const int file = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) {
    return -1;
  }
  const int kept = old ? fchmod(file, old->st_mode & 07777) : 0, number = errno;
  close(file);
  if (kept < 0) {
    unlink(name);
    errno = number;
  }
  return kept;
}

/* ---------------------------------------------------------------------- the former file */

static bool equal_files(const char *a, const char *b) {
  FILE *f = fopen(a, "rb"), *g = f ? fopen(b, "rb") : NULL;
  static char x[BLOCK], y[BLOCK];
  bool equal = f && g;
  for (size_t n = 1; equal && n > 0;) {
    n = fread(x, 1, sizeof(x), f);
    equal = fread(y, 1, sizeof(y), g) == n && memcmp(x, y, n) == 0 && !ferror(f) && !ferror(g);
  }
  if (f) {
    fclose(f);
  }
  if (g) {
    fclose(g);
  }
  return equal;
}

static int copy_file(const char *name, const void *from) {
  static char block[BLOCK];
  struct stat s;
  FILE *in = fopen(from, "rb"), *out = NULL;
  bool done = in && fstat(fileno(in), &s) == 0 && make_file(name, &s) == 0 && (out = fopen(name, "wb"));
  for (size_t n; done && (n = fread(block, 1, sizeof(block), in)) > 0;) {
    done = fwrite(block, 1, n, out) == n;
  }
  done = done && !ferror(in);
  const int number = errno;
  if (in) {
    fclose(in);
  }
  done = (!out || fclose(out) == 0) && done;
  if (!done && out) {
    unlink(name);
  }
  errno = done ? 0 : number;
  return done ? 0 : -1;
}

/* a second name of the file; where file systems have one name for each, a copy */
static int link_file(const char *name, const void *path) {
  return link(path, name) == 0 ? 0 : errno == EEXIST ? -1 : copy_file(name, path);
}

/* Keeps the file at `target` as FILE~ before another one takes its place; at every moment each name is a whole file. */
static int keep_former(const char *path, const char *target) {
  char *held = make_beside(target, link_file, target), *kept = cli_format("%s~", target);
  int status = CLI_DONE;
  if (!held || rename(held, kept) != 0) {
    status = cli_failed("the former '%s' cannot be kept as '%s': %s", path, kept, strerror(errno));
  }
  if (held) {
    unlink(held); /* a link to the file that is FILE~ already was not renamed */
  }
  free(kept);
  free(held);
  return status;
}

/* ---------------------------------------------------------------------- writing by name */

/* a pipe, a device or a terminal is written in place */
static bool in_place(const char *path) {
  struct stat s;
  return stat(path, &s) == 0 && !S_ISREG(s.st_mode);
}

char *cli_file_begin(const char *path) {
  struct stat old;
  const bool exists = stat(path, &old) == 0;
  if (exists && S_ISDIR(old.st_mode)) {
    (void)cannot_write(path, EISDIR);
    return NULL;
  }
  if (in_place(path)) {
    return cli_copy(path);
  }
  char *target = target_of(path);
  remove_abandoned(target);
  char *name = make_beside(target, make_file, exists ? &old : NULL);
  free(target);
  if (!name) {
    (void)cannot_write(path, errno);
  }
  return name;
}

/* why a write failed earlier: another block fails for the same reason */
static int failure_of(int file) {
  static const char zeros[4096];
  return write(file, zeros, sizeof(zeros)) < 0 ? errno : EIO;
}

static int failure_at(const char *name) {
  const int file = open(name, O_WRONLY | O_APPEND | O_CLOEXEC), number = file < 0 ? errno : failure_of(file);
  if (file >= 0) {
    close(file);
  }
  return number;
}

/* without it a crash of the machine soon after could leave the new name on empty blocks */
static int force(const char *name) {
  const int file = open(name, O_RDONLY | O_CLOEXEC);
  const int number = file < 0 || (fsync(file) < 0 && errno != EINVAL) ? errno : 0;
  if (file >= 0) {
    close(file);
  }
  return number;
}

static int take_place(const char *name, const char *path) {
  const int number = force(name);
  struct stat old;
  if (number) {
    return cannot_write(path, number);
  }
  char *target = target_of(path);
  int status = CLI_DONE;
  if (stat(target, &old) == 0 && !equal_files(name, target)) {
    status = keep_former(path, target);
  }
  if (status == CLI_DONE && rename(name, target) != 0) {
    status = cannot_write(path, errno);
  }
  free(target);
  return status;
}

void cli_file_give_up(char *name, const char *path) {
  if (!in_place(path)) {
    unlink(name);
  }
  free(name);
}

int cli_file_end(char *name, const char *path, bool complete) {
  const bool beside = !in_place(path);
  int status = complete ? CLI_DONE : cannot_write(path, failure_at(name));
  if (beside && status == CLI_DONE) {
    status = take_place(name, path);
  }
  if (beside && status != CLI_DONE) {
    unlink(name);
  }
  free(name);
  return status;
}

/* ---------------------------------------------------------------------- streams */

/* A stream that is open, and the name that it is written under. */
typedef struct output {
  FILE *file;
  char *name;
  struct output *next;
} output;

static output *outputs; /* so that a program which ends early leaves nothing behind */

static void remove_outputs(void) {
  for (const output *o = outputs; o; o = o->next) {
    if (strlen(o->name) > 4 && !strcmp(o->name + strlen(o->name) - 4, ".tmp")) {
      unlink(o->name);
    }
  }
}

/* the name of a stream, which is no longer listed */
static char *take_name(FILE *file) {
  for (output **o = &outputs; *o; o = &(*o)->next) {
    if ((*o)->file == file) {
      output *own = *o;
      char *name = own->name;
      *o = own->next;
      free(own);
      return name;
    }
  }
  return NULL;
}

FILE *cli_file_open(const char *path) {
  static bool cleaning;
  if (!strcmp(path, "-")) {
    return stdout;
  }
  char *name = cli_file_begin(path);
  FILE *file = name ? fopen(name, "w") : NULL;
  if (!file) {
    if (name) {
      (void)cannot_write(path, errno);
    }
    free(name);
    return NULL;
  }
  if (!cleaning) {
    cleaning = atexit(remove_outputs) == 0;
  }
  output *o = cli_resize(NULL, 1, sizeof(*o));
  *o = (output){file, name, outputs};
  outputs = o;
  return file;
}

int cli_file_close(FILE *file, const char *path) {
  if (file == stdout) {
    return CLI_DONE; /* the program looks at its end whether all was written */
  }
  char *name = take_name(file);
  int number = fflush(file) != 0 ? errno : ferror(file) ? failure_of(fileno(file)) : 0;
  if (fclose(file) != 0 && number == 0) {
    number = errno;
  }
  if (number == 0) {
    return cli_file_end(name, path, true);
  }
  cli_file_give_up(name, path);
  return cannot_write(path, number);
}

void cli_file_drop(FILE *file) {
  if (file != stdout) {
    char *name = take_name(file);
    fclose(file);
    if (!in_place(name)) {
      unlink(name);
    }
    free(name);
  }
}

int cli_folder_make(const char *what, const char *path) {
  struct stat s;
  if (mkdir(path, 0777) == 0 || (errno == EEXIST && stat(path, &s) == 0 && S_ISDIR(s.st_mode))) {
    return CLI_DONE;
  }
  const int number = errno;
  const bool wrong = number == ENOENT || number == ENOTDIR || number == EEXIST;
  return (wrong ? cli_bad_input : cli_failed)("%scannot make the folder '%s': %s", what, path, strerror(number));
}

/* ---------------------------------------------------------------------- before anything is computed */

static int check_folder(const char *what, const char *path, cli_option_kind kind) {
  struct stat s;
  if (stat(path, &s) == 0 && kind == CLI_FOLDER) {
    return S_ISDIR(s.st_mode) ? CLI_DONE : cli_bad_input("%s: '%s' is no folder", what, path);
  }
  if (stat(path, &s) == 0 && !S_ISREG(s.st_mode)) {
    return S_ISDIR(s.st_mode) ? cli_bad_input("%s: '%s' is a folder; name a file in it", what, path) : CLI_DONE;
  }
  char *target = target_of(path), *folder = folder_of(target);
  int status = CLI_DONE;
  if (stat(folder, &s) != 0 || !S_ISDIR(s.st_mode)) {
    status = cli_bad_input("%s: cannot write '%s': there is no folder '%s'", what, path, folder);
  } else if (access(folder, W_OK) != 0) {
    status = cli_failed("%s: cannot write '%s': %s", what, path, strerror(errno));
  }
  free(folder);
  free(target);
  return status;
}

int cli_file_check(mbg_context *ctx, const mbg_model *model, const char *what, const char *path, cli_option_kind kind) {
  bool own, named;
  const int status = check_folder(what, path, kind);
  if (status != CLI_DONE || !model || mbg_model_reads(ctx, model, path, &own, &named) < 0) {
    return status;
  }
  if (own && kind != CLI_FILE_MODEL) {
    return cli_bad_input("%s: '%s' is the model itself; name another file", what, path);
  }
  return named ? cli_bad_input("%s: '%s' is an input of the model; name another file", what, path) : CLI_DONE;
}

static bool same_path(const char *a, const char *b) {
  char *x = target_of(a), *y = target_of(b);
  const bool same = !strcmp(x, y);
  free(x);
  free(y);
  return same;
}

char *cli_model_file(const mbg_model *model, const char *ending) {
  char *path = cli_format("%s%s", mbg_model_name(model), ending);
  for (char *c = path; *c; c++) {
    if (*c == '/' || (unsigned char)*c < 32) {
      *c = '-';
    }
  }
  return path;
}

bool cli_names_signals(const mbg_model *model, const char *text) {
  bool signal = strpbrk(text, ",;:") != NULL && !strpbrk(text, "./");
  for (int i = 0; model && !signal && i < mbg_model_signal_count(model); i++) {
    const char *name = mbg_model_signal_name(model, i); /* NULL: of the model's own use */
    signal = name && !strcmp(name, text);
  }
  return signal;
}

/* the file that an option names; of signals to be drawn: the model's name. To be freed. */
static char *file_of(const cli_args *args, const mbg_model *model, const cli_given *given) {
  const bool signals =
      given->option->kind == CLI_PICTURE && cli_takes(args, "panels") && cli_names_signals(model, given->value);
  return signals ? cli_model_file(model, ".svg") : cli_copy(given->value);
}

/* two options that name one file */
static int check_others(const cli_args *args, const mbg_model *model, int index, const char *file) {
  int status = CLI_DONE;
  for (int k = 0; status == CLI_DONE && k < index && !in_place(file); k++) {
    const cli_given *other = &args->given[k];
    char *name = other->option->kind >= CLI_FILE_OUT ? file_of(args, model, other) : NULL;
    if (name && same_path(name, file)) {
      status =
          cli_bad_input("--%s and --%s both name '%s'", other->option->name, args->given[index].option->name, file);
    }
    free(name);
  }
  return status;
}

int cli_files_check(const cli_args *args, mbg_context *ctx, const mbg_model *model) {
  int status = CLI_DONE;
  for (int i = 0; status == CLI_DONE && i < args->ngiven; i++) {
    const cli_given *given = &args->given[i];
    if (given->option->kind < CLI_FILE_OUT || !strcmp(given->value, "-")) {
      continue;
    }
    char *what = cli_format("--%s", given->option->name), *file = file_of(args, model, given);
    status = cli_file_check(ctx, model, what, file, (cli_option_kind)given->option->kind);
    status = status == CLI_DONE ? check_others(args, model, i, file) : status;
    if (status == CLI_DONE && given->option->kind == CLI_PICTURE) {
      status = cli_picture_path(what, file);
    }
    free(file);
    free(what);
  }
  return status;
}
