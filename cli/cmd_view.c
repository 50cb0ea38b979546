/* mbgrad view: the motion of a model as a page for browsers */
#include "cli.h"
#include "files.h"
#include "mbgrad/view.h"
#include "run_options.h"
#include "text.h"
#include "view_page.h"
#include "view_picture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int write_glb(cli_run *r, const mbg_view_options *options, const char *path) {
  char *data = NULL;
  size_t length = 0;
  int status = cli_run_status(r, mbg_view_glb(r->session.ctx, r->run, options, &data, &length));
  FILE *f = status == CLI_DONE ? cli_file_open(path) : NULL;
  if (status == CLI_DONE && !f) {
    status = CLI_FAILED;
  }
  if (f) {
    fwrite(data, 1, length, f);
    status = cli_file_close(f, path);
  }
  mbg_text_destroy(r->session.ctx, data);
  return status;
}

static int make_run(const cli_args *args, cli_run *r) {
  int status = cli_run_begin(r, args, true, cli_flag(args, "quiet"));
  if (status == CLI_DONE) {
    r->options.keep_poses = true;
    if (!cli_flag(args, "gradient")) {
      cli_run_forward(&r->options);
    }
    status = cli_run_make(r);
  }
  return status;
}

/* the files, after the simulation */
static int write_files(const cli_args *args, cli_run *r, const mbg_view_options *options, const char *out) {
  const char *glb = cli_value(args, "glb", 0);
  int status = glb ? write_glb(r, options, glb) : CLI_DONE;
  status = status == CLI_DONE ? cli_pictures_write(args, r) : status;
  if (status == CLI_DONE && out) {
    status = cli_view_write(r, r->run, options, out, cli_flag(args, "quiet"));
  }
  if (status == CLI_DONE && mbg_run_partial(r->run)) {
    status = cli_run_interrupted(r, "the page shows the motion up to there");
  }
  return status;
}

static int take_options(const cli_args *args, const cli_run *r, mbg_view_options *options, int **ghosts) {
  mbg_view_options_default(options, sizeof(*options));
  options->gradient = cli_flag(args, "gradient");
  options->loads = cli_flag(args, "loads");
  int status = cli_pictures_check(args);
  status = status == CLI_DONE ? cli_count(args, "frames", &options->frames) : status;
  status = status == CLI_DONE ? cli_count(args, "numbers", &options->numbers) : status;
  return status == CLI_DONE ? cli_ghosts_take(args, &r->session, options, ghosts) : status;
}

static int view(const cli_args *args) {
  cli_run r;
  mbg_view_options options;
  cli_others others = {0};
  char *own = NULL;
  int *ghosts = NULL;
  const char *out = cli_value(args, "out", 0);
  int status = make_run(args, &r);
  status = status == CLI_DONE ? take_options(args, &r, &options, &ghosts) : status;
  if (status == CLI_DONE && !out && !cli_value(args, "glb", 0) && !cli_pictures_wanted(args)) {
    out = own = cli_model_file(r.session.model, ".html");
    status = cli_file_check(r.session.ctx, r.session.model, "--out", out, CLI_FILE_OUT);
  }
  status = status == CLI_DONE ? cli_others_take(&others, args, &r) : status;
  if (status == CLI_DONE) {
    cli_others_show(&others, &options);
    status = cli_run_simulate(&r);
  }
  status = status == CLI_DONE ? write_files(args, &r, &options, out) : status;
  free(own);
  free(ghosts);
  cli_others_destroy(&others);
  cli_run_close(&r);
  return status;
}

static const cli_option options[] = {
    CLI_OPTIONS_RUN,
    {"out", "FILE.html", CLI_FILE_OUT, "name of the page, - for standard output; default: NAME.html of the model"},
    {"glb", "FILE.glb", CLI_FILE_OUT, "write an animated glTF file for other viewers; with --out a page, too"},
    CLI_OPTIONS_PICTURE,
    {"frames", "N", false, "most pictures of the motion; default: 1000"},
    {"loads", NULL, false, "show forces and moments as arrows, stresses of beams as colours"},
    {"gradient", NULL, false, "show gradients: of the criteria, of the motion by parameters, by every number"},
    {"parameters", "A,B,...", false,
     "with --gradient: motion by these parameters, or none; default: the 6 of most effect"},
    {"numbers", "N", false, "with --gradient: most numbers of the model in the ranking; default: 40"},
    {"with", "NAME=VALUE,...|MODEL", true, "lay the motion at other values, or of another model, over it"},
    {"interval", "SECONDS", false, "pictures at this interval, for formulations with free nodes"},
    {"quiet", NULL, false, "print nothing but messages"},
};

extern const cli_command cli_cmd_view;

const cli_command cli_cmd_view = {
    .name = "view",
    .arguments = "MODEL",
    .summary = "the motion as a page for browsers",
    .details =
        "Simulates a model and writes one HTML file that shows it in motion, with its signals. The file needs no\n"
        "network and no other file. Ctrl-C stops after the step at hand; the page shows the motion so far.\n",
    .least = 1,
    .most = 1,
    .options = options,
    .noption = (int)(sizeof(options) / sizeof(options[0])),
    .run = view,
};
