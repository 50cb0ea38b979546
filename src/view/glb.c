#include "view/glb.h"

#include <math.h>
#include <string.h>

void mbg__glb_init(mbg__glb *g, mbg_context *ctx) {
  *g = (mbg__glb){.ctx = ctx};
  mbg__buffer_init(&g->bytes, ctx);
  mbg__arena_init(&g->arena, mbg__context_allocator(ctx));
}

void mbg__glb_destroy(mbg__glb *g) {
  mbg__buffer_destroy(&g->bytes);
  mbg__arena_destroy(&g->arena);
}

/* ---------------------------------------------------------------------- numbers */

static mbg__glb_accessor *add(mbg__glb *g, int count, int width, mbg__glb_type type, int target) {
  if (g->naccessor == g->capacity) {
    const int capacity = 2 * g->capacity + 64;
    mbg__glb_accessor *more = MBG_TAKE(&g->arena, mbg__glb_accessor, capacity);
    if (!more) {
      return NULL;
    }
    if (g->naccessor > 0) {
      memcpy(more, g->accessors, (size_t)g->naccessor * sizeof(*more));
    }
    g->accessors = more;
    g->capacity = capacity;
  }
  while (g->bytes.length % 4 != 0) {
    mbg__buffer_add(&g->bytes, "", 1);
  }
  mbg__glb_accessor *a = &g->accessors[g->naccessor++];
  *a = (mbg__glb_accessor){
      .offset = g->bytes.length, .count = count, .width = width, .type = type, .matrix = width == 16, .target = target};
  return a;
}

/* lowest byte first, on any machine */
static void put(mbg__glb *g, uint32_t value, int bytes) {
  char out[4];
  for (int k = 0; k < bytes; k++) {
    out[k] = (char)(value >> (8 * k) & 255);
  }
  mbg__buffer_add(&g->bytes, out, (size_t)bytes);
}

int mbg__glb_floats(mbg__glb *g, const float *values, int count, int width, bool bounds, int target) {
  mbg__glb_accessor *a = add(g, count, width, MBG__GLB_FLOAT, target);
  for (int i = 0; a && i < count * width; i++) {
    const int k = i % width;
    uint32_t bits;
    memcpy(&bits, &values[i], sizeof(bits));
    put(g, bits, 4);
    if (bounds) {
      a->low[k] = i < width ? values[i] : fmin(a->low[k], values[i]);
      a->high[k] = i < width ? values[i] : fmax(a->high[k], values[i]);
    }
  }
  if (a) {
    a->bounds = bounds;
  }
  return g->naccessor - 1;
}

int mbg__glb_shorts(mbg__glb *g, const uint16_t *values, int count, int width, int target) {
  const bool ok = add(g, count, width, MBG__GLB_SHORT, target) != NULL;
  for (int i = 0; ok && i < count * width; i++) {
    put(g, values[i], 2);
  }
  return g->naccessor - 1;
}

int mbg__glb_ints(mbg__glb *g, const int *values, int count, int target) {
  const bool ok = add(g, count, 1, MBG__GLB_INT, target) != NULL;
  for (int i = 0; ok && i < count; i++) {
    put(g, (uint32_t)values[i], 4);
  }
  return g->naccessor - 1;
}

/* ---------------------------------------------------------------------- tables */

static void integer(mbg__json_writer *w, const char *key, size_t value) {
  mbg__json_key(w, key);
  mbg__json_integer(w, (long long)value);
}

static void put_accessor(mbg__json_writer *w, const mbg__glb_accessor *a, int view) {
  static const char *const types[] = {"", "SCALAR", "VEC2", "VEC3", "VEC4"};
  mbg__json_begin_object(w);
  integer(w, "bufferView", (size_t)view);
  integer(w, "componentType", a->type == MBG__GLB_FLOAT ? 5126 : a->type == MBG__GLB_INT ? 5125 : 5123);
  integer(w, "count", (size_t)a->count);
  mbg__json_key(w, "type");
  mbg__json_string(w, a->matrix ? "MAT4" : types[a->width]);
  for (int k = 0; a->bounds && k < 2; k++) {
    mbg__json_key(w, k ? "max" : "min");
    mbg__json_numbers(w, k ? a->high : a->low, a->width);
  }
  mbg__json_end_object(w);
}

static void put_view(mbg__json_writer *w, const mbg__glb_accessor *a) {
  mbg__json_begin_object(w);
  integer(w, "buffer", 0);
  integer(w, "byteOffset", a->offset);
  integer(w, "byteLength", (size_t)a->count * (size_t)a->width * (a->type == MBG__GLB_SHORT ? 2 : 4));
  if (a->target) {
    integer(w, "target", (size_t)a->target);
  }
  mbg__json_end_object(w);
}

void mbg__glb_tables(const mbg__glb *g, mbg__json_writer *w) {
  if (g->naccessor == 0) {
    return;
  }
  mbg__json_key(w, "accessors");
  mbg__json_begin_array(w);
  for (int i = 0; i < g->naccessor; i++) {
    put_accessor(w, &g->accessors[i], i);
  }
  mbg__json_end_array(w);
  mbg__json_key(w, "bufferViews");
  mbg__json_begin_array(w);
  for (int i = 0; i < g->naccessor; i++) {
    put_view(w, &g->accessors[i]);
  }
  mbg__json_end_array(w);
  mbg__json_key(w, "buffers");
  mbg__json_begin_array(w);
  mbg__json_begin_object(w);
  integer(w, "byteLength", g->bytes.length);
  mbg__json_end_object(w);
  mbg__json_end_array(w);
}

/* ---------------------------------------------------------------------- the file */

static void put_word(mbg__buffer *out, size_t value) {
  const char bytes[4] = {(char)(value & 255), (char)(value >> 8 & 255), (char)(value >> 16 & 255),
                         (char)(value >> 24 & 255)};
  mbg__buffer_add(out, bytes, 4);
}

static void put_chunk(mbg__buffer *out, const char *kind, const char *text, size_t length, char fill) {
  const size_t rest = (4 - length % 4) % 4;
  put_word(out, length + rest);
  mbg__buffer_add(out, kind, 4);
  mbg__buffer_add(out, text, length);
  for (size_t i = 0; i < rest; i++) {
    mbg__buffer_add(out, &fill, 1);
  }
}

int mbg__glb_finish(mbg__glb *g, mbg__json_writer *w, char **data, size_t *length) {
  mbg__buffer out;
  const char *text, *bytes;
  size_t n, size;
  int err = MBG_OK;
  mbg__buffer_init(&out, g->ctx);
  MBG_TRY(mbg__arena_check(g->ctx, &g->arena));
  MBG_TRY(mbg__json_writer_finish(w, &text, &n));
  MBG_TRY(mbg__buffer_finish(&g->bytes, &bytes, &size));
  const size_t total = 20 + (n + 3) / 4 * 4 + (size > 0 ? 8 + (size + 3) / 4 * 4 : 0);
  if (total > UINT32_MAX) {
    err = mbg__fail(g->ctx, MBG_ERROR_INPUT, "the file would have %zu bytes; glTF has at most 4 GiB", total);
    goto done;
  }
  mbg__buffer_add(&out, "glTF", 4);
  put_word(&out, 2);
  put_word(&out, total);
  put_chunk(&out, "JSON", text, n, ' ');
  if (size > 0) {
    put_chunk(&out, "BIN\0", bytes, size, 0);
  }
  *length = out.length;
  MBG_TRY(mbg__buffer_hand_over(&out, data));
done:
  mbg__buffer_destroy(&out);
  return err;
}
