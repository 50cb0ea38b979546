/* Helpers shared by the tests: random numbers, comparison with a tolerance, a failing allocator, files. */
#ifndef SUPPORT_SUPPORT_H
#define SUPPORT_SUPPORT_H

#include "mbgrad/context.h"

/* cmocka.h needs these first */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* ---------------------------------------------------------------------- effort */

/* The second number when MBG_TEST_LONG=1 is set (make test-long), else the first. */
int support_rounds(int rounds_fast, int rounds_long);

/* Does the number-th of many models belong to the part of this process? All do, unless MBG_TEST_PART is "I/N" (I from
   0): so N processes share a long test. Shares of all models are not judged in parts. */
bool support_part(long number);
bool support_in_parts(void);

/* Is this the build with the address sanitizer? Whole runs take ten times as long there: fewer of them do. */
bool support_sanitized(void);

/* ---------------------------------------------------------------------- random numbers */

/* Deterministic generator (splitmix64): equal seeds give equal numbers everywhere. */
typedef struct {
  uint64_t state;
} support_rng;

support_rng support_rng_make(uint64_t seed);
uint64_t support_bits(support_rng *rng);
int support_index(support_rng *rng, int count);                        /* 0 .. count-1 */
double support_uniform(support_rng *rng, double low, double high);     /* low <= x < high */
double support_normal(support_rng *rng);                               /* mean 0, variance 1 */
void support_normals(support_rng *rng, double *x, int count);          /* x: count */
void support_direction(support_rng *rng, double n[3]);                 /* unit vector, uniform */
void support_rotation(support_rng *rng, double R[9]);                  /* row-major, uniform over all rotations */
void support_rotation_by(support_rng *rng, double angle, double R[9]); /* about a random axis */

/* ---------------------------------------------------------------------- comparison */

/* Fails with both values unless |a - b| <= tol; NaN fails. */
#define assert_close(a, b, tol) support_assert_close((a), (b), (tol), #a, #b, __FILE__, __LINE__)

/* Fails with the worst entry unless max |a_i - b_i| <= tol * max(1, max |b_i|). */
#define assert_close_array(a, b, count, tol)                                                                           \
  support_assert_close_array((a), (b), (count), (tol), #a, #b, __FILE__, __LINE__)

void support_assert_close(double a, double b, double tol, const char *a_text, const char *b_text, const char *file,
                          int line);
void support_assert_close_array(const double *a, const double *b, int count, double tol, const char *a_text,
                                const char *b_text, const char *file, int line);

/* ---------------------------------------------------------------------- memory */

/* An allocator that counts, and fails from the fail_at-th request on (once: only that one). Usage:

     for (int n = 1;; n++) {
       support_memory memory = {.fail_at = n};
       const mbg_allocator allocator = support_allocator(&memory);
       ... run; when it returned MBG_ERROR_MEMORY the failure was seen ...
       assert_int_equal(memory.live, 0);
       if (memory.requests < n) { break; } // every allocation has failed once
     } */
typedef struct {
  long fail_at;          /* 1: the first request fails; 0: none does */
  bool once;             /* only the fail_at-th request fails, later ones succeed */
  _Atomic long requests; /* of all threads so far, failed ones included */
  _Atomic long live;     /* blocks not released */
} support_memory;

mbg_allocator support_allocator(support_memory *memory); /* memory: referenced */

/* ---------------------------------------------------------------------- files */

/* Whole file, terminated by 0; size may be NULL. Fails the test when it cannot be read. Free with free(). */
char *support_read_file(const char *path, size_t *size);
/* Writes a file; fails the test when it cannot. */
void support_write_file(const char *path, const void *data, size_t size);
/* Setup and teardown of a group of tests that write files: the working directory is a new folder below /tmp, removed
   with the files in it. */
int support_folder_enter(void **state);
int support_folder_leave(void **state);

/* A copy of a text in which single quotes have become double ones: models read better in C. To be freed. */
char *support_quotes(const char *text);

#endif
