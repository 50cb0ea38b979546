/* Threads that look for the next loop as long as loops follow one another closely, else sleep; the choice between them
   and the caller alone. A thread starts with the same part of every loop, whose data its core has from the loop before,
   and then helps where work is left. */
#include "base/pool.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

enum { THREADS_MAX = 256, LINE = 128 }; /* LINE: bytes that cores hand to each other at once */

/* What is known of a loop: seconds an item takes with the caller alone and with threads, smoothed; 0 when unknown. */
typedef struct {
  double alone, shared;
  int wait;   /* loops until the other way is tried again */
  int untold; /* loops without a look at the clock */
} statistic;

/* The state of the pool in one word, which the caller alone writes: the number of the loop, and whether it takes
   helpers in. A helper notes the number as its own `at` and looks once more: if the loop is still open, it is inside.
   The caller closes the loop and waits until no helper is at it, so that what the helpers inside read never changes.
   Both write before they read, so that one sees the other. Nobody else writes to the line that idle helpers look at. */
typedef unsigned long long word;
static const word OPEN = 1, LOOP = 2;

typedef struct {
  mbg__pool *pool;
  int number;
  double patience; /* seconds to look for the next loop before it sleeps */
  pthread_t id;
  pthread_mutex_t lock;
  pthread_cond_t wake;
  atomic_bool asleep; /* it needs a signal */
  char apart0[LINE];
  atomic_ullong at; /* number of the loop that it is in, 0: none */
  char apart1[LINE];
} helper;

/* Pieces of a thread's part that are taken, below the number of their loop: older ones count as none. */
typedef struct {
  atomic_ullong taken;
  char apart[LINE - sizeof(atomic_ullong)];
} part;
enum { TAKEN_BITS = 24 };

struct mbg__pool {
  mbg_allocator allocator;
  pthread_mutex_t lock;
  pthread_cond_t done;
  atomic_bool waiting; /* the caller needs a signal */
  int from, n, piece, npiece;
  mbg__pool_work *work;
  void *user;
  atomic_bool busy;   /* a loop runs: loops inside it do not share */
  double spent, lost; /* seconds in all loops; lost in shared ones, compared with the caller alone (negative: won) */
  int nhelper;
  helper *helpers;
  part *shares; /* of the caller and the helpers */
  statistic loops[MBG__POOL_LOOPS];
  char apart0[LINE];
  atomic_ullong state; /* what idle helpers look at */
  atomic_int parts;    /* of the loop: threads that it has work for */
  atomic_bool quit;
  char apart1[LINE];
};

/* ---------------------------------------------------------------------- threads */

static double now(void) {
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

enum { LOOKS = 32 }; /* at the state between two looks at the clock */
static const double PATIENCE_MIN = 10e-6, PATIENCE_MAX = 300e-6;

static inline void relax(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

/* after a while others may have the core */
static inline void give_way(double seconds) {
  if (seconds > 30e-6) {
    sched_yield();
  }
}

/* the next piece of a thread's part that nobody has taken, -1: none */
static int take_piece(mbg__pool *p, word loop, int thread, int parts) {
  const long long all = p->npiece;
  const int first = (int)(all * thread / parts), count = (int)(all * (thread + 1) / parts) - first;
  atomic_ullong *taken = &p->shares[thread].taken;
  word at = atomic_load(taken);
  for (;;) {
    const word now_at = at >> TAKEN_BITS == loop ? at : loop << TAKEN_BITS;
    const int k = (int)(now_at & ((1ULL << TAKEN_BITS) - 1));
    if (k >= count) {
      return -1;
    }
    if (atomic_compare_exchange_weak(taken, &at, now_at + 1)) {
      return first + k;
    }
  }
}

/* its own part, then what is left of the others' */
static void take_pieces(mbg__pool *p, word loop, int thread) {
  const int parts = atomic_load(&p->parts);
  loop &= (1ULL << (64 - TAKEN_BITS)) - 1;
  for (int i = 0; i < parts; i++) {
    const int whose = (thread + i) % parts;
    for (int k = take_piece(p, loop, whose, parts); k >= 0; k = take_piece(p, loop, whose, parts)) {
      const int first = p->from + k * p->piece;
      p->work(p->user, thread, first, p->n - first < p->piece ? p->n : first + p->piece);
    }
  }
}

/* a loop that helper h has not seen and that has a part for it */
static bool can_enter(mbg__pool *p, const helper *h, word seen, word state) {
  return (state & OPEN) && state / LOOP != seen && atomic_load(&p->parts) > h->number;
}

static void sleep_until_loop(mbg__pool *p, helper *h, word seen) {
  pthread_mutex_lock(&h->lock);
  atomic_store(&h->asleep, true);
  while (!atomic_load(&p->quit) && !can_enter(p, h, seen, atomic_load(&p->state))) {
    pthread_cond_wait(&h->wake, &h->lock);
  }
  atomic_store(&h->asleep, false);
  pthread_mutex_unlock(&h->lock);
}

/* thread 0 wakes 1 to 4, thread 1 wakes 5 to 8, ... */
static void wake_some(mbg__pool *p, int thread) {
  for (int i = 4 * thread + 1; i <= 4 * thread + 4 && i <= p->nhelper; i++) {
    helper *h = &p->helpers[i - 1];
    if (atomic_load(&h->asleep)) {
      pthread_mutex_lock(&h->lock);
      pthread_cond_signal(&h->wake);
      pthread_mutex_unlock(&h->lock);
    }
  }
}

/* Looks for the next loop for a while, longer if loops followed one another closely, then sleeps. */
static void wait_for_loop(mbg__pool *p, helper *h, word seen) {
  const double from = now();
  for (double time = from; time - from < h->patience; time = now()) {
    for (int i = 0; i < LOOKS; i++) {
      if (atomic_load(&p->quit) || can_enter(p, h, seen, atomic_load(&p->state))) {
        h->patience = PATIENCE_MAX;
        return;
      }
      relax();
    }
    give_way(time - from);
  }
  sleep_until_loop(p, h, seen);
  const double seconds = now() - from;
  h->patience = seconds >= 0 && seconds < PATIENCE_MAX ? PATIENCE_MAX : fmax(h->patience / 2, PATIENCE_MIN);
}

static void leave_loop(mbg__pool *p, helper *h) {
  atomic_store(&h->at, 0);
  if (atomic_load(&p->waiting)) {
    pthread_mutex_lock(&p->lock);
    pthread_cond_signal(&p->done);
    pthread_mutex_unlock(&p->lock);
  }
}

static void *help(void *user) {
  helper *h = user;
  mbg__pool *p = h->pool;
  word seen = 0;
  while (!atomic_load(&p->quit)) {
    const word state = atomic_load(&p->state);
    if (!can_enter(p, h, seen, state)) {
      wait_for_loop(p, h, seen);
      continue;
    }
    atomic_store(&h->at, state / LOOP);
    if (atomic_load(&p->state) == state) {
      seen = state / LOOP;
      wake_some(p, h->number);
      take_pieces(p, seen, h->number);
    }
    leave_loop(p, h);
  }
  return NULL;
}

static bool any_inside(mbg__pool *p, word loop) {
  for (int i = 0; i < p->nhelper; i++) {
    if (atomic_load(&p->helpers[i].at) == loop) {
      return true;
    }
  }
  return false;
}

/* the loop is closed: helpers inside finish their pieces */
static void wait_for_helpers(mbg__pool *p, word loop) {
  if (!any_inside(p, loop)) {
    return;
  }
  const double from = now();
  for (double time = from; time - from < PATIENCE_MAX; time = now()) {
    for (int i = 0; i < LOOKS; i++) {
      if (!any_inside(p, loop)) {
        return;
      }
      relax();
    }
    give_way(time - from);
  }
  pthread_mutex_lock(&p->lock);
  atomic_store(&p->waiting, true);
  while (any_inside(p, loop)) {
    pthread_cond_wait(&p->done, &p->lock);
  }
  atomic_store(&p->waiting, false);
  pthread_mutex_unlock(&p->lock);
}

/* Items from <= i < n. The caller works too; when nothing is left, late helpers are not let in. */
static void run_shared(mbg__pool *p, int from, int n, int piece, mbg__pool_work *work, void *user) {
  const word loop = atomic_load(&p->state) / LOOP + 1;
  const int npiece = (n - from - 1) / piece + 1;
  p->from = from;
  p->n = n;
  p->piece = piece;
  p->npiece = npiece;
  p->work = work;
  p->user = user;
  atomic_store(&p->parts, npiece < p->nhelper + 1 ? npiece : p->nhelper + 1);
  atomic_store(&p->state, loop * LOOP + OPEN);
  wake_some(p, 0);
  take_pieces(p, loop, 0);
  atomic_store(&p->state, loop * LOOP);
  wait_for_helpers(p, loop);
}

static void destroy_helper(helper *h) {
  pthread_cond_destroy(&h->wake);
  pthread_mutex_destroy(&h->lock);
}

int mbg__pool_create(mbg_context *ctx, int threads, mbg__pool **out) {
  const int wanted = threads < THREADS_MAX ? threads : THREADS_MAX;
  mbg__pool *p = mbg__alloc_zero(ctx, 1, sizeof(*p));
  helper *helpers = mbg__alloc_zero(ctx, (size_t)(wanted > 1 ? wanted - 1 : 1), sizeof(*helpers));
  part *shares = mbg__alloc_zero(ctx, (size_t)(wanted > 1 ? wanted : 1), sizeof(*shares));
  *out = p;
  if (!p || !helpers || !shares) {
    mbg__free(ctx, p);
    mbg__free(ctx, helpers);
    mbg__free(ctx, shares);
    *out = NULL;
    return mbg__fail_memory(ctx);
  }
  p->allocator = *mbg__context_allocator(ctx);
  p->helpers = helpers;
  p->shares = shares;
  pthread_mutex_init(&p->lock, NULL);
  pthread_cond_init(&p->done, NULL);
  for (; p->nhelper < wanted - 1; p->nhelper++) {
    helper *h = &helpers[p->nhelper];
    *h = (helper){.pool = p, .number = p->nhelper + 1, .patience = PATIENCE_MIN};
    pthread_mutex_init(&h->lock, NULL);
    pthread_cond_init(&h->wake, NULL);
    if (pthread_create(&h->id, NULL, help, h) != 0) {
      destroy_helper(h);
      break;
    }
  }
  return MBG_OK;
}

void mbg__pool_destroy(mbg__pool *p) {
  if (!p) {
    return;
  }
  atomic_store(&p->quit, true);
  for (int i = 0; i < p->nhelper; i++) {
    helper *h = &p->helpers[i];
    pthread_mutex_lock(&h->lock);
    pthread_cond_signal(&h->wake);
    pthread_mutex_unlock(&h->lock);
    pthread_join(h->id, NULL);
    destroy_helper(h);
  }
  pthread_cond_destroy(&p->done);
  pthread_mutex_destroy(&p->lock);
  const mbg_allocator a = p->allocator;
  a.release(a.user, p->helpers);
  a.release(a.user, p->shares);
  a.release(a.user, p);
}

int mbg__pool_threads(const mbg__pool *p) { return p ? p->nhelper + 1 : 1; }

/* ---------------------------------------------------------------------- the choice */

/* Loops between two trials of the slower way: as many as make what a trial loses a hundredth of what they take. Helpers
   that are found asleep make a first trial look bad: then there is another one soon. */
enum { PAUSE_MIN = 16, PAUSE_ALONE = 128, PAUSE_SHARED = 4096 };
static const double MAY_LOSE = 0.02; /* of the time in all loops */

static int pause_after(const statistic *s) {
  const double least = fmin(s->alone, s->shared), most = fmax(s->alone, s->shared);
  const double loops = least > 0 ? 100 * (most - least) / least : 0;
  const int limit = s->shared < s->alone ? PAUSE_SHARED : PAUSE_ALONE;
  return loops < PAUSE_MIN ? PAUSE_MIN : loops > limit ? limit : (int)loops;
}

/* What threads can save of a loop of so many seconds is less than what they cost: the caller works alone and looks at
   the clock in few of them. */
static const double SMALL = 2e-6;
enum { UNTOLD = 64 };

static bool is_small(const statistic *s, int n) { return s->alone > 0 && s->alone * n < SMALL; }

/* The faster way as far as is known, the other one now and then; shared only while the time lost so is small. */
static bool choose_shared(const mbg__pool *p, statistic *s) {
  bool shared = s->shared <= 0 || s->shared < s->alone;
  if (s->shared > 0 && --s->wait <= 0) {
    s->wait = pause_after(s);
    shared = !shared;
  }
  return shared && p->lost <= MAY_LOSE * p->spent;
}

/* other work on the machine makes times longer, nothing makes them shorter */
static double smooth(double old, double seconds) {
  return old > 0 ? old + (seconds - old) / (seconds < old ? 2 : 8) : seconds;
}

static void learn(mbg__pool *p, statistic *s, int n, bool shared, double seconds) {
  const bool before = s->shared < s->alone, first = shared && s->shared <= 0;
  seconds = seconds > 0 ? seconds : 0; /* somebody set the clock */
  p->spent += seconds;
  if (shared) {
    p->lost += seconds - s->alone * n;
    s->shared = smooth(s->shared, seconds / n);
  } else {
    s->alone = smooth(s->alone, seconds / n);
  }
  if (first || before != (s->shared < s->alone)) {
    s->wait = pause_after(s);
  }
}

void mbg__pool_for(mbg__pool *p, int loop, int n, int piece, mbg__pool_work *work, void *user) {
  if (n <= 0) {
    return;
  }
  if (!p || p->nhelper == 0 || n <= piece || atomic_load(&p->busy)) {
    work(user, 0, 0, n);
    return;
  }
  statistic *s = &p->loops[loop < MBG__POOL_LOOPS ? loop : MBG__POOL_LOOPS - 1];
  if ((is_small(s, n) && ++s->untold < UNTOLD) || atomic_exchange(&p->busy, true)) {
    work(user, 0, 0, n);
    return;
  }
  s->untold = 0;
  double from = now();
  int first = 0;
  if (s->alone <= 0) {
    /* the first piece tells how fast the caller is */
    first = piece;
    work(user, 0, 0, first);
    learn(p, s, first, false, now() - from);
    from = now();
  }
  const bool shared = !is_small(s, n) && choose_shared(p, s);
  if (shared) {
    run_shared(p, first, n, piece, work, user);
  } else {
    work(user, 0, first, n);
  }
  learn(p, s, n - first, shared, now() - from);
  atomic_store(&p->busy, false);
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

enum { FEW = 32, CROWD = 4 }; /* items that are not worth a second thread; threads that get in each other's way */

/* items of a piece, if each thread shall have `few` pieces, or `crowd` where many threads ask for them */
static int piece_of(const mbg__pool *p, int n, int few, int crowd) {
  const int threads = mbg__pool_threads(p);
  return n / (threads * (threads > CROWD ? crowd : few)) + 1;
}

void mbg__pool_each(mbg__pool *p, int loop, int n, mbg__pool_item *item, void *user) {
  items x = {item, user};
  mbg__pool_for(n >= FEW ? p : NULL, loop, n, piece_of(p, n, 4, 2), each, &x);
}

void mbg__pool_heavy(mbg__pool *p, int loop, int n, mbg__pool_item *item, void *user) {
  items x = {item, user};
  mbg__pool_for(p, loop, n, piece_of(p, n, 8, 3), each, &x);
}

enum { ZEROS = 2048, BYTES = 16384 };

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
  copy_job j = {to, from, bytes};
  if (bytes <= BYTES || bytes / BYTES > INT_MAX - 1) {
    memcpy(to, from, bytes);
    return;
  }
  mbg__pool_for(p, loop, (int)((bytes - 1) / BYTES) + 1, 1, copy, &j);
}

static void zero(void *user, int thread, int first, int end) {
  real *x = user;
  (void)thread;
  memset(x + first, 0, (size_t)(end - first) * sizeof(real));
}

void mbg__pool_zero(mbg__pool *p, int loop, size_t n, real *x) {
  if (n > INT_MAX - ZEROS) {
    memset(x, 0, n * sizeof(real));
    return;
  }
  mbg__pool_for(p, loop, (int)n, ZEROS, zero, x);
}
