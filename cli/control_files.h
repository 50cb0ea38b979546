/* control_files: files that the library writes of a control problem. */
#ifndef CLI_CONTROL_FILES_H
#define CLI_CONTROL_FILES_H

#include "mbgrad/control.h"
#include "session.h"

/* The controls as CSV: one file, or FILE-NAME.csv for each when their times differ. Exit status. */
int cli_controls_write(cli_session *session, const mbg_control *control, const char *path);
/* The model with the controls found. */
int cli_controls_write_model(cli_session *session, const mbg_control *control, const char *path);

#endif
