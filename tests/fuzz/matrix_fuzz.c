/* Matrices of finite-element programs (Matrix Market) behind modal bodies: mass, stiffness, shapes. Words of the head,
   sizes, indices and entries of a good matrix are changed; then the model is loaded and asked.

   What it cannot produce: matrices of more than some hundred entries, two damaged files at once, matrices that are
   changed consistently (another mesh). */
#include "support/fuzz_cells.h"

#include <string.h>

enum { PROBLEMS = 3 };

static const char *const names[PROBLEMS] = {"mass.mtx", "stiffness.mtx", "shapes.mtx"};
static char *model_text, *texts[PROBLEMS];
static fuzz_cells cells;

static void open_corpus(void) {
  fuzz_copy_corpus("nodes.csv", "nodes.csv");
  model_text = fuzz_corpus("modal.json");
  for (int i = 0; i < PROBLEMS; i++) {
    texts[i] = fuzz_corpus(names[i]);
  }
}

static void close_corpus(void) {
  free(model_text);
  for (int i = 0; i < PROBLEMS; i++) {
    free(texts[i]);
  }
}

static void change_head(support_rng *rng) {
  static const char *const words[] = {"matrix",         "vector",    "coordinate", "array",   "real",
                                      "integer",        "complex",   "pattern",    "general", "symmetric",
                                      "skew-symmetric", "hermitian", "REAL",       ""};
  if (fuzz_one_of(rng, 2)) { /* the sizes */
    char text[64];
    const int j = support_index(rng, 3);
    if (j < cells.line[1].count) {
      fuzz_cells_decimal(rng, cells.line[1].cell[j], text);
      fuzz_cells_set(&cells, 1, j, text);
    }
  } else {
    fuzz_cells_set(&cells, 0, support_index(rng, 5), FUZZ_PICK(rng, words));
  }
}

/* the number of entries follows the lines, most of the time */
static void repair(support_rng *rng, int problem) {
  char text[64];
  if (problem < 2 && cells.count > 2 && cells.line[1].count == 3 && !fuzz_one_of(rng, 6)) {
    snprintf(text, sizeof(text), "%d", cells.count - 2);
    fuzz_cells_set(&cells, 1, 2, text);
  }
}

/* an entry stays where it is, its value changes */
static void change_value(support_rng *rng) {
  if (cells.count > 2) {
    char text[64];
    const int i = 2 + support_index(rng, cells.count - 2), j = cells.line[i].count - 1;
    if (j >= 0) {
      fuzz_cells_decimal(rng, cells.line[i].cell[j], text);
      fuzz_cells_set(&cells, i, j, text);
    }
  }
}

static void make(support_rng *rng, int problem, fuzz_text *out) {
  static const char *const pieces[] = {"", " ", "%", "\n", "\r\n", "-", "1e", "0", "\xff", "%%MatrixMarket"};
  fuzz_cells_read(&cells, texts[problem], ' ');
  const int force = support_index(rng, 10);
  for (int n = support_index(rng, 3); n >= 0; n--) {
    if (force < 5) {
      change_value(rng);
    } else if (force < 6) {
      fuzz_cells_change_cell(rng, &cells, 2, fuzz_cells_decimal);
    } else if (force < 8) {
      fuzz_cells_change_shape(rng, &cells, fuzz_one_of(rng, 8) ? 0 : 2);
      repair(rng, problem);
    } else {
      change_head(rng);
    }
  }
  for (int i = 0; i < cells.count; i++) {
    for (int j = 0; j < cells.line[i].count; j++) {
      fuzz_printf(out, "%s%s", j ? (fuzz_one_of(rng, 60) ? "\t  " : " ") : "", cells.line[i].cell[j]);
    }
    fuzz_puts(out, fuzz_one_of(rng, 100) ? "\n\n% a comment\n" : "\n");
  }
  fuzz_cells_free(&cells);
  if (fuzz_one_of(rng, 16)) {
    fuzz_damage(rng, out, pieces, (int)(sizeof(pieces) / sizeof(pieces[0])));
  }
}

static fuzz_outcome take(support_rng *rng, int problem, const char *text, size_t length) {
  mbg_context *ctx = fuzz_context();
  mbg_model *model = NULL;
  fuzz_outcome outcome = FUZZ_REFUSED;
  for (int i = 0; i < PROBLEMS; i++) {
    support_write_file(names[i], i == problem ? text : texts[i], i == problem ? length : strlen(texts[i]));
  }
  const int err = mbg_model_parse(ctx, "model.json", model_text, strlen(model_text), NULL, &model);
  if (err < 0) {
    fuzz_check_error(ctx, err);
  } else {
    outcome = fuzz_ask(rng, ctx, model);
  }
  mbg_model_destroy(model);
  fuzz_context_close(ctx);
  return outcome;
}

static const fuzz_program program = {.name = "matrix_fuzz",
                                     .inputs = 800,
                                     .inputs_long = 50000,
                                     .problems = PROBLEMS,
                                     .open = open_corpus,
                                     .close = close_corpus,
                                     .make = make,
                                     .take = take};
FUZZ_PROGRAM(program)
