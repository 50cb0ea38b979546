#include "creep.h"

#include "table.h"
#include "text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has_key(const mbg_run *run, int i, const char *key) {
  const char *name = mbg_run_attribute_key(run, i);
  return name && strcmp(name, key) == 0;
}

static bool same_owner(const mbg_run *run, int i, int k) {
  return strcmp(mbg_run_attribute_owner(run, i), mbg_run_attribute_owner(run, k)) == 0;
}

/* Is the attribute the speed over which a friction passes 0? Contacts and friction laws have one; a tyre, whose
   slip_speed is another thing, has no stribeck_speed. */
static bool is_slip_speed(const mbg_run *run, int i) {
  if (has_key(run, i, "rate_scale")) {
    return true;
  }
  for (int k = 0; has_key(run, i, "slip_speed") && k < mbg_run_attribute_count(run); k++) {
    if (has_key(run, k, "stribeck_speed") && same_owner(run, i, k)) {
      return true;
    }
  }
  return false;
}

/* ... the first one of its owner: a group of contacts has one for each pair */
static bool is_first(const mbg_run *run, int i) {
  bool first = is_slip_speed(run, i);
  for (int k = 0; first && k < i; k++) {
    first = !(same_owner(run, i, k) && is_slip_speed(run, k));
  }
  return first;
}

/* -vs dpsi/dvs of all of the owner */
static double change_of(const mbg_run *run, int i, const double *value, const double *gradient) {
  double change = 0;
  for (int k = i; k < mbg_run_attribute_count(run); k++) {
    change -= same_owner(run, i, k) && is_slip_speed(run, k) ? value[k] * gradient[k] : 0;
  }
  return change;
}

/* rows of a criterion: its number */
static int add_rows(cli_table *table, const mbg_run *run, const char *criterion, double psi, const double *value,
                    const double *gradient) {
  int rows = 0;
  for (int i = 0; i < mbg_run_attribute_count(run); i++) {
    const double change = is_first(run, i) ? change_of(run, i, value, gradient) : 0;
    if (fabs(change) > 1e-6 * fabs(psi)) {
      cli_table_text(table, mbg_run_attribute_owner(run, i));
      cli_table_number(table, value[i]);
      cli_table_text(table, criterion);
      cli_table_number(table, psi);
      cli_table_format(table, "%+.3g", change);
      rows++;
    }
  }
  return rows;
}

/* simulated at the parameters, with values of the criteria */
static bool simulated(mbg_context *ctx, mbg_run *run, const double *parameters, double *psi) {
  return mbg_run_set_parameters(ctx, run, parameters) == MBG_OK && mbg_run_simulate(ctx, run) == MBG_OK &&
         mbg_run_criteria(ctx, run, psi) == MBG_OK;
}

void cli_creep_print(mbg_context *ctx, mbg_run *run, const mbg_model *model, const double *parameters,
                     const cli_criteria *chosen) {
  const int n = mbg_run_attribute_count(run), all = mbg_model_criterion_count(model);
  double *value = cli_resize(NULL, 2 * (size_t)n + (size_t)all + 1, sizeof(double));
  double *gradient = value + n, *psi = gradient + n;
  int rows = 0, slip = 0;
  cli_table table = cli_table_make("lrlrr");
  cli_table_texts(&table, "friction", "slip speed", "criterion", "value", "without creep", NULL);
  for (int i = 0; i < n; i++) {
    slip += is_slip_speed(run, i);
  }
  const bool ready = slip > 0 && simulated(ctx, run, parameters, psi) && mbg_run_attributes(run, value, NULL) == MBG_OK;
  for (int c = 0; ready && c < chosen->count; c++) {
    const int k = chosen->index[c];
    if (mbg_run_gradient_all(ctx, run, k, gradient) == MBG_OK) {
      rows += add_rows(&table, run, mbg_model_criterion_name(model, k), psi[k], value, gradient);
    }
  }
  if (rows > 0) {
    cli_heading("\ncreep of frictions");
    cli_table_print(&table, 2);
    cli_paragraph("  ", "A body that friction holds creeps; the last column is what a slip speed of 0 would add to the "
                        "criterion, to first order. A smaller slip speed creeps less and needs shorter steps.");
  }
  cli_table_destroy(&table);
  free(value);
}
