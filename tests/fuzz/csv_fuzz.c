/* Tables of numbers (CSV) behind a model: laws of forces, measurements with and without standard deviations, data of
   several experiments, nodes of a mesh. Cells, lines, columns and names of a good table are changed; then the model is
   loaded, simulated and differentiated or fitted.

   What it cannot produce: tables of more than some hundred lines, names that the model does not ask for, models that
   read several different files; bytes without any structure come from json_fuzz. */
#include "support/fuzz_cells.h"

#include <string.h>

enum { PROBLEMS = 4 };

static const struct {
  const char *model, *data, *file;
} files[PROBLEMS] = {{"table.json", "table.csv", "data.csv"},
                     {"fit.json", "fit.csv", "data.csv"},
                     {"experiments.json", "fit.csv", "data.csv"},
                     {"modal.json", "nodes.csv", "nodes.csv"}};

static char *models[PROBLEMS], *tables[PROBLEMS];
static fuzz_cells cells;

static void open_corpus(void) {
  static const char *const matrices[] = {"mass.mtx", "stiffness.mtx", "shapes.mtx"};
  for (int i = 0; i < PROBLEMS; i++) {
    models[i] = fuzz_corpus(files[i].model);
    tables[i] = fuzz_corpus(files[i].data);
  }
  for (int i = 0; i < 3; i++) {
    fuzz_copy_corpus(matrices[i], matrices[i]);
  }
}

static void close_corpus(void) {
  for (int i = 0; i < PROBLEMS; i++) {
    free(models[i]);
    free(tables[i]);
  }
}

/* the text with other separators, ends of lines, quotes, comments */
static void put(support_rng *rng, fuzz_text *out) {
  static const char *const separators[] = {",", ";", "\t", ", ", " ; ", "|"}, *const ends[] = {"\n", "\r\n", "\n\n",
                                                                                               "\r"};
  const char *separator = fuzz_one_of(rng, 3) ? FUZZ_PICK(rng, separators) : ",";
  const char *end = fuzz_one_of(rng, 4) ? FUZZ_PICK(rng, ends) : "\n";
  fuzz_puts(out, fuzz_one_of(rng, 12) ? "\xef\xbb\xbf" : fuzz_one_of(rng, 12) ? "# measured\n" : "");
  for (int i = 0; i < cells.count; i++) {
    for (int j = 0; j < cells.line[i].count; j++) {
      const bool quoted = fuzz_one_of(rng, 40);
      fuzz_printf(out, "%s%s%s%s", j ? separator : "", quoted ? "\"" : "", cells.line[i].cell[j], quoted ? "\"" : "");
    }
    fuzz_puts(out, i + 1 < cells.count || !fuzz_one_of(rng, 6) ? end : "");
  }
}

static void make(support_rng *rng, int problem, fuzz_text *out) {
  static const char *const pieces[] = {"", ",", ";", "\t", "\"", "\n", "\r", "#", "nan", "-", "1e", "\xff", "0"};
  fuzz_cells_read(&cells, tables[problem], ',');
  const int force = support_index(rng, 8);
  for (int n = support_index(rng, 4); n >= 0; n--) {
    if (force < 5) {
      fuzz_cells_change_cell(rng, &cells, fuzz_one_of(rng, 12) ? 0 : 1, fuzz_cells_decimal);
    } else {
      fuzz_cells_change_shape(rng, &cells, fuzz_one_of(rng, 4) ? 0 : 1);
    }
  }
  put(rng, out);
  fuzz_cells_free(&cells);
  if (fuzz_one_of(rng, 16)) {
    fuzz_damage(rng, out, pieces, (int)(sizeof(pieces) / sizeof(pieces[0])));
  }
}

static fuzz_outcome take(support_rng *rng, int problem, const char *text, size_t length) {
  mbg_context *ctx = fuzz_context();
  mbg_model *model = NULL;
  fuzz_outcome outcome = FUZZ_REFUSED;
  support_write_file(files[problem].file, text, length);
  const int err = mbg_model_parse(ctx, "model.json", models[problem], strlen(models[problem]), NULL, &model);
  if (err < 0) {
    fuzz_check_error(ctx, err);
  } else if ((problem == 1 || problem == 2) && !fuzz_one_of(rng, 4)) {
    outcome = fuzz_ask_identify(rng, ctx, model, NULL);
  } else {
    outcome = fuzz_ask(rng, ctx, model);
  }
  mbg_model_destroy(model);
  fuzz_context_close(ctx);
  return err == MBG_OK && outcome == FUZZ_REFUSED ? FUZZ_ACCEPTED : outcome;
}

static const fuzz_program program = {.name = "csv_fuzz",
                                     .inputs = 1000,
                                     .inputs_long = 50000,
                                     .problems = PROBLEMS,
                                     .open = open_corpus,
                                     .close = close_corpus,
                                     .make = make,
                                     .take = take};
FUZZ_PROGRAM(program)
