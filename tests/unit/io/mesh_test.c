/* Meshes of STL, OBJ and glTF: one tetrahedron in every format, every message, and files cut at every byte. */
#include "io/deflate.h"
#include "io/mesh.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
  mbg_context *ctx;
  mbg__arena arena;
  char path[64];
} fixture;

static int setup(void **state) {
  fixture *f = calloc(1, sizeof(*f));
  assert_non_null(f);
  assert_int_equal(mbg_context_create(NULL, &f->ctx), MBG_OK);
  mbg__arena_init(&f->arena, mbg__context_allocator(f->ctx));
  *state = f;
  return 0;
}

static int teardown(void **state) {
  fixture *f = *state;
  mbg__arena_destroy(&f->arena);
  mbg_context_destroy(f->ctx);
  free(f);
  return 0;
}

static int read_bytes(fixture *f, const char *ending, const void *data, size_t length, mbg__mesh *out) {
  (void)snprintf(f->path, sizeof(f->path), "mesh_test_%d.%s", (int)getpid(), ending);
  FILE *file = fopen(f->path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(data, 1, length, file), length);
  assert_int_equal(fclose(file), 0);
  mbg_context_clear(f->ctx);
  const int err = mbg__mesh_read(f->ctx, &f->arena, f->path, out);
  (void)remove(f->path);
  return err;
}

static mbg__mesh good(fixture *f, const char *ending, const void *data, size_t length) {
  mbg__mesh mesh;
  if (read_bytes(f, ending, data, length, &mesh) != MBG_OK) {
    fail_msg("%s: %s", ending, mbg_context_error(f->ctx));
  }
  return mesh;
}

static void bad(fixture *f, const char *ending, const void *data, size_t length, const char *message) {
  mbg__mesh mesh;
  assert_true(read_bytes(f, ending, data, length, &mesh) < 0);
  if (!strstr(mbg_context_error(f->ctx), message) || !strstr(mbg_context_error(f->ctx), f->path)) {
    fail_msg("%s: expected '%s', found '%s'", ending, message, mbg_context_error(f->ctx));
  }
}

static void bad_text(fixture *f, const char *ending, const char *text, const char *message) {
  bad(f, ending, text, strlen(text), message);
}

/* ---------------------------------------------------------------------- a tetrahedron */

static const float corner[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
static const int face[4][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}};

/* the volume of a closed surface whose triangles are seen counterclockwise from outside */
static double volume(const mbg__mesh *m) {
  double sum = 0;
  for (int i = 0; i < m->ntriangle; i++) {
    const double *a = m->vertices + 3 * m->corners[3 * i], *b = m->vertices + 3 * m->corners[3 * i + 1],
                 *c = m->vertices + 3 * m->corners[3 * i + 2];
    sum += a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0]);
  }
  return sum / 6;
}

static void is_tetrahedron(const mbg__mesh *m, double size) {
  assert_int_equal(m->nvertex, 4);
  assert_int_equal(m->ntriangle, 4);
  assert_true(fabs(volume(m) - size / 6) < 1e-7 * size);
}

static void put_word(char *at, unsigned value) {
  for (int k = 0; k < 4; k++) {
    at[k] = (char)(value >> (8 * k) & 255);
  }
}

static void put_float(char *at, float value) {
  unsigned bits;
  memcpy(&bits, &value, sizeof(bits));
  put_word(at, bits);
}

enum { STL_LENGTH = 84 + 4 * 50 };

static void make_stl(char out[STL_LENGTH], const char *head) {
  memset(out, 0, STL_LENGTH);
  memcpy(out, head, strlen(head));
  put_word(out + 80, 4);
  for (int i = 0; i < 4; i++) {
    for (int k = 0; k < 9; k++) {
      put_float(out + 84 + 50 * i + 12 + 4 * k, corner[face[i][k / 3]][k % 3]);
    }
  }
}

static void stl(void **state) {
  fixture *f = *state;
  char data[STL_LENGTH + 1], text[2000] = "solid t\n";
  static const char *const heads[] = {"solid but binary", "made by hand"};
  for (int i = 0; i < 2; i++) {
    make_stl(data, heads[i]);
    const mbg__mesh m = good(f, "stl", data, STL_LENGTH);
    is_tetrahedron(&m, 1);
  }
  for (size_t n = 0; n < STL_LENGTH; n++) {
    bad(f, "STL", data, n, n < 84 ? "this is no STL file" : "the file ends early: it announces 4 triangles");
  }
  put_float(data + 84 + 12, NAN);
  bad(f, "stl", data, STL_LENGTH, "vertex 1 is not finite");
  put_word(data + 80, 0);
  bad(f, "stl", data, STL_LENGTH, "the file has no triangles");

  for (int i = 0; i < 4; i++) {
    const float *a = corner[face[i][0]], *b = corner[face[i][1]], *c = corner[face[i][2]];
    (void)snprintf(text + strlen(text), sizeof(text) - strlen(text),
                   " facet normal 0 0 0\n  outer loop\n   vertex %g %g %g\r\n   vertex %g %g %g\n   vertex %g %g %g\n"
                   "  endloop\n endfacet\n",
                   (double)a[0], (double)a[1], (double)a[2], (double)b[0], (double)b[1], (double)b[2], (double)c[0],
                   (double)c[1], (double)c[2]);
  }
  const mbg__mesh m = good(f, "stl", text, strlen(text));
  is_tetrahedron(&m, 1);
  bad_text(f, "stl", "solid x\nvertex 0 0 0\nvertex 0 0 one\n", ":3: a vertex has three numbers");
  bad_text(f, "stl", "solid x\nfacet\nvertex 0 0 0\nendfacet\n", ":4: a facet has three vertices");
  bad_text(f, "stl", "solid x\nfacet\nvertex 0 0 0\n", "the file ends inside of a facet");
  bad_text(f, "stl", "solid x\nvertex 0 0 1e999\n", "vertex 1 is not finite");
  bad_text(f, "stl", "solid x\nendsolid\n", "the file has no triangles");
}

static void obj(void **state) {
  fixture *f = *state;
  static const char tetrahedron[] = "# by hand\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nvn 0 0 1\n"
                                    "f 1 3 2\nf 1/1 2/1 4/1\nf 2//1 3//1 4//1\nf -4/1/1 -1/1/1 -2/1/1";
  const mbg__mesh m = good(f, "obj", tetrahedron, strlen(tetrahedron));
  is_tetrahedron(&m, 1);
  static const char square[] = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\nf 1 1 2\n";
  assert_int_equal(good(f, "obj", square, strlen(square)).ntriangle, 2);
  bad_text(f, "obj", "v 0 0 0\nf 1 2 3\n", ":2: a face refers to a vertex that is not there");
  bad_text(f, "obj", "v 0 0 0\nv 1 0 0\nf 1 2\n", ":3: a face has three vertices or more");
  bad_text(f, "obj", "v 0 0 0\nf 0 1 1\n", "a face refers to a vertex that is not there");
  bad_text(f, "obj", "v 0 0 0\nf 1.5 1 1\n", "a face refers to a vertex that is not there");
  bad_text(f, "obj", "v 0 0\n", ":1: a vertex has three numbers");
  bad_text(f, "obj", "", "the file has no triangles");
}

/* ---------------------------------------------------------------------- glTF */

/* places, then corners as shorts */
static size_t make_block(char out[72]) {
  for (int i = 0; i < 12; i++) {
    put_float(out + 4 * i, corner[i / 3][i % 3]);
  }
  for (int i = 0; i < 12; i++) {
    out[48 + 2 * i] = (char)face[i / 3][i % 3];
    out[48 + 2 * i + 1] = 0;
  }
  return 72;
}

/* a child with a scale of 2 under a turned node */
static const char form[] =
    "{\"asset\":{\"version\":\"2.0\"},\"scene\":0,\"scenes\":[{\"nodes\":[0]}],\"nodes\":[{\"rotation\":[0,0,0.6,0.8],"
    "\"children\":[1]},{\"mesh\":0,\"scale\":[2,2,2],\"translation\":[1,2,3]}],\"meshes\":[{\"primitives\":[{"
    "\"attributes\":{\"POSITION\":0},\"indices\":1},{\"mode\":1,\"attributes\":{\"POSITION\":0}}]}],\"accessors\":[{"
    "\"bufferView\":0,\"componentType\":5126,\"count\":4,\"type\":\"VEC3\"},{\"bufferView\":0,\"byteOffset\":48,"
    "\"componentType\":5123,\"count\":%s,\"type\":\"SCALAR\"}],\"bufferViews\":[{\"buffer\":0,\"byteLength\":72}],"
    "\"buffers\":[{\"byteLength\":72%s}]}";

static void gltf(void **state) {
  fixture *f = *state;
  char block[72], text[3000], uri[300] = ",\"uri\":\"data:application/octet-stream;base64,";
  mbg__buffer coded;
  const char *base64;
  size_t n;
  mbg__buffer_init(&coded, f->ctx);
  mbg__base64(block, make_block(block), &coded);
  assert_int_equal(mbg__buffer_finish(&coded, &base64, &n), MBG_OK);
  strncat(uri, base64, n);
  strcat(uri, "\"");
  (void)snprintf(text, sizeof(text), form, "12", uri);
  const mbg__mesh m = good(f, "gltf", text, strlen(text));
  is_tetrahedron(&m, 8);
  /* (1, 2, 3) turned by the rotation about z with cosine 0.28 and sine 0.96 */
  assert_true(fabs(m.vertices[0] - (0.28 - 1.92)) < 1e-12 && fabs(m.vertices[1] - (0.96 + 0.56)) < 1e-12);
  bad(f, "gltf", text, strlen(text) - 1, "its JSON is damaged");
  (void)snprintf(text, sizeof(text), form, "13", uri);
  bad_text(f, "gltf", text, "an accessor points outside of its buffer");
  (void)snprintf(text, sizeof(text), form, "11", uri);
  bad_text(f, "gltf", text, "a mesh of triangles needs three vertices for each");
  (void)snprintf(text, sizeof(text), form, "12", ",\"uri\":\"absent.bin\"");
  mbg__mesh none;
  assert_int_equal(read_bytes(f, "gltf", text, strlen(text), &none), MBG_ERROR_IO);
  assert_non_null(strstr(mbg_context_error(f->ctx), "absent.bin"));
  (void)snprintf(text, sizeof(text), form, "12", ",\"uri\":\"data:;base64,AA*A\"");
  bad_text(f, "gltf", text, "the base64 text of a buffer is damaged");
  (void)snprintf(text, sizeof(text), form, "12", "");
  bad_text(f, "gltf", text, "a buffer has no data");
  bad_text(f, "gltf", "{\"scenes\":[{\"nodes\":[0]}],\"nodes\":[{\"children\":[0]}]}", "inside of itself");
  bad_text(f, "gltf", "{\"scenes\":[{\"nodes\":[7]}],\"nodes\":[]}", "a node is missing");
  bad_text(f, "gltf", "{\"scenes\":[{\"nodes\":[0]}],\"nodes\":[{\"mesh\":-1}]}", "a mesh that is not there");
  bad_text(f, "gltf", "[]", "the file has no triangles");
  mbg__buffer_destroy(&coded);
}

static void glb(void **state) {
  fixture *f = *state;
  char file[2000], json[2000], block[72];
  (void)snprintf(json, sizeof(json), form, "12", "");
  while (strlen(json) % 4 != 0) {
    strcat(json, " ");
  }
  const size_t n = strlen(json), length = 20 + n + 8 + make_block(block);
  memcpy(file, "glTF", 4);
  put_word(file + 4, 2);
  put_word(file + 8, (unsigned)length);
  put_word(file + 12, (unsigned)n);
  memcpy(file + 16, "JSON", 4);
  memcpy(file + 20, json, n);
  put_word(file + 20 + n, 72);
  memcpy(file + 24 + n, "BIN\0", 4);
  memcpy(file + 28 + n, block, 72);
  const mbg__mesh m = good(f, "glb", file, length);
  is_tetrahedron(&m, 8);
  for (size_t cut = 0; cut < length; cut++) {
    mbg__mesh none;
    assert_true(read_bytes(f, "glb", file, cut, &none) < 0);
  }
  file[4] = 1;
  bad(f, "glb", file, length, "this is no binary glTF file of version 2");
}

static void names(void **state) {
  fixture *f = *state;
  mbg__mesh mesh;
  assert_true(mbg__mesh_is_file("a/b.stl") && mbg__mesh_is_file("B.Obj") && mbg__mesh_is_file(".x.GLB"));
  assert_false(mbg__mesh_is_file("a.dae") || mbg__mesh_is_file("stl") || mbg__mesh_is_file("") ||
               mbg__mesh_is_file("a.stlx"));
  bad_text(f, "dae", "x", "a mesh is a file of STL, OBJ or glTF");
  assert_int_equal(mbg__mesh_read(f->ctx, &f->arena, "absent.stl", &mesh), MBG_ERROR_IO);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(stl, setup, teardown),   cmocka_unit_test_setup_teardown(obj, setup, teardown),
      cmocka_unit_test_setup_teardown(gltf, setup, teardown),  cmocka_unit_test_setup_teardown(glb, setup, teardown),
      cmocka_unit_test_setup_teardown(names, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
