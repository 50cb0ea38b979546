/* mbgrad uncertainty: how criteria and modes scatter when parameters do */
#include "cli.h"
#include "files.h"
#include "mbgrad/hessian.h"
#include "points.h"
#include "results.h"
#include "text.h"
#include "uncertainty_modes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES_MAX = 10000000 };

/* Everything of one call. */
typedef struct {
  const cli_args *args;
  cli_run r;
  cli_scatter scatter;
  cli_uncertainty u;
  cli_mode_scatter modes; /* with --modes */
  cli_points p;           /* samples */
  int seed;
} job;

/* ---------------------------------------------------------------------- options */

/* NAME=LOW:HIGH, one of them may be missing */
static int take_limit(job *j, const char *text) {
  const char *equals = strchr(text, '='), *colon = equals ? strchr(equals, ':') : NULL;
  if (!colon) {
    return cli_bad_input("--limit: '%s' is not NAME=LOW:HIGH, NAME=LOW: or NAME=:HIGH", text);
  }
  char *end[2], *name = cli_format("%.*s", (int)(equals - text), text);
  cli_limits l = {true, -INFINITY, INFINITY};
  if (colon > equals + 1) {
    l.low = strtod(equals + 1, &end[0]);
  } else {
    end[0] = (char *)colon;
  }
  if (colon[1]) {
    l.high = strtod(colon + 1, &end[1]);
  } else {
    end[1] = (char *)colon + 1;
  }
  int status = CLI_BAD_INPUT;
  if (end[0] != colon || *end[1] || !(l.low <= l.high)) {
    status = cli_bad_input("--limit: '%s': expected two numbers, the lower one first", text);
  } else {
    for (int c = 0; c < j->u.count; c++) {
      if (strcmp(j->u.name[c], name) == 0) {
        j->u.limits[c] = l;
        status = CLI_DONE;
      }
    }
    status = status == CLI_DONE ? status : cli_bad_input("--limit: no criterion '%s' is among those asked for", name);
  }
  free(name);
  return status;
}

static void make_room(job *j) {
  cli_uncertainty *u = &j->u;
  u->count = u->about ? j->modes.count : u->chosen.count;
  const size_t nc = (size_t)u->count, n = (size_t)j->scatter.count;
  u->name = cli_resize(NULL, nc, sizeof(*u->name));
  u->has = cli_resize(NULL, nc, sizeof(bool));
  u->moments = cli_resize(NULL, nc, sizeof(*u->moments));
  u->gradient = cli_resize(NULL, nc * n, sizeof(double));
  u->share = cli_resize(NULL, nc * n, sizeof(double));
  u->hessian = cli_resize(NULL, nc * n * n, sizeof(double));
  u->limits = cli_resize(NULL, nc, sizeof(*u->limits));
  u->sampled = cli_resize(NULL, nc, sizeof(*u->sampled));
  for (size_t c = 0; c < nc; c++) {
    u->name[c] = u->about ? j->modes.name[c] : mbg_model_criterion_name(j->r.session.model, u->chosen.index[c]);
    u->limits[c] = (cli_limits){false, -INFINITY, INFINITY};
    u->sampled[c] = (cli_sampled){.within = NAN};
    u->has[c] = false;
  }
}

/* criteria of a run, or numbers of modes */
static int choose_numbers(job *j) {
  const mbg_model *m = j->r.session.model;
  if (!cli_value(j->args, "modes", 0)) {
    const int status = cli_need_gradient(m);
    return status == CLI_DONE ? cli_criteria_choose(m, cli_value(j->args, "criteria", 0), &j->u.chosen) : status;
  }
  if (j->p.record.folder) {
    return cli_bad_input("--records records simulations: leave it out with --modes");
  }
  const int status = cli_mode_scatter_make(&j->modes, &j->r.session, j->args);
  j->u.about = mbg_modes_at_name((int)j->modes.options.at);
  return status;
}

static int take_options(job *j) {
  const char *text;
  j->u.sigmas = 3;
  j->p.jobs = j->seed = 1;
  int status = CLI_DONE;
  status = status == CLI_DONE ? cli_count(j->args, "samples", &j->u.samples) : status;
  status = status == CLI_DONE ? cli_count(j->args, "jobs", &j->p.jobs) : status;
  status = status == CLI_DONE ? cli_count(j->args, "seed", &j->seed) : status;
  status = status == CLI_DONE ? cli_positive(j->args, "deviations", &j->u.sigmas) : status;
  status = status == CLI_DONE ? cli_record_take(j->args, &j->p.record) : status;
  if (status == CLI_DONE && j->p.record.folder && j->u.samples == 0) {
    status = cli_bad_input("--records records samples: give --samples N");
  }
  if (status == CLI_DONE && j->u.samples > SAMPLES_MAX) {
    status = cli_bad_input("--samples: %d; at most %d", j->u.samples, SAMPLES_MAX);
  }
  if (status == CLI_DONE && cli_value(j->args, "out", 0) && j->u.samples == 0) {
    status = cli_bad_input("--out writes the samples: give --samples N");
  }
  status = status == CLI_DONE ? cli_scatter_make(&j->scatter, &j->r.session, j->args) : status;
  status = status == CLI_DONE ? choose_numbers(j) : status;
  if (status == CLI_DONE) {
    make_room(j);
  }
  for (int i = 0; status == CLI_DONE && (text = cli_value(j->args, "limit", i)); i++) {
    status = take_limit(j, text);
  }
  return status;
}

/* ---------------------------------------------------------------------- derivatives */

static int gradients(job *j) {
  const mbg_model *m = j->r.session.model;
  const size_t nc = (size_t)mbg_model_criterion_count(m), np = (size_t)mbg_model_parameter_count(m);
  const size_t n = (size_t)j->scatter.count;
  double *psi = cli_resize(NULL, nc * (np + 1), sizeof(double)), *gradient = psi + nc;
  int result = mbg_run_criteria(j->r.session.ctx, j->r.run, psi);
  result = result == MBG_OK ? mbg_run_gradient(j->r.session.ctx, j->r.run, MBG_METHOD_AUTO, gradient, NULL) : result;
  for (int c = 0; result == MBG_OK && c < j->u.chosen.count; c++) {
    const size_t k = (size_t)j->u.chosen.index[c];
    j->u.moments[c].value = psi[k];
    for (size_t i = 0; i < n; i++) {
      j->u.gradient[(size_t)c * n + i] = gradient[k * np + (size_t)j->scatter.index[i]];
    }
  }
  free(psi);
  return cli_run_status(&j->r, result);
}

/* the products (n x np) of criterion c as its Hessian by the scattering parameters, the mean of its two halves */
static void take_matrix(job *j, const double *products, int c) {
  const size_t n = (size_t)j->scatter.count, np = (size_t)mbg_model_parameter_count(j->r.session.model);
  double *H = j->u.hessian + (size_t)c * n * n;
  for (size_t i = 0; i < n; i++) {
    for (size_t k = 0; k <= i; k++) {
      const size_t a = (size_t)j->scatter.index[i], b = (size_t)j->scatter.index[k];
      H[i * n + k] = H[k * n + i] = (products[i * np + b] + products[k * np + a]) / 2;
    }
  }
  j->u.has[c] = true;
}

/* all criteria but paths share the simulations along the scattering parameters */
static int second_derivatives(job *j, mbg_hessian *hessian) {
  const mbg_model *m = j->r.session.model;
  const size_t nc = (size_t)mbg_model_criterion_count(m), np = (size_t)mbg_model_parameter_count(m);
  const size_t n = (size_t)j->scatter.count, most = (size_t)j->u.chosen.count;
  double *weights = cli_resize(NULL, most * nc + n * np + 1, sizeof(double)), *directions = weights + most * nc;
  double *products = cli_resize(NULL, most * n * np + 1, sizeof(double));
  int count = 0;
  memset(weights, 0, (most * nc + n * np) * sizeof(double));
  for (size_t i = 0; i < n; i++) {
    directions[i * np + (size_t)j->scatter.index[i]] = 1;
  }
  for (int c = 0; c < j->u.chosen.count; c++) {
    const int k = j->u.chosen.index[c];
    if (strcmp(mbg_model_criterion_kind(m, k), "path") != 0) {
      weights[(size_t)count++ * nc + (size_t)k] = 1;
    }
  }
  const int result = mbg_hessian_products(j->r.session.ctx, hessian, count, weights, (int)n, directions, products);
  for (int c = 0, s = 0; result == MBG_OK && c < j->u.chosen.count; c++) {
    if (strcmp(mbg_model_criterion_kind(m, j->u.chosen.index[c]), "path") != 0) {
      take_matrix(j, products + (size_t)s++ * n * np, c);
    }
  }
  free(weights);
  free(products);
  return cli_run_status(&j->r, result);
}

static int moments(job *j) {
  const size_t n = (size_t)j->scatter.count;
  int result = MBG_OK;
  for (int c = 0; result == MBG_OK && c < j->u.count; c++) {
    const double *H = j->u.has[c] ? j->u.hessian + (size_t)c * n * n : NULL;
    result = mbg_scatter_moments(j->r.session.ctx, &j->scatter.scatter, j->u.moments[c].value,
                                 j->u.gradient + (size_t)c * n, H, &j->u.moments[c], j->u.share + (size_t)c * n);
  }
  return cli_run_status(&j->r, result);
}

static int differentiate_modes(job *j) {
  const bool second = !cli_flag(j->args, "first-order");
  const int status = cli_mode_scatter_differentiate(&j->modes, &j->r.session, second, &j->u);
  return status == CLI_DONE ? moments(j) : status;
}

static int differentiate(job *j) {
  mbg_hessian *hessian = NULL;
  int status = cli_run_simulate(&j->r);
  if (status == CLI_DONE && mbg_run_partial(j->r.run)) {
    return cli_run_interrupted(&j->r, "there are no derivatives");
  }
  status = status == CLI_DONE ? gradients(j) : status;
  if (status == CLI_DONE && !cli_flag(j->args, "first-order")) {
    status = cli_run_status(&j->r, mbg_hessian_create(j->r.session.ctx, j->r.run, &hessian));
    status = status == CLI_DONE ? second_derivatives(j, hessian) : status;
    mbg_hessian_destroy(hessian);
  }
  return status == CLI_DONE ? moments(j) : status;
}

/* ---------------------------------------------------------------------- samples */

static void place(const void *user, int point, double *parameters) {
  const job *j = user;
  mbg_context *ctx;
  double *x = cli_resize(NULL, (size_t)j->scatter.count, sizeof(double));
  if (mbg_context_create(NULL, &ctx) == MBG_OK) {
    if (mbg_scatter_sample(ctx, &j->scatter.scatter, (unsigned long)j->seed, (unsigned long)point, x) == MBG_OK) {
      for (int i = 0; i < j->scatter.count; i++) {
        parameters[j->scatter.index[i]] += x[i];
      }
    }
    mbg_context_destroy(ctx);
  }
  free(x);
}

static int evaluate_modes(const void *user, mbg_context *ctx, const double *parameters, double *outputs) {
  const job *j = user;
  return cli_mode_scatter_evaluate(&j->modes, ctx, j->r.session.model, parameters, outputs);
}

static cli_sampled summarize(const cli_points *s, int c, const cli_limits *limits) {
  cli_sampled out = {.within = NAN};
  double second = 0, third = 0;
  int inside = 0;
  for (int k = 0; k < s->points; k++) {
    const double *row = cli_point_table_row(&s->table, k);
    if (row[0] > 0) {
      out.count++;
      const double value = row[1 + s->ninput + c];
      out.mean += value;
      inside += value >= limits->low && value <= limits->high;
    }
  }
  out.mean /= out.count > 0 ? out.count : 1;
  for (int k = 0; k < s->points; k++) {
    const double *row = cli_point_table_row(&s->table, k), d = row[1 + s->ninput + c] - out.mean;
    if (row[0] > 0) {
      second += d * d;
      third += d * d * d;
    }
  }
  if (out.count > 1) {
    out.deviation = sqrt(second / (out.count - 1));
    out.mean_error = out.deviation / sqrt(out.count);
    out.skewness = second > 0 ? third / out.count / pow(second / out.count, 1.5) : 0;
    out.within = limits->given ? (double)inside / out.count : NAN;
  }
  return out;
}

/* *part: this program computed a part of the samples, and there is nothing to report */
static int take_samples(job *j, bool *part) {
  cli_points *s = &j->p;
  const char *path = cli_value(j->args, "out", 0);
  s->run = &j->r;
  s->points = j->u.samples;
  s->place = place;
  s->user = j;
  s->ninput = j->scatter.count;
  s->input = j->scatter.index;
  s->ncriterion = j->u.count;
  s->criterion = j->u.chosen.index;
  s->evaluate = j->u.about ? evaluate_modes : NULL;
  s->ensemble = cli_flag(j->args, "ensemble") && !s->evaluate;
  s->names = j->u.name;
  j->r.options.progress = NULL;
  cli_run_forward(&j->r.options);
  int status = cli_points_run(s, "uncertainty");
  if (status == CLI_DONE && cli_points_partial(s, &status)) {
    *part = true;
    return status;
  }
  const int done = cli_point_table_count(&s->table).done;
  status = status == CLI_DONE ? cli_points_complete(s, "samples") : status;
  j->u.failed = s->points - done;
  if (status == CLI_DONE && j->u.failed == s->points) {
    status = cli_failed("no sample could be simulated");
  }
  for (int c = 0; status == CLI_DONE && c < j->u.count; c++) {
    j->u.sampled[c] = summarize(s, c, &j->u.limits[c]);
  }
  return status == CLI_DONE && path ? cli_point_table_write(&s->table, path) : status;
}

/* ---------------------------------------------------------------------- the command */

static int uncertainty(const cli_args *args) {
  job j = {.args = args};
  bool part = false;
  j.u.run = &j.r;
  j.u.scatter = &j.scatter;
  int status = cli_run_begin(&j.r, args, false, false);
  status = status == CLI_DONE ? take_options(&j) : status;
  if (status == CLI_DONE && j.u.about) {
    status = differentiate_modes(&j);
  } else {
    status = status == CLI_DONE ? cli_run_make(&j.r) : status;
    status = status == CLI_DONE && j.p.record.parts <= 1 ? differentiate(&j) : status;
  }
  status = status == CLI_DONE && j.u.samples > 0 ? take_samples(&j, &part) : status;
  if (status == CLI_DONE && !part) {
    if (cli_flag(args, "json")) {
      cli_uncertainty_json(&j.u);
    } else {
      cli_uncertainty_print(&j.u);
    }
    fflush(stdout);
    if (j.u.failed > 0) {
      cli_warning("%d of %d samples could not be simulated and are left out", j.u.failed, j.u.samples);
    }
  }
  free(j.u.chosen.index);
  free(j.u.name);
  free(j.u.has);
  free(j.u.moments);
  free(j.u.gradient);
  free(j.u.share);
  free(j.u.hessian);
  free(j.u.limits);
  free(j.u.sampled);
  cli_mode_scatter_destroy(&j.modes);
  cli_points_destroy(&j.p);
  cli_scatter_destroy(&j.scatter);
  cli_run_close(&j.r);
  return status;
}

static const cli_option options[] = {
    CLI_OPTIONS_SCATTER,
    {"limit", "NAME=LOW:HIGH", true, "limits of a criterion: what scatter keeps them; LOW or HIGH may be missing"},
    {"deviations", "NUMBER", false, "limits hold for mean +- this many deviations; default: 3"},
    {"first-order", NULL, false, "without second derivatives"},
    {"samples", "N", false, "also N random samples, simulated"},
    {"seed", "N", false, "other samples; default: 1"},
    {"jobs", "N", false, "N threads for the samples"},
    {"ensemble", NULL, false, "four samples at a time in vector instructions, with fixed steps; the same numbers"},
    CLI_OPTIONS_MODES_SCATTER,
    CLI_OPTIONS_RECORDS,
    {"out", "FILE", CLI_FILE_OUT, "write the samples: .csv, .h5 or .hdf5"},
    {"criteria", "A,B,...", false, "these criteria only"},
    CLI_OPTIONS_RUN,
    CLI_OPTION_JSON,
};

extern const cli_command cli_cmd_uncertainty;

const cli_command cli_cmd_uncertainty = {
    .name = "uncertainty",
    .arguments = "MODEL",
    .summary = "how criteria scatter when parameters do",
    .details =
        "Mean, deviation and skewness of criteria from the scatter of parameters, by exact first and second\n"
        "derivatives; which parameter has which share; how much scatter limits allow. --samples simulates random\n"
        "samples beside it. With --modes: of frequencies and damping ratios.\n",
    .least = 1,
    .most = 1,
    .options = options,
    .noption = (int)(sizeof(options) / sizeof(options[0])),
    .run = uncertainty,
    .ranks = true,
};
