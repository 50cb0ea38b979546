/* mbgrad help, mbgrad version */
#include "cli.h"
#include "mbgrad/version.h"
#include "table.h"

#include <stdio.h>

void cli_help_command(const cli_command *c) {
  printf("mbgrad %s%s%s%s\n\n%s", c->name, c->arguments[0] ? " " : "", c->arguments, c->noption > 0 ? " [options]" : "",
         c->details);
  printf("\nOptions:\n");
  cli_options_print(c);
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
  printf("\nMODEL is a file, a folder that holds model.json, or a name of the gallery (mbgrad list).\n"
         "mbgrad help COMMAND explains a command. Exit status: 0 done, 1 the run failed, 2 bad input.\n");
}

static int help(const cli_args *args) {
  if (args->count == 0) {
    cli_help_program();
    return CLI_DONE;
  }
  const cli_command *command = cli_command_find(args->argument[0]);
  if (!command) {
    char hint[128];
    return cli_bad_input("unknown command '%s'%s", args->argument[0],
                         cli_command_hint(hint, sizeof(hint), args->argument[0]));
  }
  cli_help_command(command);
  return CLI_DONE;
}

static int version(const cli_args *args) {
  (void)args;
  printf("mbgrad %s\n", mbg_version());
  return CLI_DONE;
}

extern const cli_command cli_cmd_help, cli_cmd_version;

const cli_command cli_cmd_help = {
    .name = "help",
    .arguments = "[COMMAND]",
    .summary = "help on the program or a command",
    .details = "Prints the list of commands, or one command with its options.\n",
    .most = 1,
    .run = help,
};

const cli_command cli_cmd_version = {
    .name = "version",
    .arguments = "",
    .summary = "version of the program",
    .details = "Prints the version of the program; so does mbgrad --version.\n",
    .run = version,
};
