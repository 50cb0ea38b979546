/* What a watch says after a run. */
#include "trajectory/rank_watch_internal.h"

#include "mbgrad/model.h"

static const double near = 1e-4;       /* sigma worth a warning: eight digits of a gradient are lost */
static const double suspicious = 0.05; /* sigma that may explain why a run stopped */

int mbg__rank_watch_row(const mbg__rank_watch *w, const double *y) {
  int row = 0;
  for (int i = 1; i < w->m->nrow; i++) {
    row = fabs(y[i]) > fabs(y[row]) ? i : row;
  }
  return row;
}

void mbg__rank_watch_report(mbg_context *ctx, const mbg__rank_watch *w) {
  char label[160];
  if (w && w->passages > 0) {
    mbg__row_label(w->m, w->passed_row, label, sizeof(label));
    mbg__note(
        ctx, MBG_WARNING,
        "t = %.6g: the run passes a singular position (%d in all): %s depends on the other constraints; it goes on "
        "with "
        "continuous velocities, but results and gradients lose digits there (condition %.1e at t = %.6g): compare "
        "with another step or tolerance",
        mbg__time_shown(w->when), w->passages, label, 1 / fmax(w->least, 1e-16), mbg__time_shown(w->least_t));
  } else if (w && w->least < near) {
    mbg__row_label(w->m, w->least_row, label, sizeof(label));
    mbg__note(
        ctx, MBG_WARNING,
        "t = %.6g: nearly singular position: %s nearly depends on the other constraints (condition %.1e); results "
        "and gradients lose digits there: compare with another step or tolerance",
        mbg__time_shown(w->least_t), label, 1 / fmax(w->least, 1e-16));
  }
}

int mbg__rank_watch_gradient(mbg_context *ctx, const mbg__rank_watch *w) {
  char name[128], label[160];
  if (!w || w->split < 0) {
    return MBG_OK;
  }
  mbg_model_parameter_name(w->m, w->split, name, sizeof(name));
  mbg__row_label(w->m, w->passed_row, label, sizeof(label));
  return mbg__fail(ctx, MBG_ERROR_SINGULAR,
                   "there is no gradient by parameter '%s': the run passes a singular position at t = %.6g (%s depends "
                   "on the other constraints), where branches meet that a change of '%s' takes apart; make it a "
                   "constant, or choose dimensions or initial values that avoid the position",
                   name, mbg__time_shown(w->split_t), label, name);
}

void mbg__rank_watch_explain(const mbg__rank_watch *w, char *text, size_t size) {
  const mbg__rank_sample *s = w && w->count > 0 ? &w->at[w->now] : NULL;
  text[0] = '\0';
  if (s && s->sigma < suspicious) {
    char label[160];
    mbg__row_label(w->m, mbg__rank_watch_row(w, s->y), label, sizeof(label));
    mbg__format(
        text, size,
        "at t = %.6g %s nearly depends on the other constraints (condition %.1e): the mechanism locks, or passes "
        "a singular position",
        mbg__time_shown(s->t), label, 1 / fmax(s->sigma, 1e-16));
  }
}
