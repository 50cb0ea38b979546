/* cli: commands of the program, and functions that they share. */
#ifndef CLI_H
#define CLI_H

#include "options.h"

#include <stddef.h>

/* Exit status of the program. */
enum { CLI_DONE = 0, CLI_FAILED = 1, CLI_BAD_INPUT = 2, CLI_STEPS_TOO_LONG = 3 };

/* A command: `mbgrad NAME ARGUMENTS [options]`. */
struct cli_command {
  const char *name;
  const char *arguments; /* "MODEL"; "" for none */
  const char *summary;   /* one line for the list of commands */
  const char *details;   /* lines for `mbgrad help NAME`, each ended by a line break */
  int least, most;       /* number of arguments */
  const cli_option *options;
  int noption;
  int (*run)(const cli_args *args); /* returns the exit status */
  bool ranks;                       /* several ranks of mbgrad-mpi share its work */
};

/* All commands, in the order of the help; ended by NULL. */
extern const cli_command *const cli_commands[];
/* The command of that name, or NULL. */
const cli_command *cli_command_find(const char *name);
/* "; did you mean 'check'?" for the nearest command, or "". */
const char *cli_command_hint(char *buffer, size_t size, const char *name);

/* Help of one command, and of the program, to standard output. */
void cli_help_command(const cli_command *command);
void cli_help_program(void);

#endif
