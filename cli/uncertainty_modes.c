#include "uncertainty_modes.h"

#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MODES_MAX = 1000 };

/* ---------------------------------------------------------------------- options */

static int read_options(cli_mode_scatter *s, const cli_args *args) {
  const char *at = cli_value(args, "at", 0);
  mbg_modes_options_default(&s->options, sizeof(s->options));
  int status = cli_count(args, "modes", &s->options.count);
  if (status == CLI_DONE && s->options.count > MODES_MAX) {
    status = cli_bad_input("--modes: %d; at most %d", s->options.count, MODES_MAX);
  }
  if (status == CLI_DONE && at) {
    const int found = mbg_modes_at_find(at);
    status = found < 0 ? cli_bad_input("--at: '%s' is neither equilibrium, start nor steady", at) : CLI_DONE;
    s->options.at = found < 0 ? s->options.at : (mbg_modes_at)found;
  }
  s->options.undamped = cli_flag(args, "undamped");
  return status;
}

static bool is_listed(const char *list, const char *name) {
  const size_t length = strlen(name);
  for (const char *p = list; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
    if (strcspn(p, ",") == length && strncmp(p, name, length) == 0) {
      return true;
    }
  }
  return false;
}

static void add(cli_mode_scatter *s, const char *list, int mode, bool damping) {
  char *name = cli_format("%s%d", damping ? "damping" : "f", mode + 1);
  if (list ? is_listed(list, name) : !damping) {
    s->mode[s->count] = mode;
    s->damping[s->count] = damping;
    s->name[s->count++] = name;
  } else {
    free(name);
  }
}

static int check_list(const cli_mode_scatter *s, const char *list) {
  for (const char *p = list; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
    bool known = false;
    for (int i = 0; i < s->count; i++) {
      known = known || (strlen(s->name[i]) == strcspn(p, ",") && !strncmp(p, s->name[i], strcspn(p, ",")));
    }
    if (!known) {
      return cli_bad_input("--criteria: '%.*s': with --modes give f1, f2, ... or damping1, ... of modes that vibrate",
                           (int)strcspn(p, ","), p);
    }
  }
  return s->count > 0 ? CLI_DONE : cli_failed("no mode oscillates: there is no frequency");
}

static int list_numbers(cli_mode_scatter *s, const char *list) {
  const mbg_modes_summary *all = mbg_modes_get_summary(s->modes);
  const size_t most = 2 * (size_t)all->count + 1;
  s->mode = cli_resize(NULL, most, sizeof(int));
  s->damping = cli_resize(NULL, most, sizeof(bool));
  s->name = cli_resize(NULL, most, sizeof(*s->name));
  for (int damping = 0; damping < 1 + all->damped; damping++) {
    for (int i = 0; i < all->count; i++) {
      if (mbg_modes_get_mode(s->modes, i)->frequency > 0) {
        add(s, list, i, damping);
      }
    }
  }
  return check_list(s, list);
}

int cli_mode_scatter_make(cli_mode_scatter *s, cli_session *session, const cli_args *args) {
  *s = (cli_mode_scatter){0};
  int status = read_options(s, args);
  if (status == CLI_DONE) {
    mbg_modes_options o = s->options;
    o.parameters = session->parameters;
    o.gradient = true;
    status = cli_session_status(session, mbg_modes_create(session->ctx, session->model, &o, &s->modes));
  }
  return status == CLI_DONE ? list_numbers(s, cli_value(args, "criteria", 0)) : status;
}

void cli_mode_scatter_destroy(cli_mode_scatter *s) {
  for (int i = 0; i < s->count; i++) {
    free(s->name[i]);
  }
  free(s->name);
  free(s->mode);
  free(s->damping);
  mbg_modes_destroy(s->modes);
}

/* ---------------------------------------------------------------------- numbers */

static double value_of(const mbg_mode *m, bool damping) { return damping ? m->damping : m->frequency; }

int cli_mode_scatter_evaluate(const cli_mode_scatter *s, mbg_context *ctx, const mbg_model *model,
                              const double *parameters, double *values) {
  mbg_modes_options o = s->options;
  mbg_modes *modes = NULL;
  o.parameters = parameters;
  int result = mbg_modes_create(ctx, model, &o, &modes);
  for (int i = 0; result == MBG_OK && i < s->count; i++) {
    const mbg_mode *m = mbg_modes_get_mode(modes, s->mode[i]);
    result = m && m->frequency > 0 ? MBG_OK : MBG_ERROR_SINGULAR; /* it no longer oscillates */
    values[i] = result == MBG_OK ? value_of(m, s->damping[i]) : NAN;
  }
  mbg_modes_destroy(modes);
  return result;
}

/* gradients by the parameters that scatter */
static int take_gradients(const cli_mode_scatter *s, cli_uncertainty *u) {
  const size_t n = (size_t)u->scatter->count;
  for (int i = 0; i < s->count; i++) {
    const int mode = s->mode[i];
    const double *g =
        s->damping[i] ? mbg_modes_damping_gradient(s->modes, mode) : mbg_modes_frequency_gradient(s->modes, mode);
    const mbg_mode *m = mbg_modes_get_mode(s->modes, mode);
    u->moments[i].value = value_of(m, s->damping[i]);
    if (m->multiplicity > 1) {
      return cli_failed("modes %d to %d are equal: their frequencies have no common derivative, and scatter has no "
                        "first order",
                        m->first + 1, m->first + m->multiplicity);
    }
    for (size_t k = 0; k < n; k++) {
      u->gradient[(size_t)i * n + k] = g[u->scatter->index[k]];
      if (!isfinite(u->gradient[(size_t)i * n + k])) {
        return cli_failed("%s has no derivative by a parameter that scatters", s->name[i]);
      }
    }
  }
  return CLI_DONE;
}

static void take_hessians(const cli_mode_scatter *s, const double *frequency, const double *damping,
                          cli_uncertainty *u) {
  const size_t size = (size_t)u->scatter->count * (size_t)u->scatter->count;
  for (int i = 0; i < s->count; i++) {
    const double *H = (s->damping[i] ? damping : frequency) + (size_t)s->mode[i] * size;
    u->has[i] = true;
    for (size_t k = 0; k < size; k++) {
      u->hessian[(size_t)i * size + k] = H[k];
      u->has[i] = u->has[i] && isfinite(H[k]);
    }
  }
}

int cli_mode_scatter_differentiate(const cli_mode_scatter *s, cli_session *session, bool second, cli_uncertainty *u) {
  const size_t size = (size_t)u->scatter->count * (size_t)u->scatter->count;
  const int count = mbg_modes_get_summary(s->modes)->count;
  int status = take_gradients(s, u);
  if (status != CLI_DONE || !second) {
    return status;
  }
  mbg_modes_options o = s->options;
  o.parameters = session->parameters;
  double *frequency = cli_resize(NULL, 2 * (size_t)count * size, sizeof(double));
  double *damping = frequency + (size_t)count * size;
  const int result =
      mbg_modes_hessian(session->ctx, s->modes, &o, u->scatter->count, u->scatter->index, frequency, damping, NULL);
  status = cli_session_status(session, result);
  if (status == CLI_DONE) {
    take_hessians(s, frequency, damping, u);
  }
  free(frequency);
  return status;
}
