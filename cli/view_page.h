/* view_page: pages of motions, with runs beside the first one and the parameters whose effect they show. */
#ifndef CLI_VIEW_PAGE_H
#define CLI_VIEW_PAGE_H

#include "mbgrad/view.h"
#include "run_options.h"

typedef struct {
  mbg_model *model; /* NULL: that of the first run */
  mbg_run *run;
  char *label;
} cli_other;

typedef struct {
  int count;
  cli_other *list;
  mbg_run **runs;      /* (count) */
  const char **labels; /* (count) */
} cli_others;

/* A run of a model at other parameters (mbg_model_parameter_count), simulated. label: copied. */
int cli_others_add(cli_others *others, cli_run *r, const mbg_model *model, const double *parameters, const char *label);
/* Those of --with: NAME=VALUE,... or a model. */
int cli_others_take(cli_others *others, const cli_args *args, cli_run *r);
/* Into the options of a page, which refer to them. */
void cli_others_show(const cli_others *others, mbg_view_options *options);
void cli_others_destroy(cli_others *others);

/* Writes the page of a simulated run; path "-": standard output. quiet: without a line about it. */
int cli_view_write(cli_run *r, mbg_run *run, const mbg_view_options *options, const char *path, bool quiet);

/* The parameters of --parameters A,B,... or none; *list is the caller's to free, NULL: not given. */
int cli_ghosts_take(const cli_args *args, const cli_session *session, mbg_view_options *options, int **list);

#endif
