/* Functions of an element for the tests of its kernel: texts in t, the arguments x, y (or v), z and the names a, b, c,
   compiled by the library itself. Included by the tests and, with complex scalars, by the twin. */
#ifndef UNIT_ELEMENTS_FN_BENCH_H
#define UNIT_ELEMENTS_FN_BENCH_H

#include "model/fn.h"

#include <stdlib.h>
#include <string.h>

enum { BENCH_FNS = 6, BENCH_NAMES = 3, BENCH_INPUTS = 1 + MBG__FN_ARGS + BENCH_NAMES };

typedef struct {
  mbg_context *ctx;
  mbg_model model;
  mbg__fn fns[BENCH_FNS];
  mbg__input inputs[BENCH_INPUTS];
  mbg__fn_env env;
} fn_bench;

static inline int bench_resolve(void *user, const char *name, int index, const char **hint) {
  static const char names[] = "tabcxyz";
  (void)user, (void)index, (void)hint;
  const char *place = strchr(names, name[0] == 'v' ? 'y' : name[0]);
  return place && !name[1] ? (int)(place - names) : MBG__NAME_UNKNOWN;
}

/* attr: all attributes; a, b, c are those from `first` on. Exits when a text is wrong. */
static inline void fn_bench_make(fn_bench *bench, int count, const char *const *texts, const real *attr, int first,
                                 real t) {
  const mbg__scope scope = {.resolve = bench_resolve, .t_input = 0};
  memset(bench, 0, sizeof *bench);
  int bad = mbg_context_create(NULL, &bench->ctx) < 0;
  mbg__arena_init(&bench->model.arena, mbg__context_allocator(bench->ctx));
  for (int i = 0; i < BENCH_INPUTS; i++) {
    const int arg = i - 1 - BENCH_NAMES;
    bench->inputs[i] = arg >= 0 ? (mbg__input){MBG__ROLE_ARG, arg}
                       : i > 0  ? (mbg__input){MBG__ROLE_ATTR, first + i - 1}
                                : (mbg__input){MBG__ROLE_T, 0};
  }
  for (int k = 0; k < count; k++) {
    mbg__expr *expr = NULL;
    bad |= mbg__expr_compile(bench->ctx, &bench->model.arena, texts[k], NULL, &scope, &expr) < 0;
    bench->fns[k] = (mbg__fn){.expr = expr, .input = bench->inputs, .nact = BENCH_NAMES};
    bench->fns[k].ninput = expr ? mbg__expr_ninputs(expr) : 0;
  }
  bench->model.nfn = count;
  bench->model.fns = bench->fns;
  bench->env = (mbg__fn_env){.ctx = bench->ctx, .model = &bench->model, .attr = attr, .t = t};
  if (bad || mbg__fn_work_create(bench->ctx, &bench->model.arena, &bench->model, &bench->env.work) < 0) {
    abort();
  }
}

static inline void fn_bench_destroy(fn_bench *bench) {
  mbg__arena_destroy(&bench->model.arena);
  mbg_context_destroy(bench->ctx);
}

#endif
