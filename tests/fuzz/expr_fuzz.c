/* The compiler and the evaluator of expressions never crash, never hang, and give either finite numbers or one message
   whose column lies in the text. Good expressions are cut at every byte, then changed at random.

   What it cannot produce: expressions of many thousand characters, names of a model (parts, vectors of parameters). */
#include "support/fuzz.h"
#include "twin/twin_expr.h"

#include <string.h>

/* ---------------------------------------------------------------------- what must hold */

enum { N = FIXTURE_INPUTS };

/* places with zeros, signs, equal and large numbers */
static const double points[][N] = {
    {0}, {1, 1, 1, 1, 1, 1, 1}, {0.7, -1.3, 2.1, 0.4, -0.6, 3, 0.25}, {-1, -2, 0, 1e9, -1e-9, 1e200, 5}};

static void check_message(const mbg_context *ctx, int err, size_t length) {
  int column = 0;
  CHECK(err == MBG_ERROR_INPUT && mbg_context_message_count(ctx) == 1);
  CHECK(sscanf(mbg_context_error(ctx), "f:1:%d: ", &column) == 1 && column > 0 && (size_t)column <= length + 1);
  for (const char *p = mbg_context_error(ctx); *p; p++) {
    CHECK((unsigned char)*p >= 0x20);
  }
}

static void check_finite(const double *a, int count) {
  for (int i = 0; i < count; i++) {
    CHECK(isfinite(a[i]));
  }
}

/* all evaluations agree on the value; with inputs at rest the jet is at rest */
static bool check_point(mbg_context *ctx, const mbg__expr *e, const double *x, size_t length) {
  double f[4], fj[3], g[3 * N] = {0}, h[N * N], rest[3 * N] = {0}, moving[3 * N];
  for (int i = 0; i < N; i++) {
    rest[3 * i] = moving[3 * i] = x[i];
    moving[3 * i + 1] = 0.5 - i;
    moving[3 * i + 2] = i;
  }
  for (int what = FIXTURE_VALUE; what <= FIXTURE_JET + 1; what++) {
    double *out = what >= FIXTURE_JET ? fj : f + what;
    mbg_context_clear(ctx);
    const int err = fixture_run(ctx, e, what > FIXTURE_JET ? FIXTURE_JET : (fixture_what)what,
                                what == FIXTURE_JET  ? rest
                                : what > FIXTURE_JET ? moving
                                                     : x,
                                out, g, h);
    if (err < 0) {
      check_message(ctx, err, length);
      return false;
    }
    check_finite(out, what >= FIXTURE_JET ? 3 : 1);
    check_finite(g, what >= FIXTURE_JET ? 3 * N : what ? N : 0);
    CHECK(out[0] == f[0]);
    CHECK(what != FIXTURE_JET || (fj[1] == 0 && fj[2] == 0));
  }
  return true;
}

static fuzz_outcome check_text(mbg_context *ctx, const char *text) {
  fuzz_outcome outcome = FUZZ_REFUSED;
  const mbg__where where = {"f", 1, 1, NULL};
  mbg__arena arena;
  mbg__table *tables[FIXTURE_TABLES];
  const mbg__scope scope = {tables, fixture_resolve, fixture_table, FIXTURE_TIME, fixture_length};
  mbg__expr *e = NULL;
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  CHECK(fixture_tables(ctx, &arena, tables) == MBG_OK);
  const int err = mbg__expr_compile(ctx, &arena, text, &where, &scope, &e);
  CHECK((err == MBG_OK) == (e != NULL));
  if (err < 0) {
    check_message(ctx, err, strlen(text));
  } else {
    CHECK(mbg_context_message_count(ctx) == 0 && mbg__expr_ninputs(e) <= N);
    outcome = FUZZ_ACCEPTED;
    for (int i = 0; i < MBG_COUNT(points); i++) {
      outcome = check_point(ctx, e, points[i], strlen(text)) ? FUZZ_ANSWERED : outcome;
    }
  }
  mbg__arena_destroy(&arena);
  return outcome;
}

static fuzz_outcome take(support_rng *rng, int problem, const char *data, size_t size) {
  (void)rng;
  (void)problem;
  char *text = malloc(size + 1);
  mbg_context *ctx = fuzz_context();
  CHECK(text);
  memcpy(text, data, size);
  text[size] = 0;
  const fuzz_outcome outcome = check_text(ctx, text);
  fuzz_context_close(ctx);
  free(text);
  return outcome;
}

/* ---------------------------------------------------------------------- inputs */

static const char *const seeds[] = {
    "x0*cos(x1) + 30 deg - t/2",
    "x0*sin(x1*t)^2 + exp(-x2*t)*x[3]",
    "if(x0 > 0 and x1 <= 2 or not x2, sqrt(x0), log(1 + x1^2))",
    "-x0^2^-1 + 2*30 deg/(x1 + 1e-3)",
    "min(x0, x1, 3, x2) + max(1, x3) + smooth_min(x0, x1, 0.1) - smooth_max(1, 2, x5)",
    "atan2(x0, x1) + asin(x2/3) + acos(x3) + atan(x4) + pow(x0, x1) + abs(x2)*sign(x3)",
    "dot(cross(P, [x0, 1, t]), -2*P) + norm([x1, x2, 3]/x3)",
    "mon(x0) - bicub(x1, lin(x2))*bilin(x3, 0.5)",
    "lin(x0) + cub(2*x1) - tan(x2) + sinh(x3)*cosh(x4)/tanh(x5)",
    "if(x0, if(x1 == 0, 1/x1, x0/0), 0 and 1/0) != x[2+1] < pi",
    "((((((((((((((((((((((((((((((x0)^2)^2)^2)))))))))))))))))))))))))))",
    "1.7976931348623157e308 + 4.9e-324*.5 - 123456789012345678901234567890.",
    "0^x0 + x1^0 + (x0 - 0.7)^1.5 + sqrt(x0 - 0.7)*0",
};

/* pieces that mean something somewhere */
static const char *const pieces[] = {"(",    ")",    "[",           "]",      ",",    "+",   "-",     "*",
                                     "/",    "^",    "<",           "<=",     ">=",   "==",  "!=",    " and ",
                                     " or ", "not ", " deg",        "x0",     "x5",   "t",   "pi",    "0",
                                     "1",    "1e9",  ".",           "e",      "-1",   "0.5", "sqrt(", "log(",
                                     "if(",  "min(", "smooth_max(", "atan2(", "lin(", "\n",  "\xc3",  "\x7f"};

static void cut_everywhere(void) {
  for (int i = 0; i < MBG_COUNT(seeds); i++) {
    for (size_t length = strlen(seeds[i]) + 1; length-- > 0;) {
      (void)take(NULL, i, seeds[i], length);
    }
  }
}

static void make(support_rng *rng, int problem, fuzz_text *out) {
  fuzz_puts(out, seeds[problem]);
  for (int n = support_index(rng, 3); n >= 0; n--) {
    if (fuzz_one_of(rng, 5)) {
      fuzz_splice(rng, out, FUZZ_PICK(rng, seeds));
    } else {
      fuzz_damage(rng, out, pieces, MBG_COUNT(pieces));
    }
  }
}

static const fuzz_program program = {.name = "expr_fuzz",
                                     .inputs = 20000,
                                     .inputs_long = 1000000,
                                     .problems = MBG_COUNT(seeds),
                                     .open = cut_everywhere,
                                     .make = make,
                                     .take = take};
FUZZ_PROGRAM(program)
