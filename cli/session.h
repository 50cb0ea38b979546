/* session: a context, the model of the command line and its parameters. */
#ifndef CLI_SESSION_H
#define CLI_SESSION_H

#include "cli.h"
#include "mbgrad/model.h"

typedef struct {
  mbg_context *ctx;
  mbg_model *model;
  double *parameters; /* with --set applied */
} cli_session;

/* Opens the model that the first argument means and applies --set. Returns CLI_DONE, or another exit status with
   messages printed; close it in either case. */
int cli_session_open(cli_session *session, const cli_args *args);
void cli_session_close(cli_session *session);

/* Takes NAME=VALUE of an option ("set"), for all entries if the name is that of a vector. */
int cli_session_set(cli_session *session, const char *option, const char *setting);
/* The entries of a parameter or vector that an option names. */
int cli_session_find(const cli_session *session, const char *option, const char *name, int *first, int *count);

/* Prints the messages of the context to standard error and clears them; the exit status for a result of the library. */
int cli_session_status(cli_session *session, int result);
/* The same for a call that writes files: what the system refuses is a failure, not bad input. */
int cli_session_written(cli_session *session, int result);
/* The same for a call that wrote the file `name` of cli_file_begin(path), which takes its place. */
int cli_session_wrote(cli_session *session, int result, char *name, const char *path);

#endif
