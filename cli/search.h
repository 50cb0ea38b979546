/* search: options and output that optimize, identify and control share. */
#ifndef CLI_SEARCH_H
#define CLI_SEARCH_H

#include "run_options.h"

#define CLI_OPTIONS_STARTS                                                                                             \
  {"starts", "N", false, "the best of N starts, spread over the bounds of the parameters"}, {                          \
    "seed", "N", false, "shifts the places of these starts; default: 1"                                                \
  }

#define CLI_OPTIONS_RESTART                                                                                            \
  {"restart", "FILE", CLI_FILE_OUT, "record every evaluation in this file"}, {                                         \
    "resume", NULL, false, "with --restart or --records: replay what was recorded, then go on"                         \
  }

#define CLI_OPTION_QUIET                                                                                               \
  { "quiet", NULL, false, "print nothing but messages" }

/* --restart FILE and --resume, which needs it. */
int cli_restart_options(const cli_args *args, const char **restart, bool *resume);

/* --starts and --seed. */
int cli_start_options(const cli_args *args, int *starts, unsigned *seed);

/* Ends all ranks after an error that the others do not have: they would wait for this one. */
void cli_ranks_check(int result);

/* Writes the text of a model that the library handed out with `result`, and releases it. */
int cli_model_write(cli_session *session, int result, char *text, const char *path);

/* Clears the line of standard error that shows the progress. */
void cli_line_clear(void);

#endif
