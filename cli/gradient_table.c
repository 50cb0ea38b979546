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

/* ---------------------------------------------------------------------- choice of criteria */

/* is the name one of the list "A,B,..."? */
static bool is_listed(const char *list, const char *name) {
  const size_t n = strlen(name);
  for (const char *p = list; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
    if (strcspn(p, ",") == n && !strncmp(p, name, n)) {
      return true;
    }
  }
  return false;
}

static int unknown_criterion(const mbg_model *model, const char *name) {
  const int all = mbg_model_criterion_count(model);
  const char **names = cli_resize(NULL, (size_t)all + 1, sizeof(*names));
  for (int k = 0; k < all; k++) {
    names[k] = mbg_model_criterion_name(model, k);
  }
  const char *near = cli_nearest(name, names, all);
  const int status = cli_bad_input("--criteria: the model has no criterion '%s'%s%s%s", name,
                                   near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
  free(names);
  return status;
}

int cli_criteria_choose(const mbg_model *model, const char *list, cli_criteria *chosen) {
  const int all = mbg_model_criterion_count(model);
  int status = CLI_DONE;
  *chosen = (cli_criteria){.index = cli_resize(NULL, (size_t)all + 1, sizeof(int))};
  for (int k = 0; k < all; k++) {
    if (!list || is_listed(list, mbg_model_criterion_name(model, k))) {
      chosen->index[chosen->count++] = k;
    }
  }
  for (const char *p = list; p && status == CLI_DONE; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
    char *name = cli_format("%.*s", (int)strcspn(p, ","), p);
    bool known = false;
    for (int i = 0; i < chosen->count; i++) {
      known = known || !strcmp(name, mbg_model_criterion_name(model, chosen->index[i]));
    }
    status = known ? CLI_DONE : unknown_criterion(model, name);
    free(name);
  }
  return status;
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

void cli_criteria_print(const mbg_model *model, const cli_criteria *chosen, const double *psi) {
  cli_table table = cli_table_make("lr");
  for (int i = 0; i < chosen->count; i++) {
    cli_table_text(&table, mbg_model_criterion_name(model, chosen->index[i]));
    cli_table_format(&table, "%.6g", psi[chosen->index[i]]);
  }
  cli_heading("\ncriteria");
  cli_table_print(&table, 2);
  cli_table_destroy(&table);
}

static void add_row(cli_table *table, const mbg_model *model, const double *gradient, const double *p, int index,
                    int count, const int *criteria) {
  char name[256];
  const size_t np = (size_t)mbg_model_parameter_count(model);
  (void)mbg_model_parameter_name(model, index, name, sizeof(name));
  cli_table_text(table, name);
  cli_table_format(table, "%.6g", p[index]);
  cli_table_text(table, mbg_model_parameter_unit(model, index));
  for (int i = 0; i < count; i++) {
    cli_table_format(table, "%.6g", gradient[(size_t)criteria[i] * np + (size_t)index]);
  }
}

/* these criteria as columns */
static void print_block(const mbg_model *model, const double *gradient, const double *p, const cli_entries *e,
                        int count, const int *criteria) {
  static const char align[] = "lrlrrrrr";
  char own[sizeof(align)];
  snprintf(own, sizeof(own), "%.*s", 3 + count, align);
  cli_table table = cli_table_make(own);
  cli_table_texts(&table, "parameter", "value", "unit", NULL);
  for (int i = 0; i < count; i++) {
    cli_table_format(&table, "d %s", mbg_model_criterion_name(model, criteria[i]));
  }
  for (int i = 0; i < e->count; i++) {
    add_row(&table, model, gradient, p, e->index[i], count, criteria);
  }
  cli_table_print(&table, 2);
  cli_table_destroy(&table);
}

void cli_gradient_print(const mbg_model *model, const cli_criteria *chosen, const double *gradient, const double *p,
                        bool full) {
  cli_entries e = cli_entries_choose(model, gradient, p, full);
  cli_heading("\ngradient");
  for (int first = 0; first < chosen->count; first += COLUMNS) {
    const int left = chosen->count - first;
    if (first > 0) {
      putchar('\n');
    }
    print_block(model, gradient, p, &e, left < COLUMNS ? left : COLUMNS, chosen->index + first);
  }
  if (e.hidden > 0) {
    printf("  ... %d entries of vectors with less effect (--full prints all)\n", e.hidden);
  }
  free(e.index);
}
