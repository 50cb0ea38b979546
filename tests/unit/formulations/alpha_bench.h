/* A bench for single steps of the alpha schemes. */
#ifndef UNIT_FORMULATIONS_ALPHA_BENCH_H
#define UNIT_FORMULATIONS_ALPHA_BENCH_H

#include "formulations/alpha/alpha_work.h"
#include "mbgrad/mbgrad.h"
#include "model/design.h"
#include "support/support.h"

#include <math.h>
#include <string.h>

/* A model with its start and a prepared `lie`, and two nodes to step between. */
typedef struct {
  mbg_context *ctx;
  mbg_model *model;
  mbg__arena arena;
  mbg__design *design;
  mbg__system *sys;
  mbg__start_work *start;
  mbg__alpha *alpha;
  mbg__alpha_node node[2];
} alpha_bench;

static inline void alpha_bench_open(alpha_bench *b, const char *model, int index) {
  memset(b, 0, sizeof(*b));
  assert_int_equal(mbg_context_create(NULL, &b->ctx), MBG_OK);
  assert_int_equal(mbg_model_load(b->ctx, model, &b->model), MBG_OK);
  mbg__arena_init(&b->arena, mbg__context_allocator(b->ctx));
  assert_int_equal(mbg__design_create(b->ctx, &b->arena, b->model, &b->design), MBG_OK);
  assert_int_equal(mbg__design_update(b->ctx, b->design, b->model->p), MBG_OK);
  assert_int_equal(mbg__system_create(b->ctx, b->model, b->design, &b->sys), MBG_OK);
  assert_int_equal(mbg__start_create(b->ctx, b->sys, &b->start), MBG_OK);
  assert_int_equal(mbg__start_solve(b->ctx, b->start, true), MBG_OK);
  const mbg__run_plan plan = {.t1 = 1, .step = 0.02, .rho_inf = 0.8, .alpha_f = NAN, .index = index};
  const mbg__formulation_ops *ops = mbg__formulation_find("lie")->ops;
  assert_int_equal(ops->prepare(b->ctx, b->sys, b->start, &plan, 0, NULL, &b->alpha), MBG_OK);
  for (int i = 0; i < 2; i++) {
    b->node[i] = mbg__alpha_view(b->alpha, mbg__arena_take(&b->arena, mbg__alpha_node_bytes(b->alpha), 1));
  }
}

static inline void alpha_bench_close(alpha_bench *b) {
  mbg__formulation_find("lie")->ops->destroy(b->alpha);
  mbg__start_destroy(b->start);
  mbg__system_destroy(b->sys);
  mbg__arena_destroy(&b->arena);
  mbg_model_destroy(b->model);
  mbg_context_destroy(b->ctx);
}

#endif
