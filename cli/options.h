/* options: tables of options, from which arguments are parsed and help is written. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>

typedef struct cli_command cli_command;

/* An option that is given once or several times, or that names a file which is written, a picture, a file also in place
   of the model itself, or a folder for such files. */
typedef enum {
  CLI_ONCE = false,
  CLI_MANY = true,
  CLI_FILE_OUT,
  CLI_PICTURE,
  CLI_FILE_MODEL,
  CLI_FOLDER
} cli_option_kind;

typedef struct {
  const char *name;  /* "json" for --json */
  const char *value; /* name of its value: "NAME=VALUE"; NULL: a flag without value */
  int kind;          /* CLI_ONCE (false), CLI_MANY (true), ... */
  const char *help;  /* one line; may begin with a list of the library: {formulations}, {integrators} or {methods} */
} cli_option;

/* Options that mean the same in every command that has them. */
#define CLI_OPTION_SET                                                                                                 \
  { "set", "NAME=VALUE", true, "use this value of a parameter (NAME[i]: one entry of a vector)" }
#define CLI_OPTION_RUN                                                                                                 \
  { "run", "NAME", false, "one of the runs of the model file (\"runs\")" }
#define CLI_OPTION_JSON                                                                                                \
  { "json", NULL, false, "print JSON, for programs" }
#define CLI_OPTION_FULL                                                                                                \
  { "full", NULL, false, "print long lists to their end" }

typedef struct {
  const cli_option *option;
  const char *value; /* NULL for flags */
} cli_given;

/* The parsed command line of a command. */
typedef struct {
  const cli_command *command;
  int count;             /* arguments that are no options */
  const char **argument; /* (count) */
  int ngiven;
  cli_given *given; /* in the order of the command line (ngiven) */
  bool help;        /* --help or -h was among them */
} cli_args;

/* Parses the words after the command's name. Returns CLI_DONE, or CLI_BAD_INPUT with a message printed. */
int cli_args_parse(cli_args *args, const cli_command *command, int argc, char **argv);
void cli_args_destroy(cli_args *args);

/* Was the flag given? */
bool cli_flag(const cli_args *args, const char *name);
bool cli_has(const cli_args *args, const char *name);   /* flag or not */
bool cli_takes(const cli_args *args, const char *name); /* is it an option of the command? */
/* Value number `index` of an option, in the order of the command line; NULL: out of range. */
const char *cli_value(const cli_args *args, const char *name, int index);

/* The letter of a common option ("set": 's'), the same in every command; 0: none. */
char cli_option_letter(const char *name);
/* The text of an option's help with the library's lists in it, to be freed. */
char *cli_option_help(const cli_option *option);
/* The table of options, one line each, --help included. */
void cli_options_print(const cli_command *command);

#endif
