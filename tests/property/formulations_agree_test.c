/* One model in all five formulations: values and gradients of criteria agree within the errors that the runs estimate
   for themselves. On models of the gallery and on random ones with modal bodies, beams or both. Formulations share
   elements and no coordinates, steps or linear algebra.

   The estimates come from runs with other steps and are not bounds: they are the first term of a series, so that half
   as much again is allowed, and a gradient is compared as a whole, because the error of one entry may pass through 0.
   What the run itself calls a guess (`regular` is false) is not judged. Rounding of an index-3 step, eps/(beta h^2)
   times the condition of the model, comes on top: 2e4 eps/h^2, as in gradient_proof.h. Explicit formulations are
   excused from stiff beams and bodies by their message, or where they would need more than `most_steps`.

   MBG_SEED=number repeats a random model, MBG_TEXT=model.json keeps it; MBG_MODEL=name repeats one of the gallery, or
   runs a file. */
#include "mbgrad/error.h"
#include "property/gradient_case.h"
#include "support/random_criteria.h"
#include "support/random_model.h"

#include <dirent.h>
#include <float.h>
#include <stdio.h>
#include <unistd.h>

enum { KEYS = 5 };
static const char *const keys[KEYS] = {"lie", "dae", "ali3p", "dca", "qr"};
static const double tolerance = 1e-8; /* of qr */
static const double allowed = 1.5;    /* estimates are first terms */

/* What one formulation says of a model. */
typedef struct {
  bool ran, refused; /* refused: by a message that is one of those that models may have */
  double step;
  double *value, *value_error;       /* criteria */
  double *gradient, *gradient_error; /* criteria x parameters, each times its parameter */
  bool *regular;                     /* criteria */
} answer;

static const long most_steps = 20000; /* of a run and of those that estimate its error */
static long steps;
static int models, compared, guesses, refusals[KEYS];
static double worst;
static char worst_name[120];

static double *numbers(size_t n) {
  double *x = calloc(n + 1, sizeof *x);
  assert_non_null(x);
  return x;
}

static void answer_free(answer *x) {
  double *all[] = {x->value, x->value_error, x->gradient, x->gradient_error};
  for (int i = 0; i < MBG_COUNT(all); i++) {
    free(all[i]);
  }
  free(x->regular);
}

/* ---------------------------------------------------------------------- one formulation */

static void keep_errors(answer *x, const gradient_case *c) {
  for (int k = 0; k < c->nc; k++) {
    const mbg_step_error *e = mbg_run_get_error(c->run, k);
    assert_non_null(e);
    x->regular[k] = e->regular && isfinite(e->value);
    x->value_error[k] = fabs(e->value);
    for (int i = 0; i < c->np; i++) {
      const double p = c->p[i] != 0 ? c->p[i] : 1;
      x->gradient[k * c->np + i] *= p;
      x->gradient_error[k * c->np + i] = fabs(p * e->gradient[i]);
    }
  }
}

static int ask(answer *x, gradient_case *c) {
  int err = mbg_run_simulate(c->ctx, c->run);
  if (err == MBG_OK && mbg_run_partial(c->run)) {
    return MBG_ERROR_INTERRUPTED;
  }
  err = err < 0 ? err : mbg_run_criteria(c->ctx, c->run, x->value);
  err = err < 0 ? err : mbg_run_gradient(c->ctx, c->run, MBG_METHOD_ADJOINT, x->gradient, NULL);
  return err < 0 ? err : mbg_run_error(c->ctx, c->run, MBG_METHOD_ADJOINT, true);
}

static bool too_many(void *user) {
  (void)user;
  return ++steps > most_steps;
}

static bool unstable(const gradient_case *c) {
  const char *words = mbg_context_error(c->ctx);
  return strstr(words, "stability limit") || strstr(words, "ends vibrations") || strstr(words, "grow without bounds");
}

/* explicit formulations take shorter steps where they must; stiff beams are excused by the message */
static int ask_stable(answer *x, gradient_case *c) {
  int err = MBG_OK;
  for (int quarter = 0; quarter < 5; quarter++) {
    gradient_case_run(c);
    err = ask(x, c);
    if (err == MBG_OK || !unstable(c)) {
      break;
    }
    c->options.step /= 4;
  }
  const bool stiff = unstable(c) || err == MBG_ERROR_INTERRUPTED;
  x->refused = err < 0 && (stiff || gradient_case_excused(mbg_context_error(c->ctx)));
  return err;
}

static answer run_one(const char *file, const char *text, const char *key, double end, double step, const char *name) {
  gradient_case c;
  gradient_case_open(&c, file, text);
  const size_t nc = (size_t)c.nc, all = nc * (size_t)c.np;
  answer x = {.value = numbers(nc),
              .value_error = numbers(nc),
              .gradient = numbers(all),
              .gradient_error = numbers(all),
              .regular = calloc(nc + 1, sizeof(bool))};
  c.options.formulation = key;
  c.options.end = end;
  c.options.interrupt = too_many;
  steps = 0;
  if (strcmp(key, "qr") == 0) {
    c.options.tolerance = tolerance;
  } else {
    c.options.step = step;
  }
  const int err = ask_stable(&x, &c);
  x.ran = err == MBG_OK;
  x.step = c.options.step;
  if (x.ran) {
    keep_errors(&x, &c);
  } else {
    print_message("%s: %s: %s\n", name, key, mbg_context_error(c.ctx));
  }
  gradient_case_close(&c);
  return x;
}

/* ---------------------------------------------------------------------- two of them */

/* n numbers: how far apart they are, beside what the estimates allow */
static void compare(const double *a, const double *ea, const double *b, const double *eb, int n, double rounding,
                    const char *name) {
  double apart = 0, error = 0, size = 0;
  for (int i = 0; i < n; i++) {
    apart = fmax(apart, fabs(a[i] - b[i]));
    error = fmax(error, ea[i] + eb[i]);
    size = fmax(size, fmax(fabs(a[i]), fabs(b[i])));
  }
  const double ratio = apart == 0 ? 0 : apart / (error + rounding * (size + 1e-3));
  compared++;
  if (!(ratio <= worst)) {
    worst = ratio;
    snprintf(worst_name, sizeof worst_name, "%s", name);
  }
  if (!(ratio <= allowed)) {
    fail_msg("%s: %.3e apart, estimated errors %.1e in all, size %.1e", name, apart, error, size);
  }
}

/* rounding of the steps, relative; error control has that of its sums alone */
static double step_rounding(const answer *x) {
  return isnan(x->step) ? 1e-10 : 2e4 * DBL_EPSILON / (x->step * x->step);
}

static void compare_pair(const gradient_case *c, const answer *a, const answer *b, const char *name) {
  const double rounding = fmax(step_rounding(a), step_rounding(b));
  for (int k = 0; k < c->nc; k++) {
    char what[120];
    if (!a->regular[k] || !b->regular[k]) {
      guesses++;
      continue;
    }
    snprintf(what, sizeof what, "%s: '%s'", name, c->m->criteria[k].name);
    compare(a->value + k, a->value_error + k, b->value + k, b->value_error + k, 1, rounding, what);
    const int at = k * c->np;
    snprintf(what, sizeof what, "%s: gradient of '%s'", name, c->m->criteria[k].name);
    compare(a->gradient + at, a->gradient_error + at, b->gradient + at, b->gradient_error + at, c->np, rounding, what);
  }
}

static void check_model(const char *file, const char *text, double end, double step, const char *name) {
  gradient_case c;
  answer x[KEYS];
  gradient_case_open(&c, file, text);
  for (int f = 0; f < KEYS; f++) {
    x[f] = run_one(file, text, keys[f], end, step, name);
    refusals[f] += !x[f].ran;
  }
  models++;
  for (int f = 0; f < KEYS; f++) {
    if (!x[f].ran && !x[f].refused) {
      fail_msg("%s: '%s' does not run it", name, keys[f]);
    }
    for (int g = 0; g < f; g++) {
      char pair[100];
      snprintf(pair, sizeof pair, "%s, %s and %s", name, keys[g], keys[f]);
      if (x[f].ran && x[g].ran) {
        compare_pair(&c, &x[g], &x[f], pair);
      }
    }
  }
  for (int f = 0; f < KEYS; f++) {
    answer_free(&x[f]);
  }
  gradient_case_close(&c);
}

/* ---------------------------------------------------------------------- random models */

static uint64_t asked(void) { return getenv("MBG_SEED") ? strtoull(getenv("MBG_SEED"), NULL, 10) : UINT64_MAX; }

/* no single model */
static bool all_asked(void) { return asked() == UINT64_MAX && !getenv("MBG_MODEL"); }

static void check_seed(uint64_t seed) {
  random_model_options opt = random_model_mix(seed);
  char name[40];
  opt.modal = seed % 3 != 1;
  opt.beams = seed % 3 != 0;
  const double step = opt.beams ? 5e-4 : 2e-3, end = 0.06; /* explicit steps are stable, modes resolved */
  char *text = random_model_with_criteria(seed, &opt, end, step);
  snprintf(name, sizeof name, "seed %llu", (unsigned long long)seed);
  if (getenv("MBG_TEXT") && asked() == seed) {
    support_write_file(getenv("MBG_TEXT"), text, strlen(text));
  }
  check_model(NULL, text, end, step, name);
  free(text);
}

static void test_random(void **state) {
  (void)state;
  const int rounds = support_sanitized() ? 1 : support_rounds(6, 300);
  if (asked() != UINT64_MAX) {
    check_seed(asked());
  }
  for (int i = 0; i < rounds && all_asked(); i++) {
    if (support_part(i)) {
      check_seed(30000 + (uint64_t)i);
    }
  }
}

/* ---------------------------------------------------------------------- gallery */

/* the beginning of a model's run; all of it where events must happen */
static void check_file(const char *path, const char *name) {
  gradient_case c;
  gradient_case_open(&c, path, NULL);
  const double start = c.m->run.start, all = c.m->run.end - start, share = c.m->nevent > 0 ? 1 : 0.05;
  const double step = share * all / (c.m->nevent > 0 ? 1000 : 60);
  const bool many = c.np > 200;
  gradient_case_close(&c);
  if (!many) { /* topologies: one beam model with a density for each of thousands of elements */
    check_model(path, NULL, start + share * all, step, name);
  }
}

static void test_gallery(void **state) {
  (void)state;
  struct dirent **list;
  const int n = scandir(MBG_GALLERY_DIR, &list, NULL, alphasort), stride = support_rounds(12, 1);
  const char *one = getenv("MBG_MODEL");
  int seen = 0;
  if (one && strchr(one, '/')) {
    check_file(one, one);
  }
  for (int i = 0; i < n; i++) {
    char path[300];
    const bool wanted = one ? strcmp(one, list[i]->d_name) == 0 : all_asked();
    snprintf(path, sizeof path, "%s/%s/model.json", MBG_GALLERY_DIR, list[i]->d_name);
    if (wanted && access(path, R_OK) == 0 && (one || seen++ % stride == 0) && support_part(seen)) {
      snprintf(path, sizeof path, "%s/%s", MBG_GALLERY_DIR, list[i]->d_name);
      check_file(path, list[i]->d_name);
    }
    free(list[i]);
  }
  free(list);
}

static int report(void **state) {
  (void)state;
  print_message("%d models, %d comparisons, worst %.2f of the estimates (%s), %d guesses not judged; refused:", models,
                compared, worst, worst_name, guesses);
  for (int f = 0; f < KEYS; f++) {
    print_message(" %s %d", keys[f], refusals[f]);
  }
  print_message("\n");
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_gallery)};
  return cmocka_run_group_tests(tests, NULL, report);
}
