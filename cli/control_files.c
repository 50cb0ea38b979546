#include "control_files.h"

#include "files.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

/* "dir/a.csv" and "u" give "dir/a-u.csv" */
static char *name_with(const char *path, const char *name) {
  const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
  const int stem = dot && (!slash || dot > slash) ? (int)(dot - path) : (int)strlen(path);
  return cli_format("%.*s-%s%s", stem, path, name, path + stem);
}

/* index: of the control, -1: all */
static int write_control(cli_session *s, const mbg_control *control, int index, const char *path) {
  char *name = cli_file_begin(path);
  return name ? cli_session_wrote(s, mbg_control_write(s->ctx, control, index, name), name, path) : CLI_FAILED;
}

int cli_controls_write(cli_session *s, const mbg_control *control, const char *path) {
  if (mbg_control_same_times(control)) {
    return write_control(s, control, -1, path);
  }
  int status = CLI_DONE;
  for (int i = 0; status == CLI_DONE && i < mbg_control_get_summary(control)->controls; i++) {
    char *file = name_with(path, mbg_control_get_samples(control, i)->name);
    status = cli_file_check(s->ctx, s->model, "--control", file, CLI_FILE_OUT);
    status = status == CLI_DONE ? write_control(s, control, i, file) : status;
    free(file);
  }
  return status;
}

int cli_controls_write_model(cli_session *s, const mbg_control *control, const char *path) {
  char *name = cli_file_begin(path);
  return name ? cli_session_wrote(s, mbg_control_write_model(s->ctx, control, name), name, path) : CLI_FAILED;
}
