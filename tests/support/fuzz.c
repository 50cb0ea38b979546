#define _GNU_SOURCE /* sigaltstack, setitimer */
#include "support/fuzz.h"

#include <dirent.h>
#include <fcntl.h>
#include <malloc.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* ---------------------------------------------------------------------- bytes */

static void reserve(fuzz_text *text, size_t more) {
  if (text->length + more + 1 > text->room) {
    text->room = 2 * (text->length + more + 1);
    text->at = realloc(text->at, text->room);
    CHECK(text->at);
  }
}

void fuzz_put(fuzz_text *text, const char *bytes, size_t count) {
  reserve(text, count);
  if (count > 0) {
    memcpy(text->at + text->length, bytes, count);
  }
  text->length += count;
  text->at[text->length] = 0;
}

void fuzz_puts(fuzz_text *text, const char *string) { fuzz_put(text, string, strlen(string)); }

void fuzz_printf(fuzz_text *text, const char *format, ...) {
  char line[512];
  va_list args;
  va_start(args, format);
  const int n = vsnprintf(line, sizeof(line), format, args);
  va_end(args);
  CHECK(n >= 0 && n < (int)sizeof(line));
  fuzz_put(text, line, (size_t)n);
}

void fuzz_clear(fuzz_text *text) {
  text->length = 0;
  reserve(text, 0);
  text->at[0] = 0;
}

void fuzz_free(fuzz_text *text) {
  free(text->at);
  *text = (fuzz_text){0};
}

void fuzz_insert(fuzz_text *text, size_t at, const char *bytes, size_t count) {
  char *copy = malloc(count + 1); /* the bytes may be of the text itself */
  CHECK(copy);
  memcpy(copy, bytes, count);
  at = at < text->length ? at : text->length;
  reserve(text, count);
  memmove(text->at + at + count, text->at + at, text->length - at + 1);
  memcpy(text->at + at, copy, count);
  text->length += count;
  free(copy);
}

void fuzz_erase(fuzz_text *text, size_t at, size_t count) {
  at = at < text->length ? at : text->length;
  count = count < text->length - at ? count : text->length - at;
  memmove(text->at + at, text->at + at + count, text->length - at - count + 1);
  text->length -= count;
}

bool fuzz_one_of(support_rng *rng, int n) { return support_index(rng, n) == 0; }

void fuzz_damage(support_rng *rng, fuzz_text *text, const char *const *pieces, int npiece) {
  const size_t at = (size_t)support_index(rng, (int)text->length + 1);
  const char *piece = pieces[support_index(rng, npiece)];
  const size_t length = piece[0] ? strlen(piece) : 1; /* "" stands for a 0 */
  switch (support_index(rng, 11) / 2) {
  case 0:
    if (at < text->length) {
      text->at[at] = (char)((unsigned char)text->at[at] ^ 1u << support_index(rng, 8));
    }
    break;
  case 1:
    fuzz_erase(text, at, length);
    fuzz_insert(text, at, piece, length);
    break;
  case 2:
    fuzz_insert(text, at, piece, length);
    break;
  case 3:
    fuzz_erase(text, at, (size_t)support_index(rng, 8));
    break;
  case 4: {
    const size_t count = (size_t)support_index(rng, 24);
    fuzz_insert(text, (size_t)support_index(rng, (int)text->length + 1), text->at + at,
                count < text->length - at ? count : text->length - at);
    break;
  }
  default:
    fuzz_erase(text, at, text->length); /* cut off */
    break;
  }
}

void fuzz_splice(support_rng *rng, fuzz_text *text, const char *other) {
  const size_t length = strlen(other), from = (size_t)support_index(rng, (int)length);
  const size_t count = (size_t)support_index(rng, 24), at = (size_t)support_index(rng, (int)text->length + 1);
  fuzz_insert(text, at, other + from, count < length - from ? count : length - from);
}

const char *fuzz_number(support_rng *rng) {
  static const char *const numbers[] = {"0",
                                        "-0",
                                        "1",
                                        "-1",
                                        "2",
                                        "3",
                                        "-3",
                                        "7",
                                        "0.5",
                                        "-0.5",
                                        "1e-3",
                                        "1e-9",
                                        "1e-16",
                                        "10",
                                        "100",
                                        "1e4",
                                        "1e6",
                                        "1e9",
                                        "-1e9",
                                        "2147483647",
                                        "2147483648",
                                        "-2147483649",
                                        "1e16",
                                        "1e19",
                                        "1e50",
                                        "1e100",
                                        "-1e100",
                                        "1e150",
                                        "1e-150",
                                        "1e300",
                                        "1e308",
                                        "-1e308",
                                        "1.7976931348623157e308",
                                        "1e-300",
                                        "2.3e-308",
                                        "1e-320",
                                        "-1e-320",
                                        "5e-324",
                                        "123456789012345678901234567890",
                                        "9007199254740993",
                                        "0.1",
                                        "1.5707963267948966",
                                        "3.141592653589793",
                                        "-3.141592653589793",
                                        "6.283185307179586"};
  return FUZZ_PICK(rng, numbers);
}

const char *fuzz_no_number(support_rng *rng) {
  static const char *const words[] = {"1e999",
                                      "-1e999",
                                      "NaN",
                                      "nan",
                                      "Infinity",
                                      "-inf",
                                      "0x10",
                                      "01",
                                      "1.",
                                      ".5",
                                      "+1",
                                      "1e",
                                      "--1",
                                      "1,5",
                                      "1e+",
                                      "nul",
                                      "True",
                                      "",
                                      " ",
                                      "1 2",
                                      "1d3",
                                      ("\xe2\x88\x92"
                                       "1")};
  return FUZZ_PICK(rng, words);
}

/* what is being tried */
static struct {
  const char *name, *keep;
  char path[1024]; /* of the input if it fails, "": is not kept */
  uint64_t seed;
  fuzz_text input;
} now;

/* ---------------------------------------------------------------------- memory */

enum { BYTES_MAX = 1 << 30 };

static struct {
  size_t bytes;
  long blocks;
  bool refused;
} memory;

static void *memory_resize(void *user, void *block, size_t size) {
  (void)user;
  const size_t before = block ? malloc_usable_size(block) : 0;
  if (memory.bytes - before + size > BYTES_MAX) {
    memory.refused = true;
    return NULL;
  }
  void *resized = realloc(block, size);
  if (resized) {
    memory.bytes += malloc_usable_size(resized) - before;
    memory.blocks += !block;
  }
  return resized;
}

static void memory_release(void *user, void *block) {
  (void)user;
  if (block) {
    memory.bytes -= malloc_usable_size(block);
    memory.blocks--;
    free(block);
  }
}

mbg_context *fuzz_context(void) {
  static const mbg_allocator allocator = {memory_resize, memory_release, NULL};
  mbg_context *ctx = NULL;
  CHECK(memory.blocks == 0);
  memory.refused = false;
  CHECK(mbg_context_create(&allocator, &ctx) == MBG_OK);
  return ctx;
}

void fuzz_context_close(mbg_context *ctx) {
  mbg_context_destroy(ctx);
  CHECK(memory.blocks == 0 && "everything is given back");
}

/* ---------------------------------------------------------------------- what must hold */

static bool say_all(void) { return getenv("MBG_FUZZ_SAY") != NULL; }

void fuzz_check_error(const mbg_context *ctx, int err) {
  if (say_all()) {
    fprintf(stderr, "%llu %d %s\n", (unsigned long long)now.seed, err, mbg_context_error(ctx));
  }
  CHECK(err < 0 && err >= MBG_ERROR_INTERRUPTED);
  CHECK(err != MBG_ERROR_MEMORY || memory.refused);
  CHECK(mbg_context_error(ctx)[0] != 0);
  for (int i = 0; i < mbg_context_message_count(ctx); i++) {
    for (const char *p = mbg_context_message(ctx, i); *p; p++) {
      CHECK((unsigned char)*p >= 0x20 && *p != 0x7f && "a message is one line of printable text");
    }
  }
}

void fuzz_check_finite(const char *what, const double *x, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (!isfinite(x[i])) {
      fprintf(stderr, "%s: number %zu of %zu is %g\n", what, i, count, x[i]);
      abort();
    }
  }
}

/* ---------------------------------------------------------------------- crashes and hangs */

enum { SECONDS_MAX = 5, SECONDS_SLOW = 60, SECONDS_WALL = 300 }; /* of the wall: something waits for ever */

/* sanitizers, or no optimization: five to twenty times as long */
static bool slow_build(void) {
#ifdef __OPTIMIZE__
  return support_sanitized();
#else
  return true;
#endif
}

static void say(const char *text) {
  const ssize_t written = write(STDERR_FILENO, text, strlen(text));
  (void)written;
}

/* only what a signal handler may call */
static void failed(int number) {
  char digits[24], *p = digits + sizeof(digits) - 1;
  *p = 0;
  for (uint64_t s = now.seed; p == digits + sizeof(digits) - 1 || s > 0; s /= 10) {
    *--p = (char)('0' + s % 10);
  }
  say(now.name);
  say(": seed ");
  say(p);
  say(number == SIGPROF || number == SIGALRM ? ": no end within the limit of time\n"
      : number == SIGABRT                    ? ": failed\n"
                                             : ": crashed\n");
  const int file = now.path[0] ? open(now.path, O_CREAT | O_WRONLY | O_TRUNC, 0644) : -1;
  if (file >= 0) {
    const ssize_t written = write(file, now.input.at, now.input.length);
    (void)written;
    close(file);
  }
  _exit(1);
}

/* of the sanitizers: options, and a function that is called after their report */
#define EXPORTED __attribute__((visibility("default"), used))
EXPORTED const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "allocator_may_return_null=1"; }
EXPORTED const char *__ubsan_default_options(void);
const char *__ubsan_default_options(void) { return "abort_on_error=1:print_stacktrace=1"; }
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static void died(void) { failed(SIGSEGV); }

static void watch(void) {
  static char stack[1 << 16]; /* for a stack that overflowed */
  const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
  struct sigaction action = {.sa_handler = failed, .sa_flags = SA_ONSTACK};
  CHECK(sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof(stack)}, NULL) == 0);
  sigaction(SIGABRT, &action, NULL);
  sigaction(SIGPROF, &action, NULL);
  sigaction(SIGALRM, &action, NULL);
  for (int i = 0; !support_sanitized() && i < 4; i++) { /* sanitizers say where */
    sigaction(crashes[i], &action, NULL);
  }
  if (__sanitizer_set_death_callback) {
    __sanitizer_set_death_callback(died);
  }
}

/* ---------------------------------------------------------------------- programs */

/* every input has its own sequence; seeds that follow one another have nothing in common */
static support_rng seeded(uint64_t seed) {
  support_rng rng = support_rng_make(seed * 0x9e3779b97f4a7c15u ^ 0x5851f42d4c957f2du);
  return support_rng_make(support_bits(&rng));
}

static void make(const fuzz_program *program, support_rng *rng, int *problem) {
  *problem = support_index(rng, program->problems);
  fuzz_clear(&now.input);
  program->make(rng, *problem, &now.input);
}

static fuzz_outcome take(const fuzz_program *program, support_rng *rng, int problem) {
  const struct itimerval limit = {.it_value.tv_sec = slow_build() ? SECONDS_SLOW : SECONDS_MAX}, none = {0};
  /* a copy of its exact size: a 0 behind the input hides a mistake */
  char *text = malloc(now.input.length ? now.input.length : 1);
  CHECK(text);
  memcpy(text, now.input.at, now.input.length);
  setitimer(ITIMER_PROF, &limit, NULL);
  alarm(SECONDS_WALL);
  const fuzz_outcome outcome = program->take(rng, problem, text, now.input.length);
  setitimer(ITIMER_PROF, &none, NULL);
  alarm(0);
  free(text);
  return outcome;
}

static double seconds_since(const struct timespec *begin) {
  struct timespec end;
  clock_gettime(CLOCK_MONOTONIC, &end);
  return (double)(end.tv_sec - begin->tv_sec) + 1e-9 * (double)(end.tv_nsec - begin->tv_nsec);
}

/* Blocks outside the contexts, which KLU and LAPACK take: those of a leak grow with the inputs. Looked at from half of
   the seeds on, when everything that is made once is there. It belongs to no seed. */
enum { GROWTH_MIN = 1000, GROWTH_MAX = 1 << 20 };

static size_t bytes_taken(void) {
  const struct mallinfo2 all = mallinfo2();
  return all.uordblks + all.hblkhd - now.input.room; /* the input at hand may have been a long one */
}

static void check_growth(uint64_t inputs, size_t before) {
  const size_t after = bytes_taken();
  if (!support_sanitized() && inputs >= GROWTH_MIN && after > before + GROWTH_MAX) {
    fprintf(stderr, "%s: leak: %zu bytes more after %llu inputs\n", now.name, after - before,
            (unsigned long long)inputs);
    _exit(1);
  }
}

static void run_seeds(const fuzz_program *program, uint64_t first, uint64_t count, const char *copy) {
  uint64_t outcomes[FUZZ_OUTCOMES] = {0};
  struct timespec begin, one;
  size_t half = 0;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  for (now.seed = first; now.seed < first + count; now.seed++) {
    support_rng rng = seeded(now.seed);
    int problem;
    if (now.keep) {
      snprintf(now.path, sizeof(now.path), "%s/%s-%llu", now.keep, now.name, (unsigned long long)now.seed);
    }
    make(program, &rng, &problem);
    if (copy) {
      support_write_file(copy, now.input.at, now.input.length);
    }
    clock_gettime(CLOCK_MONOTONIC, &one);
    outcomes[take(program, &rng, problem)]++;
    if (say_all() && seconds_since(&one) > 0.5) {
      fprintf(stderr, "%llu took %.1f s\n", (unsigned long long)now.seed, seconds_since(&one));
    }
    half = now.seed == first + count / 2 ? bytes_taken() : half;
  }
  check_growth(count - count / 2, half);
  printf("%s: %llu inputs, %llu accepted, %llu answered, %.1f s\n", program->name, (unsigned long long)count,
         (unsigned long long)(count - outcomes[FUZZ_REFUSED]), (unsigned long long)outcomes[FUZZ_ANSWERED],
         seconds_since(&begin));
}

/* The working directory becomes a new folder, removed at the end; in memory where that is possible, because records are
   forced to the disk line by line. */
static char folder[512];

static void enter_folder(void) {
  const char *home = getenv("TMPDIR");
  home = home ? home : access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
  CHECK(snprintf(folder, sizeof(folder), "%s/mbgrad-fuzz-XXXXXX", home) < (int)sizeof(folder));
  CHECK(mkdtemp(folder) && chdir(folder) == 0);
}

static void leave_folder(void) {
  DIR *d = opendir(".");
  for (const struct dirent *entry; d && (entry = readdir(d)) != NULL;) {
    unlink(entry->d_name);
  }
  if (d) {
    closedir(d);
  }
  CHECK(chdir("/") == 0 && rmdir(folder) == 0);
}

const char *fuzz_root(void) {
  const char *root = getenv("MBG_FUZZ_ROOT");
  return root ? root : MBG_SOURCE_DIR;
}

char *fuzz_corpus(const char *name) {
  char path[1024];
  snprintf(path, sizeof(path), "%s/tests/fuzz/corpus/%s", fuzz_root(), name);
  return support_read_file(path, NULL);
}

void fuzz_copy_corpus(const char *name, const char *copy) {
  char *text = fuzz_corpus(name);
  support_write_file(copy, text, strlen(text));
  free(text);
}

/* an absolute path: the program changes to a folder of its own */
static char *absolute(const char *path) {
  char *here = getcwd(NULL, 0), *out = malloc(strlen(path) + (here ? strlen(here) : 0) + 2);
  CHECK(here && out);
  sprintf(out, "%s%s%s", path[0] == '/' ? "" : here, path[0] == '/' ? "" : "/", path);
  free(here);
  return out;
}

int fuzz_main(const fuzz_program *program, int argc, char **argv) {
  char *copy = NULL, *keep = NULL;
  uint64_t first = 1, count = (uint64_t)support_rounds(program->inputs, program->inputs_long);
  while (argc > 2 && argv[1][0] == '-') {
    char **path = strcmp(argv[1], "--write") == 0 ? &copy : &keep;
    free(*path);
    *path = absolute(argv[2]);
    argc -= 2;
    argv += 2;
  }
  if (argc > 2 || copy) {
    first = strtoull(argv[1], NULL, 10);
    count = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  } else if (argc > 1) {
    count = strtoull(argv[1], NULL, 10);
  }
  now.name = program->name;
  now.keep = keep;
  enter_folder();
  if (program->open) {
    program->open();
  }
  watch();
  run_seeds(program, first, count, copy);
  if (__sanitizer_set_death_callback) {
    __sanitizer_set_death_callback(NULL); /* leaks belong to no seed */
  }
  if (program->close) {
    program->close();
  }
  fuzz_free(&now.input);
  free(copy);
  free(keep);
  leave_folder();
  return 0;
}

int fuzz_libfuzzer(const fuzz_program *program, const uint8_t *data, size_t size) {
  static bool opened;
  if (!opened) {
    enter_folder();
    if (program->open) {
      program->open();
    }
    opened = true;
  }
  support_rng rng = seeded(size);
  (void)program->take(&rng, (int)(size % (size_t)program->problems), (const char *)data, size);
  return 0;
}
