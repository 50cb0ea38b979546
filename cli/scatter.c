#include "scatter.h"

#include "csv_file.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* deviations and kinds of all parameters of the model, before those without scatter are left out */
typedef struct {
  const cli_session *session;
  int np;
  double *deviation; /* (np) */
  mbg_distribution *kind;
  double *correlation; /* (np x np); NULL: none */
} all;

/* ---------------------------------------------------------------------- standard deviations */

/* "0.5", or "5%" of the value of each parameter in question */
static int take_value(const char *option, const char *text, double *value, bool *percent) {
  char *end;
  *value = strtod(text, &end);
  *percent = *end == '%';
  end += *percent;
  if (end == text || *end || !isfinite(*value) || *value < 0) {
    return cli_bad_input("--spread: '%s': expected a standard deviation from 0, or a share: NAME=0.5, NAME=5%%, 5%%",
                         option);
  }
  return CLI_DONE;
}

static int take_spread(all *a, const char *text) {
  const char *equals = strchr(text, '=');
  int first = 0, count = a->np, status = CLI_DONE;
  double value;
  bool percent;
  if (equals) {
    char *name = cli_format("%.*s", (int)(equals - text), text);
    status = cli_session_find(a->session, "spread", name, &first, &count);
    free(name);
  }
  if (status == CLI_DONE) {
    status = take_value(text, equals ? equals + 1 : text, &value, &percent);
  }
  if (status == CLI_DONE && !equals && !percent) {
    return cli_bad_input("--spread: '%s': give NAME=%s, or %s%% for all parameters", text, text, text);
  }
  for (int i = first; status == CLI_DONE && i < first + count; i++) {
    a->deviation[i] = percent ? value / 100 * fabs(a->session->parameters[i]) : value;
  }
  return status;
}

/* ---------------------------------------------------------------------- kinds, correlations */

static int take_uniform(all *a, const char *list) {
  int status = CLI_DONE;
  for (const char *at = list; at && *at && status == CLI_DONE;) {
    const size_t length = strcspn(at, ",");
    char *name = cli_format("%.*s", (int)length, at);
    int first, count;
    status = cli_session_find(a->session, "uniform", name, &first, &count);
    for (int i = first; status == CLI_DONE && i < first + count; i++) {
      a->kind[i] = MBG_UNIFORM;
    }
    free(name);
    at += length + (at[length] == ',');
  }
  return status;
}

static double *correlations(all *a) {
  if (!a->correlation) {
    const size_t n = (size_t)a->np;
    a->correlation = cli_resize(NULL, n * n, sizeof(double));
    for (size_t i = 0; i < n * n; i++) {
      a->correlation[i] = i % (n + 1) == 0;
    }
  }
  return a->correlation;
}

static int take_correlation(all *a, const char *text) {
  const char *comma = strchr(text, ','), *equals = strchr(text, '=');
  if (!comma || !equals || comma > equals) {
    return cli_bad_input("--correlation: '%s' is not A,B=VALUE", text);
  }
  char *end, *name[2] = {cli_format("%.*s", (int)(comma - text), text),
                         cli_format("%.*s", (int)(equals - comma - 1), comma + 1)};
  const double value = strtod(equals + 1, &end);
  int index[2], count[2], status = CLI_DONE;
  for (int k = 0; k < 2 && status == CLI_DONE; k++) {
    status = cli_session_find(a->session, "correlation", name[k], &index[k], &count[k]);
    if (status == CLI_DONE && count[k] > 1) {
      status = cli_bad_input("--correlation: '%s' is a vector: give an entry, %s[0]", name[k], name[k]);
    }
    free(name[k]);
  }
  if (status == CLI_DONE && (end == equals + 1 || *end || !(fabs(value) <= 1) || index[0] == index[1])) {
    status = cli_bad_input("--correlation: '%s': expected a number from -1 to 1 of two parameters", text);
  }
  if (status == CLI_DONE) {
    double *C = correlations(a);
    C[(size_t)index[0] * (size_t)a->np + (size_t)index[1]] = value;
    C[(size_t)index[1] * (size_t)a->np + (size_t)index[0]] = value;
  }
  return status;
}

/* ---------------------------------------------------------------------- a covariance matrix */

static int place_covariance(all *a, const cli_csv *csv, const char *path) {
  const size_t n = (size_t)csv->rows;
  double *C = correlations(a);
  int *index = cli_resize(NULL, n, sizeof(int));
  int status = csv->rows == csv->columns
                   ? CLI_DONE
                   : cli_bad_input("--covariance: %s has %d columns and %d rows: expected as many", path, csv->columns,
                                   csv->rows);
  for (size_t i = 0; i < n && status == CLI_DONE; i++) {
    const double variance = csv->values[i * n + i];
    index[i] = mbg_model_parameter_find(a->session->model, csv->names[i]);
    if (index[i] < 0) {
      status = cli_bad_input("--covariance: the model has no parameter '%s'", csv->names[i]);
    } else if (!(variance >= 0) || !isfinite(variance)) {
      status =
          cli_bad_input("--covariance: the variance of '%s' is %g: expected a number from 0", csv->names[i], variance);
    } else {
      a->deviation[index[i]] = sqrt(variance);
    }
  }
  for (size_t i = 0; i < n && status == CLI_DONE; i++) {
    for (size_t j = 0; j < i && status == CLI_DONE; j++) {
      const double c = csv->values[i * n + j], d = csv->values[j * n + i];
      const double size = a->deviation[index[i]] * a->deviation[index[j]];
      if (!(fabs(c - d) <= 1e-9 * size) || !(fabs(c) <= size * (1 + 1e-9))) {
        status = cli_bad_input("--covariance: the entries of '%s' and '%s', %g and %g, are not those of a covariance",
                               csv->names[i], csv->names[j], c, d);
      }
      const double value = size > 0 ? fmax(-1, fmin(1, c / size)) : 0;
      C[(size_t)index[i] * (size_t)a->np + (size_t)index[j]] = value;
      C[(size_t)index[j] * (size_t)a->np + (size_t)index[i]] = value;
    }
  }
  free(index);
  return status;
}

static int take_covariance(all *a, const char *path) {
  cli_csv csv = {0};
  int status = path ? cli_csv_read(&csv, "--covariance", path) : CLI_DONE;
  if (path && status == CLI_DONE) {
    status = place_covariance(a, &csv, path);
  }
  if (path) {
    cli_csv_destroy(&csv);
  }
  return status;
}

/* ---------------------------------------------------------------------- those that scatter */

static int take_options(all *a, const cli_args *args) {
  const char *text;
  int status = CLI_DONE;
  for (int i = 0; status == CLI_DONE && (text = cli_value(args, "spread", i)); i++) {
    status = take_spread(a, text);
  }
  status = status == CLI_DONE ? take_uniform(a, cli_value(args, "uniform", 0)) : status;
  status = status == CLI_DONE ? take_covariance(a, cli_value(args, "covariance", 0)) : status;
  for (int i = 0; status == CLI_DONE && (text = cli_value(args, "correlation", i)); i++) {
    status = take_correlation(a, text);
  }
  return status;
}

/* messages of the library know numbers only */
static int check_kinds(const cli_scatter *s, const cli_session *session) {
  const size_t n = (size_t)s->count;
  for (size_t k = 0; s->correlation && k < n * n; k++) {
    if (k / n != k % n && s->correlation[k] != 0 && s->kind[k / n] == MBG_UNIFORM) {
      char name[256];
      (void)mbg_model_parameter_name(session->model, s->index[k / n], name, sizeof(name));
      return cli_bad_input("parameter '%s' is uniform: only normal parameters may be correlated", name);
    }
  }
  return CLI_DONE;
}

static void choose(cli_scatter *s, const all *a) {
  const size_t np = (size_t)a->np;
  s->index = cli_resize(NULL, np, sizeof(int));
  for (int i = 0; i < a->np; i++) {
    if (a->deviation[i] > 0) {
      s->index[s->count++] = i;
    }
  }
  const size_t n = (size_t)s->count;
  s->kind = cli_resize(NULL, n, sizeof(*s->kind));
  s->deviation = cli_resize(NULL, n, sizeof(double));
  s->correlation = a->correlation ? cli_resize(NULL, n * n, sizeof(double)) : NULL;
  for (size_t i = 0; i < n; i++) {
    s->kind[i] = a->kind[s->index[i]];
    s->deviation[i] = a->deviation[s->index[i]];
    for (size_t j = 0; s->correlation && j < n; j++) {
      s->correlation[i * n + j] = a->correlation[(size_t)s->index[i] * np + (size_t)s->index[j]];
    }
  }
  s->scatter = (mbg_scatter){.n = s->count, .kind = s->kind, .deviation = s->deviation, .correlation = s->correlation};
}

int cli_scatter_make(cli_scatter *s, const cli_session *session, const cli_args *args) {
  all a = {.session = session, .np = mbg_model_parameter_count(session->model)};
  *s = (cli_scatter){0};
  a.deviation = cli_resize(NULL, (size_t)a.np, sizeof(double));
  a.kind = cli_resize(NULL, (size_t)a.np, sizeof(*a.kind));
  for (int i = 0; i < a.np; i++) {
    a.deviation[i] = mbg_model_parameter_deviation(session->model, i);
    a.kind[i] = mbg_model_parameter_distribution(session->model, i);
  }
  int status = take_options(&a, args);
  if (status == CLI_DONE) {
    choose(s, &a);
  }
  if (status == CLI_DONE && s->count == 0) {
    status =
        cli_bad_input("no parameter scatters: give \"deviation\" in the model, or --spread NAME=VALUE, --spread 5%%");
  }
  status = status == CLI_DONE ? check_kinds(s, session) : status;
  free(a.deviation);
  free(a.kind);
  free(a.correlation);
  return status;
}

void cli_scatter_destroy(cli_scatter *s) {
  free(s->index);
  free(s->kind);
  free(s->deviation);
  free(s->correlation);
}
