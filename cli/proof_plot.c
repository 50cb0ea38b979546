#include "cmd_check_gradient.h"

#include "mbgrad/proof.h"
#include "plot.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>

/* A criterion: eps, remainders, the line of slope 2, and the panel that shows them. */
typedef struct {
  double eps[MBG_TAYLOR_POINTS], remainder[MBG_TAYLOR_POINTS], square[MBG_TAYLOR_POINTS];
  cli_curve curves[2];
} points;

/* the line of slope 2 goes through the middle of the window and ends at the least remainder */
static void take_points(const mbg_proof *q, points *to) {
  double scale = NAN, least = INFINITY;
  for (int i = 0; i < MBG_TAYLOR_POINTS; i++) {
    to->eps[i] = q->taylor[i].eps;
    to->remainder[i] = q->taylor[i].remainder;
    least = to->remainder[i] > 0 ? fmin(least, to->remainder[i]) : least;
  }
  if (q->taylor_last > q->taylor_first) {
    const int middle = (q->taylor_first + q->taylor_last) / 2;
    scale = to->remainder[middle] / (to->eps[middle] * to->eps[middle]);
  }
  for (int i = 0; i < MBG_TAYLOR_POINTS; i++) {
    const double square = scale * to->eps[i] * to->eps[i];
    to->square[i] = square >= least ? square : NAN;
  }
}

static cli_panel make_panel(const cli_proof *p, int criterion, points *at) {
  const int n = MBG_TAYLOR_POINTS;
  take_points(mbg_run_get_proof(cli_proof_run(p), criterion), at);
  at->curves[0] = (cli_curve){.name = "remainder", .count = n, .x = at->eps, .y = at->remainder, .dots = true};
  at->curves[1] = (cli_curve){.name = "slope 2", .count = n, .x = at->eps, .y = at->square, .dashed = true};
  return (cli_panel){.title = mbg_model_criterion_name(cli_proof_model(p), criterion),
                     .x_label = "eps",
                     .y_label = "remainder",
                     .log_x = true,
                     .log_y = true,
                     .ncurve = 2,
                     .curves = at->curves};
}

int cli_proof_plot(const cli_proof *p, const char *path) {
  const cli_criteria *chosen = cli_proof_criteria(p);
  points *at = cli_resize(NULL, (size_t)chosen->count + 1, sizeof(*at));
  cli_panel *panels = cli_resize(NULL, (size_t)chosen->count + 1, sizeof(*panels));
  for (int c = 0; c < chosen->count; c++) {
    panels[c] = make_panel(p, chosen->index[c], &at[c]);
  }
  char *title = cli_format("%s: Taylor test of the gradient", mbg_model_name(cli_proof_model(p)));
  const int status = cli_plot_write(path, title, panels, chosen->count);
  free(title);
  free(panels);
  free(at);
  return status;
}

void cli_proof_put(const cli_proof *p, int criterion, FILE *file) {
  points at;
  const cli_panel panel = make_panel(p, criterion, &at);
  cli_plot_put(file, "Taylor test", &panel, 1, 2);
}
