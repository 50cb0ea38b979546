/* mbgrad import: a model folder from a file of another program */
#include "cli.h"
#include "files.h"
#include "session.h"
#include "text.h"

#include <mbgrad/import.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* robots/ur5.urdf: ur5 */
static char *folder_of(const char *path) {
  const char *name = strrchr(path, '/');
  char *out = cli_format("%s", name ? name + 1 : path);
  char *dot = strrchr(out, '.');
  if (dot && dot != out) {
    *dot = 0;
  }
  return out;
}

static int write_text(const char *folder, const char *name, const char *text) {
  char *path = cli_format("%s/%s", folder, name);
  FILE *out = cli_file_open(path);
  if (out) {
    (void)fputs(text, out);
  }
  const int status = out ? cli_file_close(out, path) : CLI_FAILED;
  free(path);
  return status;
}

static int write_folder(const cli_args *args, const char *to, const char *model, const char *report) {
  char *path = cli_format("%s/model.json", to);
  struct stat s;
  const bool there = stat(path, &s) == 0;
  free(path);
  if (there && !cli_flag(args, "force")) {
    return cli_bad_input("'%s/model.json' is there already; give another folder with --out, or --force", to);
  }
  int status = cli_folder_make("", to);
  status = status == CLI_DONE ? write_text(to, "model.json", model) : status;
  status = status == CLI_DONE ? write_text(to, "import.txt", report) : status;
  return status;
}

/* The model as a user would load it: what the file says and mbgrad refuses is said at once. */
static int try_model(cli_session *session, const char *folder) {
  char *path = cli_format("%s/model.json", folder);
  mbg_model *model = NULL;
  const int status = cli_session_status(session, mbg_model_load(session->ctx, path, &model));
  mbg_model_destroy(model);
  free(path);
  return status;
}

static int import_file(const cli_args *args) {
  const char *path = args->argument[0];
  const char *base = cli_value(args, "base", 0);
  mbg_import_options options;
  cli_session session = {0};
  char *model = NULL, *report = NULL;
  mbg_import_options_default(&options, sizeof(options));
  options.parameters = cli_value(args, "parameters", 0);
  options.without = cli_value(args, "without", 0);
  options.start = cli_value(args, "start", 0);
  options.keep_fixed = cli_flag(args, "keep-fixed");
  options.contacts = cli_flag(args, "contacts");
  if (base && strcmp(base, "fixed") != 0 && strcmp(base, "free") != 0) {
    return cli_bad_input("--base '%s': expected fixed or free", base);
  }
  options.free_base = base && !strcmp(base, "free");
  if (mbg_context_create(NULL, &session.ctx) < 0) {
    return cli_failed("out of memory");
  }
  int status = cli_session_status(&session, mbg_import_file(session.ctx, path, &options, &model, &report));
  if (status == CLI_DONE) {
    char *folder = cli_value(args, "out", 0) ? cli_format("%s", cli_value(args, "out", 0)) : folder_of(path);
    status = write_folder(args, folder, model, report);
    if (status == CLI_DONE) {
      printf("%s/model.json\n\n%s", folder, report);
      status = try_model(&session, folder);
    }
    if (status == CLI_DONE) {
      printf("\nNext:\n  mbgrad check %s\n", folder);
    }
    free(folder);
  }
  mbg_text_destroy(session.ctx, model);
  mbg_text_destroy(session.ctx, report);
  mbg_context_destroy(session.ctx);
  return status;
}

static const cli_option options[] = {
    {"out", "FOLDER", false, "where the model goes (default: the file's name without its ending)"},
    {"parameters", "LIST", false, "numbers that become parameters: mass, com, inertia, damping, friction, stiffness"},
    {"without", "LIST", false, "leave out limits, damping, friction, armature"},
    {"base", "fixed|free", false, "the root is fixed to the ground (default) or moves freely"},
    {"start", "KEY", false, "MJCF: the keyframe at which the model starts (default: all joints at zero)"},
    {"keep-fixed", NULL, false, "links that are fixed to another stay bodies of their own"},
    {"contacts", NULL, false, "MJCF: spheres, capsules and boxes touch the planes of the world"},
    {"force", NULL, false, "overwrite a model that is there"},
};

extern const cli_command cli_cmd_import;

const cli_command cli_cmd_import = {
    .name = "import",
    .arguments = "FILE",
    .summary = "make a model of a URDF, SDF or MJCF file",
    .details =
        "Writes a model folder: model.json and import.txt, which lists what was left out, approximated, merged or "
        "renamed.\n",
    .least = 1,
    .most = 1,
    .options = options,
    .noption = 8,
    .run = import_file,
};
