#include "io/mesh.h"

#include "io/file.h"
#include "io/number.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------------- vertices and triangles */

static int wrong(const mbg__mesh_reader *r, const char *what) {
  return mbg__fail(r->ctx, MBG_ERROR_INPUT, "%s: %s", r->path, what);
}

int mbg__mesh_vertex(mbg__mesh_reader *r, const double x[3]) {
  if (!isfinite(x[0]) || !isfinite(x[1]) || !isfinite(x[2])) {
    return mbg__fail(r->ctx, MBG_ERROR_INPUT, "%s: vertex %d is not finite", r->path, r->nvertex + 1);
  }
  if (r->nvertex >= 3 * MBG__MESH_TRIANGLES_MAX) {
    return wrong(r, "the mesh has too many vertices; reduce it");
  }
  if (r->nvertex == r->vertex_room) {
    const int room = 2 * r->vertex_room + 1024;
    double *more = mbg__resize(r->ctx, r->vertices, 3 * (size_t)room, sizeof(double));
    if (!more) {
      return mbg__fail_memory(r->ctx);
    }
    r->vertices = more;
    r->vertex_room = room;
  }
  memcpy(r->vertices + 3 * (size_t)r->nvertex++, x, 3 * sizeof(double));
  return MBG_OK;
}

int mbg__mesh_triangle(mbg__mesh_reader *r, int a, int b, int c) {
  if (r->ncorner >= 3 * MBG__MESH_TRIANGLES_MAX) {
    return mbg__fail(r->ctx, MBG_ERROR_INPUT, "%s: the mesh has more than %d triangles; reduce it", r->path,
                     MBG__MESH_TRIANGLES_MAX);
  }
  if (r->ncorner == r->corner_room) {
    const int room = 2 * r->corner_room + 3 * 1024;
    int *more = mbg__resize(r->ctx, r->corners, (size_t)room, sizeof(int));
    if (!more) {
      return mbg__fail_memory(r->ctx);
    }
    r->corners = more;
    r->corner_room = room;
  }
  r->corners[r->ncorner++] = a;
  r->corners[r->ncorner++] = b;
  r->corners[r->ncorner++] = c;
  return MBG_OK;
}

/* ---------------------------------------------------------------------- words of a text */

typedef struct {
  const char *at, *end;
  int line;
} text;

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/* the next word of the line; length 0 at its end */
static size_t word(text *t, const char **out) {
  while (t->at < t->end && is_blank(*t->at)) {
    t->at++;
  }
  *out = t->at;
  while (t->at < t->end && !is_blank(*t->at) && *t->at != '\n') {
    t->at++;
  }
  return (size_t)(t->at - *out);
}

static bool next_line(text *t) {
  while (t->at < t->end && *t->at != '\n') {
    t->at++;
  }
  t->at += t->at < t->end;
  t->line++;
  return t->at < t->end;
}

static bool is_word(const char *w, size_t n, const char *key) { return n == strlen(key) && !memcmp(w, key, n); }

static int wrong_line(const mbg__mesh_reader *r, const text *t, const char *what) {
  return mbg__fail(r->ctx, MBG_ERROR_INPUT, "%s:%d: %s", r->path, t->line, what);
}

/* three numbers of this line as a vertex */
static int text_vertex(mbg__mesh_reader *r, text *t) {
  double x[3];
  for (int i = 0; i < 3; i++) {
    const char *w;
    const size_t n = word(t, &w);
    if (!mbg__number_parse(w, n, &x[i])) {
      return wrong_line(r, t, "a vertex has three numbers");
    }
  }
  return mbg__mesh_vertex(r, x);
}

/* ---------------------------------------------------------------------- STL */

static int stl_text(mbg__mesh_reader *r, const char *data, size_t length) {
  text t = {data, data + length, 1};
  int err = MBG_OK;
  do {
    const char *w;
    const size_t n = word(&t, &w);
    if (is_word(w, n, "vertex")) {
      MBG_TRY(text_vertex(r, &t));
    } else if (is_word(w, n, "endfacet") && r->nvertex % 3 != 0) {
      return wrong_line(r, &t, "a facet has three vertices");
    } else if (is_word(w, n, "endfacet") && r->nvertex > r->ncorner) {
      MBG_TRY(mbg__mesh_triangle(r, r->nvertex - 3, r->nvertex - 2, r->nvertex - 1));
    }
  } while (next_line(&t));
  if (r->nvertex != r->ncorner) {
    err = wrong(r, "the file ends inside of a facet");
  }
done:
  return err;
}

static float float_at(const char *bytes) {
  const unsigned char *b = (const unsigned char *)bytes;
  const uint32_t bits = (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
  float value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

/* a header of 80 bytes, the number of triangles, then 50 bytes each: normal, three vertices, two more */
static int stl_binary(mbg__mesh_reader *r, const char *data, size_t length) {
  const unsigned char *b = (const unsigned char *)data + 80;
  int err = MBG_OK;
  if (length < 84) {
    return wrong(r, "this is no STL file: it is shorter than a header");
  }
  const size_t n = (size_t)b[0] | (size_t)b[1] << 8 | (size_t)b[2] << 16 | (size_t)b[3] << 24;
  if ((length - 84) / 50 < n) {
    return mbg__fail(r->ctx, MBG_ERROR_INPUT,
                     "%s: the file ends early: it announces %zu triangles and has room for %zu", r->path, n,
                     (length - 84) / 50);
  }
  for (size_t i = 0; i < n; i++) {
    for (size_t k = 0; k < 3; k++) {
      const char *at = data + 84 + 50 * i + 12 + 12 * k;
      const double x[3] = {(double)float_at(at), (double)float_at(at + 4), (double)float_at(at + 8)};
      MBG_TRY(mbg__mesh_vertex(r, x));
    }
    MBG_TRY(mbg__mesh_triangle(r, r->nvertex - 3, r->nvertex - 2, r->nvertex - 1));
  }
done:
  return err;
}

/* some binary files begin with "solid", too */
static int read_stl(mbg__mesh_reader *r, const char *data, size_t length) {
  const bool solid = length > 5 && !memcmp(data, "solid", 5) && !memchr(data, 0, length < 512 ? length : 512);
  return solid ? stl_text(r, data, length) : stl_binary(r, data, length);
}

/* ---------------------------------------------------------------------- OBJ */

/* the vertex of "7", "7/1", "7//3", "-1" (from 0 on); -1: there is none */
static int obj_index(const mbg__mesh_reader *r, const char *w, size_t n) {
  const char *slash = memchr(w, '/', n);
  double value;
  if (!mbg__number_parse(w, slash ? (size_t)(slash - w) : n, &value) || value != floor(value)) {
    return -1;
  }
  value = value < 0 ? r->nvertex + value : value - 1;
  return value >= 0 && value < r->nvertex ? (int)value : -1;
}

/* a face of three or more vertices, as a fan */
static int obj_face(mbg__mesh_reader *r, text *t) {
  int err = MBG_OK, first = -1, last = -1, count = 0;
  const char *w;
  for (size_t n = word(t, &w); n > 0; n = word(t, &w), count++) {
    const int v = obj_index(r, w, n);
    if (v < 0) {
      return wrong_line(r, t, "a face refers to a vertex that is not there");
    }
    if (count == 0) {
      first = v;
    } else if (count > 1) {
      MBG_TRY(mbg__mesh_triangle(r, first, last, v));
    }
    last = v;
  }
  if (count < 3) {
    err = wrong_line(r, t, "a face has three vertices or more");
  }
done:
  return err;
}

static int read_obj(mbg__mesh_reader *r, const char *data, size_t length) {
  text t = {data, data + length, 1};
  int err = MBG_OK;
  do {
    const char *w;
    const size_t n = word(&t, &w);
    if (is_word(w, n, "v")) {
      MBG_TRY(text_vertex(r, &t));
    } else if (is_word(w, n, "f")) {
      MBG_TRY(obj_face(r, &t));
    }
  } while (next_line(&t));
done:
  return err;
}

/* ---------------------------------------------------------------------- equal vertices */

static size_t hash_vertex(const double x[3]) {
  uint64_t h = 14695981039346656037ULL, bits[3];
  memcpy(bits, x, sizeof(bits));
  for (int i = 0; i < 3; i++) {
    h = (h ^ (bits[i] >> 32) ^ bits[i]) * 1099511628211ULL;
  }
  return (size_t)(h ^ h >> 29);
}

/* the first vertex at the same place, for each; only those keep their place in the list */
static int weld(mbg__mesh_reader *r, int *to) {
  size_t room = 16;
  int n = 0;
  while (room < 2 * (size_t)r->nvertex) {
    room *= 2;
  }
  int *table = mbg__alloc_zero(r->ctx, room, sizeof(int)); /* 1 + vertex */
  if (!table) {
    return mbg__fail_memory(r->ctx);
  }
  for (int i = 0; i < r->nvertex; i++) {
    double *x = r->vertices + 3 * (size_t)i;
    for (int k = 0; k < 3; k++) {
      x[k] += 0.0; /* one zero, not two */
    }
    size_t at = hash_vertex(x) & (room - 1);
    while (table[at] && memcmp(r->vertices + 3 * (size_t)(table[at] - 1), x, 3 * sizeof(double)) != 0) {
      at = (at + 1) & (room - 1);
    }
    if (!table[at]) {
      memmove(r->vertices + 3 * (size_t)n, x, 3 * sizeof(double));
      table[at] = ++n;
    }
    to[i] = table[at] - 1;
  }
  r->nvertex = n;
  mbg__free(r->ctx, table);
  return MBG_OK;
}

/* triangles without an area of their own go */
static int finish(mbg__mesh_reader *r, mbg__mesh *out) {
  int err = MBG_OK;
  int *to = mbg__alloc(r->ctx, (size_t)r->nvertex + 1, sizeof(int));
  if (!to) {
    return mbg__fail_memory(r->ctx);
  }
  MBG_TRY(weld(r, to));
  out->corners = MBG_TAKE(r->arena, int, r->ncorner + 1);
  out->vertices = MBG_TAKE(r->arena, double, 3 * (size_t)r->nvertex + 1);
  MBG_TRY(mbg__arena_check(r->ctx, r->arena));
  for (int i = 0; i < r->ncorner; i += 3) {
    const int a = to[r->corners[i]], b = to[r->corners[i + 1]], c = to[r->corners[i + 2]];
    if (a != b && b != c && c != a) {
      memcpy(out->corners + 3 * (size_t)out->ntriangle++, (const int[]){a, b, c}, 3 * sizeof(int));
    }
  }
  out->nvertex = r->nvertex;
  if (r->nvertex > 0) {
    memcpy(out->vertices, r->vertices, 3 * (size_t)r->nvertex * sizeof(double));
  }
  if (out->ntriangle == 0) {
    err = wrong(r, "the file has no triangles");
  }
done:
  mbg__free(r->ctx, to);
  return err;
}

/* ---------------------------------------------------------------------- files */

typedef enum { NONE, STL, OBJ, GLTF, GLB } format;

static format format_of(const char *path) {
  static const char *const endings[] = {[STL] = ".stl", [OBJ] = ".obj", [GLTF] = ".gltf", [GLB] = ".glb"};
  const char *dot = strrchr(path, '.');
  for (int f = STL; dot && f <= GLB; f++) {
    size_t i = 0;
    while (dot[i] && (dot[i] | ('A' <= dot[i] && dot[i] <= 'Z' ? 32 : 0)) == endings[f][i]) {
      i++;
    }
    if (!dot[i] && !endings[f][i]) {
      return (format)f;
    }
  }
  return NONE;
}

bool mbg__mesh_is_file(const char *path) { return format_of(path) != NONE; }

int mbg__mesh_read(mbg_context *ctx, mbg__arena *arena, const char *path, mbg__mesh *out) {
  mbg__mesh_reader r = {.ctx = ctx, .arena = arena, .path = path};
  mbg__arena file;
  char *data;
  size_t length;
  int err = MBG_OK;
  *out = (mbg__mesh){0};
  mbg__arena_init(&file, mbg__context_allocator(ctx));
  MBG_TRY(mbg__file_read_data(ctx, &file, path, &data, &length));
  switch (format_of(path)) {
  case STL:
    MBG_TRY(read_stl(&r, data, length));
    break;
  case OBJ:
    MBG_TRY(read_obj(&r, data, length));
    break;
  case GLTF:
  case GLB:
    MBG_TRY(mbg__mesh_gltf(&r, data, length, format_of(path) == GLB));
    break;
  default:
    MBG_TRY(wrong(&r, "a mesh is a file of STL, OBJ or glTF (.stl, .obj, .gltf, .glb)"));
  }
  MBG_TRY(finish(&r, out));
done:
  mbg__free(ctx, r.vertices);
  mbg__free(ctx, r.corners);
  mbg__arena_destroy(&file);
  return err;
}
