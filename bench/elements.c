/* One evaluation of all elements of a chain of n bodies: values, and values with derivatives and matrices.

   A spatial chain: revolute joints with alternating axes, a torsion spring-damper in every joint, a spring from every
   second body to the ground, gravity. The same in joint coordinates: sweeps of kinematics and forces down and up the
   tree, and the gradient of a residual by positions, rates and all attributes. `elements N` prints times; bench/run
   counts instructions of the functions measure_... with callgrind. */
#include "model/design.h"
#include "start/rank.h"
#include "system/system.h"
#include "tree/tree.h"

#include <mbgrad/model.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct {
  char *text;
  size_t used, room;
} buffer;

static void add(buffer *b, const char *text) {
  const size_t n = strlen(text);
  if (b->used + n + 1 > b->room) {
    b->room = 2 * (b->room + n) + 1024;
    b->text = realloc(b->text, b->room);
    if (!b->text) {
      exit(1);
    }
  }
  memcpy(b->text + b->used, text, n + 1);
  b->used += n;
}

static char *chain(int n) {
  buffer b = {0};
  char line[512];
  add(&b,
      "{\"mbgrad\": 1, \"parameters\": {\"k\": 10, \"c\": 0.1, \"m\": 1}, \"gravity\": [0, 0, -9.81], \"bodies\": {");
  for (int i = 0; i < n; i++) {
    snprintf(
        line, sizeof(line),
        "%s\"b%d\": {\"mass\": \"m\", \"com\": [0.5, 0, 0], \"inertia\": [0.01, 0.09, 0.09], \"position\": [%d, 0, 0], "
        "\"angular_velocity\": [0, 0, 0.1]}",
        i ? ", " : "", i, i);
    add(&b, line);
  }
  add(&b, "}, \"joints\": {");
  for (int i = 0; i < n; i++) {
    char parent[32] = "ground";
    if (i) {
      snprintf(parent, sizeof(parent), "b%d", i - 1);
    }
    snprintf(line, sizeof(line),
             "%s\"j%d\": {\"type\": \"revolute\", \"between\": [\"%s\", \"b%d\"], \"at\": [%d, 0, 0], \"axis\": [0, "
             "%d, %d]}",
             i ? ", " : "", i, parent, i, i, i % 2, 1 - i % 2);
    add(&b, line);
  }
  add(&b, "}, \"forces\": {");
  for (int i = 0; i < n; i++) {
    snprintf(line, sizeof(line),
             "%s\"t%d\": {\"type\": \"torsion-spring-damper\", \"joint\": \"j%d\", \"stiffness\": \"k\", \"damping\": "
             "\"c\"}",
             i ? ", " : "", i, i);
    add(&b, line);
    if (i % 2) {
      snprintf(line, sizeof(line),
               ", \"s%d\": {\"type\": \"spring-damper\", \"between\": [\"ground\", \"b%d\"], \"points\": [[%d, 0, 1], "
               "[0.5, 0, 0]], "
               "\"stiffness\": \"k\", \"rest\": 0.5}",
               i, i, i);
      add(&b, line);
    }
  }
  add(&b, "}}");
  return b.text;
}

typedef struct {
  mbg__system *sys;
  mbg__state state;
  real *r, *phi;
  mbg__matrices out;
  mbg__tree *tree;
  mbg__tree_state joints;
  real *E1, *gw, *ge, *ga;
} work;

__attribute__((noinline)) int measure_values(mbg_context *ctx, work *w) {
  const int err = mbg__system_update(ctx, w->sys, &w->state);
  mbg__system_residual(w->sys, w->r, w->phi, NULL, NULL, NULL);
  return err;
}

__attribute__((noinline)) int measure_derivatives(mbg_context *ctx, work *w) {
  int err = mbg__system_update(ctx, w->sys, &w->state);
  mbg__system_residual(w->sys, w->r, w->phi, NULL, NULL, NULL);
  if (err == MBG_OK) {
    err = mbg__system_linearize(ctx, w->sys);
  }
  mbg__system_matrices(w->sys, &w->out);
  return err;
}

__attribute__((noinline)) int measure_tree(mbg_context *ctx, work *w) {
  const int err = mbg__tree_update(ctx, w->tree, &w->joints);
  mbg__tree_residual(w->tree, w->E1, NULL, NULL, NULL);
  return err;
}

/* after measure_tree and a linearization */
__attribute__((noinline)) int measure_attributes(mbg_context *ctx, work *w) {
  (void)ctx;
  mbg__tree_pull(w->tree, &(mbg__tree_weights){.mu = w->E1},
                 &(mbg__tree_gradient){.e = w->ge, .w = w->gw, .attributes = w->ga});
  return MBG_OK;
}

/* a tree of the chain at its design */
static int plant(mbg_context *ctx, mbg__arena *arena, const mbg_model *m, const mbg__frame *H, work *w) {
  mbg__rank *rank;
  int err = MBG_OK;
  MBG_TRY(mbg__system_update(ctx, w->sys, &w->state));
  MBG_TRY(mbg__rank_analyse(ctx, arena, w->sys, NULL, &rank));
  MBG_TRY(mbg__tree_create(ctx, w->sys, rank, &w->tree));
  const int n = mbg__tree_size(w->tree);
  mbg__frame *E = MBG_TAKE(arena, mbg__frame, m->nbody);
  real *rates = MBG_TAKE(arena, real, n);
  w->E1 = MBG_TAKE(arena, real, n);
  w->gw = MBG_TAKE(arena, real, n);
  w->ge = MBG_TAKE(arena, real, 6 * m->nbody);
  w->ga = MBG_TAKE(arena, real, m->na);
  if (!E || !rates || !w->E1 || !w->gw || !w->ge || !w->ga) {
    return MBG_ERROR_MEMORY;
  }
  mbg__tree_read(w->tree, H, w->state.v, E, rates);
  w->joints = (mbg__tree_state){.E = E, .w = rates};
  MBG_TRY(measure_tree(ctx, w));
  MBG_TRY(mbg__tree_linearize(ctx, w->tree));
done:
  return err;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* best of several repetitions, microseconds per body */
static double best(int (*measure)(mbg_context *, work *), mbg_context *ctx, work *w, int n, int repeat) {
  double least = 1e300;
  for (int i = 0; i < repeat; i++) {
    const double start = now();
    if (measure(ctx, w) < 0) {
      fprintf(stderr, "%s\n", mbg_context_error(ctx));
      exit(1);
    }
    const double s = now() - start;
    least = s < least ? s : least;
  }
  return 1e6 * least / n;
}

int main(int argc, char **argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 1024, repeat = argc > 2 ? atoi(argv[2]) : 20;
  mbg_context *ctx;
  mbg_model *model;
  mbg__design *design;
  mbg__arena arena;
  work w = {0};
  char *text = chain(n);
  if (mbg_context_create(NULL, &ctx) < 0 || mbg_model_parse(ctx, "chain", text, strlen(text), NULL, &model) < 0) {
    fprintf(stderr, "%s\n", mbg_context_error(ctx));
    return 1;
  }
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  real *vd = calloc((size_t)model->nw, sizeof(real)), *lambda = calloc((size_t)model->nrow, sizeof(real));
  mbg__frame *H = calloc((size_t)n, sizeof(mbg__frame));
  w.r = calloc((size_t)model->nw, sizeof(real));
  w.phi = calloc((size_t)model->nrow, sizeof(real));
  if (!vd || !lambda || !H || !w.r || !w.phi || mbg__design_create(ctx, &arena, model, &design) < 0 ||
      mbg__design_update(ctx, design, model->p) < 0 || mbg__system_create(ctx, model, design, &w.sys) < 0) {
    fprintf(stderr, "%s\n", mbg_context_error(ctx));
    return 1;
  }
  for (int i = 0; i < n; i++) {
    H[i] = design->poses[model->bodies[i].guess].h;
  }
  for (int i = 0; i < model->nrow; i++) {
    lambda[i] = 1 + 0.1 * (i % 7);
  }
  const size_t nK = (size_t)mbg__csc_count(mbg__system_pattern_K(w.sys));
  const size_t nB = (size_t)mbg__csc_count(mbg__system_pattern_B(w.sys));
  w.out = (mbg__matrices){.K = calloc(nK, sizeof(real)),
                          .C = calloc(nK, sizeof(real)),
                          .M = calloc(nK, sizeof(real)),
                          .B = calloc(nB, sizeof(real))};
  w.state = (mbg__state){.H = H, .v = design->guess_v, .vd = vd, .lambda = lambda};
  const double values = best(measure_values, ctx, &w, n, repeat);
  const double derivatives = best(measure_derivatives, ctx, &w, n, repeat);
  if (plant(ctx, &arena, model, H, &w) < 0) {
    fprintf(stderr, "%s\n", mbg_context_error(ctx));
    return 1;
  }
  const double attributes = best(measure_attributes, ctx, &w, n, repeat),
               sweep = best(measure_tree, ctx, &w, n, repeat);
  printf("%8d bodies   values %8.3f us/body   values and derivatives %8.3f us/body   tree %8.3f us/body   by all "
         "attributes "
         "%8.3f us/body\n",
         n, values, derivatives, sweep, attributes);
  mbg__tree_destroy(w.tree);
  mbg__system_destroy(w.sys);
  mbg__arena_destroy(&arena);
  mbg_model_destroy(model);
  mbg_context_destroy(ctx);
  free(w.out.K), free(w.out.C), free(w.out.M), free(w.out.B);
  free(w.r), free(w.phi), free(H), free(vd), free(lambda), free(text);
  return 0;
}
