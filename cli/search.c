#include "search.h"

#include "ranks.h"
#include "results.h"
#include "text.h"

#include "mbgrad/context.h"

#include <stdio.h>

int cli_restart_options(const cli_args *args, const char **restart, bool *resume) {
  *restart = cli_value(args, "restart", 0);
  *resume = cli_flag(args, "resume");
  const bool records = cli_takes(args, "records") && cli_value(args, "records", 0);
  if (records && *restart) {
    return cli_bad_input("--records and --restart exclude each other: --records has files of its own");
  }
  return *resume && !*restart && !records ? cli_bad_input("--resume needs --restart FILE, the file to resume from")
                                          : CLI_DONE;
}

int cli_start_options(const cli_args *args, int *starts, unsigned *seed) {
  enum { STARTS_MAX = 100000 };
  int number = (int)*seed;
  int status = cli_count(args, "starts", starts);
  if (status == CLI_DONE && *starts > STARTS_MAX) {
    return cli_bad_input("--starts: %d starts; at most %d", *starts, STARTS_MAX);
  }
  status = status == CLI_DONE ? cli_count(args, "seed", &number) : status;
  *seed = (unsigned)number;
  return status;
}

int cli_model_write(cli_session *session, int result, char *text, const char *path) {
  int status = cli_session_status(session, result);
  FILE *file = status == CLI_DONE ? cli_file_open(path) : NULL;
  if (file) {
    fputs(text, file);
    status = cli_file_close(file, path);
  } else if (status == CLI_DONE) {
    status = CLI_FAILED;
  }
  mbg_text_destroy(session->ctx, text);
  return status;
}

void cli_line_clear(void) {
  fputs("\r\033[K", stderr);
  fflush(stderr);
}

void cli_ranks_check(int result) {
  if (result == MBG_ERROR_MEMORY) {
    cli_messages_off(false);
    (void)cli_failed("out of memory on rank %d", cli_ranks_own());
    cli_ranks_abort(CLI_FAILED);
  }
}
