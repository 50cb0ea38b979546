/* Matrices in HDF5 files: dense ones, compressed rows, filters; what lies in other files or is no matrix is refused by
   name, and damaged files never crash. Tests of a build without HDF5 look at the message alone. */
#include "io/hdf5.h"
#include "mbgrad/mbgrad.h"
#include "model/model.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
  mbg_context *ctx;
  mbg__arena arena;
  char folder[64], path[96];
} fixture;

static int setup(void **state) {
  fixture *f = calloc(1, sizeof(*f));
  assert_non_null(f);
  assert_int_equal(mbg_context_create(NULL, &f->ctx), MBG_OK);
  mbg__arena_init(&f->arena, mbg__context_allocator(f->ctx));
  strcpy(f->folder, "/tmp/mbgrad-hdf5-XXXXXX");
  assert_non_null(mkdtemp(f->folder));
  snprintf(f->path, sizeof f->path, "%s/t.h5", f->folder);
  *state = f;
  return 0;
}

static int teardown(void **state) {
  fixture *f = *state;
  unlink(f->path);
  rmdir(f->folder);
  mbg__arena_destroy(&f->arena);
  mbg_context_destroy(f->ctx);
  free(f);
  return 0;
}

/* ---------------------------------------------------------------------- names */

static void named(const char *path, size_t expected) {
  size_t length = 0;
  assert_int_equal(mbg__hdf5_named(path, &length), expected > 0);
  assert_int_equal(length, expected);
}

static void test_names(void **state) {
  (void)state;
  named("a.h5", 4);
  named("folder.x/a.hdf5", 15);
  named("a.h5:mass", 4);
  named("a.h5:parts/arm/mass", 4);
  named("a.mtx", 0);
  named("a.mtx:b", 0);
  named("h5", 0);
  named(".h5", 0);
  named("", 0);
}

#ifdef MBG_HDF5
#include <hdf5.h>

static const double dense[] = {1, 2, 3, 4, 5, 6}; /* rows of 3 */

static hid_t make(fixture *f) { return H5Fcreate(f->path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT); }

static void put_as(hid_t at, const char *name, int rank, const hsize_t *size, const double *x, hid_t list, hid_t type) {
  const hid_t space = H5Screate_simple(rank, size, NULL);
  const hid_t set = H5Dcreate2(at, name, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
  assert_true(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, x) >= 0);
  H5Dclose(set);
  H5Sclose(space);
}

/* single precision, big-endian: other than what it is read as */
static void put(hid_t at, const char *name, int rank, const hsize_t *size, const double *x, hid_t list) {
  put_as(at, name, rank, size, x, list, H5T_IEEE_F32BE);
}

static void put_list(hid_t at, const char *name, hsize_t n, const double *x) { put(at, name, 1, &n, x, H5P_DEFAULT); }

/* dense, packed, compressed rows of [0 7 0; 8 0 9], a square one, and things that are no matrices */
static void make_all(fixture *f) {
  const hid_t file = make(f), list = H5Pcreate(H5P_DATASET_CREATE);
  const hsize_t two[2] = {2, 3}, three[3] = {1, 2, 3};
  put(file, "dense", 2, two, dense, H5P_DEFAULT);
  put(file, "three", 3, three, dense, H5P_DEFAULT);
  H5Pset_chunk(list, 2, (const hsize_t[]){1, 2});
  H5Pset_deflate(list, 6);
  put(file, "packed", 2, two, dense, list);
  put_list(file, "column", 3, dense);
  put_list(file, "nan", 2, (const double[]){1, NAN});
  static const double x[] = {7, 8, 9}, columns[] = {1, 0, 2}, start[] = {0, 1, 3}, wide[] = {2, 3};
  static const char *const groups[] = {"sparse", "square", "outside", "short"};
  for (int k = 0; k < 4; k++) {
    const hid_t group = H5Gcreate2(file, groups[k], H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    put_list(group, "data", 3, x);
    put_list(group, "indices", k == 3 ? 2 : 3, k == 1 ? (const double[]){1, 0, 1} : columns);
    put_list(group, "indptr", 3, start);
    if (k == 0) {
      const hsize_t n = 2;
      const hid_t space = H5Screate_simple(1, &n, NULL);
      const hid_t a = H5Acreate2(group, "shape", H5T_STD_I64LE, space, H5P_DEFAULT, H5P_DEFAULT);
      H5Awrite(a, H5T_NATIVE_DOUBLE, wide);
      H5Aclose(a);
      H5Sclose(space);
    }
    H5Gclose(group);
  }
  H5Lcreate_external("other.h5", "dense", file, "elsewhere", H5P_DEFAULT, H5P_DEFAULT);
  const hid_t text = H5Tcopy(H5T_C_S1), one = H5Screate(H5S_SCALAR);
  H5Dclose(H5Dcreate2(file, "text", text, one, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  H5Dclose(H5Dcreate2(file, "scalar", H5T_IEEE_F64LE, one, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  H5Sclose(one);
  H5Tclose(text);
  H5Pclose(list);
  H5Fclose(file);
}

static void reads(fixture *f, const char *name, int rows, int cols, const double *by_rows) {
  mbg__matrix m;
  assert_int_equal(mbg__hdf5_matrix(f->ctx, &f->arena, f->path, name, &m), MBG_OK);
  assert_int_equal(m.rows, rows);
  assert_int_equal(m.cols, cols);
  for (int k = 0; k < rows * cols; k++) {
    assert_true(m.at[k / cols + rows * (k % cols)] == by_rows[k]);
  }
}

static void test_matrices(void **state) {
  fixture *f = *state;
  make_all(f);
  reads(f, "dense", 2, 3, dense);
  reads(f, "/dense", 2, 3, dense);
  reads(f, "packed", 2, 3, dense);
  reads(f, "column", 3, 1, dense);
  reads(f, "sparse", 2, 3, (const double[]){0, 7, 0, 8, 0, 9});
  reads(f, "square", 2, 2, (const double[]){0, 7, 8, 9});
}

static void refused(fixture *f, const char *name, const char *why) {
  mbg__matrix m;
  mbg_context_clear(f->ctx);
  assert_true(mbg__hdf5_matrix(f->ctx, &f->arena, f->path, name, &m) < 0);
  const char *message = mbg_context_message(f->ctx, 0);
  if (!strstr(message, why) || !strstr(message, f->path)) {
    fail_msg("'%s': '%s', expected '%s'", name, message, why);
  }
}

static void test_refused(void **state) {
  fixture *f = *state;
  make_all(f);
  refused(f, "mass", "the file has no such dataset of its own");
  refused(f, "dense/mass", "the file has no such dataset of its own");
  refused(f, "", "the file has no such dataset of its own");
  refused(f, "elsewhere", "the file has no such dataset of its own");
  refused(f, "three", "expected a matrix: a dataset of two dimensions");
  refused(f, "scalar", "expected a matrix: a dataset of two dimensions");
  refused(f, "text", "expected numbers");
  refused(f, "nan", "a number is not finite");
  refused(f, "outside", "a number of 'indices' is no column");
  refused(f, "short", "not a matrix in compressed rows");
  refused(f, "/", "the file has no");
  FILE *file = fopen(f->path, "w");
  assert_non_null(file);
  fputs("not a file of this kind", file);
  fclose(file);
  refused(f, "dense", "this is no HDF5 file, or it is damaged");
  unlink(f->path);
  refused(f, "dense", "cannot");
}

/* A file cut anywhere, and one with a damaged byte: an answer or a message. The library of HDF5 keeps what it has open
   when it stumbles; it must not crash. */
static void test_damaged(void **state) {
  fixture *f = *state;
  static const char *const names[] = {"dense", "packed", "sparse", "column"};
  make_all(f);
  FILE *file = fopen(f->path, "r");
  static char whole[65536], part[65536];
  const size_t length = fread(whole, 1, sizeof whole, file);
  fclose(file);
  assert_true(length > 2000 && length < sizeof whole);
  uint64_t seed = 1;
  for (int k = 0; k < 400; k++) {
    const size_t at = (size_t)(seed = seed * 6364136223846793005u + 1442695040888963407u) % length;
    const bool cut = k % 4 == 0;
    memcpy(part, whole, length);
    part[at] = (char)(part[at] ^ (1 + (int)(seed >> 60)));
    file = fopen(f->path, "w");
    fwrite(part, 1, cut ? at : length, file);
    fclose(file);
    mbg__matrix m;
    mbg_context_clear(f->ctx);
    const int err = mbg__hdf5_matrix(f->ctx, &f->arena, f->path, names[k % 4], &m);
    assert_true(err == MBG_OK || mbg_context_message_count(f->ctx) > 0);
  }
}

/* ---------------------------------------------------------------------- a body */

/* datasets of the matrices and nodes that tests/errors/models has as text */
static void convert(fixture *f, bool numbered) {
  static const char *const names[] = {"mass", "stiffness"};
  static const double nodes[] = {1, 0, 0, 0, 2, 1, 0, 0, 3, 0, 0.5, 0.2}, places[] = {0, 0, 0, 1, 0, 0, 0, 0.5, 0.2};
  const hid_t file = make(f);
  for (int k = 0; k < 2; k++) {
    char path[300];
    mbg__matrix m;
    snprintf(path, sizeof path, "%s/tests/errors/models/modal-%s.mtx", MBG_SOURCE_DIR, names[k]);
    assert_int_equal(mbg__matrix_read(f->ctx, &f->arena, path, &m), MBG_OK);
    const hsize_t size[2] = {(hsize_t)m.rows, (hsize_t)m.cols}; /* symmetric: rows are columns */
    put_as(file, names[k], 2, size, m.at, H5P_DEFAULT, H5T_IEEE_F64LE);
  }
  const hsize_t size[2] = {3, numbered ? 4 : 3};
  put_as(file, "nodes", 2, size, numbered ? nodes : places, H5P_DEFAULT, H5T_IEEE_F64LE);
  H5Fclose(file);
}

static mbg_model *load(fixture *f, const char *mass, const char *stiffness, const char *nodes) {
  char path[96];
  snprintf(path, sizeof path, "%s/t.json", f->folder);
  FILE *file = fopen(path, "w");
  fprintf(file,
          "{\"mbgrad\": 1, \"bodies\": {\"arm\": {\"type\": \"modal\", \"modes\": 2, \"files\": {\"mass\": \"%s\", "
          "\"stiffness\": \"%s\", \"nodes\": \"%s\", \"fixed\": [1]}}}}",
          mass, stiffness, nodes);
  fclose(file);
  mbg_model *model = NULL;
  if (mbg_model_load(f->ctx, path, &model) < 0) {
    fail_msg("%s", mbg_context_message(f->ctx, 0));
  }
  unlink(path);
  return model;
}

/* the same numbers from text and from HDF5: the same body, bit for bit */
static void test_body(void **state) {
  fixture *f = *state;
  char mass[300], stiffness[300], nodes[300];
  snprintf(mass, sizeof mass, "%s/tests/errors/models/modal-mass.mtx", MBG_SOURCE_DIR);
  snprintf(stiffness, sizeof stiffness, "%s/tests/errors/models/modal-stiffness.mtx", MBG_SOURCE_DIR);
  snprintf(nodes, sizeof nodes, "%s/tests/errors/models/modal-nodes.csv", MBG_SOURCE_DIR);
  mbg_model *text = load(f, mass, stiffness, nodes);
  for (int numbered = 0; numbered < 2; numbered++) {
    convert(f, numbered);
    mbg_model *model = load(f, "t.h5", "t.h5:stiffness", "t.h5:/nodes");
    assert_int_equal(model->nmodal, 1);
    assert_int_equal(model->modals[0].nlink, text->modals[0].nlink);
    for (int k = 0; k < model->modals[0].nlink; k++) {
      assert_memory_equal(&model->modals[0].links[k].factor, &text->modals[0].links[k].factor, sizeof(double));
    }
    assert_int_equal(model->modals[0].nnode, text->modals[0].nnode);
    for (int k = 0; k < text->modals[0].nnode; k++) {
      assert_memory_equal(model->modals[0].nodes[k].place, text->modals[0].nodes[k].place, 3 * sizeof(double));
      assert_string_equal(model->modals[0].nodes[k].name, text->modals[0].nodes[k].name);
    }
    mbg_model_destroy(model);
  }
  mbg_model_destroy(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_names),
      cmocka_unit_test_setup_teardown(test_body, setup, teardown),
      cmocka_unit_test_setup_teardown(test_matrices, setup, teardown),
      cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
      cmocka_unit_test_setup_teardown(test_damaged, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

#else
static void test_absent(void **state) {
  fixture *f = *state;
  mbg__matrix m;
  assert_int_equal(mbg__hdf5_matrix(f->ctx, &f->arena, f->path, "mass", &m), MBG_ERROR_UNSUPPORTED);
  assert_non_null(strstr(mbg_context_message(f->ctx, 0), "reads no HDF5 files"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_names),
      cmocka_unit_test_setup_teardown(test_absent, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
