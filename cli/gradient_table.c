#include "gradient_table.h"

#include "cli.h"
#include "table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHORT_VECTOR = 8, SHOWN = 5, COLUMNS = 5 };

int cli_need_gradient(const mbg_model *model) {
  if (mbg_model_criterion_count(model) == 0) {
    return cli_bad_input("%s: the model has no criteria, so there is nothing to differentiate; give it \"criteria\"",
                         mbg_model_name(model));
  }
  if (mbg_model_parameter_count(model) == 0) {
    return cli_bad_input("%s: the model has no parameters, so there is nothing to differentiate by; give it "
                         "\"parameters\" (mbgrad gradient --all needs none)",
                         mbg_model_name(model));
  }
  return CLI_DONE;
}

double cli_parameter_size(const double *p, int index) { return p[index] != 0 ? fabs(p[index]) : 1; }

double cli_gradient_difference(const double *g, const double *h, const double *p, int np) {
  double largest = 0, worst = 0;
  for (int i = 0; i < np; i++) {
    largest = fmax(largest, cli_parameter_size(p, i) * fabs(g[i]));
  }
  for (int i = 0; i < np; i++) {
    const double scale = fabs(g[i]) + largest / cli_parameter_size(p, i);
    worst = fmax(worst, scale > 0 ? fabs(g[i] - h[i]) / scale : fabs(h[i]));
  }
  return worst;
}

/* ---------------------------------------------------------------------- choice of entries */

/* effect of each entry: the largest over the criteria, relative to the largest of that criterion */
static double *effects(const mbg_model *model, const double *gradient, const double *p) {
  const int nc = mbg_model_criterion_count(model), np = mbg_model_parameter_count(model);
  double *effect = cli_resize(NULL, (size_t)np, sizeof(double));
  for (int i = 0; i < np; i++) {
    effect[i] = 0;
  }
  for (int k = 0; k < nc; k++) {
    const double *g = gradient + (size_t)k * (size_t)np;
    double largest = 0;
    for (int i = 0; i < np; i++) {
      largest = fmax(largest, cli_parameter_size(p, i) * fabs(g[i]));
    }
    for (int i = 0; largest > 0 && i < np; i++) {
      effect[i] = fmax(effect[i], cli_parameter_size(p, i) * fabs(g[i]) / largest);
    }
  }
  return effect;
}

/* is it among the SHOWN largest of first .. first+count-1? */
static bool is_large(const double *effect, int first, int count, int index) {
  int before = 0;
  for (int i = first; i < first + count; i++) {
    before += effect[i] > effect[index] || (effect[i] == effect[index] && i < index);
  }
  return before < SHOWN;
}

cli_entries cli_entries_choose(const mbg_model *model, const double *gradient, const double *p, bool full) {
  cli_entries e = {.index = cli_resize(NULL, (size_t)mbg_model_parameter_count(model), sizeof(int))};
  double *effect = effects(model, gradient, p);
  for (int i = 0; i < mbg_model_parameter_group_count(model); i++) {
    const char *name;
    int first, count;
    (void)mbg_model_parameter_group(model, i, &name, &first, &count);
    count = count > 0 ? count : 1;
    for (int k = first; k < first + count; k++) {
      if (full || count <= SHORT_VECTOR || is_large(effect, first, count, k)) {
        e.index[e.count++] = k;
      } else {
        e.hidden++;
      }
    }
  }
  free(effect);
  return e;
}

/* ---------------------------------------------------------------------- tables */

void cli_criteria_print(const mbg_model *model, const double *psi) {
  cli_table table = cli_table_make("lr");
  for (int k = 0; k < mbg_model_criterion_count(model); k++) {
    cli_table_text(&table, mbg_model_criterion_name(model, k));
    cli_table_format(&table, "%.6g", psi[k]);
  }
  cli_heading("\ncriteria");
  cli_table_print(&table, 2);
  cli_table_destroy(&table);
}

static void add_row(cli_table *table, const mbg_model *model, const double *gradient, const double *p, int index,
                    int first, int count) {
  char name[256];
  const size_t np = (size_t)mbg_model_parameter_count(model);
  (void)mbg_model_parameter_name(model, index, name, sizeof(name));
  cli_table_text(table, name);
  cli_table_format(table, "%.6g", p[index]);
  cli_table_text(table, mbg_model_parameter_unit(model, index));
  for (int k = first; k < first + count; k++) {
    cli_table_format(table, "%.6g", gradient[(size_t)k * np + (size_t)index]);
  }
}

/* criteria first .. first+count-1 as columns */
static void print_block(const mbg_model *model, const double *gradient, const double *p, const cli_entries *e,
                        int first, int count) {
  static const char align[] = "lrlrrrrr";
  char own[sizeof(align)];
  snprintf(own, sizeof(own), "%.*s", 3 + count, align);
  cli_table table = cli_table_make(own);
  cli_table_texts(&table, "parameter", "value", "unit", NULL);
  for (int k = first; k < first + count; k++) {
    cli_table_format(&table, "d %s", mbg_model_criterion_name(model, k));
  }
  for (int i = 0; i < e->count; i++) {
    add_row(&table, model, gradient, p, e->index[i], first, count);
  }
  cli_table_print(&table, 2);
  cli_table_destroy(&table);
}

void cli_gradient_print(const mbg_model *model, const double *gradient, const double *p, bool full) {
  const int nc = mbg_model_criterion_count(model);
  cli_entries e = cli_entries_choose(model, gradient, p, full);
  cli_heading("\ngradient");
  for (int first = 0; first < nc; first += COLUMNS) {
    if (first > 0) {
      putchar('\n');
    }
    print_block(model, gradient, p, &e, first, nc - first < COLUMNS ? nc - first : COLUMNS);
  }
  if (e.hidden > 0) {
    printf("  ... %d entries of vectors with less effect (--full prints all)\n", e.hidden);
  }
  free(e.index);
}
