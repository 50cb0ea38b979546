#include "topics.h"

#include "cli.h"
#include "mbgrad/model.h"
#include "mbgrad/run.h"
#include "schema.h"
#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_COLUMN = 22 }; /* of keys and types */

/* ---------------------------------------------------------------------- written topics */

static const char units_text[] =
    "Units are SI throughout: metres, kilograms, seconds, newtons, radians. A parameter's \"unit\" is a label for "
    "tables\n"
    "and plots; nothing is converted. The exception is deg, which stands behind a number and multiplies by pi/180:\n\n"
    "  \"axis_angle\": \"30 deg\"\n\n"
    "A unit system of your own works when it is consistent (mm, t, s give N and MPa); gravity is part of the model\n"
    "(\"gravity\": [0, 0, -9.81]), so no constant of the program has a unit.\n";

static const char expressions_text[] =
    "Wherever a model file takes a number it takes a string with an expression: \"m*l^2/12\", \"30 deg\", "
    "\"A*sin(2*pi*f*t)\".\n"
    "Names are parameters, constants and tables; laws and forces also know t, controls, x and v; criteria know "
    "signals.\n"
    "Expressions are differentiated exactly. docs/expressions.md lists operators and functions.\n\n"
    "  \"constants\": { \"J\": \"m*l^2/12\" }\n"
    "  \"criteria\":  { \"effort\": { \"integral\": \"u^2\" } }\n";

static const char files_text[] =
    "MODEL is a file, a folder that holds model.json, or a name of the gallery.\n\n"
    "  FILE.json           models, restart files, results with --json\n"
    "  FILE.csv            signals, measured data, controls, tables: a heading, then rows of numbers\n"
    "  FILE.h5             results with everything in them (HDF5)\n"
    "  FILE.mtx            matrices of modal bodies (Matrix Market)\n"
    "  FILE.svg .png .pdf  plots and pictures\n"
    "  FILE.html           pages of mbgrad view and mbgrad report; they need nothing else\n"
    "  FILE.glb            the motion for other viewers\n"
    "  FILE.urdf .sdf .xml robots, for mbgrad import\n\n"
    "Files are written beside their place and then renamed: a file is whole or not there.\n";

static const char environment_text[] =
    "  MBGRAD_GALLERY  folder of the gallery, instead of the one that came with the program\n"
    "  NO_COLOR        any value: no colours and no bold text\n\n"
    "Exit status: 0 done, 1 the run failed (no convergence, a singular mechanism, a file that could not be written),\n"
    "2 bad input (model, data or command line), 3 the steps are too long for the accuracy that was asked for.\n";

static const char which_text[] =
    "\nWhich one to take:\n"
    "  lie    the default: every element, trees and loops, beams, contact, events; direct and adjoint\n"
    "  dae    the same mechanisms in absolute coordinates; forward by HHT\n"
    "  ali3p  loops and redundant constraints that trouble others; vehicles\n"
    "  qr     small mechanisms at high accuracy (tolerances of 1e-10): error control, stiff ones with bdf\n"
    "  dca    long chains and trees of many bodies; parallel\n"
    "mbgrad compare MODEL runs all of them and prints values, gradients and times side by side.\n";

static void print_formulations(void) {
  cli_table table = cli_table_make("llll");
  cli_table_texts(&table, "key", "formulation", "paper", "integrators", NULL);
  for (int i = 0; i < mbg_formulation_count(); i++) {
    cli_table_text(&table, mbg_formulation_key(i));
    cli_table_text(&table, mbg_formulation_name(i));
    cli_table_text(&table, mbg_formulation_paper(i));
    cli_table_text(&table, mbg_formulation_integrators(i)[0] ? mbg_formulation_integrators(i) : "its own steps");
  }
  cli_table_print(&table, 2);
  cli_table_destroy(&table);
  fputs(which_text, stdout);
}

static void print_methods(void) {
  cli_table table = cli_table_make("ll");
  for (int m = MBG_METHOD_DIRECT; m < MBG_METHOD_COUNT; m++) {
    char list[128] = "";
    for (int i = 0; i < mbg_formulation_count(); i++) {
      if (mbg_formulation_has(i, (mbg_method)m)) {
        const size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", used > 0 ? ", " : "", mbg_formulation_key(i));
      }
    }
    cli_table_text(&table, mbg_method_name((mbg_method)m));
    cli_table_text(&table, list);
  }
  printf("Methods of differentiation, and the formulations that have them:\n\n");
  cli_table_print(&table, 2);
  cli_table_destroy(&table);
  printf(
      "\nThe cost of direct grows with the number of parameters, the cost of adjoint with the number of criteria; both "
      "give\n"
      "the same gradient, exact for the steps made. Without --method the cheaper one is taken. The continuous adjoint\n"
      "and the form of the paper converge to them as the step goes to 0.\n");
}

static const struct {
  const char *name, *summary, *text; /* text NULL: printed by the function */
  void (*print)(void);
} topics[] = {
    {"formulations", "the five formulations, and which one to take", NULL, print_formulations},
    {"methods", "direct differentiation and adjoints", NULL, print_methods},
    {"units", "SI units, angles, deg", units_text, NULL},
    {"expressions", "formulas in place of numbers", expressions_text, NULL},
    {"files", "files that are read and written", files_text, NULL},
    {"environment", "environment variables, exit status", environment_text, NULL},
};
enum { NTOPIC = sizeof topics / sizeof *topics };

/* ---------------------------------------------------------------------- model files */

static void add_description(cli_table *table, cli_json node, const char *mark) {
  char *text = cli_json_text(cli_json_member(node, "description"));
  char *whole = cli_format("%s%s", text, mark);
  cli_table_lines(table, whole, CLI_WIDTH - KEY_COLUMN - 4);
  free(whole);
  free(text);
}

static bool listed(cli_json array, const char *word) {
  for (int i = 0;; i++) {
    cli_json entry = cli_json_entry(array, i);
    if (!entry) {
      return false;
    }
    char *text = cli_json_text(entry);
    const bool same = !strcmp(text, word);
    free(text);
    if (same) {
      return true;
    }
  }
}

/* the keys of an object of the schema, each with its description */
static void print_keys(cli_json object) {
  cli_json keys = cli_json_member(object, "properties"), required = cli_json_member(object, "required");
  cli_table table = cli_table_make("ll");
  char *key;
  for (int i = 0; (key = cli_json_key(keys, i)); i++) {
    cli_json value = cli_json_member(keys, key);
    if (strcmp(key, "note") != 0 && !cli_json_member(value, "const")) {
      cli_table_text(&table, key);
      add_description(&table, value, listed(required, key) ? " (required)" : "");
    }
    free(key);
  }
  cli_table_print(&table, 2);
  cli_table_destroy(&table);
}

static cli_json type_of(cli_json object) {
  return cli_json_member(cli_json_member(cli_json_member(object, "properties"), "type"), "const");
}

/* an object with named keys */
static bool has_keys(cli_json object) { return cli_json_key_count(cli_json_member(object, "properties")) > 0; }

static void print_description(cli_json node) {
  char *text = cli_json_text(cli_json_member(node, "description"));
  if (text[0]) {
    printf(": %s", text);
  }
  printf("\n\n");
  free(text);
}

static int unknown_type(cli_json schema, cli_json section, const char *name, const char *type) {
  enum { MOST = 256 };
  const char *names[MOST];
  cli_json alternative;
  char *found;
  int count = 0;
  while (count < MOST && (found = cli_schema_type(schema, section, count, &alternative))) {
    names[count++] = found;
  }
  const char *near = cli_nearest(type, names, count);
  const int status = near ? cli_bad_input("%s: no type '%s'; did you mean '%s'?", name, type, near)
                          : cli_bad_input("%s: no type '%s' (mbgrad help %s lists them)", name, type, name);
  for (int i = 0; i < count; i++) {
    free((char *)names[i]);
  }
  return status;
}

static int print_type(cli_json schema, cli_json section, const char *name, const char *type) {
  cli_json alternative;
  char *found;
  for (int i = 0; (found = cli_schema_type(schema, section, i, &alternative)); i++) {
    const bool same = !strcmp(found, type);
    free(found);
    if (same) {
      printf("%s, type %s", name, type);
      print_description(alternative);
      print_keys(alternative);
      return CLI_DONE;
    }
  }
  return unknown_type(schema, section, name, type);
}

static void print_types(cli_json schema, cli_json section, const char *name) {
  printf("Types:\n");
  cli_table table = cli_table_make("ll");
  cli_json alternative = NULL;
  char *type;
  for (int i = 0; (type = cli_schema_type(schema, section, i, &alternative)); i++) {
    cli_table_text(&table, type);
    add_description(&table, alternative, "");
    free(type);
  }
  cli_table_print(&table, 2);
  cli_table_destroy(&table);
  printf("\nmbgrad help %s TYPE lists the keys of one; docs/model.md has an example of each.\n", name);
}

/* alternatives without a type, told apart by their keys: rigid bodies, the kinds of criteria */
static void print_alternatives(cli_json schema, cli_json section) {
  cli_json all = cli_json_member(section, "anyOf"), entry;
  const char *between = "";
  for (int i = 0; (entry = cli_schema_target(schema, cli_json_entry(all, i))); i++) {
    if (has_keys(entry) && !type_of(entry)) {
      fputs(between, stdout);
      print_keys(entry);
      between = "or\n";
    }
  }
}

static int print_section(cli_json schema, const char *name, const char *type) {
  cli_json section = cli_schema_section(schema, name), alternative = NULL;
  char *some = cli_schema_type(schema, section, 0, &alternative);
  int status = CLI_DONE;
  if (type) {
    status = some ? print_type(schema, section, name, type)
                  : cli_bad_input("the entries of %s have no types; mbgrad help %s lists their keys", name, name);
  } else {
    printf("\"%s\" in a model file", name);
    print_description(cli_json_member(cli_json_member(schema, "properties"), name));
    if (has_keys(section)) {
      print_keys(section);
    }
    print_alternatives(schema, section);
    if (some) {
      print_types(schema, section, name);
    }
  }
  free(some);
  return status;
}

/* ---------------------------------------------------------------------- all of them */

/* sections that are worth a topic: objects with keys, and lists of them */
static bool is_section(cli_json schema, const char *key) {
  cli_json section = cli_schema_section(schema, key), entry;
  bool keys = section && has_keys(section);
  for (int i = 0; section && (entry = cli_schema_target(schema, cli_json_entry(cli_json_member(section, "anyOf"), i)));
       i++) {
    keys = keys || has_keys(entry);
  }
  return keys;
}

static char *schema_text(mbg_context *ctx) {
  char *text = NULL;
  return mbg_model_schema(ctx, &text) == MBG_OK ? text : NULL;
}

char **cli_topic_names(void) {
  mbg_context *ctx = NULL;
  char *schema = mbg_context_create(NULL, &ctx) == MBG_OK ? schema_text(ctx) : NULL, *key;
  char **names = cli_resize(NULL, NTOPIC + 256, sizeof *names);
  int count = 0;
  for (int i = 0; i < NTOPIC; i++) {
    names[count++] = cli_copy(topics[i].name);
  }
  for (int i = 0; schema && count < NTOPIC + 255 && (key = cli_json_key(cli_json_member(schema, "properties"), i));
       i++) {
    if (is_section(schema, key)) {
      names[count++] = key;
    } else {
      free(key);
    }
  }
  names[count] = NULL;
  mbg_text_destroy(ctx, schema);
  mbg_context_destroy(ctx);
  return names;
}

void cli_topic_names_destroy(char **names) {
  for (int i = 0; names[i]; i++) {
    free(names[i]);
  }
  free(names);
}

bool cli_topic_known(const char *topic) {
  char **names = cli_topic_names();
  bool known = false;
  for (int i = 0; names[i]; i++) {
    known = known || !strcmp(names[i], topic);
  }
  cli_topic_names_destroy(names);
  return known;
}

int cli_topic_print(const char *topic, const char *detail) {
  for (int i = 0; i < NTOPIC; i++) {
    if (!strcmp(topics[i].name, topic)) {
      if (detail) {
        return cli_bad_input("help %s: '%s' is one argument too many", topic, detail);
      }
      if (topics[i].text) {
        fputs(topics[i].text, stdout);
      } else {
        topics[i].print();
      }
      return CLI_DONE;
    }
  }
  mbg_context *ctx = NULL;
  char *schema = mbg_context_create(NULL, &ctx) == MBG_OK ? schema_text(ctx) : NULL;
  const int status = schema ? print_section(schema, topic, detail) : cli_failed("out of memory");
  mbg_text_destroy(ctx, schema);
  mbg_context_destroy(ctx);
  return status;
}
