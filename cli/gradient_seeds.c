#include "gradient_seeds.h"

#include "cli.h"
#include "results.h"
#include "table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Everything that was computed. */
typedef struct {
  cli_run *r;
  const mbg_model *model;
  int np, ns, na;
  bool start, all;
  double sum;         /* of weights times signals */
  double *weights;    /*                                  (nodes x kept) */
  double *gradient;   /*                                  (np) */
  double *by_start;   /* by changes of the start          (ns) */
  double *attributes; /* by every number of the model     (na) */
} product;

/* ---------------------------------------------------------------------- printing */

/* the name of entry i of a list */
typedef void (*naming)(const product *p, int i, char *name, size_t size);

static void parameter_name(const product *p, int i, char *name, size_t size) {
  (void)mbg_model_parameter_name(p->model, i, name, size);
}

static void start_name(const product *p, int i, char *name, size_t size) {
  (void)mbg_run_start_name(p->r->run, i, name, size);
}

static void attribute_name(const product *p, int i, char *name, size_t size) {
  snprintf(name, size, "%s of %s", mbg_run_attribute_key(p->r->run, i), mbg_run_attribute_owner(p->r->run, i));
}

static void print_list(const product *p, const char *title, int n, const double *values, naming get, bool zeros) {
  cli_table table = cli_table_make("lr");
  int left_out = 0;
  cli_table_texts(&table, "by", "derivative", NULL);
  for (int i = 0; i < n; i++) {
    char name[256];
    if (values[i] == 0 && !zeros) {
      left_out++;
      continue;
    }
    get(p, i, name, sizeof(name));
    cli_table_text(&table, name);
    cli_table_number(&table, values[i]);
  }
  cli_heading(title);
  cli_table_print(&table, 2);
  if (left_out > 0) {
    printf("  ... %d more are 0\n", left_out);
  }
  cli_table_destroy(&table);
}

static void print_text(const product *p) {
  char *title = cli_format("%s, formulation %s: sum of weights times signals", mbg_model_name(p->model),
                           mbg_run_formulation(p->r->run));
  cli_heading(title);
  free(title);
  printf("\n  %.9g\n", p->sum);
  print_list(p, "\nparameters", p->np, p->gradient, parameter_name, true);
  if (p->start) {
    print_list(p, "\nchanges of the start", p->ns, p->by_start, start_name, false);
  }
  if (p->all) {
    print_list(p, "\nevery number of the model", p->na, p->attributes, attribute_name, false);
  }
}

static void print_json(const product *p) {
  fputs("{\n  \"model\": ", stdout);
  cli_json_string(mbg_model_name(p->model));
  printf(",\n  \"formulation\": \"%s\",\n  \"parameters\": ", mbg_run_formulation(p->r->run));
  cli_json_by_parameter(p->model, p->r->session.parameters);
  fputs(",\n  \"sum\": ", stdout);
  cli_json_number(stdout, p->sum);
  fputs(",\n  \"gradient\": ", stdout);
  cli_json_by_parameter(p->model, p->gradient);
  for (int i = 0; p->start && i < p->ns; i++) {
    char name[256];
    start_name(p, i, name, sizeof(name));
    fputs(i > 0 ? ",\n    " : ",\n  \"start\": {\n    ", stdout);
    cli_json_string(name);
    fputs(": ", stdout);
    cli_json_number(stdout, p->by_start[i]);
  }
  fputs(p->start && p->ns > 0 ? "\n  }" : "", stdout);
  for (int i = 0; p->all && i < p->na; i++) {
    fputs(i > 0 ? ",\n    {\"owner\": " : ",\n  \"all\": [\n    {\"owner\": ", stdout);
    cli_json_string(mbg_run_attribute_owner(p->r->run, i));
    fputs(", \"key\": ", stdout);
    cli_json_string(mbg_run_attribute_key(p->r->run, i));
    fputs(", \"derivative\": ", stdout);
    cli_json_number(stdout, p->attributes[i]);
    putchar('}');
  }
  fputs(p->all && p->na > 0 ? "\n  ]" : "", stdout);
  fputs(",\n  \"work\": ", stdout);
  cli_json_work(p->r->run);
  fputs("\n}\n", stdout);
}

/* ---------------------------------------------------------------------- the product */

static int differentiate(product *p, const char *path) {
  mbg_context *ctx = p->r->session.ctx;
  const mbg_run *run = p->r->run;
  const int nodes = mbg_run_node_count(run), kept = mbg_run_kept_count(run);
  p->weights = cli_resize(NULL, (size_t)nodes * (size_t)kept, sizeof(double));
  int result = mbg_run_read_cotangent(ctx, run, path, p->weights);
  for (int n = 0; result == MBG_OK && n < nodes; n++) {
    for (int k = 0; k < kept; k++) {
      const double w = p->weights[(size_t)n * (size_t)kept + (size_t)k];
      p->sum += w != 0 ? w * mbg_run_signal(run, n, mbg_run_kept_signal(run, k)) : 0;
    }
  }
  if (result == MBG_OK) {
    result = mbg_run_vjp_start(ctx, p->r->run, 1, &(mbg_cotangent){.signals = p->weights}, p->gradient,
                               p->start ? p->by_start : NULL, p->all ? p->attributes : NULL);
  }
  return cli_run_status(p->r, result);
}

static int check_options(const cli_args *args) {
  static const char *const others[] = {"history", "criteria", "method", "top"};
  for (int i = 0; i < (int)(sizeof(others) / sizeof(*others)); i++) {
    if (cli_value(args, others[i], 0)) {
      return cli_bad_input("--%s does not go with --seeds: weights of signals stand in for criteria, and the exact "
                           "adjoint makes the gradient",
                           others[i]);
    }
  }
  return CLI_DONE;
}

int cli_gradient_seeds(const cli_args *args, cli_run *r) {
  product p = {
      .r = r, .model = r->session.model, .start = cli_flag(args, "start-gradient"), .all = cli_flag(args, "all")};
  int status = check_options(args);
  p.np = mbg_model_parameter_count(p.model);
  p.ns = mbg_run_start_count(r->run);
  p.na = mbg_run_attribute_count(r->run);
  p.gradient = cli_resize(NULL, (size_t)p.np, sizeof(double));
  p.by_start = cli_resize(NULL, (size_t)p.ns, sizeof(double));
  p.attributes = cli_resize(NULL, (size_t)p.na, sizeof(double));
  status = status == CLI_DONE ? cli_run_simulate(r) : status;
  if (status == CLI_DONE && mbg_run_partial(r->run)) {
    status = cli_run_interrupted(r, "there is no gradient");
  }
  status = status == CLI_DONE ? differentiate(&p, cli_value(args, "seeds", 0)) : status;
  if (status == CLI_DONE && cli_flag(args, "json")) {
    print_json(&p);
  } else if (status == CLI_DONE) {
    print_text(&p);
  }
  free(p.weights);
  free(p.gradient);
  free(p.by_start);
  free(p.attributes);
  return status;
}
