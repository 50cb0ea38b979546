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

/* "; signal 'y' reaches 1e+100 at t = 0": the largest number beyond any mechanism, or nothing */
static void say_largest(const mbg_run *run, char *text, size_t size) {
  double most = enormous;
  text[0] = '\0';
  for (int node = 0; node < run->nodes.nnode; node++) {
    for (int k = 0; k < run->nused; k++) {
      const double x = fabs(mbg__run_column(run, node, k));
      if (x > most) {
        char name[160];
        most = x;
        name_signal(run, run->used[k], name, sizeof(name));
        mbg__format(text, size, "; %s reaches %.2g at t = %.9g", name, x, mbg__time_shown(run->nodes.t[node]));
      }
    }
  }
}

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

int mbg__run_check_nodes(mbg_context *ctx, const mbg_run *run) {
  const mbg__nodes *nodes = &run->nodes;
  const size_t width = (size_t)nodes->width;
  /* with places, integrals and last values show it: mbg__run_check_criteria */
  for (int node = 0; !nodes->place && node < nodes->nnode; node++) {
    const real *y = nodes->y + (size_t)node * width;
    for (size_t k = 0; k < width; k++) {
      if (isfinite(re(y[k]))) {
        continue;
      }
      char name[160];
      if (k < (size_t)nodes->nused) {
        name_signal(run, run->used[k], name, sizeof(name));
      } else {
        mbg__format(name, sizeof(name), "the position or velocity of a body");
      }
      return mbg__fail(ctx, MBG_ERROR_CONVERGENCE,
                       "t = %.9g: %s is not a finite number (formulation '%s'); the motion grows without limit, or a "
                       "formula leaves its domain: take a smaller step, and check the sizes of masses and coordinates",
                       mbg__time_shown(nodes->t[node]), name, run->formulation->key);
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
      char name[160], largest[240];
      name_row(run, row, name, sizeof(name));
      say_largest(run, largest, sizeof(largest));
      return mbg__fail(ctx, MBG_ERROR_CONVERGENCE,
                       "the derivative of %s by parameter '%s' is not a finite number (formulation '%s'%s); take a "
                       "smaller step, and check the sizes of masses and coordinates",
                       name, run->m->parameters[i].name, run->formulation->key, largest);
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
        char name[160] = "a signal";
        name_history(run, k, name, sizeof(name));
        return mbg__fail(ctx, MBG_ERROR_CONVERGENCE,
                         "t = %.9g: the derivative of %s by parameter '%s' is not a finite number "
                         "(formulation '%s'); take a smaller step",
                         mbg__time_shown(run->nodes.t[node]), name, run->m->parameters[i].name, run->formulation->key);
      }
    }
  }
  return MBG_OK;
}
