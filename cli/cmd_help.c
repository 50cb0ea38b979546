/* mbgrad help, mbgrad version, mbgrad schema */
#include "cli.h"
#include "manual.h"
#include "mbgrad/model.h"
#include "mbgrad/version.h"
#include "table.h"
#include "topics.h"

#include <stdio.h>
#include <stdlib.h>

void cli_help_command(const cli_command *c) {
  printf("mbgrad %s%s%s%s\n\n%s", c->name, c->arguments[0] ? " " : "", c->arguments, c->noption > 0 ? " [options]" : "",
         c->details);
  printf("\nOptions:\n");
  cli_options_print(c);
}

static void list_topics(void) {
  char **names = cli_topic_names(), *line = cli_copy("");
  for (int i = 0; names[i]; i++) {
    char *longer = cli_format("%s%s%s", line, i > 0 ? ", " : "", names[i]);
    free(line);
    line = longer;
  }
  printf("\n");
  cli_paragraph("Topics: ", line);
  free(line);
  cli_topic_names_destroy(names);
}

void cli_help_program(void) {
  cli_table table = cli_table_make("ll");
  printf("mbgrad COMMAND [arguments] [options]\n\nExact gradients of multibody simulations.\n\nCommands:\n");
  for (int i = 0; cli_commands[i]; i++) {
    const cli_command *c = cli_commands[i];
    cli_table_format(&table, "%s%s%s", c->name, c->arguments[0] ? " " : "", c->arguments);
    cli_table_text(&table, c->summary);
  }
  cli_table_print(&table, 2);
  cli_table_destroy(&table);
  list_topics();
  printf(
      "\nMODEL is a file, a folder that holds model.json, or a name of the gallery (mbgrad list).\n"
      "mbgrad help COMMAND and mbgrad help TOPIC explain more. Exit status: 0 done, 1 the run failed, 2 bad input.\n");
}

/* "; did you mean 'joints'?" among commands and topics */
static int unknown_topic(const char *word) {
  char **names = cli_topic_names();
  int count = 0, commands = 0;
  while (names[count]) {
    count++;
  }
  while (cli_commands[commands]) {
    commands++;
  }
  const char **all = cli_resize(NULL, (size_t)(count + commands), sizeof *all);
  for (int i = 0; i < commands; i++) {
    all[i] = cli_commands[i]->name;
  }
  for (int i = 0; i < count; i++) {
    all[commands + i] = names[i];
  }
  const char *near = cli_nearest(word, all, count + commands);
  const int status = near ? cli_bad_input("no command and no topic '%s'; did you mean '%s'?", word, near)
                          : cli_bad_input("no command and no topic '%s' (mbgrad help lists them)", word);
  free(all);
  cli_topic_names_destroy(names);
  return status;
}

static int help(const cli_args *args) {
  if (cli_value(args, "man", 0)) {
    return cli_manual_write(cli_value(args, "man", 0));
  }
  if (args->count == 0) {
    cli_help_program();
    return CLI_DONE;
  }
  const cli_command *command = args->count == 1 ? cli_command_find(args->argument[0]) : NULL;
  if (command) {
    cli_help_command(command);
    return CLI_DONE;
  }
  return cli_topic_known(args->argument[0])
             ? cli_topic_print(args->argument[0], args->count > 1 ? args->argument[1] : NULL)
             : unknown_topic(args->argument[0]);
}

static int version(const cli_args *args) {
  (void)args;
  printf("mbgrad %s\n", mbg_version());
  return CLI_DONE;
}

static int schema(const cli_args *args) {
  (void)args;
  mbg_context *ctx = NULL;
  char *text = NULL;
  const bool fine = mbg_context_create(NULL, &ctx) == MBG_OK && mbg_model_schema(ctx, &text) == MBG_OK;
  if (fine) {
    fputs(text, stdout);
  }
  mbg_text_destroy(ctx, text);
  mbg_context_destroy(ctx);
  return fine ? CLI_DONE : cli_failed("out of memory");
}

extern const cli_command cli_cmd_help, cli_cmd_version, cli_cmd_schema;

static const cli_option help_options[] = {
    {"man", "FOLDER", false, "write the pages of the manual for man(1) into this folder"}};

const cli_command cli_cmd_help = {
    .name = "help",
    .arguments = "[TOPIC [TYPE]]",
    .summary = "help on the program, a command, or a topic",
    .details =
        "Prints the list of commands, one command with its options, or a topic: formulations, units, ..., and every\n"
        "section of model files with the keys of its types (mbgrad help joints revolute).\n",
    .most = 2,
    .options = help_options,
    .noption = 1,
    .run = help,
};

const cli_command cli_cmd_version = {
    .name = "version",
    .arguments = "",
    .summary = "version of the program",
    .details = "Prints the version of the program; so does mbgrad --version.\n",
    .run = version,
};

const cli_command cli_cmd_schema = {
    .name = "schema",
    .arguments = "",
    .summary = "the JSON Schema of model files, for editors",
    .details = "Prints the JSON Schema of model files. An editor that knows it completes keys, explains them and marks "
               "errors:\n"
               "write it to a file (mbgrad schema > model.schema.json) and name that file in the model,\n"
               "\"$schema\": \"./model.schema.json\".\n",
    .run = schema,
};
