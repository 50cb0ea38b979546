#include "hessian_table.h"

#include "mbgrad/hessian.h"
#include "results.h"
#include "table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------- computing */

/* NAME=VALUE of each --along; other parameters have 0 */
static int take_direction(const cli_args *args, const cli_run *r, cli_hessian *h) {
  const int np = mbg_model_parameter_count(r->session.model);
  cli_session direction = r->session;
  const char *setting;
  h->direction = cli_resize(NULL, (size_t)np, sizeof(double));
  for (int i = 0; i < np; i++) {
    h->direction[i] = 0;
  }
  direction.parameters = h->direction;
  for (int i = 0; (setting = cli_value(args, "along", i)); i++) {
    const int status = cli_session_set(&direction, "along", setting);
    if (status != CLI_DONE) {
      return status;
    }
    h->along = true;
  }
  return CLI_DONE;
}

/* along one direction, or the whole matrix, of all criteria of the list, which share the simulations */
static int compute(cli_run *r, mbg_hessian *hessian, const cli_criteria *list, cli_hessian *h) {
  const size_t np = (size_t)mbg_model_parameter_count(r->session.model), nc = (size_t)h->nc, n = (size_t)list->count;
  const size_t size = h->along ? np : np * np;
  double *weights = cli_resize(NULL, n * nc + 1, sizeof(double)), *away = cli_resize(NULL, n + 1, sizeof(double));
  double *all = cli_resize(NULL, n * size + 1, sizeof(double));
  memset(weights, 0, n * nc * sizeof(double));
  for (size_t c = 0; c < n; c++) {
    weights[c * nc + (size_t)list->index[c]] = 1;
    away[c] = 0;
  }
  const int result = h->along
                         ? mbg_hessian_products(r->session.ctx, hessian, list->count, weights, 1, h->direction, all)
                         : mbg_hessian_matrices(r->session.ctx, hessian, list->count, weights, all, away);
  for (size_t c = 0; c < n && result == MBG_OK; c++) {
    const int k = list->index[c];
    h->H[k] = cli_resize(NULL, size, sizeof(double));
    memcpy(h->H[k], all + c * size, size * sizeof(double));
    h->asymmetry[k] = away[c];
  }
  free(weights);
  free(away);
  free(all);
  return cli_run_status(r, result);
}

/* those of the chosen criteria that have second derivatives; a note for the others */
static cli_criteria with_second(const mbg_model *model, const cli_criteria *chosen) {
  cli_criteria list = {.index = cli_resize(NULL, (size_t)chosen->count + 1, sizeof(int))};
  for (int c = 0; c < chosen->count; c++) {
    const int k = chosen->index[c];
    if (strcmp(mbg_model_criterion_kind(model, k), "path") != 0) {
      list.index[list.count++] = k;
      continue;
    }
    fprintf(stderr,
            "note: criterion '%s' is the largest value of a path, which has no second derivatives here: take a smooth "
            "maximum\n",
            mbg_model_criterion_name(model, k));
  }
  return list;
}

int cli_hessian_make(const cli_args *args, cli_run *r, const cli_criteria *chosen, cli_hessian *h) {
  const mbg_model *model = r->session.model;
  mbg_hessian *hessian = NULL;
  *h = (cli_hessian){.nc = mbg_model_criterion_count(model)};
  h->H = cli_resize(NULL, (size_t)h->nc, sizeof(double *));
  h->asymmetry = cli_resize(NULL, (size_t)h->nc, sizeof(double));
  for (int k = 0; k < h->nc; k++) {
    h->H[k] = NULL;
    h->asymmetry[k] = 0;
  }
  int status = take_direction(args, r, h);
  if (status == CLI_DONE) {
    status = cli_run_status(r, mbg_hessian_create(r->session.ctx, r->run, &hessian));
  }
  if (status == CLI_DONE) {
    cli_criteria list = with_second(model, chosen);
    status = compute(r, hessian, &list, h);
    free(list.index);
  }
  mbg_hessian_destroy(hessian);
  return status;
}

void cli_hessian_destroy(cli_hessian *h) {
  for (int k = 0; h->H && k < h->nc; k++) {
    free(h->H[k]);
  }
  free(h->H);
  free(h->asymmetry);
  free(h->direction);
}

/* ---------------------------------------------------------------------- printing */

typedef struct {
  int i, j;
  double value, effect; /* effect: times the sizes of both parameters */
} entry;

static int by_effect(const void *x, const void *y) {
  const entry *a = x, *b = y;
  const int larger = (a->effect < b->effect) - (a->effect > b->effect);
  return larger ? larger : a->i != b->i ? a->i - b->i : a->j - b->j;
}

static void print_entries(const cli_run *r, int criterion, entry *list, int n, int top, const char *title) {
  const mbg_model *model = r->session.model;
  cli_table table = cli_table_make("llrr");
  int shown = 0;
  if (n > 0) {
    qsort(list, (size_t)n, sizeof(*list), by_effect);
  }
  cli_table_texts(&table, "by", "and by", "second derivative", "effect", NULL);
  for (; shown < n && shown < top && list[shown].effect > 0; shown++) {
    char name[2][256];
    (void)mbg_model_parameter_name(model, list[shown].i, name[0], sizeof(name[0]));
    (void)mbg_model_parameter_name(model, list[shown].j, name[1], sizeof(name[1]));
    cli_table_texts(&table, name[0], name[1], NULL);
    cli_table_format(&table, "%.6g", list[shown].value);
    cli_table_format(&table, "%.3g", list[shown].effect);
  }
  char *heading = cli_format("\n%s: %s", mbg_model_criterion_name(model, criterion), title);
  cli_heading(heading);
  cli_table_print(&table, 2);
  int rest = 0;
  for (int k = shown; k < n; k++) {
    rest += list[k].effect > 0;
  }
  if (rest > 0) {
    printf("  ... %d more (--top %d prints all)\n", rest, shown + rest);
  }
  cli_table_destroy(&table);
  free(heading);
}

static void print_matrix(const cli_hessian *h, const cli_run *r, int criterion, int top) {
  const int np = mbg_model_parameter_count(r->session.model);
  const double *p = r->session.parameters, *H = h->H[criterion];
  entry *list = cli_resize(NULL, (size_t)np * ((size_t)np + 1) / 2, sizeof(*list));
  int n = 0;
  for (int i = 0; i < np; i++) {
    for (int j = i; j < np; j++) {
      const double value = H[(size_t)i * (size_t)np + (size_t)j];
      list[n++] = (entry){i, j, value, cli_parameter_size(p, i) * cli_parameter_size(p, j) * fabs(value)};
    }
  }
  print_entries(r, criterion, list, n, top, "second derivatives, largest effect first");
  printf("  exact for the steps made; its two halves differ by %.1e\n", h->asymmetry[criterion]);
  free(list);
}

static void print_product(const cli_hessian *h, const cli_run *r, int criterion) {
  const mbg_model *model = r->session.model;
  cli_table table = cli_table_make("lrr");
  cli_table_texts(&table, "by", "direction", "derivative of the gradient along it", NULL);
  for (int i = 0; i < mbg_model_parameter_count(model); i++) {
    char name[256];
    (void)mbg_model_parameter_name(model, i, name, sizeof(name));
    cli_table_text(&table, name);
    cli_table_number(&table, h->direction[i]);
    cli_table_number(&table, h->H[criterion][i]);
  }
  char *heading = cli_format("\n%s: second derivatives along a direction", mbg_model_criterion_name(model, criterion));
  cli_heading(heading);
  cli_table_print(&table, 2);
  cli_table_destroy(&table);
  free(heading);
}

void cli_hessian_print(const cli_hessian *h, const cli_run *r, int criterion, int top) {
  if (h->H && h->H[criterion]) {
    if (h->along) {
      print_product(h, r, criterion);
    } else {
      print_matrix(h, r, criterion, top);
    }
  }
}

static void put_row(const double *x, int n) {
  putchar('[');
  for (int i = 0; i < n; i++) {
    fputs(i > 0 ? ", " : "", stdout);
    cli_json_number(stdout, x[i]);
  }
  putchar(']');
}

void cli_hessian_json(const cli_hessian *h, const cli_run *r, int criterion) {
  const int np = mbg_model_parameter_count(r->session.model);
  if (!h->H || !h->H[criterion]) {
    return;
  }
  if (h->along) {
    fputs(", \"along\": ", stdout);
    cli_json_by_parameter(r->session.model, h->direction);
    fputs(", \"hessian_product\": ", stdout);
    cli_json_by_parameter(r->session.model, h->H[criterion]);
    return;
  }
  fputs(", \"hessian\": [", stdout);
  for (int i = 0; i < np; i++) {
    fputs(i > 0 ? ",\n      " : "\n      ", stdout);
    put_row(h->H[criterion] + (size_t)i * (size_t)np, np);
  }
  fputs("], \"asymmetry\": ", stdout);
  cli_json_number(stdout, h->asymmetry[criterion]);
}
