/* mbgrad export: a model as a file of another program */
#include "cli.h"
#include "files.h"
#include "session.h"
#include "text.h"

#include <mbgrad/export.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* the format of a file by its ending; NULL: none */
static const char *format_of(const char *path) {
  static const char *const endings[] = {".urdf", ".xml", ".mjcf"};
  static const char *const formats[] = {"urdf", "mjcf", "mjcf"};
  const char *dot = strrchr(path, '.');
  for (int i = 0; dot && i < 3; i++) {
    if (!strcmp(dot, endings[i])) {
      return formats[i];
    }
  }
  return NULL;
}

static int write_text(const char *path, const char *text, const char *report) {
  FILE *out = cli_file_open(path);
  if (!out) {
    return CLI_FAILED;
  }
  (void)fputs(text, out);
  const int status = cli_file_close(out, path);
  if (status == CLI_DONE && strcmp(path, "-") != 0) {
    printf("%s\n\n%s", path, report);
  }
  return status;
}

static int export_model(const cli_args *args) {
  const char *out = cli_value(args, "out", 0);
  mbg_export_options options;
  cli_session session = {0};
  char *text = NULL, *report = NULL;
  mbg_export_options_default(&options, sizeof(options));
  options.into = cli_value(args, "into", 0);
  if (!out) {
    return cli_bad_input("export: give the file with --out: FILE.urdf, or FILE.xml for MJCF");
  }
  options.format = format_of(out);
  if (!options.format && !options.into) {
    return cli_bad_input("--out '%s': expected FILE.urdf, or FILE.xml for MJCF", out);
  }
  int status = cli_session_open(&session, args);
  if (status == CLI_DONE) {
    status = cli_session_status(
        &session, mbg_export_text(session.ctx, session.model, session.parameters, &options, &text, &report));
  }
  if (status == CLI_DONE) {
    status = write_text(out, text, report);
  }
  if (text) {
    mbg_text_destroy(session.ctx, text);
    mbg_text_destroy(session.ctx, report);
  }
  cli_session_close(&session);
  return status;
}

static const cli_option options[] = {
    {"out", "FILE", CLI_FILE_OUT, "the file: FILE.urdf (trees), FILE.xml (MJCF); - with --into: standard output"},
    {"into", "ROBOT", false, "write masses, damping, friction and stiffness into this file, which was imported"},
    CLI_OPTION_SET,
    CLI_OPTION_RUN,
};

extern const cli_command cli_cmd_export;

const cli_command cli_cmd_export = {
    .name = "export",
    .arguments = "MODEL",
    .summary = "make a URDF or MJCF file of a model",
    .details =
        "Writes bodies, joints, couplings, springs, dampers, friction and stops, and lists what the format does not\n"
        "have. With --into the file that was imported is written again, with the numbers of the model.\n",
    .least = 1,
    .most = 1,
    .options = options,
    .noption = (int)(sizeof(options) / sizeof(options[0])),
    .run = export_model,
};
