/* mbgrad view: the motion of a model as a page for browsers */
#include "cli.h"
#include "files.h"
#include "mbgrad/view.h"
#include "run_options.h"
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* NAME.html in the current folder, for a model without --out; letters that a path cannot have become '-' */
static char *default_path(const mbg_model *model) {
  char *path = cli_format("%s.html", mbg_model_name(model));
  for (char *c = path; *c; c++) {
    if (*c == '/' || (unsigned char)*c < 32) {
      *c = '-';
    }
  }
  return path;
}

static int write_text(const char *text, const char *path) {
  FILE *f = cli_file_open(path);
  if (!f) {
    return CLI_FAILED;
  }
  fputs(text, f);
  return cli_file_close(f, path);
}

static int write_page(const cli_args *args, cli_run *r, const mbg_view_options *options, const char *path) {
  char *page = NULL;
  int status = cli_run_status(r, mbg_view_page(r->session.ctx, r->run, options, &page));
  if (status == CLI_DONE) {
    status = write_text(page, path);
  }
  if (status == CLI_DONE && !cli_flag(args, "quiet") && strcmp(path, "-") != 0) {
    printf("%s: %d bodies, t = %g .. %g s, %.0f kB\n", path, mbg_model_body_count(r->session.model),
           mbg_run_node_time(r->run, 0), mbg_run_node_time(r->run, mbg_run_node_count(r->run) - 1),
           (double)strlen(page) / 1000);
  }
  mbg_text_destroy(r->session.ctx, page);
  return status;
}

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

static int view(const cli_args *args) {
  cli_run r;
  mbg_view_options options;
  char *own = NULL;
  const char *out = cli_value(args, "out", 0), *glb = cli_value(args, "glb", 0);
  mbg_view_options_default(&options, sizeof(options));
  options.gradient = cli_flag(args, "gradient");
  int status = make_run(args, &r);
  if (status == CLI_DONE) {
    status = cli_count(args, "frames", &options.frames);
  }
  if (status == CLI_DONE && !out && !glb) {
    out = own = default_path(r.session.model);
    status = cli_file_check(r.session.ctx, r.session.model, "--out", out, CLI_FILE_OUT);
  }
  if (status == CLI_DONE) {
    status = cli_run_simulate(&r);
  }
  if (status == CLI_DONE) {
    status = glb ? write_glb(&r, &options, glb) : CLI_DONE;
  }
  if (status == CLI_DONE && out) {
    status = write_page(args, &r, &options, out);
  }
  if (status == CLI_DONE && mbg_run_partial(r.run)) {
    status = cli_run_interrupted(&r, "the page shows the motion up to there");
  }
  free(own);
  cli_run_close(&r);
  return status;
}

static const cli_option options[] = {
    CLI_OPTIONS_RUN,
    {"out", "FILE.html", CLI_FILE_OUT, "name of the page, - for standard output; default: NAME.html of the model"},
    {"glb", "FILE.glb", CLI_FILE_OUT, "write an animated glTF file for other viewers; with --out a page, too"},
    {"frames", "N", false, "most pictures of the motion; default: 1000"},
    {"gradient", NULL, false, "show the gradients of the criteria, too"},
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
