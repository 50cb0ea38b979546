/* Threads that sleep on a condition variable between loops, and the choice between them and the caller alone. */
#include "base/pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum { THREADS_MAX = 256 };

/* What is known of a loop: seconds an item takes with the caller alone and with threads, smoothed; 0 when unknown. */
typedef struct {
  double alone, shared;
  int wait;  /* loops until the other way is tried again */
  int pause; /* the last such wait */
} statistic;

typedef struct {
  mbg__pool *pool;
  int number;
  pthread_t id;
} helper;

struct mbg__pool {
  mbg_allocator allocator;
  pthread_mutex_t lock;
  pthread_cond_t wake, done;
  bool open, quit;    /* a loop takes helpers in; the pool ends */
  unsigned long loop; /* number of the loop */
  int inside;         /* helpers in the loop */
  int n, piece;
  mbg__pool_work *work;
  void *user;
  atomic_int next;    /* first item that nobody has taken */
  atomic_bool busy;   /* a loop runs: loops inside it do not share */
  double spent, lost; /* seconds in all loops; lost in shared ones, compared with the caller alone (negative: won) */
  int nhelper;
  helper *helpers;
  statistic loops[MBG__POOL_LOOPS];
};

/* ---------------------------------------------------------------------- threads */

static void take_pieces(mbg__pool *p, int thread) {
  for (;;) {
    const int first = atomic_fetch_add(&p->next, p->piece);
    if (first >= p->n) {
      return;
    }
    p->work(p->user, thread, first, p->n - first < p->piece ? p->n : first + p->piece);
  }
}

static void *help(void *user) {
  const helper *h = user;
  mbg__pool *p = h->pool;
  unsigned long seen = 0;
  pthread_mutex_lock(&p->lock);
  while (!p->quit) {
    if (!p->open || p->loop == seen || (p->n - 1) / p->piece < h->number) {
      pthread_cond_wait(&p->wake, &p->lock);
      continue;
    }
    seen = p->loop;
    p->inside++;
    pthread_mutex_unlock(&p->lock);
    take_pieces(p, h->number);
    pthread_mutex_lock(&p->lock);
    if (--p->inside == 0) {
      pthread_cond_signal(&p->done);
    }
  }
  pthread_mutex_unlock(&p->lock);
  return NULL;
}

/* the caller works too; when nothing is left, late helpers are not let in, and those inside finish their pieces */
static void run_shared(mbg__pool *p, int n, int piece, mbg__pool_work *work, void *user) {
  pthread_mutex_lock(&p->lock);
  p->n = n;
  p->piece = piece;
  p->work = work;
  p->user = user;
  atomic_store(&p->next, 0);
  p->open = true;
  p->loop++;
  pthread_cond_broadcast(&p->wake);
  pthread_mutex_unlock(&p->lock);
  take_pieces(p, 0);
  pthread_mutex_lock(&p->lock);
  p->open = false;
  while (p->inside > 0) {
    pthread_cond_wait(&p->done, &p->lock);
  }
  pthread_mutex_unlock(&p->lock);
}

int mbg__pool_create(mbg_context *ctx, int threads, mbg__pool **out) {
  const int wanted = threads < THREADS_MAX ? threads : THREADS_MAX;
  mbg__pool *p = mbg__alloc_zero(ctx, 1, sizeof(*p));
  helper *helpers = mbg__alloc_zero(ctx, (size_t)(wanted > 1 ? wanted - 1 : 1), sizeof(*helpers));
  *out = p;
  if (!p || !helpers) {
    mbg__free(ctx, p);
    mbg__free(ctx, helpers);
    *out = NULL;
    return mbg__fail_memory(ctx);
  }
  p->allocator = *mbg__context_allocator(ctx);
  p->helpers = helpers;
  pthread_mutex_init(&p->lock, NULL);
  pthread_cond_init(&p->wake, NULL);
  pthread_cond_init(&p->done, NULL);
  for (; p->nhelper < wanted - 1; p->nhelper++) {
    helper *h = &helpers[p->nhelper];
    *h = (helper){.pool = p, .number = p->nhelper + 1};
    if (pthread_create(&h->id, NULL, help, h) != 0) {
      break;
    }
  }
  return MBG_OK;
}

void mbg__pool_destroy(mbg__pool *p) {
  if (!p) {
    return;
  }
  pthread_mutex_lock(&p->lock);
  p->quit = true;
  pthread_cond_broadcast(&p->wake);
  pthread_mutex_unlock(&p->lock);
  for (int i = 0; i < p->nhelper; i++) {
    pthread_join(p->helpers[i].id, NULL);
  }
  pthread_cond_destroy(&p->wake);
  pthread_cond_destroy(&p->done);
  pthread_mutex_destroy(&p->lock);
  const mbg_allocator a = p->allocator;
  a.release(a.user, p->helpers);
  a.release(a.user, p);
}

int mbg__pool_threads(const mbg__pool *p) { return p ? p->nhelper + 1 : 1; }

/* ---------------------------------------------------------------------- the choice */

enum { PAUSE_MIN = 16, PAUSE_MAX = 1024 }; /* loops between two trials of the slower way */
static const double MAY_LOSE = 0.02;       /* of the time in all loops */

static double now(void) {
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The faster way as far as is known, the other one now and then; shared only while the time lost so is small. */
static bool choose_shared(const mbg__pool *p, statistic *s) {
  const bool faster = s->shared < s->alone;
  bool shared = s->alone > 0 && (s->shared <= 0 || faster);
  if (s->alone > 0 && s->shared > 0 && --s->wait <= 0) {
    s->pause = 2 * s->pause < PAUSE_MAX ? 2 * s->pause : PAUSE_MAX;
    s->wait = s->pause;
    shared = !shared;
  }
  return shared && p->lost <= MAY_LOSE * p->spent;
}

static double smooth(double old, double seconds) { return old > 0 ? old + (seconds - old) / 4 : seconds; }

static void learn(mbg__pool *p, statistic *s, int n, bool shared, double seconds) {
  const bool before = s->shared < s->alone;
  seconds = seconds > 0 ? seconds : 0; /* somebody set the clock */
  p->spent += seconds;
  if (shared) {
    p->lost += seconds - s->alone * n;
    s->shared = smooth(s->shared, seconds / n);
  } else {
    s->alone = smooth(s->alone, seconds / n);
  }
  if (before != (s->shared < s->alone)) {
    s->pause = s->wait = PAUSE_MIN;
  }
}

void mbg__pool_for(mbg__pool *p, int loop, int n, int piece, mbg__pool_work *work, void *user) {
  if (n <= 0) {
    return;
  }
  if (!p || p->nhelper == 0 || n <= piece || atomic_exchange(&p->busy, true)) {
    work(user, 0, 0, n);
    return;
  }
  statistic *s = &p->loops[loop < MBG__POOL_LOOPS ? loop : MBG__POOL_LOOPS - 1];
  const bool shared = choose_shared(p, s);
  const double from = now();
  if (shared) {
    run_shared(p, n, piece, work, user);
  } else {
    work(user, 0, 0, n);
  }
  learn(p, s, n, shared, now() - from);
  atomic_store(&p->busy, false);
}
