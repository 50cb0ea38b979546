/* Model files whose structure is changed: numbers, names, types, keys, elements of other models, sections exchanged,
   wrong kinds and lengths. A model that loads is asked for something: most often for the gradient of a few steps in a
   formulation chosen at random. Every number that comes out without an error is finite.

   Base models: the gallery, every whole model of the manual, random models of all kinds. Elements of all of them and
   the fragments of the manual, which shows every key and every choice, are exchanged among each other.

   What it cannot produce: bytes that are no JSON apart from words in place of numbers (json_fuzz and model_fuzz do),
   parts that are changed themselves (the model around them is), models of more than some thirty bodies (of a dozen by
   qr), long runs, several faults far apart in one file more often than by chance. */
#include "support/fuzz_tree.h"
#include "support/random_model.h"

#include <dirent.h>
#include <string.h>

enum { BASES_MAX = 400, RANDOM = 60, BODIES_MAX = 40, ASKED_MAX = 300 };

static struct {
  char *text[BASES_MAX];
  char folder[BASES_MAX][512];
  int count;
  mbg_context *ctx;
  mbg__arena arena;
  fuzz_donors donors;
} corpus;

/* ---------------------------------------------------------------------- corpus */

static void add_base(const char *folder, const char *text, bool needed) {
  mbg_model *model = NULL;
  const bool loads = mbg_model_parse(corpus.ctx, "base", text, strlen(text), folder, &model) == MBG_OK;
  const bool small = mbg_model_body_count(model) <= BODIES_MAX;
  mbg_model_destroy(model);
  mbg_context_clear(corpus.ctx);
  CHECK(loads || !needed);
  if (!loads || !small) {
    return;
  }
  CHECK(corpus.count < BASES_MAX);
  corpus.text[corpus.count] = strdup(text);
  snprintf(corpus.folder[corpus.count++], sizeof(corpus.folder[0]), "%s", folder);
}

static void add_donor(const char *text) {
  const size_t length = strlen(text);
  char *kept = mbg__arena_text(&corpus.arena, text, length);
  CHECK(kept);
  fuzz_donors_add(&corpus.donors, fuzz_tree_parse(corpus.ctx, &corpus.arena, "donor", kept, length));
}

static void add_gallery(void) {
  struct dirent **list;
  char gallery[256];
  snprintf(gallery, sizeof(gallery), "%s/gallery", fuzz_root());
  const int count = scandir(gallery, &list, NULL, alphasort); /* the same order everywhere */
  CHECK(count > 10);
  for (int i = 0; i < count; i++) {
    char folder[512], path[600];
    snprintf(folder, sizeof(folder), "%s/%.200s", gallery, list[i]->d_name);
    snprintf(path, sizeof(path), "%s/model.json", folder);
    FILE *file = list[i]->d_name[0] == '.' ? NULL : fopen(path, "rb");
    if (file) {
      fclose(file);
      char *text = support_read_file(path, NULL);
      add_base(folder, text, true);
      add_donor(text);
      free(text);
    }
    free(list[i]);
  }
  free(list);
}

/* The blocks of a page of the manual: files with a name are written for the models that refer to them, models are
   bases, and every JSON gives elements. In the second pass all files are there. */
static void add_page(const char *page, bool files) {
  char path[600], name[100] = "";
  snprintf(path, sizeof(path), "%s/docs/%s", fuzz_root(), page);
  char *text = support_read_file(path, NULL), *line = text;
  while (*line) {
    char *end = strchr(line, '\n');
    end = end ? end : line + strlen(line);
    char *close = strncmp(line, "```", 3) == 0 ? strstr(end, "\n```") : NULL;
    if (close) {
      const bool json = strncmp(line + 3, "json\n", 5) == 0;
      *close = 0;
      if (files && name[0]) {
        support_write_file(name, end + 1, strlen(end + 1));
      }
      if (!files && json) {
        add_donor(end + 1);
        if (strstr(end, "\"mbgrad\"")) {
          add_base(".", end + 1, false);
        }
      }
      name[0] = 0;
      end = strchr(close + 1, '\n');
    } else if (line[0] == '`' && end - line < 60 && end[-1] == ':' && end[-2] == '`') {
      snprintf(name, sizeof(name), "%.*s", (int)(end - line) - 3, line + 1);
    }
    line = end && *end ? end + 1 : line + strlen(line);
  }
  free(text);
}

static void add_random(void) {
  for (uint64_t seed = 1; seed <= RANDOM; seed++) {
    random_model_options o = random_model_mix(seed);
    o.bodies = 2 + (int)(seed % 3);
    o.beams = seed % 5 == 1;
    o.modal = seed % 5 == 3;
    o.states = seed % 3 == 1;
    o.late = seed % 6 == 1 ? RANDOM_LATE_ACCELERATIONS : RANDOM_LATE_NONE;
    o.contacts = seed % 4 == 2;
    o.rolling = seed % 4 == 3;
    o.curves = seed % 2 == 1;
    char *text = random_model(seed, &o);
    add_base(".", text, true);
    add_donor(text);
    free(text);
  }
}

static void open_corpus(void) {
  static const char *const pages[] = {"model.md", "elements.md", "expressions.md", "states.md", "events.md"};
  enum { PAGES = sizeof(pages) / sizeof(pages[0]) };
  CHECK(mbg_context_create(NULL, &corpus.ctx) == MBG_OK);
  mbg__arena_init(&corpus.arena, mbg__context_allocator(corpus.ctx));
  for (int i = 0; i < 2 * PAGES; i++) {
    add_page(pages[i % PAGES], i < PAGES);
  }
  add_gallery();
  add_random();
  fuzz_donors_sort(&corpus.donors);
}

static void close_corpus(void) {
  fuzz_donors_free(&corpus.donors);
  mbg__arena_destroy(&corpus.arena);
  mbg_context_destroy(corpus.ctx);
  for (int i = 0; i < corpus.count; i++) {
    free(corpus.text[i]);
  }
}

/* ---------------------------------------------------------------------- inputs */

static int base_of(int problem) { return problem % corpus.count; }

static void make(support_rng *rng, int problem, fuzz_text *out) {
  const char *text = corpus.text[base_of(problem)];
  mbg__arena arena;
  mbg__arena_init(&arena, mbg__context_allocator(corpus.ctx));
  mbg__json *tree = fuzz_tree_parse(corpus.ctx, &arena, "base", text, strlen(text));
  const int force = support_index(rng, 8); /* half of the inputs change numbers alone, and load most of the time */
  int changes = 1 + support_index(rng, 3);
  for (int i = 0; i < changes; i++) {
    fuzz_tree_change(rng, &arena, &tree, &corpus.donors,
                     force < 3   ? FUZZ_NUMBERS
                     : force < 6 ? FUZZ_GENTLE
                                 : FUZZ_ROUGH);
  }
  fuzz_tree_put(out, tree);
  mbg__arena_destroy(&arena);
}

static fuzz_outcome take(support_rng *rng, int problem, const char *text, size_t length) {
  mbg_context *ctx = fuzz_context();
  mbg_model *model = NULL;
  fuzz_outcome outcome = FUZZ_REFUSED;
  const int err = mbg_model_parse(ctx, "model.json", text, length, corpus.folder[base_of(problem)], &model);
  if (err < 0) {
    CHECK(model == NULL);
    fuzz_check_error(ctx, err);
  } else { /* a beam may have got a thousand elements: that takes its time, and is no hang */
    outcome = mbg_model_body_count(model) <= ASKED_MAX ? fuzz_ask(rng, ctx, model) : FUZZ_ACCEPTED;
  }
  mbg_model_destroy(model);
  fuzz_context_close(ctx);
  return outcome;
}

static const fuzz_program program = {.name = "tree_fuzz",
                                     .inputs = 250,
                                     .inputs_long = 20000,
                                     .problems = 1 << 20, /* any base, whatever their number */
                                     .open = open_corpus,
                                     .close = close_corpus,
                                     .make = make,
                                     .take = take};
FUZZ_PROGRAM(program)
