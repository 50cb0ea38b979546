#include "ranking.h"

#include "text.h"

#include <math.h>
#include <stdlib.h>

static int by_effect(const void *a, const void *b) {
  const cli_ranked *x = a, *y = b;
  return x->effect > y->effect ? -1 : x->effect < y->effect ? 1 : x->index - y->index;
}

cli_ranked *cli_rank(const mbg_run *run, const double *gradient) {
  const size_t n = (size_t)mbg_run_attribute_count(run);
  cli_ranked *list = cli_resize(NULL, n, sizeof(*list));
  double *values = cli_resize(NULL, 2 * n, sizeof(*values)), *scales = values + n;
  (void)mbg_run_attributes(run, values, scales);
  for (size_t i = 0; i < n; i++) {
    list[i] = (cli_ranked){(int)i, values[i], scales[i] * fabs(gradient[i])};
  }
  free(values);
  qsort(list, n, sizeof(*list), by_effect);
  return list;
}
