#include "hessian/hessian_columns.h"

#include "run/run_internal.h"

#include <pthread.h>

/* Directions that no thread has taken yet. */
typedef struct {
  const mbg_hessian *h;
  int nsum, n, next;
  bool failed; /* the others need not go on */
  const double *weights, *directions;
  double *products;
  pthread_mutex_t lock;
} queue;

/* ---------------------------------------------------------------------- one direction */

/* one simulation, and a backward pass for each sum */
static int direction(mbg_context *ctx, mbg__complex_run *run, const queue *q, int i, double *gradient) {
  const size_t np = (size_t)q->h->run->m->np, nc = (size_t)q->h->run->m->ncriterion;
  const int mark = mbg__message_mark(ctx);
  int err = MBG_OK;
  MBG_TRY(mbg__complex_run_simulate(ctx, run, q->h->p, q->directions + (size_t)i * np));
  for (int s = 0; s < q->nsum; s++) {
    const mbg__gradient_row row = {.criterion = -1, .weight = q->weights + (size_t)s * nc};
    double *product = q->products + ((size_t)s * (size_t)q->n + (size_t)i) * np;
    MBG_TRY(mbg__complex_run_gradient(ctx, run, 1, &row, gradient, product, NULL));
    MBG_TRY(mbg__hessian_check_product(ctx, q->h, product));
  }
  mbg__message_rewind(ctx, mark);
done:
  return err;
}

/* ---------------------------------------------------------------------- threads */

static int next_direction(queue *q, bool failed) {
  pthread_mutex_lock(&q->lock);
  q->failed = q->failed || failed;
  const int i = !q->failed && q->next < q->n ? q->next++ : -1;
  pthread_mutex_unlock(&q->lock);
  return i;
}

typedef struct {
  queue *q;
  mbg__hessian_worker *worker;
} task;

static void *take_directions(void *user) {
  const task *t = user;
  mbg__hessian_worker *w = t->worker;
  for (int i = next_direction(t->q, false); i >= 0; i = next_direction(t->q, w->status < 0)) {
    w->status = direction(w->ctx, w->run, t->q, i, w->gradient);
  }
  return NULL;
}

/* the error of the first thread that has one; threads that were interrupted by it have none */
static int hand_over(mbg_context *ctx, const mbg_hessian *h, int nworker) {
  int err = MBG_OK;
  for (int k = 0; k < nworker; k++) {
    const mbg__hessian_worker *w = &h->workers[k];
    if (w->status < 0 && err == MBG_OK) {
      err = mbg__fail(ctx, w->status, "%s", mbg_context_error(w->ctx));
    }
    mbg_context_clear(w->ctx);
  }
  return err;
}

static int in_threads(mbg_context *ctx, mbg_hessian *h, queue *q, int wanted) {
  pthread_t threads[MBG__HESSIAN_THREADS];
  task tasks[MBG__HESSIAN_THREADS];
  int n = 0;
  pthread_mutex_init(&q->lock, NULL);
  for (int k = 0; k < wanted; k++) {
    h->workers[k].status = MBG_OK;
    tasks[k] = (task){q, &h->workers[k]};
  }
  while (n < wanted - 1 && pthread_create(&threads[n], NULL, take_directions, &tasks[n + 1]) == 0) {
    n++;
  }
  take_directions(&tasks[0]);
  while (n > 0) {
    pthread_join(threads[--n], NULL);
  }
  pthread_mutex_destroy(&q->lock);
  return hand_over(ctx, h, wanted);
}

/* ---------------------------------------------------------------------- workers */

static int make_worker(mbg_context *ctx, mbg_hessian *h, mbg__hessian_worker *w) {
  int err = MBG_OK;
  MBG_TRY(mbg_context_create(mbg__context_allocator(ctx), &w->ctx));
  err = mbg__complex_run_create(w->ctx, h->run->m, &h->kernels, &h->shared, &w->run);
  if (err < 0) {
    (void)mbg__fail(ctx, err, "%s", mbg_context_error(w->ctx));
  }
  mbg_context_clear(w->ctx);
done:
  return err;
}

/* all threads of the run, once: each has one thread of its own, and its part of the memory */
static int make_workers(mbg_context *ctx, mbg_hessian *h, int count) {
  int err = MBG_OK;
  mbg__hessian_worker *workers = MBG_TAKE(&h->arena, mbg__hessian_worker, count);
  double *gradients = MBG_TAKE(&h->arena, double, (size_t)count *(size_t)h->run->m->np + 1);
  MBG_TRY(mbg__arena_check(ctx, &h->arena));
  h->workers = workers;
  h->shared = h->decisions;
  h->shared.options.threads = 1;
  h->shared.options.memory /= count;
  for (h->nworker = 0; h->nworker < count; h->nworker++) {
    mbg__hessian_worker *w = &workers[h->nworker];
    *w = (mbg__hessian_worker){.gradient = gradients + (size_t)h->nworker * (size_t)h->run->m->np};
    err = make_worker(ctx, h, w);
    if (err < 0) {
      h->nworker++;
      mbg__hessian_drop_workers(h);
      break;
    }
  }
done:
  return err;
}

void mbg__hessian_drop_workers(mbg_hessian *h) {
  while (h->nworker > 0) {
    mbg__hessian_worker *w = &h->workers[--h->nworker];
    mbg__complex_run_destroy(w->run);
    mbg_context_destroy(w->ctx);
  }
}

int mbg__hessian_columns(mbg_context *ctx, mbg_hessian *h, int nsum, const double *weights, int n,
                         const double *directions, double *products) {
  queue q = {.h = h, .nsum = nsum, .n = n, .weights = weights, .directions = directions, .products = products};
  int threads = h->run->plan.threads < MBG__HESSIAN_THREADS ? h->run->plan.threads : MBG__HESSIAN_THREADS;
  int err = MBG_OK;
  if (threads > 1 && n > 1) {
    MBG_TRY(h->nworker > 0 ? MBG_OK : make_workers(ctx, h, threads < n ? threads : n));
    return in_threads(ctx, h, &q, h->nworker < n ? h->nworker : n);
  }
  for (int i = 0; i < n; i++) {
    MBG_TRY(direction(ctx, h->complex_run, &q, i, h->gradient));
  }
done:
  return err;
}
