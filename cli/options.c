#include "options.h"

#include "cli.h"
#include "mbgrad/run.h"
#include "table.h"
#include "text.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------- parsing */

/* letters of the common options, the same in every command that has them */
static const struct {
  char letter;
  const char *name;
} letters[] = {{'s', "set"},  {'f', "formulation"}, {'m', "method"}, {'c', "criteria"},
               {'e', "end"},  {'t', "tolerance"},   {'r', "run"},    {'o', "out"},
               {'p', "plot"}, {'j', "json"},        {'q', "quiet"},  {'n', "threads"}};

char cli_option_letter(const char *name) {
  for (size_t i = 0; i < sizeof letters / sizeof *letters; i++) {
    if (!strcmp(letters[i].name, name)) {
      return letters[i].letter;
    }
  }
  return 0;
}

static const cli_option *find(const cli_command *command, const char *name, size_t length) {
  for (int i = 0; i < command->noption; i++) {
    if (strlen(command->options[i].name) == length && !strncmp(command->options[i].name, name, length)) {
      return &command->options[i];
    }
  }
  return NULL;
}

/* -s: the option of the command with that letter */
static const cli_option *find_letter(const cli_command *command, const char *word) {
  for (int i = 0; word[0] && !word[1] && i < command->noption; i++) {
    if (cli_option_letter(command->options[i].name) == word[0]) {
      return &command->options[i];
    }
  }
  return NULL;
}

static int unknown(const cli_command *command, const char *argument, const char *name, size_t length) {
  enum { MOST = 64 };
  const char *names[MOST] = {"help"};
  int count = 1;
  for (int i = 0; i < command->noption && count < MOST; i++) {
    names[count++] = command->options[i].name;
  }
  char *word = cli_format("%.*s", (int)length, name);
  const char *near = cli_nearest(word, names, count);
  free(word);
  if (near) {
    return cli_bad_input("%s: unknown option '%s'; did you mean '--%s'?", command->name, argument, near);
  }
  return cli_bad_input("%s: unknown option '%s' (mbgrad help %s lists them)", command->name, argument, command->name);
}

static bool already(const cli_args *args, const cli_option *option) {
  for (int i = 0; i < args->ngiven; i++) {
    if (args->given[i].option == option) {
      return true;
    }
  }
  return false;
}

/* argv[0] is the option; *used is set to 2 when it took the next word */
static int parse_option(cli_args *args, int argc, char **argv, int *used) {
  const bool is_long = argv[0][1] == '-';
  const char *name = argv[0] + 1 + is_long, *equals = is_long ? strchr(argv[0], '=') : NULL;
  const size_t length = equals ? (size_t)(equals - name) : strlen(name);
  *used = 1;
  if (!strcmp(argv[0], "-h") || !strcmp(argv[0], "--help")) {
    args->help = true;
    return CLI_DONE;
  }
  const cli_option *option = is_long ? find(args->command, name, length) : find_letter(args->command, name);
  if (!option) {
    return unknown(args->command, argv[0], name, length);
  }
  if (!option->value && equals) {
    return cli_bad_input("%s: option '--%s' takes no value", args->command->name, option->name);
  }
  if (option->kind != CLI_MANY && already(args, option)) {
    return cli_bad_input("%s: option '--%s' is given twice", args->command->name, option->name);
  }
  cli_given given = {.option = option, .value = equals ? equals + 1 : NULL};
  if (option->value && !equals) {
    if (argc < 2) {
      return cli_bad_input("%s: option '--%s' needs a value: --%s %s", args->command->name, option->name, option->name,
                           option->value);
    }
    given.value = argv[1];
    *used = 2;
  }
  args->given[args->ngiven++] = given;
  return CLI_DONE;
}

static int check_count(const cli_args *args) {
  const cli_command *c = args->command;
  if (args->count < c->least) {
    return cli_bad_input("%s: an argument is missing: mbgrad %s %s", c->name, c->name, c->arguments);
  }
  if (args->count > c->most) {
    return cli_bad_input("%s: '%s' is one argument too many: mbgrad %s %s", c->name, args->argument[c->most], c->name,
                         c->arguments);
  }
  return CLI_DONE;
}

int cli_args_parse(cli_args *args, const cli_command *command, int argc, char **argv) {
  bool options = true;
  *args = (cli_args){.command = command};
  args->argument = cli_resize(NULL, (size_t)argc, sizeof(*args->argument));
  args->given = cli_resize(NULL, (size_t)argc, sizeof(*args->given));
  for (int i = 0, used; i < argc; i += used) {
    used = 1;
    if (options && !strcmp(argv[i], "--")) {
      options = false;
    } else if (options && argv[i][0] == '-' && argv[i][1]) {
      const int status = parse_option(args, argc - i, argv + i, &used);
      if (status != CLI_DONE) {
        return status;
      }
    } else {
      args->argument[args->count++] = argv[i];
    }
  }
  return args->help ? CLI_DONE : check_count(args);
}

void cli_args_destroy(cli_args *args) {
  free(args->argument);
  free(args->given);
}

/* ---------------------------------------------------------------------- given options */

bool cli_flag(const cli_args *args, const char *name) {
  const cli_option *option = find(args->command, name, strlen(name));
  assert(option && !option->value);
  return already(args, option);
}

bool cli_has(const cli_args *args, const char *name) {
  const cli_option *option = find(args->command, name, strlen(name));
  assert(option);
  return already(args, option);
}

bool cli_takes(const cli_args *args, const char *name) { return find(args->command, name, strlen(name)) != NULL; }

const char *cli_value(const cli_args *args, const char *name, int index) {
  const cli_option *option = find(args->command, name, strlen(name));
  assert(option && option->value);
  for (int i = 0; i < args->ngiven; i++) {
    if (args->given[i].option == option && index-- == 0) {
      return args->given[i].value;
    }
  }
  return NULL;
}

/* ---------------------------------------------------------------------- help */

/* the library's lists, for the marks in a text of help */
static void append(char *list, size_t size, const char *before, const char *word) {
  const size_t used = strlen(list);
  snprintf(list + used, size - used, "%s%s", before, word);
}

static void list_formulations(char *list, size_t size) {
  const int n = mbg_formulation_count();
  for (int i = 0; i < n; i++) {
    append(list, size, i == 0 ? "" : i + 1 < n ? ", " : " or ", mbg_formulation_key(i));
  }
}

static void list_integrators(char *list, size_t size) {
  for (int i = 0; i < mbg_formulation_count(); i++) {
    const char *word = mbg_formulation_integrators(i);
    for (int k = 0; *word; k++) {
      char key[32];
      const int length = (int)strcspn(word, " ");
      snprintf(key, sizeof key, "%.*s", length, word);
      if (k == 0) {
        append(list, size, *list ? "; of " : "of ", mbg_formulation_key(i));
      }
      append(list, size, k == 0 ? ": " : ", ", key);
      word += length + (word[length] == ' ');
    }
  }
}

static void list_methods(char *list, size_t size) {
  for (int i = MBG_METHOD_DIRECT; i < MBG_METHOD_COUNT; i++) {
    append(list, size, i == MBG_METHOD_DIRECT ? "" : ", ", mbg_method_name(i));
  }
}

char *cli_option_help(const cli_option *option) {
  static const struct {
    const char *mark;
    void (*list)(char *list, size_t size);
  } marks[] = {{"{formulations}", list_formulations}, {"{integrators}", list_integrators}, {"{methods}", list_methods}};
  for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
    const size_t length = strlen(marks[i].mark);
    if (!strncmp(option->help, marks[i].mark, length)) {
      char list[256] = "";
      marks[i].list(list, sizeof list);
      return cli_format("%s%s", list, option->help + length);
    }
  }
  return cli_copy(option->help);
}

void cli_options_print(const cli_command *command) {
  cli_table table = cli_table_make("ll");
  int widest = 6; /* --help */
  for (int i = 0; i < command->noption; i++) {
    const cli_option *o = &command->options[i];
    const int width = 2 + (int)strlen(o->name) + (o->value ? 1 + (int)strlen(o->value) : 0);
    widest = width > widest ? width : widest;
  }
  for (int i = 0; i < command->noption; i++) {
    const cli_option *o = &command->options[i];
    const char letter = cli_option_letter(o->name), prefix[] = {'-', letter, ',', ' ', 0};
    char *help = cli_option_help(o);
    cli_table_format(&table, "%s--%s%s%s", letter ? prefix : "    ", o->name, o->value ? " " : "",
                     o->value ? o->value : "");
    cli_table_lines(&table, help, CLI_WIDTH - 2 - 4 - widest - 2);
    free(help);
  }
  cli_table_text(&table, "-h, --help");
  cli_table_text(&table, "print this");
  cli_table_print(&table, 2);
  cli_table_destroy(&table);
}
