/* Restart files of optimize, identify and control: records of evaluations, a line each, with a sum. Lines, kinds,
   statuses and numbers of a good record are changed; most of the time the sums are made valid again, so that the
   content is read. Then the search is resumed.

   What it cannot produce: records of long searches, a record that was changed and is consistent nevertheless (which
   would be the record of another search), heads with the sum of another problem that is accepted. */
#include "support/fuzz_cells.h"

#include "base/base.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { PROBLEMS = 3 };

static const struct {
  const char *model;
  fuzz_outcome (*ask)(support_rng *rng, mbg_context *ctx, const mbg_model *model, const char *restart);
} searches[PROBLEMS] = {
    {"design.json", fuzz_ask_optimize}, {"fit.json", fuzz_ask_identify}, {"controlled.json", fuzz_ask_control}};

static char *models[PROBLEMS], *records[PROBLEMS];
static fuzz_cells cells;

static fuzz_outcome search(support_rng *rng, int problem) {
  mbg_context *ctx = fuzz_context();
  mbg_model *model = NULL;
  fuzz_copy_corpus(problem == 1 ? "fit.csv" : "controlled.csv", "data.csv");
  CHECK(mbg_model_parse(ctx, "model.json", models[problem], strlen(models[problem]), NULL, &model) == MBG_OK);
  const fuzz_outcome outcome = searches[problem].ask(rng, ctx, model, "restart");
  mbg_model_destroy(model);
  fuzz_context_close(ctx);
  return outcome;
}

static void open_corpus(void) {
  for (int i = 0; i < PROBLEMS; i++) {
    support_rng rng = support_rng_make(1);
    models[i] = fuzz_corpus(searches[i].model);
    remove("restart");
    CHECK(search(&rng, i) == FUZZ_ANSWERED);
    records[i] = support_read_file("restart", NULL);
  }
}

static void close_corpus(void) {
  for (int i = 0; i < PROBLEMS; i++) {
    free(models[i]);
    free(records[i]);
  }
}

/* numbers as their bits, kinds, statuses */
static void change_number(support_rng *rng, const char *old, char out[64]) {
  static const double special[] = {0,         -0.0,        1,     -1,  1e308, -1e308, 1e-320, INFINITY,
                                   -INFINITY, (double)NAN, 1e100, 0.5, 2,     100,    1e9,    -3};
  double x = FUZZ_PICK(rng, special);
  uint64_t bits;
  if (strlen(old) < 16) { /* kind or status */
    static const char *const words[] = {"v", "g", "e",  "s",  "r", "w",           "x",
                                        "0", "1", "-1", "-5", "7", "99999999999", ""};
    snprintf(out, 64, "%s", FUZZ_PICK(rng, words));
    return;
  }
  if (fuzz_one_of(rng, 3)) {
    bits = strtoull(old, NULL, 16);
    memcpy(&x, &bits, sizeof(x));
    x *= 1 + 1e-3 * support_normal(rng);
  }
  memcpy(&bits, &x, sizeof(bits));
  snprintf(out, 64, fuzz_one_of(rng, 30) ? "%" PRIx64 "zz" : "%016" PRIx64, bits);
}

/* what an evaluation gave, not where it was: the second half of a line, without its sum */
static void change_value(support_rng *rng) {
  const int i = 1 + support_index(rng, cells.count > 1 ? cells.count - 1 : 1);
  const int n = i < cells.count ? cells.line[i].count - 1 : 0;
  if (n > 2) {
    char text[64];
    const int j = n / 2 + support_index(rng, n - n / 2);
    change_number(rng, cells.line[i].cell[j], text);
    fuzz_cells_set(&cells, i, j, text);
  }
}

static void put(support_rng *rng, fuzz_text *out) {
  const bool valid = !fuzz_one_of(rng, 10);
  for (int i = 0; i < cells.count; i++) {
    const size_t begin = out->length;
    const int n = cells.line[i].count - (i > 0 && valid);
    for (int j = 0; j < n; j++) {
      fuzz_puts(out, j ? " " : "");
      fuzz_puts(out, cells.line[i].cell[j]);
    }
    if (i > 0 && valid) {
      fuzz_printf(out, " %016" PRIx64, mbg__sum(MBG__SUM_START, out->at + begin, out->length - begin));
    }
    fuzz_puts(out, i + 1 < cells.count || !fuzz_one_of(rng, 10) ? "\n" : "");
  }
}

static void make(support_rng *rng, int problem, fuzz_text *out) {
  static const char *const pieces[] = {"", " ", "\n", "\r", "0", "f", "-", "mbgrad ", "\xff", "e 0"};
  fuzz_cells_read(&cells, records[problem], ' ');
  const int force = support_index(rng, 8), head = fuzz_one_of(rng, 12) ? 0 : 1;
  for (int n = support_index(rng, 3); n >= 0; n--) {
    if (force < 3) {
      change_value(rng);
    } else if (force < 5) {
      fuzz_cells_change_cell(rng, &cells, head, change_number);
    } else {
      fuzz_cells_change_shape(rng, &cells, head);
    }
  }
  put(rng, out);
  fuzz_cells_free(&cells);
  if (fuzz_one_of(rng, 16)) {
    fuzz_damage(rng, out, pieces, (int)(sizeof(pieces) / sizeof(pieces[0])));
  }
}

static fuzz_outcome take(support_rng *rng, int problem, const char *text, size_t length) {
  support_write_file("restart", text, length);
  return search(rng, problem);
}

static const fuzz_program program = {.name = "restart_fuzz",
                                     .inputs = 400,
                                     .inputs_long = 50000,
                                     .problems = PROBLEMS,
                                     .open = open_corpus,
                                     .close = close_corpus,
                                     .make = make,
                                     .take = take};
FUZZ_PROGRAM(program)
