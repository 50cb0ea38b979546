/* What threads could reach on cores that this machine does not have: bench/threads with a pool that has one thread. It
   runs the pieces of each shared loop one after the other, each as the thread that owns it, and takes their CPU time.
   Threads then begin with their own pieces and help where work is left, as in src/base/pool.c; a loop lasts as long as
   the last of them, and an end of a loop costs END. What lies outside of shared loops counts in full. Not in the model:
   memory that cores share, and clocks that are slower when all cores work.

     threads_model --threads 1,16 --kinds rigid --sizes 4096 --steps 4 --direct 4      (options of bench/threads) */
#include "base/pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double END = 3e-6, SMALL = 2e-6;
enum { FEW = 32, CROWD = 4, ZEROS = 2048, BYTES = 16384 };

/* sums over a loop of the source */
typedef struct {
  int count, pieces;
  double alone, shared, longest; /* seconds */
} sums;

struct mbg__pool {
  int threads;
  bool busy;
  double from;
  sums loops[MBG__POOL_LOOPS];
};

static double won; /* seconds that threads have saved */

static double cpu(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* seconds that a look at the clock takes: the least of many */
static double look(void) {
  static double least = INFINITY;
  static int looks = 0;
  for (; looks < 1000; looks++) {
    const double from = cpu();
    least = fmin(least, cpu() - from);
  }
  return least;
}

/* the clock of bench/threads */
double mbg__threads_clock(void) { return cpu() - won; }

int mbg__pool_create(mbg_context *ctx, int threads, mbg__pool **out) {
  *out = mbg__alloc_zero(ctx, 1, sizeof(**out));
  if (*out) {
    (*out)->threads = threads;
    (*out)->from = mbg__threads_clock();
  }
  return *out ? MBG_OK : mbg__fail_memory(ctx);
}

/* MODEL_LOOPS=1: the loops of each run */
static void print_loops(const mbg__pool *p) {
  double in_loops = 0;
  printf("%d threads\n  loop  count  pieces  alone ms  shared ms  ratio  longest pieces ms\n", p->threads);
  for (int i = 0; i < MBG__POOL_LOOPS; i++) {
    const sums *x = &p->loops[i];
    if (x->alone > 1e-4) {
      printf("%6d %6d %7d %9.3f %10.3f %6.2f %10.3f\n", i, x->count, x->pieces, 1e3 * x->alone, 1e3 * x->shared,
             x->alone / x->shared, 1e3 * x->longest);
    }
    in_loops += x->shared;
  }
  printf("  in loops %.3f ms, outside %.3f ms\n", 1e3 * in_loops, 1e3 * (mbg__threads_clock() - p->from - in_loops));
}

void mbg__pool_destroy(mbg__pool *p) {
  if (p && getenv("MODEL_LOOPS")) {
    print_loops(p);
  }
  free(p);
}

int mbg__pool_threads(const mbg__pool *p) { return p ? p->threads : 1; }

static int first_of(int pieces, int thread, int parts) { return (int)((long long)pieces * thread / parts); }

/* seconds until all threads are done */
static double span(const double *seconds, int pieces, int parts) {
  double *until = calloc((size_t)parts, sizeof(double)), last = 0;
  int *taken = calloc((size_t)parts, sizeof(int));
  for (int done = 0; done < pieces; done++) {
    int next = 0;
    for (int i = 1; i < parts; i++) {
      next = until[i] < until[next] ? i : next;
    }
    int whose = next;
    while (first_of(pieces, whose, parts) + taken[whose] >= first_of(pieces, whose + 1, parts)) {
      whose = (whose + 1) % parts;
    }
    until[next] += seconds[first_of(pieces, whose, parts) + taken[whose]++];
    last = fmax(last, until[next]);
  }
  free(until);
  free(taken);
  return last;
}

static double largest(const double *seconds, int pieces) {
  double most = 0;
  for (int i = 0; i < pieces; i++) {
    most = fmax(most, seconds[i]);
  }
  return most;
}

void mbg__pool_for(mbg__pool *p, int loop, int n, int piece, mbg__pool_work *work, void *user) {
  if (n <= 0) {
    return;
  }
  if (!p || p->threads < 2 || n <= piece || p->busy) {
    work(user, 0, 0, n);
    return;
  }
  const int pieces = (n - 1) / piece + 1, parts = pieces < p->threads ? pieces : p->threads;
  double *seconds = calloc((size_t)pieces, sizeof(double)), all = 0;
  const double begin = cpu();
  p->busy = true;
  for (int thread = 0; thread < parts; thread++) {
    for (int k = first_of(pieces, thread, parts); k < first_of(pieces, thread + 1, parts); k++) {
      const double from = cpu();
      work(user, thread, k * piece, (k + 1) * piece < n ? (k + 1) * piece : n);
      seconds[k] = fmax(cpu() - from - look(), 0);
      all += seconds[k];
    }
  }
  p->busy = false;
  const double shared = span(seconds, pieces, parts) + END, least = all < SMALL ? all : fmin(all, shared);
  sums *x = &p->loops[loop < MBG__POOL_LOOPS ? loop : MBG__POOL_LOOPS - 1];
  x->count++;
  x->pieces += pieces;
  x->alone += all;
  x->shared += least;
  x->longest += largest(seconds, pieces);
  free(seconds);
  won += cpu() - begin - least;
}

typedef struct {
  mbg__pool_item *item;
  void *user;
} items;

static void each(void *user, int thread, int first, int end) {
  const items *x = user;
  (void)thread;
  for (int i = first; i < end; i++) {
    x->item(x->user, i);
  }
}

static int piece_of(const mbg__pool *p, int n, int few, int crowd) {
  const int threads = mbg__pool_threads(p);
  return n / (threads * (threads > CROWD ? crowd : few)) + 1;
}

void mbg__pool_each(mbg__pool *p, int loop, int n, mbg__pool_item *item, void *user) {
  mbg__pool_for(n >= FEW ? p : NULL, loop, n, piece_of(p, n, 4, 2), each, &(items){item, user});
}

void mbg__pool_heavy(mbg__pool *p, int loop, int n, mbg__pool_item *item, void *user) {
  mbg__pool_for(p, loop, n, piece_of(p, n, 8, 3), each, &(items){item, user});
}

typedef struct {
  char *to;
  const char *from;
  size_t bytes;
} copy_job;

static void copy(void *user, int thread, int first, int end) {
  const copy_job *j = user;
  const size_t from = (size_t)first * BYTES, to = (size_t)end * BYTES;
  (void)thread;
  memcpy(j->to + from, j->from + from, (to < j->bytes ? to : j->bytes) - from);
}

void mbg__pool_copy(mbg__pool *p, int loop, size_t bytes, void *to, const void *from) {
  if (bytes > 0) {
    mbg__pool_for(p, loop, (int)((bytes - 1) / BYTES) + 1, 1, copy, &(copy_job){to, from, bytes});
  }
}

static void zero(void *user, int thread, int first, int end) {
  (void)thread;
  memset((real *)user + first, 0, (size_t)(end - first) * sizeof(real));
}

void mbg__pool_zero(mbg__pool *p, int loop, size_t n, real *x) { mbg__pool_for(p, loop, (int)n, ZEROS, zero, x); }
