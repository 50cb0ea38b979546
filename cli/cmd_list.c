/* mbgrad list: the gallery */
#include "cli.h"
#include "gallery.h"
#include "mbgrad/model.h"
#include "text.h"

#include <stdio.h>
#include <stdlib.h>

/* the note of a model; "" when it has none or cannot be read. To be freed. */
static char *note_of(mbg_context *ctx, const char *name) {
  char *folder = cli_gallery_find(name), *note = NULL;
  mbg_model *model = NULL;
  if (folder && mbg_model_load(ctx, folder, &model) == MBG_OK) {
    note = cli_copy(mbg_model_note(model));
  }
  mbg_model_destroy(model);
  mbg_context_clear(ctx);
  free(folder);
  return note ? note : cli_copy("");
}

static void print_json(char *const *names, char *const *notes, int count) {
  printf("[");
  for (int i = 0; i < count; i++) {
    printf(i > 0 ? ",\n  {\"name\": " : "\n  {\"name\": ");
    cli_json_string(names[i]);
    printf(", \"note\": ");
    cli_json_string(notes[i]);
    printf("}");
  }
  printf("\n]\n");
}

static void print_lines(char *const *names, char *const *notes, int count) {
  int width = 0;
  for (int i = 0; i < count; i++) {
    const int w = cli_columns(names[i]);
    width = w > width ? w : width;
  }
  for (int i = 0; i < count; i++) {
    char *first = cli_format("%s%*s", names[i], width + 2 - cli_columns(names[i]), "");
    cli_paragraph(first, notes[i]);
    free(first);
  }
}

static int list(const cli_args *args) {
  mbg_context *ctx;
  char **names, **notes;
  const int count = cli_gallery_names(&names);
  if (count == 0) {
    cli_gallery_names_destroy(names, count);
    return cli_bad_input("the gallery is not there or empty; set MBGRAD_GALLERY to its folder");
  }
  if (mbg_context_create(NULL, &ctx) < 0) {
    return cli_failed("out of memory");
  }
  notes = cli_resize(NULL, (size_t)count, sizeof(*notes));
  for (int i = 0; i < count; i++) {
    notes[i] = note_of(ctx, names[i]);
  }
  (cli_flag(args, "json") ? print_json : print_lines)(names, notes, count);
  cli_gallery_names_destroy(names, count);
  cli_gallery_names_destroy(notes, count);
  mbg_context_destroy(ctx);
  return CLI_DONE;
}

static const cli_option options[] = {CLI_OPTION_JSON};

extern const cli_command cli_cmd_list;

const cli_command cli_cmd_list = {
    .name = "list",
    .arguments = "",
    .summary = "the models of the gallery",
    .details =
        "Lists the models that come with the program. Each name can be given as MODEL; mbgrad new NAME copies one.\n",
    .options = options,
    .noption = 1,
    .run = list,
};
