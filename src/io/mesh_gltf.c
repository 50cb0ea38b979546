/* glTF 2.0: the triangles of the nodes of the scene, with the matrices of the nodes. Materials, skins and animations
   are not read. */
#include "io/file.h"
#include "io/json.h"
#include "io/mesh.h"

#include <math.h>
#include <string.h>

enum { DEPTH_MAX = 64, BUFFERS_MAX = 64, TRIANGLES = 4 };

typedef struct {
  const char *data;
  size_t length;
} bytes;

typedef struct {
  mbg__mesh_reader *r;
  mbg__arena arena;
  const mbg__json *root;
  bytes block;                /* of a .glb file */
  bytes buffers[BUFFERS_MAX]; /* data NULL: not read yet */
  long visits;                /* of nodes: each has one parent, so no more than there are */
} gltf;

static int wrong(const gltf *g, const char *what) {
  return mbg__fail(g->r->ctx, MBG_ERROR_INPUT, "%s: %s", g->r->path, what);
}

/* ---------------------------------------------------------------------- JSON */

/* whole number of a member; preset when it is absent, -1 when it is none */
static long whole(const mbg__json *object, const char *key, long preset) {
  const mbg__json *v = mbg__json_member(object, key);
  if (!v) {
    return preset;
  }
  const bool fits = v->kind == MBG__JSON_NUMBER && v->number >= 0 && v->number < 1e9 && v->number == floor(v->number);
  return fits ? (long)v->number : -1;
}

/* entry of an array of the file, or NULL */
static const mbg__json *entry(const gltf *g, const char *list, long index) {
  const mbg__json *array = mbg__json_member(g->root, list);
  const mbg__json *e =
      array && array->kind == MBG__JSON_ARRAY && index >= 0 && index < array->count ? array->child : NULL;
  for (long i = 0; e && i < index; i++) {
    e = e->next;
  }
  return e;
}

static bool numbers(const mbg__json *array, int n, double *out) {
  if (!array || array->kind != MBG__JSON_ARRAY || array->count != n) {
    return false;
  }
  for (const mbg__json *e = array->child; e; e = e->next) {
    if (e->kind != MBG__JSON_NUMBER) {
      return false;
    }
    *out++ = e->number;
  }
  return true;
}

/* ---------------------------------------------------------------------- buffers */

static int digit(char c) {
  return c >= 'A' && c <= 'Z'   ? c - 'A'
         : c >= 'a' && c <= 'z' ? c - 'a' + 26
         : c >= '0' && c <= '9' ? c - '0' + 52
         : c == '+'             ? 62
         : c == '/'             ? 63
                                : -1;
}

static int decode(gltf *g, const char *text, bytes *out) {
  const size_t n = strcspn(text, "=");
  char *data = mbg__arena_take(&g->arena, n + 1, 1);
  unsigned held = 0;
  int bits = 0;
  if (!data) {
    return mbg__fail_memory(g->r->ctx);
  }
  for (size_t i = 0; i < n; i++) {
    const int d = digit(text[i]);
    if (d < 0) {
      return wrong(g, "the base64 text of a buffer is damaged");
    }
    held = held << 6 | (unsigned)d;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      data[out->length++] = (char)(held >> bits & 255);
    }
  }
  out->data = data;
  return MBG_OK;
}

static int find_buffer(gltf *g, long index, bytes *out) {
  static const char inside[] = "base64,";
  const mbg__json *buffer = entry(g, "buffers", index), *uri = mbg__json_member(buffer, "uri");
  int err = MBG_OK;
  if (!buffer || index >= BUFFERS_MAX) {
    return wrong(g, "there is no such buffer");
  }
  bytes *kept = &g->buffers[index];
  if (!kept->data && !uri) {
    *kept = g->block;
  } else if (!kept->data && uri->kind == MBG__JSON_STRING && !strncmp(uri->text, "data:", 5)) {
    const char *at = strstr(uri->text, inside);
    MBG_TRY(at ? decode(g, at + strlen(inside), kept) : wrong(g, "a buffer is neither base64 nor a file"));
  } else if (!kept->data && uri->kind == MBG__JSON_STRING) {
    const char *path = mbg__path_beside(&g->arena, g->r->path, uri->text);
    char *data;
    MBG_TRY(path ? mbg__file_read_data(g->r->ctx, &g->arena, path, &data, &kept->length) : mbg__fail_memory(g->r->ctx));
    kept->data = data;
  }
  *out = *kept;
  if (!kept->data) {
    err = wrong(g, "a buffer has no data");
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- accessors */

enum { BYTE = 5121, SHORT = 5123, INT = 5125, FLOAT = 5126 };

typedef struct {
  const char *data;
  long count, type;
  size_t stride;
} row;

static size_t size_of(long type) { return type == BYTE ? 1 : type == SHORT ? 2 : type == INT || type == FLOAT ? 4 : 0; }

/* `count` items of `width` numbers */
static int find_row(gltf *g, long index, const char *shape, size_t width, row *out) {
  const mbg__json *a = entry(g, "accessors", index), *type = mbg__json_member(a, "type");
  const mbg__json *view = entry(g, "bufferViews", whole(a, "bufferView", -1));
  bytes buffer = {0};
  int err = MBG_OK;
  if (!a || !view || !type || type->kind != MBG__JSON_STRING || strcmp(type->text, shape) != 0 ||
      mbg__json_member(a, "sparse")) {
    return wrong(g, "an accessor of a mesh cannot be read (compressed and sparse ones are not supported)");
  }
  MBG_TRY(find_buffer(g, whole(view, "buffer", -1), &buffer));
  const long start = whole(view, "byteOffset", 0), length = whole(view, "byteLength", -1);
  const long offset = whole(a, "byteOffset", 0), stride = whole(view, "byteStride", 0);
  *out = (row){.count = whole(a, "count", -1), .type = whole(a, "componentType", -1)};
  const size_t item = width * size_of(out->type);
  out->stride = stride > 0 ? (size_t)stride : item;
  if (item == 0 || out->count <= 0 || start < 0 || length < 0 || offset < 0 || stride < 0 ||
      (size_t)start + (size_t)length > buffer.length ||
      (size_t)offset + ((size_t)out->count - 1) * out->stride + item > (size_t)length) {
    err = wrong(g, "an accessor points outside of its buffer");
    goto done;
  }
  out->data = buffer.data + start + offset;
done:
  return err;
}

static uint32_t bits_at(const row *a, long i, int k) {
  const size_t size = size_of(a->type);
  const unsigned char *b = (const unsigned char *)a->data + (size_t)i * a->stride + size * (size_t)k;
  uint32_t value = 0;
  for (size_t j = 0; j < size; j++) {
    value |= (uint32_t)b[j] << (8 * j);
  }
  return value;
}

static double float_at(const row *a, long i, int k) {
  const uint32_t bits = bits_at(a, i, k);
  float value;
  memcpy(&value, &bits, sizeof(value));
  return (double)value;
}

/* ---------------------------------------------------------------------- meshes */

/* M: 4 x 4, column-major */
static int read_primitive(gltf *g, const mbg__json *p, const double M[16]) {
  const mbg__json *position = mbg__json_member(mbg__json_member(p, "attributes"), "POSITION");
  mbg__mesh_reader *r = g->r;
  row at, corner = {0};
  const int base = r->nvertex;
  int err = MBG_OK;
  if (whole(p, "mode", TRIANGLES) != TRIANGLES || !position) {
    return MBG_OK; /* points, lines */
  }
  MBG_TRY(find_row(g, whole(mbg__json_member(p, "attributes"), "POSITION", -1), "VEC3", 3, &at));
  if (at.type != FLOAT) {
    return wrong(g, "positions that are not floats are not supported");
  }
  for (long i = 0; i < at.count; i++) {
    double x[3], y[3];
    for (int k = 0; k < 3; k++) {
      x[k] = float_at(&at, i, k);
    }
    for (int k = 0; k < 3; k++) {
      y[k] = M[k] * x[0] + M[4 + k] * x[1] + M[8 + k] * x[2] + M[12 + k];
    }
    MBG_TRY(mbg__mesh_vertex(r, y));
  }
  const bool indexed = mbg__json_member(p, "indices") != NULL;
  if (indexed) {
    MBG_TRY(find_row(g, whole(p, "indices", -1), "SCALAR", 1, &corner));
  }
  const long n = indexed ? corner.count : at.count;
  if (n % 3 != 0 || (indexed && corner.type == FLOAT)) {
    return wrong(g, "a mesh of triangles needs three vertices for each");
  }
  for (long i = 0; i < n; i += 3) {
    int v[3];
    for (int k = 0; k < 3; k++) {
      const uint32_t c = indexed ? bits_at(&corner, i + k, 0) : (uint32_t)(i + k);
      if (c >= (uint32_t)at.count) {
        return wrong(g, "a triangle refers to a vertex that is not there");
      }
      v[k] = base + (int)c;
    }
    MBG_TRY(mbg__mesh_triangle(r, v[0], v[1], v[2]));
  }
done:
  return err;
}

static int read_mesh(gltf *g, long index, const double M[16]) {
  const mbg__json *mesh = entry(g, "meshes", index), *list = mbg__json_member(mesh, "primitives");
  int err = MBG_OK;
  if (!list || list->kind != MBG__JSON_ARRAY) {
    return wrong(g, "a node refers to a mesh that is not there");
  }
  for (const mbg__json *p = list->child; p; p = p->next) {
    MBG_TRY(read_primitive(g, p, M));
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- nodes */

static void multiply(const double A[16], const double B[16], double out[16]) {
  for (int j = 0; j < 4; j++) {
    for (int i = 0; i < 4; i++) {
      double sum = 0;
      for (int k = 0; k < 4; k++) {
        sum += A[4 * k + i] * B[4 * j + k];
      }
      out[4 * j + i] = sum;
    }
  }
}

/* "matrix", or translation, rotation (quaternion) and scale */
static bool node_matrix(const mbg__json *node, double M[16]) {
  const mbg__json *matrix = mbg__json_member(node, "matrix"), *t = mbg__json_member(node, "translation"),
                  *r = mbg__json_member(node, "rotation"), *s = mbg__json_member(node, "scale");
  double at[3] = {0, 0, 0}, q[4] = {0, 0, 0, 1}, k[3] = {1, 1, 1};
  if (matrix) {
    return numbers(matrix, 16, M);
  }
  if ((t && !numbers(t, 3, at)) || (r && !numbers(r, 4, q)) || (s && !numbers(s, 3, k))) {
    return false;
  }
  const double x = q[0], y = q[1], z = q[2], w = q[3];
  const double R[9] = {1 - 2 * (y * y + z * z), 2 * (x * y + z * w),     2 * (x * z - y * w),
                       2 * (x * y - z * w),     1 - 2 * (x * x + z * z), 2 * (y * z + x * w),
                       2 * (x * z + y * w),     2 * (y * z - x * w),     1 - 2 * (x * x + y * y)};
  memset(M, 0, 16 * sizeof(double));
  for (int j = 0; j < 3; j++) {
    for (int i = 0; i < 3; i++) {
      M[4 * j + i] = k[j] * R[3 * j + i];
    }
    M[12 + j] = at[j];
  }
  M[15] = 1;
  return true;
}

static int read_node(gltf *g, long index, const double outer[16], int depth) {
  const mbg__json *node = entry(g, "nodes", index), *children = mbg__json_member(node, "children");
  double own[16], M[16];
  int err = MBG_OK;
  if (!node || depth > DEPTH_MAX || ++g->visits > mbg__json_member(g->root, "nodes")->count ||
      !node_matrix(node, own)) {
    return wrong(g, "a node is missing, damaged, or inside of itself");
  }
  multiply(outer, own, M);
  if (mbg__json_member(node, "mesh")) {
    MBG_TRY(read_mesh(g, whole(node, "mesh", -1), M));
  }
  for (const mbg__json *c = children && children->kind == MBG__JSON_ARRAY ? children->child : NULL; c; c = c->next) {
    const long child = c->kind == MBG__JSON_NUMBER && c->number >= 0 && c->number < 1e9 ? (long)c->number : -1;
    MBG_TRY(read_node(g, child, M, depth + 1));
  }
done:
  return err;
}

/* the nodes of the scene; a file without scenes: all meshes as they are */
static int read_scene(gltf *g) {
  static const double unit[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
  const mbg__json *scene = entry(g, "scenes", whole(g->root, "scene", 0)), *list = mbg__json_member(scene, "nodes");
  const mbg__json *meshes = mbg__json_member(g->root, "meshes");
  int err = MBG_OK;
  for (const mbg__json *n = list && list->kind == MBG__JSON_ARRAY ? list->child : NULL; n; n = n->next) {
    const long node = n->kind == MBG__JSON_NUMBER && n->number >= 0 && n->number < 1e9 ? (long)n->number : -1;
    MBG_TRY(read_node(g, node, unit, 0));
  }
  for (long i = 0; !list && meshes && meshes->kind == MBG__JSON_ARRAY && i < meshes->count; i++) {
    MBG_TRY(read_mesh(g, i, unit));
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- files */

static size_t word_at(const char *data, size_t at) {
  const unsigned char *b = (const unsigned char *)data + at;
  return (size_t)b[0] | (size_t)b[1] << 8 | (size_t)b[2] << 16 | (size_t)b[3] << 24;
}

/* header "glTF", version, length; then chunks: length, kind, data. The first is JSON, the second the block. */
static int open_binary(gltf *g, const char *data, size_t length, bytes *json) {
  if (length < 20 || memcmp(data, "glTF", 4) != 0 || word_at(data, 4) != 2 || memcmp(data + 16, "JSON", 4) != 0) {
    return wrong(g, "this is no binary glTF file of version 2");
  }
  const size_t n = word_at(data, 12), next = 20 + n;
  if (n > length - 20) {
    return wrong(g, "the file ends early");
  }
  *json = (bytes){data + 20, n};
  if (length >= next + 8 && !memcmp(data + next + 4, "BIN", 4)) {
    g->block = (bytes){data + next + 8, word_at(data, next)};
    if (g->block.length > length - next - 8) {
      return wrong(g, "the file ends early");
    }
  }
  return MBG_OK;
}

int mbg__mesh_gltf(mbg__mesh_reader *r, const char *data, size_t length, bool binary) {
  gltf g = {.r = r};
  bytes text = {data, length};
  mbg__json *root;
  int err = MBG_OK;
  mbg__arena_init(&g.arena, mbg__context_allocator(r->ctx));
  if (binary) {
    MBG_TRY(open_binary(&g, data, length, &text));
  }
  const int mark = mbg__message_mark(r->ctx);
  err = mbg__json_parse(r->ctx, &g.arena, r->path, text.data, text.length, &root);
  if (err == MBG_ERROR_INPUT) { /* its message quotes the file */
    mbg__message_rewind(r->ctx, mark);
    err = wrong(&g, "this is no glTF file: its JSON is damaged");
  }
  MBG_TRY(err);
  g.root = root;
  MBG_TRY(read_scene(&g));
done:
  mbg__arena_destroy(&g.arena);
  return err;
}
