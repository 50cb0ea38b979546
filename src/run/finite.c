/* Numbers that are not finite never leave a run: each becomes an error that says where it appeared first. */
#include "run/run_internal.h"

static const double enormous = 1e50;

/* "signal 'y'", or whose expression it is */
static void name_signal(const mbg_run *run, int signal, char *text, size_t size) {
  const char *name = run->m->signals[signal].name;
  mbg__format(text, size, "%s%s%s", name ? "signal '" : "an expression", name ? name : "", name ? "'" : "");
  for (int k = 0; !name && k < run->m->ncriterion; k++) {
    if (run->m->criteria[k].kind != MBG__COMBINATION && run->m->criteria[k].signal == signal) {
      mbg__format(text, size, "the expression of criterion '%s'", run->m->criteria[k].name);
    }
  }
}

/* ---------------------------------------------------------------------- nodes that pass */

void mbg__run_see_nothing(mbg_run *run) { run->seen = (mbg__run_seen){.most_column = -1, .bad_column = -1}; }

static void see_number(mbg__run_seen *seen, double t, int column, double x) {
  if (!isfinite(x) && seen->bad_column < 0) {
    seen->bad_column = column;
    seen->bad_t = t;
  }
  if (fabs(x) > fmax(enormous, seen->most)) {
    seen->most_column = column;
    seen->most_t = t;
    seen->most = fabs(x);
  }
}

void mbg__run_see(void *user, double t, bool inner, const real *y) {
  mbg_run *run = user;
  for (int k = 0; k < run->nused; k++) {
    run->taken[k] = re(y[k]);
    see_number(&run->seen, t, k, run->taken[k]);
  }
  run->options.node(run->options.node_user, t, inner, run->taken);
}

/* "; signal 'y' reaches 1e+100 at t = 0": the largest number beyond any mechanism, or nothing */
static void say_largest(const mbg_run *run, char *text, size_t size) {
  mbg__run_seen seen = run->options.node ? run->seen : (mbg__run_seen){.most_column = -1, .bad_column = -1};
  text[0] = '\0';
  for (int node = 0; !run->options.node && node < run->nodes.nnode; node++) {
    for (int k = 0; k < run->nused; k++) {
      see_number(&seen, mbg__nodes_time(&run->nodes, node), k, mbg__run_column(run, node, k));
    }
  }
  if (seen.most_column >= 0) {
    char name[160];
    name_signal(run, run->used[seen.most_column], name, sizeof(name));
    mbg__format(text, size, "; %s reaches %.2g at t = %.9g", name, seen.most, mbg__time_shown(seen.most_t));
  }
}

/* ---------------------------------------------------------------------- checks */

/* what a state file would hold, and no signal may show */
static int check_last(mbg_context *ctx, const mbg_run *run) {
  const mbg_model *m = run->m;
  double t = 0;
  bool finite = true;
  int err = MBG_OK;
  mbg__arena scratch;
  mbg__arena_init(&scratch, mbg__context_allocator(ctx));
  mbg__frame *H = MBG_TAKE(&scratch, mbg__frame, m->nbody);
  real *v = MBG_TAKE(&scratch, real, m->nw);
  int *turns = MBG_TAKE(&scratch, int, m->nturn);
  MBG_TRY(mbg__arena_check(ctx, &scratch));
  if (run->formulation->ops->last(run->work, &t, H, v, turns) == MBG_OK) {
    for (int b = 0; b < m->nbody; b++) {
      finite = finite && isfinite(re(H[b].x[0] + H[b].x[1] + H[b].x[2]));
    }
    for (int i = 0; i < m->nw; i++) {
      finite = finite && isfinite(re(v[i]));
    }
  }
  if (!finite) {
    err = mbg__fail(ctx, MBG_ERROR_CONVERGENCE,
                    "t = %.9g: the position or velocity of a body is not a finite number (formulation '%s'); take a "
                    "smaller step, and check the sizes of masses, coordinates and velocities",
                    t, run->formulation->key);
  }
done:
  mbg__arena_destroy(&scratch);
  return err;
}

/* the used signal that number k of a node holds; nused or more: of the pose */
static int column_of(const mbg__nodes *nodes, int k) {
  int column = nodes->place ? 0 : k;
  while (nodes->place && nodes->place[column] != k) {
    column++;
  }
  return column;
}

/* number `column` of a node, used signals first, is not finite */
static int not_finite(mbg_context *ctx, const mbg_run *run, double t, int column) {
  char name[160];
  if (column < run->nused) {
    name_signal(run, run->used[column], name, sizeof(name));
  } else {
    mbg__format(name, sizeof(name), "the position or velocity of a body");
  }
  return mbg__fail(ctx, MBG_ERROR_CONVERGENCE,
                   "t = %.9g: %s is not a finite number (formulation '%s'); the motion grows without limit, or a "
                   "formula leaves its domain: take a smaller step, and check the sizes of masses and coordinates",
                   mbg__time_shown(t), name, run->formulation->key);
}

int mbg__run_check_nodes(mbg_context *ctx, const mbg_run *run) {
  const mbg__nodes *nodes = &run->nodes;
  const size_t width = (size_t)nodes->width;
  if (run->options.node && run->seen.bad_column >= 0) {
    return not_finite(ctx, run, run->seen.bad_t, run->seen.bad_column);
  }
  /* other signals without a place show it in their integrals and last values: mbg__run_check_criteria */
  for (int node = 0; node < nodes->nnode; node++) {
    const real *y = nodes->y + (size_t)node * width;
    for (size_t k = 0; k < width; k++) {
      if (!isfinite(re(y[k]))) {
        return not_finite(ctx, run, mbg__nodes_time(nodes, node), column_of(nodes, (int)k));
      }
    }
  }
  return nodes->nnode > 0 ? check_last(ctx, run) : MBG_OK;
}

int mbg__run_check_criteria(mbg_context *ctx, const mbg_run *run) {
  for (int k = 0; k < run->m->ncriterion; k++) {
    if (!isfinite(re(run->psi[k]))) {
      char largest[240];
      say_largest(run, largest, sizeof(largest));
      return mbg__fail(ctx, MBG_ERROR_CONVERGENCE,
                       "criterion '%s' is not a finite number (formulation '%s'%s); take a smaller step, and check the "
                       "sizes of masses and coordinates",
                       run->m->criteria[k].name, run->formulation->key, largest);
    }
  }
  return MBG_OK;
}

/* "criterion 'J'", or the sum of all */
static void name_row(const mbg_run *run, const mbg__gradient_row *row, char *text, size_t size) {
  if (row->cotangent) {
    mbg__format(text, size, "the product with cotangents");
  } else if (row->criterion < 0) {
    mbg__format(text, size, "the weighted sum of criteria");
  } else {
    mbg__format(text, size, "criterion '%s'", run->m->criteria[row->criterion].name);
  }
}

int mbg__run_check_gradient(mbg_context *ctx, const mbg_run *run, const mbg__gradient_row *row,
                            const double *gradient) {
  for (int i = 0; i < run->m->np; i++) {
    if (!isfinite(gradient[i])) {
      char name[160], parameter[256], largest[240];
      name_row(run, row, name, sizeof(name));
      (void)mbg_model_parameter_name(run->m, i, parameter, sizeof(parameter));
      say_largest(run, largest, sizeof(largest));
      return mbg__fail(ctx, MBG_ERROR_CONVERGENCE,
                       "the derivative of %s by parameter '%s' is not a finite number (formulation '%s'%s); take a "
                       "smaller step, and check the sizes of masses and coordinates",
                       name, parameter, run->formulation->key, largest);
    }
  }
  return MBG_OK;
}

int mbg__run_check_attributes(mbg_context *ctx, const mbg_run *run, int criterion, const double *gradient) {
  for (int i = 0; i < run->m->na; i++) {
    const mbg__attribute *a = &run->m->attributes[i];
    if (!isfinite(gradient[i])) {
      return mbg__fail(ctx, MBG_ERROR_CONVERGENCE,
                       "the derivative of criterion '%s' by %s of %s is not a finite number (formulation '%s')",
                       run->m->criteria[criterion].name, a->label->key, a->owner, run->formulation->key);
    }
  }
  return MBG_OK;
}

/* of row k: a signal, or behind them a component of the frame of a body */
static void name_history(const mbg_run *run, int k, char *name, size_t size) {
  if (k < run->nused) {
    name_signal(run, run->used[k], name, size);
    return;
  }
  for (int b = 0; b < run->m->nbody; b++) {
    const int off = run->m->bodies[b].voff;
    if (k - run->nused >= off && k - run->nused < off + 6) {
      mbg__format(name, size, "the pose of body '%s'", run->m->bodies[b].name ? run->m->bodies[b].name : "");
    }
  }
}

int mbg__run_check_history(mbg_context *ctx, const mbg_run *run, int node, int rows, const double *dy) {
  for (int k = 0; k < rows; k++) {
    for (int i = 0; i < run->m->np; i++) {
      if (!isfinite(dy[(size_t)k * (size_t)run->m->np + (size_t)i])) {
        char name[160] = "a signal", parameter[256];
        (void)mbg_model_parameter_name(run->m, i, parameter, sizeof(parameter));
        name_history(run, k, name, sizeof(name));
        return mbg__fail(ctx, MBG_ERROR_CONVERGENCE,
                         "t = %.9g: the derivative of %s by parameter '%s' is not a finite number "
                         "(formulation '%s'); take a smaller step",
                         mbg__time_shown(mbg__nodes_time(&run->nodes, node)), name, parameter, run->formulation->key);
      }
    }
  }
  return MBG_OK;
}
