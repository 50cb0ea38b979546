/* Files of controls: samples as CSV that a model reads back, and the control of an older search as JSON. Times and
   values are changed, lines missing, doubled and exchanged, names and structure wrong; then the model is simulated and
   differentiated, or the control is improved from there.

   What it cannot produce: many samples, controls whose files differ from each other. */
#include "support/fuzz_cells.h"
#include "support/fuzz_tree.h"

#include <string.h>

enum { SAMPLES, RESTART, PROBLEMS };

static char *model_text, *samples, *restart;
static mbg_context *corpus_ctx;
static fuzz_cells cells;

static void open_corpus(void) {
  mbg_control_options o;
  mbg_model *model = NULL;
  mbg_control *control = NULL;
  CHECK(mbg_context_create(NULL, &corpus_ctx) == MBG_OK);
  model_text = fuzz_corpus("controlled.json");
  samples = fuzz_corpus("controlled.csv");
  support_write_file("data.csv", samples, strlen(samples));
  mbg_control_options_default(&o, sizeof(o));
  o.iterations = 2;
  CHECK(mbg_model_parse(corpus_ctx, "model.json", model_text, strlen(model_text), NULL, &model) == MBG_OK);
  CHECK(mbg_control_create(corpus_ctx, model, &o, &control) == MBG_OK);
  CHECK(mbg_control_solve(corpus_ctx, control) == MBG_OK);
  CHECK(mbg_control_write_restart(corpus_ctx, control, "restart") == MBG_OK);
  restart = support_read_file("restart", NULL);
  mbg_control_destroy(control);
  mbg_model_destroy(model);
}

static void close_corpus(void) {
  mbg_context_destroy(corpus_ctx);
  free(model_text);
  free(samples);
  free(restart);
}

static void make_samples(support_rng *rng, fuzz_text *out) {
  fuzz_cells_read(&cells, samples, ',');
  const int force = support_index(rng, 8);
  for (int n = support_index(rng, 3); n >= 0; n--) {
    if (force < 5) {
      fuzz_cells_change_cell(rng, &cells, fuzz_one_of(rng, 12) ? 0 : 1, fuzz_cells_decimal);
    } else {
      fuzz_cells_change_shape(rng, &cells, fuzz_one_of(rng, 6) ? 0 : 1);
    }
  }
  for (int i = 0; i < cells.count; i++) {
    for (int j = 0; j < cells.line[i].count; j++) {
      fuzz_printf(out, "%s%s", j ? "," : "", cells.line[i].cell[j]);
    }
    fuzz_puts(out, "\n");
  }
  fuzz_cells_free(&cells);
}

static void make_restart(support_rng *rng, fuzz_text *out) {
  mbg__arena arena;
  mbg__arena_init(&arena, mbg__context_allocator(corpus_ctx));
  mbg__json *tree = fuzz_tree_parse(corpus_ctx, &arena, "restart", restart, strlen(restart));
  const int force = support_index(rng, 4);
  for (int n = support_index(rng, 3); n >= 0; n--) {
    fuzz_tree_change(rng, &arena, &tree, NULL, force < 2 ? FUZZ_NUMBERS : FUZZ_ROUGH);
  }
  fuzz_tree_put(out, tree);
  mbg__arena_destroy(&arena);
}

static void make(support_rng *rng, int problem, fuzz_text *out) {
  (problem == SAMPLES ? make_samples : make_restart)(rng, out);
}

static fuzz_outcome take(support_rng *rng, int problem, const char *text, size_t length) {
  mbg_context *ctx = fuzz_context();
  mbg_model *model = NULL;
  fuzz_outcome outcome = FUZZ_REFUSED;
  support_write_file("data.csv", problem == SAMPLES ? text : samples, problem == SAMPLES ? length : strlen(samples));
  support_write_file("restart", problem == RESTART ? text : "", problem == RESTART ? length : 0);
  const int err = mbg_model_parse(ctx, "model.json", model_text, strlen(model_text), NULL, &model);
  if (err < 0) {
    fuzz_check_error(ctx, err);
  } else if (problem == RESTART) {
    outcome = fuzz_ask_control(rng, ctx, model, "restart");
  } else {
    outcome = fuzz_one_of(rng, 2) ? fuzz_ask_control(rng, ctx, model, NULL) : fuzz_ask(rng, ctx, model);
    outcome = outcome == FUZZ_REFUSED ? FUZZ_ACCEPTED : outcome;
  }
  mbg_model_destroy(model);
  fuzz_context_close(ctx);
  return outcome;
}

static const fuzz_program program = {.name = "control_fuzz",
                                     .inputs = 500,
                                     .inputs_long = 50000,
                                     .problems = PROBLEMS,
                                     .open = open_corpus,
                                     .close = close_corpus,
                                     .make = make,
                                     .take = take};
FUZZ_PROGRAM(program)
