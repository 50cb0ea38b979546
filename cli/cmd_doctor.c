/* mbgrad doctor: what the program was made of, what it runs with, and a self-test */
#include "cli.h"
#include "gallery.h"
#include "mbgrad/run.h"
#include "mbgrad/version.h"
#include "table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---------------------------------------------------------------------- libraries */

static const struct {
  const char *start, *use; /* of the file's name */
} libraries[] = {
    {"libopenblas", "linear algebra"},
    {"liblapack", "linear algebra"},
    {"libblas", "linear algebra"},
    {"libklu", "sparse matrices"},
    {"libsundials_cvodes", "integrators adams and bdf"},
    {"libipopt", "optimizer ipopt"},
    {"libnlopt", "optimizers slsqp, mma, lbfgs"},
    {"libhdf5", "results and modal data"},
    {"libcairo", "PNG and PDF"},
    {"libexpat", "import of robots"},
};
enum { NLIBRARY = sizeof libraries / sizeof *libraries };

typedef struct {
  char file[NLIBRARY][128]; /* as it is loaded; "": not loaded */
} loaded;

/* the files that the system has mapped into this process; only Linux tells */
static void find_loaded(loaded *l) {
  char line[4096];
  memset(l, 0, sizeof *l);
  FILE *maps = fopen("/proc/self/maps", "r");
  while (maps && fgets(line, sizeof line, maps)) {
    char *name = strrchr(line, '/');
    if (!name) {
      continue;
    }
    name[strcspn(name, "\n")] = 0;
    for (int i = 0; i < NLIBRARY; i++) {
      const size_t n = strlen(libraries[i].start);
      if (!strncmp(name + 1, libraries[i].start, n) &&
          (name[1 + n] == '.' || name[1 + n] == '_' || name[1 + n] == '-')) {
        snprintf(l->file[i], sizeof l->file[i], "%.120s", name + 1);
      }
    }
  }
  if (maps) {
    fclose(maps);
  }
}

/* ---------------------------------------------------------------------- self-test */

/* a double pendulum with springs: three parameters, two criteria, all formulations */
static const char test_model[] =
    "{\"mbgrad\": 1, \"name\": \"self-test\", \"gravity\": [0, -9.81, 0],"
    " \"parameters\": {\"m\": {\"value\": 1.5}, \"l\": {\"value\": 0.6}, \"d\": {\"value\": 0.2}},"
    " \"bodies\": {"
    "  \"upper\": {\"motion\": \"planar\", \"mass\": \"m\", \"inertia\": \"m*l^2/12\", \"position\": [\"l/2\", 0, 0]},"
    "  \"lower\": {\"motion\": \"planar\", \"mass\": 1, \"inertia\": 0.03, \"position\": [\"l\", -0.3, 0]}},"
    " \"joints\": {"
    "  \"shoulder\": {\"type\": \"revolute\", \"between\": [\"ground\", \"upper\"], \"at\": [0, 0, 0], \"axis\": [0, "
    "0, 1]},"
    "  \"elbow\": {\"type\": \"revolute\", \"between\": [\"upper\", \"lower\"], \"at\": [\"l\", 0, 0], \"axis\": [0, "
    "0, 1]}},"
    " \"forces\": {\"damper\": {\"type\": \"torsion-spring-damper\", \"joint\": \"elbow\", \"stiffness\": 2, "
    "\"damping\": \"d\"}},"
    " \"signals\": {\"y\": {\"type\": \"position\", \"of\": \"lower\", \"component\": 2}},"
    " \"criteria\": {\"height\": {\"terminal\": \"y\"}, \"motion\": {\"integral\": \"y^2\"}},"
    " \"run\": {\"end\": 0.5}}";

typedef struct {
  double values[2], gradient[6]; /* criteria; criteria x parameters */
  double difference;             /* direct against adjoint, relative to the largest derivative */
  double seconds;
  bool done;
} trial;

static double clock_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double apart(const double *a, const double *b, int n) {
  double largest = 0, scale = 0;
  for (int i = 0; i < n; i++) {
    largest = fmax(largest, fabs(a[i] - b[i]));
    scale = fmax(scale, fabs(b[i]));
  }
  return scale > 0 ? largest / scale : largest;
}

static trial try_formulation(mbg_context *ctx, const mbg_model *model, int index) {
  trial t = {.difference = NAN};
  mbg_run_options options;
  mbg_run *run = NULL;
  double adjoint[6];
  const double start = clock_now();
  mbg_run_options_default(&options, sizeof options);
  options.formulation = mbg_formulation_key(index);
  int status = mbg_run_create(ctx, model, &options, &run);
  status = status == MBG_OK ? mbg_run_simulate(ctx, run) : status;
  status = status == MBG_OK ? mbg_run_criteria(ctx, run, t.values) : status;
  status = status == MBG_OK ? mbg_run_gradient(ctx, run, MBG_METHOD_DIRECT, t.gradient, NULL) : status;
  status = status == MBG_OK ? mbg_run_gradient(ctx, run, mbg_run_adjoint_method(run), adjoint, NULL) : status;
  t.difference = status == MBG_OK ? apart(adjoint, t.gradient, 6) : NAN;
  t.done = status == MBG_OK;
  t.seconds = clock_now() - start;
  mbg_run_destroy(run);
  return t;
}

/* 1e-9: the discrete adjoint is the transpose of the direct method, up to rounding; 1e-3: steps of the presets */
static bool good(const trial *t, const trial *reference) {
  return t->done && t->difference < 1e-9 && apart(t->values, reference->values, 2) < 1e-3;
}

static int self_test(mbg_context *ctx, cli_table *table) {
  mbg_model *model = NULL;
  int failed = 0;
  if (mbg_model_parse(ctx, "self-test", test_model, strlen(test_model), NULL, &model) != MBG_OK) {
    return cli_failed("the self-test does not load: %s", mbg_context_error(ctx));
  }
  trial first = {.done = false};
  for (int i = 0; i < mbg_formulation_count(); i++) {
    const trial t = try_formulation(ctx, model, i);
    first = i == 0 ? t : first;
    const bool passed = good(&t, &first);
    failed += !passed;
    cli_table_text(table, mbg_formulation_key(i));
    cli_table_text(table, passed ? "passed" : "FAILED");
    if (t.done) {
      cli_table_format(table, "direct and adjoint differ by %.0e, %.0f ms", t.difference, 1e3 * t.seconds);
    } else {
      cli_table_text(table, mbg_context_error(ctx) ? mbg_context_error(ctx) : "");
    }
    mbg_context_clear(ctx);
  }
  mbg_model_destroy(model);
  return failed > 0 ? CLI_FAILED : CLI_DONE;
}

/* ---------------------------------------------------------------------- report */

#ifdef MBG_HAS_IPOPT
static const bool has_ipopt = true;
#else
static const bool has_ipopt = false;
#endif
#ifdef MBG_HAS_NLOPT
static const bool has_nlopt = true;
#else
static const bool has_nlopt = false;
#endif

static void print_program(void) {
  cli_table table = cli_table_make("ll");
  char *gallery = cli_gallery_folder(), **names;
  const int models = cli_gallery_names(&names);
  cli_table_texts(&table, "mbgrad", mbg_version(), "compiler", NULL);
#if defined(__clang__)
  cli_table_text(&table, "clang " __clang_version__);
#elif defined(__VERSION__)
  cli_table_text(&table, "gcc " __VERSION__);
#else
  cli_table_text(&table, "unknown");
#endif
  cli_table_text(&table, "gallery");
  cli_table_format(&table, "%s, %d models", gallery ? gallery : "none (set MBGRAD_GALLERY)", models);
  cli_table_text(&table, "processors");
  cli_table_format(&table, "%ld", sysconf(_SC_NPROCESSORS_ONLN));
  cli_table_texts(&table, "IPOPT",
                  has_ipopt ? "yes" : "no: built without it; optimizers ipopt and ipopt-gn are missing", "NLopt",
                  has_nlopt ? "yes" : "no: built without it; optimizers slsqp and mma are missing", NULL);
  cli_table_text(&table, "HDF5 files");
#ifdef MBG_HDF5
  cli_table_text(&table, "yes");
#else
  cli_table_text(&table, "no: built without libhdf5");
#endif
  cli_table_text(&table, "PNG and PDF");
#ifdef MBG_CAIRO
  cli_table_text(&table, "yes");
#else
  cli_table_text(&table, "no: built without libcairo");
#endif
  cli_table_print(&table, 2);
  cli_table_destroy(&table);
  cli_gallery_names_destroy(names, models);
  free(gallery);
}

static void print_libraries(void) {
  loaded l;
  find_loaded(&l);
  cli_table table = cli_table_make("ll");
  for (int i = 0; i < NLIBRARY; i++) {
    if (l.file[i][0]) {
      cli_table_text(&table, l.file[i]);
      cli_table_text(&table, libraries[i].use);
    }
  }
  cli_heading("\nlibraries, as they are loaded");
  cli_table_print(&table, 2);
  cli_table_destroy(&table);
}

static int doctor(const cli_args *args) {
  (void)args;
  mbg_context *ctx = NULL;
  cli_heading("program");
  print_program();
  print_libraries();
  cli_heading("\nself-test: a double pendulum, three parameters, two criteria");
  if (mbg_context_create(NULL, &ctx) != MBG_OK) {
    return cli_failed("out of memory");
  }
  cli_table table = cli_table_make("lll");
  const int status = self_test(ctx, &table);
  cli_table_print(&table, 2);
  cli_table_destroy(&table);
  mbg_context_destroy(ctx);
  printf(status == CLI_DONE ? "\nall is well\n" : "\nsomething is wrong: send this with a report of the problem\n");
  return status;
}

extern const cli_command cli_cmd_doctor;

const cli_command cli_cmd_doctor = {
    .name = "doctor",
    .arguments = "",
    .summary = "versions, libraries, and a self-test",
    .details =
        "Prints what the program was made of and what it runs with, and differentiates a small mechanism by every\n"
        "formulation. Exit status 0: all is well. The place to start when something does not work.\n",
    .run = doctor,
};
