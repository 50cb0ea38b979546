/* mbgrad gradient: every criterion by every parameter */
#include "cli.h"
#include "gradient_seeds.h"
#include "gradient_table.h"
#include "hessian_table.h"
#include "mbgrad/check.h"
#include "ranking.h"
#include "results.h"
#include "run_options.h"
#include "step_error.h"
#include "table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOP = 20 };

/* Everything that was computed. */
typedef struct {
  cli_run *r;
  const mbg_model *model;
  mbg_method method;
  int nc, np, na, top;
  cli_criteria chosen; /* the criteria that are wanted */
  double *psi;         /*                                              (nc) */
  double *gradient;    /*                                              (nc x np) */
  double *all;         /* by every number of the model; or NULL        (nc x na) */
  cli_hessian hessian;
} gradients;

/* ---------------------------------------------------------------------- parameters without effect */

static bool column_is_zero(const gradients *g, int first, int count) {
  for (int c = 0; c < g->chosen.count; c++) {
    for (int i = first; i < first + count; i++) {
      if (g->gradient[(size_t)g->chosen.index[c] * (size_t)g->np + (size_t)i] != 0) {
        return false;
      }
    }
  }
  return true;
}

static void warn_parameter(const mbg_check_parameter *p) {
  if (p->uses == 0) {
    cli_warning("parameter '%s' has no effect on the model; all its derivatives are 0", p->name);
  } else if (p->decides[0]) {
    fprintf(stderr,
            "note: parameter '%s' decides a comparison or a sign at %s; where a switch takes place is not "
            "differentiated, and all its derivatives are 0 (a smooth switch, (1 + tanh((x - x0)/w))/2, has them)\n",
            p->name, p->decides);
  } else {
    fprintf(stderr, "note: parameter '%s' changes no criterion; all its derivatives are 0\n", p->name);
  }
}

/* a check of the model tells whether a parameter without effect is used at all; it is made only when there is one */
static void warn_parameters(const gradients *g) {
  mbg_context *ctx;
  mbg_check *check = NULL;
  const mbg_check_options opt = {.size = sizeof(opt), .parameters = g->r->session.parameters};
  if (mbg_context_create(NULL, &ctx) < 0) {
    return;
  }
  for (int i = 0; i < mbg_model_parameter_group_count(g->model); i++) {
    const char *name;
    int first, count;
    (void)mbg_model_parameter_group(g->model, i, &name, &first, &count);
    if (!column_is_zero(g, first, count > 0 ? count : 1)) {
      continue;
    }
    if (!check && mbg_check_create(ctx, g->model, &opt, &check) < 0) {
      break;
    }
    warn_parameter(mbg_check_get_parameter(check, i));
  }
  mbg_check_destroy(check);
  mbg_context_destroy(ctx);
}

static void warn_criteria(const gradients *g) {
  for (int c = 0; g->np > 0 && c < g->chosen.count; c++) {
    const int k = g->chosen.index[c];
    bool zero = true;
    for (int i = 0; i < g->np; i++) {
      zero = zero && g->gradient[(size_t)k * (size_t)g->np + (size_t)i] == 0;
    }
    if (zero) {
      cli_warning("criterion '%s' depends on no parameter; its gradient is 0", mbg_model_criterion_name(g->model, k));
    }
  }
}

/* ---------------------------------------------------------------------- every number of the model */

static void print_all(const gradients *g, int criterion) {
  cli_ranked *list = cli_rank(g->r->run, g->all + (size_t)criterion * (size_t)g->na);
  cli_table table = cli_table_make("rllrlrr");
  int shown = 0;
  cli_table_texts(&table, "", "of", "number", "value", "unit", "derivative", "effect", NULL);
  for (; shown < g->na && shown < g->top && list[shown].effect > 0; shown++) {
    const int i = list[shown].index;
    cli_table_format(&table, "%d", shown + 1);
    cli_table_texts(&table, mbg_run_attribute_owner(g->r->run, i), mbg_run_attribute_key(g->r->run, i), NULL);
    cli_table_format(&table, "%.6g", list[shown].value);
    cli_table_text(&table, mbg_run_attribute_unit(g->r->run, i));
    cli_table_format(&table, "%.6g", g->all[(size_t)criterion * (size_t)g->na + (size_t)i]);
    cli_table_format(&table, "%.3g", list[shown].effect);
  }
  char *title = cli_format("\n%s by every number of the model, largest effect first",
                           mbg_model_criterion_name(g->model, criterion));
  cli_heading(title);
  cli_table_print(&table, 2);
  int rest = 0;
  for (int i = shown; i < g->na; i++) {
    rest += list[i].effect > 0;
  }
  if (rest > 0) {
    printf("  ... %d more (--top %d prints all)\n", rest, shown + rest);
  }
  cli_table_destroy(&table);
  free(title);
  free(list);
}

static void json_all(const gradients *g, int criterion) {
  cli_ranked *list = cli_rank(g->r->run, g->all + (size_t)criterion * (size_t)g->na);
  putchar('[');
  for (int i = 0; i < g->na && i < g->top; i++) {
    const int k = list[i].index;
    fputs(i > 0 ? ",\n      {\"owner\": " : "\n      {\"owner\": ", stdout);
    cli_json_string(mbg_run_attribute_owner(g->r->run, k));
    fputs(", \"key\": ", stdout);
    cli_json_string(mbg_run_attribute_key(g->r->run, k));
    fputs(", \"unit\": ", stdout);
    cli_json_string(mbg_run_attribute_unit(g->r->run, k));
    fputs(", \"value\": ", stdout);
    cli_json_number(stdout, list[i].value);
    fputs(", \"derivative\": ", stdout);
    cli_json_number(stdout, g->all[(size_t)criterion * (size_t)g->na + (size_t)k]);
    fputs(", \"effect\": ", stdout);
    cli_json_number(stdout, list[i].effect);
    putchar('}');
  }
  putchar(']');
  free(list);
}

/* ---------------------------------------------------------------------- histories */

typedef struct {
  FILE *file;
  const gradients *g;
  int count;
  int *signal, *kept; /* signals to write, and where they stand among the kept ones  (count) */
} history;

static int history_row(void *user, int node, const double *dy) {
  const history *h = user;
  fprintf(h->file, "\n%.15g", mbg_run_node_time(h->g->r->run, node));
  for (int c = 0; c < h->count; c++) {
    fprintf(h->file, ",%.15g", mbg_run_signal(h->g->r->run, node, h->signal[c]));
    for (int p = 0; p < h->g->np; p++) {
      fprintf(h->file, ",%.15g", dy[(size_t)h->kept[c] * (size_t)h->g->np + (size_t)p]);
    }
  }
  return MBG_OK;
}

static void history_head(const history *h) {
  fputs("t", h->file);
  for (int c = 0; c < h->count; c++) {
    const char *name = mbg_model_signal_name(h->g->model, h->signal[c]);
    fprintf(h->file, ",%s", name);
    for (int p = 0; p < h->g->np; p++) {
      char parameter[256];
      (void)mbg_model_parameter_name(h->g->model, p, parameter, sizeof(parameter));
      fprintf(h->file, ",%s:%s", name, parameter);
    }
  }
}

static void find_kept(history *h) {
  h->kept = cli_resize(NULL, (size_t)h->count, sizeof(int));
  for (int c = 0; c < h->count; c++) {
    h->kept[c] = 0;
    for (int k = 0; k < mbg_run_kept_count(h->g->r->run); k++) {
      h->kept[c] = mbg_run_kept_signal(h->g->r->run, k) == h->signal[c] ? k : h->kept[c];
    }
  }
}

static int write_history(const gradients *g, const char *path, const char *list) {
  history h = {.g = g};
  h.count = cli_signals_choose(g->model, list, &h.signal);
  int status = h.count < 0 ? CLI_BAD_INPUT : CLI_DONE;
  if (status == CLI_DONE) {
    find_kept(&h);
    h.file = cli_file_open(path);
    status = h.file ? CLI_DONE : CLI_FAILED;
  }
  if (status == CLI_DONE) {
    history_head(&h);
    status = cli_run_status(g->r, mbg_run_history(g->r->session.ctx, g->r->run, history_row, &h));
    fputc('\n', h.file);
    if (status == CLI_DONE) {
      status = cli_file_close(h.file, path);
    } else {
      cli_file_drop(h.file);
    }
  }
  free(h.kept);
  free(h.signal);
  return status;
}

/* ---------------------------------------------------------------------- printing */

static void print_json(const gradients *g) {
  fputs("{\n  \"model\": ", stdout);
  cli_json_string(mbg_model_name(g->model));
  printf(",\n  \"formulation\": \"%s\",\n  \"method\": \"%s\",\n  \"parameters\": ", mbg_run_formulation(g->r->run),
         mbg_method_name((int)g->method));
  cli_json_by_parameter(g->model, g->r->session.parameters);
  fputs(",\n  \"criteria\": {", stdout);
  for (int c = 0; c < g->chosen.count; c++) {
    const int k = g->chosen.index[c];
    fputs(c > 0 ? ",\n    " : "\n    ", stdout);
    cli_json_string(mbg_model_criterion_name(g->model, k));
    fputs(": {\"value\": ", stdout);
    cli_json_number(stdout, g->psi[k]);
    fputs(", \"gradient\": ", stdout);
    cli_json_by_parameter(g->model, g->gradient + (size_t)k * (size_t)g->np);
    fputs(", \"error\": ", stdout);
    cli_error_json(g->r->run, g->model, k);
    if (g->all) {
      fputs(", \"all\": ", stdout);
      json_all(g, k);
    }
    cli_hessian_json(&g->hessian, g->r, k);
    putchar('}');
  }
  fputs("\n  },\n  \"error\": ", stdout);
  cli_error_json_all(g->r->run, g->model);
  fputs(",\n  \"work\": ", stdout);
  cli_json_work(g->r->run);
  fputs("\n}\n", stdout);
}

static void print_work(const gradients *g) {
  const mbg_run_work *w = mbg_run_get_work(g->r->run);
  const bool newton = w->newton_iterations > 0;
  printf("\n  %ld steps, %ld %s; %.3g s for the simulation, %.3g s for the gradient; %.3g MB\n", w->steps,
         newton ? w->newton_iterations : w->assemblies, newton ? "Newton iterations" : "evaluations",
         w->seconds_simulate, w->seconds_gradient, w->peak_bytes / 1e6);
}

static void print_text(const gradients *g, bool full) {
  char *title = cli_format("%s, formulation %s, method %s", mbg_model_name(g->model), mbg_run_formulation(g->r->run),
                           mbg_method_name((int)g->method));
  cli_heading(title);
  free(title);
  cli_criteria_print(g->model, &g->chosen, g->psi);
  if (g->np > 0) {
    cli_gradient_print(g->model, &g->chosen, g->gradient, g->r->session.parameters, full);
  }
  for (int c = 0; g->all && c < g->chosen.count; c++) {
    print_all(g, g->chosen.index[c]);
  }
  for (int c = 0; c < g->chosen.count; c++) {
    cli_hessian_print(&g->hessian, g->r, g->chosen.index[c], g->top);
  }
  print_work(g);
  cli_error_print(g->r->run, g->model);
}

/* ---------------------------------------------------------------------- the command */

static int unknown_method(const char *text) {
  const char *names[MBG_METHOD_COUNT];
  char known[256] = "";
  for (int i = 0; i < MBG_METHOD_COUNT; i++) {
    const size_t used = strlen(known);
    names[i] = mbg_method_name(i);
    snprintf(known + used, sizeof(known) - used, "%s%s", i > 0 ? ", " : "", names[i]);
  }
  const char *near = cli_nearest(text, names, MBG_METHOD_COUNT);
  return cli_bad_input("--method: unknown method '%s'%s%s%s (known: %s)", text, near ? "; did you mean '" : "",
                       near ? near : "", near ? "'?" : "", known);
}

static int take_method(const cli_args *args, mbg_method *method) {
  const char *text = cli_value(args, "method", 0);
  const int found = text ? mbg_method_find(text) : MBG_METHOD_AUTO;
  if (found < 0) {
    return unknown_method(text);
  }
  *method = (mbg_method)found;
  return CLI_DONE;
}

static int differentiate(gradients *g, bool all) {
  mbg_context *ctx = g->r->session.ctx;
  int result = mbg_run_criteria(ctx, g->r->run, g->psi);
  if (result == MBG_OK && g->np > 0) {
    result = mbg_run_gradient(ctx, g->r->run, g->method, g->gradient, &g->method);
  } else {
    g->method = MBG_METHOD_ADJOINT;
  }
  if (result == MBG_OK && all) {
    g->all = cli_resize(NULL, (size_t)g->nc * (size_t)g->na, sizeof(double));
    for (int c = 0; result == MBG_OK && c < g->chosen.count; c++) {
      const int k = g->chosen.index[c];
      result = mbg_run_gradient_all(ctx, g->r->run, k, g->all + (size_t)k * (size_t)g->na);
    }
  }
  return cli_run_status(g->r, result);
}

static int compute(const cli_args *args, gradients *g) {
  const char *path = cli_value(args, "history", 0);
  const bool all = cli_flag(args, "all");
  /* by every number: a model without parameters will do */
  int status = all && g->np == 0 && g->nc > 0 ? CLI_DONE : cli_need_gradient(g->model);
  if (status == CLI_DONE) {
    status = cli_criteria_choose(g->model, cli_value(args, "criteria", 0), &g->chosen);
  }
  if (status == CLI_DONE) {
    status = cli_run_status(g->r, mbg_run_select(g->r->session.ctx, g->r->run, g->chosen.count, g->chosen.index));
  }
  if (status == CLI_DONE) {
    status = cli_run_simulate(g->r);
  }
  if (status == CLI_DONE && mbg_run_partial(g->r->run)) {
    return cli_run_interrupted(g->r, "there is no gradient");
  }
  if (status == CLI_DONE) {
    status = differentiate(g, all);
  }
  if (status == CLI_DONE && cli_flag(args, "hessian")) {
    status = cli_hessian_make(args, g->r, &g->chosen, &g->hessian);
  }
  if (status == CLI_DONE && path) {
    status = write_history(g, path, cli_value(args, "signals", 0));
  }
  return status == CLI_DONE ? cli_error_estimate(g->r, args, g->r->run, g->method) : status;
}

static int run_gradient(const cli_args *args, cli_run *r, gradients *g) {
  g->r = r;
  g->model = r->session.model;
  g->nc = mbg_model_criterion_count(g->model);
  g->np = mbg_model_parameter_count(g->model);
  g->na = mbg_run_attribute_count(r->run);
  g->psi = cli_resize(NULL, (size_t)g->nc, sizeof(double));
  g->gradient = cli_resize(NULL, (size_t)g->nc * (size_t)g->np, sizeof(double));
  const int status = compute(args, g);
  if (status == CLI_DONE) {
    if (cli_flag(args, "json")) {
      print_json(g);
    } else {
      print_text(g, cli_flag(args, "full"));
    }
    fflush(stdout);
    warn_parameters(g);
    warn_criteria(g);
  }
  free(g->chosen.index);
  free(g->psi);
  free(g->gradient);
  free(g->all);
  cli_hessian_destroy(&g->hessian);
  return status;
}

/* accelerations of the file belong to the run before: a gradient needs those that follow the parameters */
static int take_restart(const cli_args *args, cli_run *r) {
  const char *path = cli_value(args, "restart", 0);
  const int status = path ? cli_run_status(r, mbg_run_read_state(r->session.ctx, r->run, path)) : CLI_DONE;
  return path && status == CLI_DONE ? cli_run_status(r, mbg_run_forget_stepper(r->run)) : status;
}

static int gradient(const cli_args *args) {
  cli_run r = {0};
  gradients g = {.top = cli_flag(args, "json") ? 1000000000 : TOP};
  const bool seeds = cli_value(args, "seeds", 0) != NULL;
  int status = take_method(args, &g.method);
  if (status == CLI_DONE && !seeds && cli_flag(args, "start-gradient")) {
    status = cli_bad_input("--start-gradient belongs to --seeds");
  }
  if (status == CLI_DONE && !cli_flag(args, "hessian") && cli_value(args, "along", 0)) {
    status = cli_bad_input("--along belongs to --hessian");
  }
  if (status == CLI_DONE) {
    status = cli_count(args, "top", &g.top);
  }
  if (status == CLI_DONE) {
    status = cli_run_begin(&r, args, seeds || cli_value(args, "history", 0), false);
  }
  if (status == CLI_DONE) {
    r.options.criteria_only = !seeds && !cli_value(args, "history", 0);
    status = cli_run_make(&r);
  }
  if (status == CLI_DONE) {
    status = take_restart(args, &r);
  }
  if (status == CLI_DONE) {
    status = seeds ? cli_gradient_seeds(args, &r) : run_gradient(args, &r, &g);
  }
  cli_run_close(&r);
  return status;
}

static const cli_option options[] = {
    CLI_OPTIONS_RUN,
    {"method", "NAME", false, "{methods}, or auto (default): the cheaper of the first two"},
    {"adjoint-tolerance", "NUMBER", false, "qr, method continuous: relative tolerance of the backward integration"},
    {"all", NULL, false, "also by every number of the model, ranked by effect (number times derivative)"},
    {"top", "N", false, "with --all or --hessian: this many numbers; default: 20"},
    {"hessian", NULL, false, "also second derivatives by every pair of parameters, by the exact adjoint"},
    {"along", "NAME=VALUE", true, "with --hessian: along this direction alone, other parameters 0"},
    {"history", "FILE.csv", CLI_FILE_OUT, "write signals and their derivatives over time: columns y, y:p1, y:p2, ..."},
    {"signals", "A,B,...", false, "with --history: these signals only"},
    {"criteria", "A,B,...", false, "these criteria only"},
    {"seeds", "FILE.csv", false, "instead of criteria: the sum of weights times signals; columns t, y1, y2, ..."},
    {"start-gradient", NULL, false, "with --seeds: also by changes of the start"},
    {"restart", "FILE", false, "start from the state that simulate --state wrote; accelerations are computed anew"},
    CLI_OPTION_NO_ERROR,
    CLI_OPTION_FULL,
    CLI_OPTION_JSON,
};

extern const cli_command cli_cmd_gradient;

const cli_command cli_cmd_gradient = {
    .name = "gradient",
    .arguments = "MODEL",
    .summary = "every criterion by every parameter, exactly",
    .details =
        "Simulates a model and prints its criteria and their derivatives by every parameter. The methods direct\n"
        "and adjoint are exact for the steps that were made and agree up to rounding; continuous differs from\n"
        "them by an error that falls with the square of the step.\n",
    .least = 1,
    .most = 1,
    .options = options,
    .noption = (int)(sizeof(options) / sizeof(options[0])),
    .run = gradient,
};
