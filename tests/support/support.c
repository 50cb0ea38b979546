#include "support/support.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int support_rounds(int rounds_fast, int rounds_long) {
  const char *value = getenv("MBG_TEST_LONG");
  return value && strcmp(value, "1") == 0 ? rounds_long : rounds_fast;
}

bool support_in_parts(void) { return getenv("MBG_TEST_PART") != NULL; }

bool support_part(long number) {
  const char *value = getenv("MBG_TEST_PART");
  long part, parts;
  return !value || sscanf(value, "%ld/%ld", &part, &parts) != 2 || parts < 1 || number % parts == part;
}

bool support_sanitized(void) {
#if defined(__SANITIZE_ADDRESS__)
  return true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
  return true;
#else
  return false;
#endif
#else
  return false;
#endif
}

/* ---------------------------------------------------------------------- random numbers */

support_rng support_rng_make(uint64_t seed) { return (support_rng){seed}; }

uint64_t support_bits(support_rng *rng) {
  uint64_t z = rng->state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

int support_index(support_rng *rng, int count) { return (int)(support_bits(rng) % (uint64_t)count); }

double support_uniform(support_rng *rng, double low, double high) {
  return low + (high - low) * ((double)(support_bits(rng) >> 11) * 0x1p-53);
}

double support_normal(support_rng *rng) {
  /* Box-Muller; the logarithm never sees zero */
  const double u = 1 - support_uniform(rng, 0, 1), angle = support_uniform(rng, 0, 2 * acos(-1.0));
  return sqrt(-2 * log(u)) * cos(angle);
}

void support_normals(support_rng *rng, double *x, int count) {
  for (int i = 0; i < count; i++) {
    x[i] = support_normal(rng);
  }
}

void support_direction(support_rng *rng, double n[3]) {
  double length = 0;
  while (length < 1e-3) {
    support_normals(rng, n, 3);
    length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
  }
  for (int i = 0; i < 3; i++) {
    n[i] /= length;
  }
}

/* R = c I + s n~ + (1 - c) n n^T with s, c of the full angle from the half angle */
static void rotation_from_half(const double n[3], double ch, double sh, double R[9]) {
  const double c = ch * ch - sh * sh, s = 2 * ch * sh, k = 2 * sh * sh;
  const double skew[9] = {0, -n[2], n[1], n[2], 0, -n[0], -n[1], n[0], 0};
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      R[3 * i + j] = (i == j ? c : 0) + s * skew[3 * i + j] + k * n[i] * n[j];
    }
  }
}

void support_rotation(support_rng *rng, double R[9]) {
  /* a normal quadruple gives a uniform quaternion (e0, sh n) */
  double n[3];
  support_direction(rng, n);
  double q[4];
  support_normals(rng, q, 4);
  const double vector = sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3]), length = hypot(q[0], vector);
  rotation_from_half(n, q[0] / length, vector / length, R);
}

void support_rotation_by(support_rng *rng, double angle, double R[9]) {
  double n[3];
  support_direction(rng, n);
  rotation_from_half(n, cos(angle / 2), sin(angle / 2), R);
}

/* ---------------------------------------------------------------------- comparison */

void support_assert_close(double a, double b, double tol, const char *a_text, const char *b_text, const char *file,
                          int line) {
  if (!(fabs(a - b) <= tol)) {
    print_error("%s = %.17g, %s = %.17g: difference %.3g > %.3g\n", a_text, a, b_text, b, fabs(a - b), tol);
    _fail(file, line);
  }
}

void support_assert_close_array(const double *a, const double *b, int count, double tol, const char *a_text,
                                const char *b_text, const char *file, int line) {
  double scale = 1;
  for (int i = 0; i < count; i++) {
    scale = fmax(scale, fabs(b[i]));
  }
  int worst = -1;
  double worst_difference = tol * scale;
  for (int i = 0; i < count; i++) {
    const double difference = fabs(a[i] - b[i]);
    if (!(difference <= worst_difference)) {
      worst = i;
      worst_difference = difference;
      if (isnan(difference)) {
        break;
      }
    }
  }
  if (worst >= 0) {
    print_error("%s[%d] = %.17g, %s[%d] = %.17g: difference %.3g > %.3g\n", a_text, worst, a[worst], b_text, worst,
                b[worst], worst_difference, tol * scale);
    _fail(file, line);
  }
}

/* ---------------------------------------------------------------------- memory */

static void *memory_resize(void *user, void *block, size_t size) {
  support_memory *memory = user;
  const long request = ++memory->requests;
  if (memory->fail_at > 0 && (memory->once ? request == memory->fail_at : request >= memory->fail_at)) {
    return NULL;
  }
  void *resized = realloc(block, size);
  if (resized && !block) {
    memory->live++;
  }
  return resized;
}

static void memory_release(void *user, void *block) {
  support_memory *memory = user;
  if (block) {
    memory->live--;
    free(block);
  }
}

mbg_allocator support_allocator(support_memory *memory) {
  return (mbg_allocator){memory_resize, memory_release, memory};
}

/* ---------------------------------------------------------------------- files */

char *support_read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (!file) {
    fail_msg("cannot read %s", path);
  }
  char *text = NULL;
  size_t used = 0, room = 0;
  for (;;) {
    if (used + 1 >= room) {
      room = room ? 2 * room : 4096;
      text = realloc(text, room);
      assert_non_null(text);
    }
    const size_t got = fread(text + used, 1, room - used - 1, file);
    if (got == 0) {
      break;
    }
    used += got;
  }
  const bool broken = ferror(file);
  fclose(file);
  if (broken) {
    fail_msg("cannot read %s", path);
  }
  text[used] = 0;
  if (size) {
    *size = used;
  }
  return text;
}

void support_write_file(const char *path, const void *data, size_t size) {
  FILE *file = fopen(path, "wb");
  if (!file) {
    fail_msg("cannot write %s", path);
  }
  const bool whole = fwrite(data, 1, size, file) == size;
  if (fclose(file) != 0 || !whole) {
    fail_msg("cannot write %s", path);
  }
}

static char own_folder[] = "/tmp/mbgrad-test-XXXXXX";

int support_folder_enter(void **state) {
  (void)state;
  return mkdtemp(own_folder) && chdir(own_folder) == 0 ? 0 : -1;
}

int support_folder_leave(void **state) {
  (void)state;
  DIR *folder = opendir(".");
  for (const struct dirent *entry; folder && (entry = readdir(folder)) != NULL;) {
    unlink(entry->d_name);
  }
  if (folder) {
    closedir(folder);
  }
  return chdir("/") == 0 && rmdir(own_folder) == 0 ? 0 : -1;
}

char *support_quotes(const char *text) {
  char *copy = strdup(text);
  assert_non_null(copy);
  for (char *c = copy; *c; c++) {
    *c = (char)(*c == '\'' ? '"' : *c);
  }
  return copy;
}
