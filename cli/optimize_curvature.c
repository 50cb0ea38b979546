/* Second order at an optimum: eigenvalues of the reduced Hessian, and shifts by numbers of the model. */
#include "optimize_curvature.h"

#include "cli.h"
#include "results.h"
#include "table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SHOWN = 10, PARAMETERS = 4 };

static const char *const order_words[] = {[MBG_OPTIMIZE_ORDER_UNKNOWN] = "unknown",
                                          [MBG_OPTIMIZE_MINIMUM] = "minimum",
                                          [MBG_OPTIMIZE_VERTEX] = "vertex",
                                          [MBG_OPTIMIZE_FLAT] = "flat",
                                          [MBG_OPTIMIZE_SADDLE] = "saddle"};

/* ---------------------------------------------------------------------- ranking */

/* the largest of the relative changes of objective and parameters that a change of the number by its scale makes */
static double effect(const mbg_optimize *opt, const mbg_optimize_shift *s) {
  const mbg_optimize_summary *sum = mbg_optimize_get_summary(opt);
  double most = sum->objective != 0 ? fabs(s->objective * s->scale / sum->objective) : 0;
  for (int i = 0; i < sum->parameters; i++) {
    const mbg_optimize_parameter *p = mbg_optimize_get_parameter(opt, i);
    const double size = p->value != 0 ? fabs(p->value) : 1;
    most = fmax(most, fabs(s->by[i] * s->scale) / size);
  }
  return most;
}

typedef struct {
  const mbg_optimize_shift *shift;
  double effect;
} ranked;

static int by_effect(const void *a, const void *b) {
  const double x = ((const ranked *)a)->effect, y = ((const ranked *)b)->effect;
  return (x < y) - (x > y);
}

static ranked *rank(const mbg_optimize *opt) {
  const int n = mbg_optimize_get_summary(opt)->shifts;
  ranked *list = cli_resize(NULL, (size_t)n + 1, sizeof(*list));
  for (int k = 0; k < n; k++) {
    const mbg_optimize_shift *s = mbg_optimize_get_shift(opt, k);
    list[k] = (ranked){s, effect(opt, s)};
  }
  qsort(list, (size_t)n, sizeof(*list), by_effect);
  return list;
}

/* ---------------------------------------------------------------------- for readers */

static void print_shifts(const mbg_optimize *opt, bool full) {
  const mbg_optimize_summary *s = mbg_optimize_get_summary(opt);
  const int count = full || s->shifts < SHOWN ? s->shifts : SHOWN;
  const int parameters = s->parameters < PARAMETERS ? s->parameters : PARAMETERS;
  char columns[4 + PARAMETERS + 1] = "llrr";
  ranked *list = rank(opt);
  for (int i = 0; i < parameters; i++) {
    columns[4 + i] = 'r';
  }
  cli_table t = cli_table_make(columns);
  cli_table_texts(&t, "number", "", "value", "objective", NULL);
  for (int i = 0; i < parameters; i++) {
    cli_table_text(&t, mbg_optimize_get_parameter(opt, i)->name);
  }
  for (int k = 0; k < count; k++) {
    cli_table_text(&t, list[k].shift->owner);
    cli_table_text(&t, list[k].shift->key);
    cli_table_number(&t, list[k].shift->value);
    cli_table_number(&t, list[k].shift->objective);
    for (int i = 0; i < parameters; i++) {
      cli_table_number(&t, list[k].shift->by[i]);
    }
  }
  cli_heading("\nmoves with numbers of the model (derivatives of the best objective and of the optimized parameters)");
  cli_table_print(&t, 2);
  if (count < s->shifts || parameters < s->parameters) {
    printf("  %d of %d numbers, %d of %d parameters; all: --json\n", count, s->shifts, parameters, s->parameters);
  }
  cli_table_destroy(&t);
  free(list);
}

void cli_curvature_print(const mbg_optimize *opt, bool full) {
  const mbg_optimize_summary *s = mbg_optimize_get_summary(opt);
  if (s->order == MBG_OPTIMIZE_ORDER_UNKNOWN) {
    return;
  }
  cli_heading("\nsecond order");
  printf("  %s\n", mbg_optimize_order_text((int)s->order));
  if (s->curvatures > 0) {
    const double *w = mbg_optimize_curvatures(opt);
    char a[CLI_NUMBER_SIZE], b[CLI_NUMBER_SIZE];
    printf("  %d free direction%s; eigenvalues of the reduced Hessian, by scaled parameters: %s to %s\n", s->curvatures,
           s->curvatures == 1 ? "" : "s", cli_number(a, w[0]), cli_number(b, w[s->curvatures - 1]));
  }
  if (s->shifts > 0) {
    print_shifts(opt, full);
  }
}

/* ---------------------------------------------------------------------- for programs */

void cli_curvature_json(const mbg_optimize *opt) {
  const mbg_optimize_summary *s = mbg_optimize_get_summary(opt);
  if (s->order == MBG_OPTIMIZE_ORDER_UNKNOWN) {
    return;
  }
  const double *w = mbg_optimize_curvatures(opt);
  printf(",\n  \"curvature\": {\"order\": \"%s\", \"eigenvalues\": [", order_words[s->order]);
  for (int k = 0; k < s->curvatures; k++) {
    fputs(k > 0 ? ", " : "", stdout);
    cli_json_number(stdout, w[k]);
  }
  fputs("]},\n  \"shifts\": [", stdout);
  ranked *list = rank(opt);
  for (int k = 0; k < s->shifts; k++) {
    const mbg_optimize_shift *x = list[k].shift;
    fputs(k > 0 ? ",\n    {\"owner\": " : "\n    {\"owner\": ", stdout);
    cli_json_string(x->owner);
    fputs(", \"key\": ", stdout);
    cli_json_string(x->key);
    fputs(", \"value\": ", stdout);
    cli_json_number(stdout, x->value);
    fputs(", \"objective\": ", stdout);
    cli_json_number(stdout, x->objective);
    fputs(", \"parameters\": {", stdout);
    for (int i = 0; i < s->parameters; i++) {
      fputs(i > 0 ? ", " : "", stdout);
      cli_json_string(mbg_optimize_get_parameter(opt, i)->name);
      fputs(": ", stdout);
      cli_json_number(stdout, x->by[i]);
    }
    fputs("}}", stdout);
  }
  fputs(s->shifts > 0 ? "\n  ]" : "]", stdout);
  free(list);
}
