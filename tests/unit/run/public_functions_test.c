/* Every public function with NULL, and with indices that are out of range: no crash, no pointer to nowhere. */
#include "base/base.h"
#include "mbgrad/mbgrad.h"
#include "support/support.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  mbg_context *ctx;
  mbg_model *model;
  mbg_run *run;
  mbg_check *check;
  mbg_modes *modes;
  mbg_linearize *linear;
  mbg_transitions *transitions;
  mbg_optimize *optimize;
  mbg_identify *identify;
  mbg_control *control;
} objects;

/* ---------------------------------------------------------------------- calls */

#define CTX o->ctx
#define MODEL o->model
#define RUN o->run
#define CHECK o->check
#define MODES o->modes
#define LINEAR o->linear
#define TRANSITIONS o->transitions
#define OPTIMIZE o->optimize
#define IDENTIFY o->identify
#define CONTROL o->control
#define I i

static void see_pointer(const char *name, const void *result, const objects *o, int i) {
  if (result && (i < 0 || i > 10000)) {
    fail_msg("%s gives a pointer for the index %d of %s", name, i, o->model ? "objects" : "NULL");
  }
}

static void see_text(const char *name, const char *result, const objects *o, int i) {
  see_pointer(name, result && *result ? result : NULL, o, i);
}

static void call_all(const objects *o, int i) {
#define VALUE(name, arguments) (void)name arguments;
#define POINTER(name, arguments) see_pointer(#name, name arguments, o, i);
#define TEXT(name, arguments) see_text(#name, name arguments, o, i);
#define DESTROY(name, arguments)
#include "public_functions.def"
#undef VALUE
#undef POINTER
#undef TEXT
#undef DESTROY
  if (o->ctx) {
    mbg_context_clear(o->ctx);
  }
}

static void destroy_nothing(const objects *o) {
#define VALUE(name, arguments)
#define POINTER(name, arguments)
#define TEXT(name, arguments)
#define DESTROY(name, arguments) name arguments;
#include "public_functions.def"
#undef VALUE
#undef POINTER
#undef TEXT
#undef DESTROY
}

/* ---------------------------------------------------------------------- objects */

/* a mass on a spring that a force and a control push; everything that the interface offers has something to do */
static const char text[] =
    "{\"mbgrad\": 1, \"name\": \"pushed\", \"parameters\": {\"F\": {\"value\": 3, \"min\": -10, \"max\": 10}}, "
    "\"controls\": {\"u\": {\"times\": [0, 0.5, 1], \"values\": [0, 1, 0]}}, "
    "\"bodies\": {\"b\": {\"motion\": \"planar-point\", \"mass\": 2}}, "
    "\"forces\": {\"push\": {\"type\": \"force\", \"on\": \"b\", \"force\": [\"F + u\", 0, 0]}, "
    "\"hold\": {\"type\": \"bushing\", \"between\": [\"ground\", \"b\"], \"stiffness\": [10, 10, 0, 0, 0, 0]}}, "
    "\"signals\": {\"x\": {\"type\": \"position\", \"of\": \"b\", \"component\": \"x\"}}, "
    "\"criteria\": {\"miss\": {\"terminal\": \"(x - 1)^2\"}, "
    "\"fit\": {\"least_squares\": \"x\", \"data\": \"public.csv\"}}, "
    "\"optimize\": {\"objective\": \"miss\"}, \"run\": {\"end\": 1, \"step\": 0.1}}";

static void create(objects *o) {
  FILE *file = fopen("public.csv", "w");
  assert_non_null(file);
  fputs("time,x\n0.5,0.3125\n1,1.25\n", file);
  fclose(file);
  assert_int_equal(mbg_context_create(NULL, &o->ctx), MBG_OK);
  if (mbg_model_parse(o->ctx, "pushed", text, strlen(text), ".", &o->model) < 0) {
    fail_msg("%s", mbg_context_error(o->ctx));
  }
  assert_int_equal(mbg_run_create(o->ctx, o->model, NULL, &o->run), MBG_OK);
  assert_int_equal(mbg_check_create(o->ctx, o->model, NULL, &o->check), MBG_OK);
  assert_int_equal(mbg_modes_create(o->ctx, o->model, NULL, &o->modes), MBG_OK);
  assert_int_equal(mbg_linearize_create(o->ctx, o->model, NULL, &o->linear), MBG_OK);
  assert_int_equal(mbg_transitions_create(o->ctx, o->run, NULL, 0.5, &o->transitions), MBG_OK);
  assert_int_equal(mbg_optimize_create(o->ctx, o->model, NULL, &o->optimize), MBG_OK);
  assert_int_equal(mbg_identify_create(o->ctx, o->model, NULL, &o->identify), MBG_OK);
  static const char *const objective[] = {"miss"};
  mbg_control_options control;
  mbg_control_options_default(&control, sizeof(control));
  control.nterm = 1;
  control.criteria = objective;
  control.effort = 0.01;
  control.iterations = 3;
  assert_int_equal(mbg_control_create(o->ctx, o->model, &control, &o->control), MBG_OK);
}

static void destroy(objects *o) {
  mbg_control_destroy(o->control);
  mbg_identify_destroy(o->identify);
  mbg_optimize_destroy(o->optimize);
  mbg_linearize_destroy(o->linear);
  mbg_transitions_destroy(o->transitions);
  mbg_modes_destroy(o->modes);
  mbg_check_destroy(o->check);
  mbg_run_destroy(o->run);
  mbg_model_destroy(o->model);
  mbg_context_destroy(o->ctx);
  remove("public.csv");
}

static const int indices[] = {-1, INT_MIN, INT_MAX, INT_MAX / 2, 1000000, 0, 1, 2, 3, 4, 5, 11, 12};

/* ---------------------------------------------------------------------- tests */

static void test_null(void **state) {
  (void)state;
  const objects nothing = {0};
  destroy_nothing(&nothing);
  for (int k = 0; k < MBG_COUNT(indices); k++) {
    call_all(&nothing, indices[k]);
  }
}

/* objects before and after they have computed something */
static void test_objects(void **state) {
  (void)state;
  objects o = {0};
  create(&o);
  for (int k = 0; k < MBG_COUNT(indices); k++) {
    call_all(&o, indices[k]);
  }
  destroy(&o);
}

/* one object at a time: the others are NULL */
static void test_one_object(void **state) {
  (void)state;
  objects o = {0};
  create(&o);
  const objects some[] = {{.ctx = o.ctx},           {.ctx = o.ctx, .model = o.model},
                          {.model = o.model},       {.run = o.run},
                          {.check = o.check},       {.modes = o.modes},
                          {.optimize = o.optimize}, {.identify = o.identify},
                          {.control = o.control}};
  for (int s = 0; s < MBG_COUNT(some); s++) {
    for (int k = 0; k < MBG_COUNT(indices); k++) {
      call_all(&some[s], indices[k]);
    }
  }
  destroy(&o);
}

/* ---------------------------------------------------------------------- the list is complete */

static const char *const names[] = {
#define VALUE(name, arguments) #name,
#define POINTER(name, arguments) #name,
#define TEXT(name, arguments) #name,
#define DESTROY(name, arguments) #name,
#include "public_functions.def"
#undef VALUE
#undef POINTER
#undef TEXT
#undef DESTROY
};

static int find_functions(const char *path) {
  size_t size;
  char *header = support_read_file(path, &size);
  int found = 0;
  for (char *c = header; (c = strstr(c, "\nMBG_API ")) != NULL;) {
    c += 9;
    char *end = strchr(c, '('), *name = end;
    assert_non_null(end);
    while (name > c &&
           (name[-1] == '_' || (name[-1] >= 'a' && name[-1] <= 'z') || (name[-1] >= '0' && name[-1] <= '9'))) {
      name--;
    }
    *end = '\0';
    bool listed = false;
    for (int i = 0; i < MBG_COUNT(names); i++) {
      listed = listed || !strcmp(names[i], name);
    }
    if (!listed) {
      fail_msg("%s: add %s to tests/unit/run/public_functions.def", path, name);
    }
    found++;
    c = end + 1;
  }
  free(header);
  return found;
}

static void test_complete(void **state) {
  (void)state;
  const char *folder = MBG_GALLERY_DIR "/../include/mbgrad";
  DIR *dir = opendir(folder);
  int found = 0;
  assert_non_null(dir);
  for (const struct dirent *entry; (entry = readdir(dir)) != NULL;) {
    char path[600];
    (void)snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
    found += entry->d_name[0] != '.' ? find_functions(path) : 0;
  }
  closedir(dir);
  assert_int_equal(found, MBG_COUNT(names));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_complete), cmocka_unit_test(test_null),
                                     cmocka_unit_test(test_one_object), cmocka_unit_test(test_objects)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
