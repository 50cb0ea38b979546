/* Models with measurements, for tests of identification: files in a folder of their own. */
#ifndef SUPPORT_FIT_CASE_H
#define SUPPORT_FIT_CASE_H

#include "mbgrad/identify.h"
#include "support/support.h"

typedef struct {
  mbg_context *ctx;
  char folder[64];
  char path[96]; /* of the model */
  mbg_model *model;
  mbg_identify *id;
} fit_case;

/* A folder that is removed with everything in it. */
void fit_open(fit_case *c);
void fit_close(fit_case *c);

/* Writes the model; single quotes stand for double ones. */
void fit_model(fit_case *c, const char *text);
/* Copies a model of the gallery. */
void fit_gallery(fit_case *c, const char *name);
void fit_file(fit_case *c, const char *name, const char *text);
char *fit_read(fit_case *c, const char *name); /* free with free() */

/* Measurements: what the model shows in one of its runs (NULL: none) at the parameters p (NULL: those of the file), run
   with `options` (NULL: as the file says). */
typedef struct {
  const char *run, *file;
  const char *columns; /* signals, separated by blanks; columns of the file after "time" */
  const double *p;
  const mbg_run_options *options;
  double start, end, interval; /* of the samples */
  double sigma;                /* of the noise that is added */
  support_rng *rng;
} fit_measurement;
void fit_measure(fit_case *c, const fit_measurement *m);

/* Loads the model, for one of its runs (NULL: all), into c->model; returns the status. */
int fit_load(fit_case *c, const char *run);

/* Fits, options NULL: defaults without the estimate of the bias; fails the test when that fails. */
const mbg_identify_summary *fit_solve(fit_case *c, const mbg_identify_options *options);
/* The same, expecting this error. */
void fit_fails(fit_case *c, const mbg_identify_options *options, int status, const char *message);
mbg_identify_options fit_options(void);

double fit_value(const fit_case *c, const char *parameter);
const mbg_identify_parameter *fit_parameter(const fit_case *c, const char *name);
/* Is there a warning with this text in it? */
bool fit_warned(const fit_case *c, const char *part);

#endif
