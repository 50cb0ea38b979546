#include "view/motion.h"

#include "mbgrad/model.h"
#include "run/run.h"

#include <string.h>

/* ---------------------------------------------------------------------- nodes */

int mbg__motion_nodes(const mbg_run *run, int frames, int *node) {
  const int all = mbg_run_node_count(run);
  const double t0 = mbg_run_node_time(run, 0), t1 = mbg_run_node_time(run, all - 1);
  int outer = 0, n = 0;
  for (int i = 0; i < all; i++) {
    if (!mbg_run_node_inner(run, i)) {
      node[outer++] = i;
    }
  }
  if (outer <= frames) {
    return outer;
  }
  /* the first node at or behind each of the times, which are even */
  for (int i = 0; i < outer; i++) {
    const double due = t0 + (t1 - t0) * n / (frames - 1);
    if (mbg_run_node_time(run, node[i]) >= due - 1e-9 * (t1 - t0) || i == outer - 1) {
      node[n++] = node[i];
    }
  }
  return n;
}

/* ---------------------------------------------------------------------- rotations */

void mbg__motion_quaternion(const double R[9], const double before[4], double q[4]) {
  /* the largest of four forms of 4 q_k q */
  const double s[4] = {1 + R[0] - R[4] - R[8], 1 - R[0] + R[4] - R[8], 1 - R[0] - R[4] + R[8], 1 + R[0] + R[4] + R[8]};
  int k = 0;
  for (int i = 1; i < 4; i++) {
    k = s[i] > s[k] ? i : k;
  }
  const double x = R[7] - R[5], y = R[2] - R[6], z = R[3] - R[1];
  const double xy = R[1] + R[3], xz = R[2] + R[6], yz = R[5] + R[7];
  const double form[4][4] = {{s[0], xy, xz, x}, {xy, s[1], yz, y}, {xz, yz, s[2], z}, {x, y, z, s[3]}};
  double length = 0, dot = 0;
  for (int i = 0; i < 4; i++) {
    length += form[k][i] * form[k][i];
    dot += form[k][i] * before[i];
  }
  for (int i = 0; i < 4; i++) {
    q[i] = (dot < 0 ? -1 : 1) * form[k][i] / sqrt(length);
  }
}

/* ---------------------------------------------------------------------- channels */

typedef struct {
  const mbg_run *run;
  const mbg_model *m;
  mbg__json_writer *w;
  mbg__buffer *bytes;
  int n;         /* frames */
  int *node;     /* nodes of the run                   (all nodes) */
  double *t;     /* times                              (n) */
  double *y;     /* values of the channels at hand     (7 x n) */
  double *modal; /* coordinates and rates              (2 x nodes x coordinates) */
  mbg__channel_room room;
} motion;

/* x_i, i < n, becomes its differences, of x_i and x_{i-1} (x before the first: 0) */
static void differ(uint32_t *x, size_t n) {
  uint32_t last = 0;
  for (size_t i = 0; i < n; i++) {
    const uint32_t here = x[i];
    x[i] = here - last;
    last = here;
  }
}

/* made positive: 2 d, or -2 d - 1 */
static uint32_t positive(uint32_t d) { return d << 1 ^ (d >> 31 ? UINT32_MAX : 0); }

/* about the number of bits that n numbers need */
static double bits(const uint32_t *x, size_t n) {
  double out = 0;
  for (size_t i = 0; i < n; i++) {
    out += log2(1.0 + positive(x[i]));
  }
  return out;
}

static void quantize(uint32_t *x, size_t n, const double *y, double offset, double scale) {
  for (size_t i = 0; i < n; i++) {
    x[i] = (uint32_t)(int32_t)lround((y[i] - offset) / scale);
  }
}

void mbg__motion_channel(mbg__buffer *bytes, int count, const double *y, double offset, double scale,
                         mbg__channel_room *room) {
  enum { MOST = 6 };
  const size_t n = (size_t)count;
  uint32_t *x = room->x;
  unsigned char order = 0;
  double least = INFINITY;
  quantize(x, n, y, offset, scale);
  for (int k = 1; k <= MOST; k++) {
    differ(x, n);
    const double now = bits(x, n);
    if (now < least) {
      least = now;
      order = (unsigned char)k;
    }
  }
  quantize(x, n, y, offset, scale);
  for (int k = 0; k < order; k++) {
    differ(x, n);
  }
  for (size_t i = 0; i < n; i++) {
    const uint32_t z = positive(x[i]);
    for (size_t k = 0; k < 4; k++) {
      room->planes[k * n + i] = (unsigned char)(z >> (8 * k));
    }
  }
  mbg__buffer_add(bytes, (const char *)&order, 1);
  mbg__buffer_add(bytes, (const char *)room->planes, 4 * n);
}

mbg__channel_room mbg__motion_room(mbg__arena *arena, int n) {
  return (mbg__channel_room){MBG_TAKE(arena, uint32_t, n), MBG_TAKE(arena, unsigned char, 4 * (size_t)n),
                             MBG_TAKE(arena, double, n), MBG_TAKE(arena, double, n)};
}

/* ---------------------------------------------------------------------- sparse channels */

enum { NEIGHBOURS = 6 };

/* every k-th of n numbers, and the last one */
static int kept_count(int n, int k) { return (n - 2 + k) / k + 1; }

/* values as the page has them, and their times; returns how many */
static int take_kept(int n, int k, const double *t, const double *y, double offset, double scale,
                     mbg__channel_room *room) {
  const int count = kept_count(n, k);
  for (int i = 0; i < count; i++) {
    const int place = i * k < n - 1 ? i * k : n - 1;
    room->at[i] = t[place];
    room->kept[i] = offset + scale * (double)lround((y[place] - offset) / scale);
  }
  return count;
}

/* Lagrange's polynomial through six of the values that are kept, three on each side where there are as many */
static double between_kept(const mbg__channel_room *room, int count, int k, int frame, double t) {
  const int here = frame / k - NEIGHBOURS / 2 + 1;
  const int first = here < 0 ? 0 : here > count - NEIGHBOURS ? count - NEIGHBOURS : here;
  double out = 0;
  for (int i = first; i < first + NEIGHBOURS; i++) {
    double weight = 1;
    for (int j = first; j < first + NEIGHBOURS; j++) {
      weight *= i == j ? 1 : (t - room->at[j]) / (room->at[i] - room->at[j]);
    }
    out += weight * room->kept[i];
  }
  return out;
}

static bool is_smooth(int n, int k, const double *t, const double *y, double offset, double scale,
                      mbg__channel_room *room) {
  if (kept_count(n, k) < NEIGHBOURS) {
    return false;
  }
  const int count = take_kept(n, k, t, y, offset, scale, room);
  for (int i = 0; i < n; i++) {
    if (!(fabs(between_kept(room, count, k, i, t[i]) - y[i]) <= scale)) {
      return false;
    }
  }
  return true;
}

int mbg__motion_sparse(mbg__buffer *bytes, int n, const double *t, const double *y, double offset, double scale,
                       mbg__channel_room *room) {
  static const int steps[] = {16, 12, 8, 6, 4, 3, 2, 1};
  int s = 0;
  while (steps[s] > 1 && !is_smooth(n, steps[s], t, y, offset, scale, room)) {
    s++;
  }
  if (steps[s] == 1) {
    mbg__motion_channel(bytes, n, y, offset, 2 * scale, room);
  } else {
    const int count = take_kept(n, steps[s], t, y, offset, scale, room);
    mbg__motion_channel(bytes, count, room->kept, offset, scale, room);
  }
  return steps[s];
}

static void put_channel(motion *o, const double *y, double offset, double scale) {
  mbg__motion_channel(o->bytes, o->n, y, offset, scale, &o->room);
}

/* offset and scale for so many bits between the least and the greatest value */
static void find_scale(const motion *o, const double *y, int bits, double *offset, double *scale) {
  double low = y[0], high = y[0];
  for (int i = 1; i < o->n; i++) {
    low = fmin(low, y[i]);
    high = fmax(high, y[i]);
  }
  const double span = fmax(high - low, 1e-12 * fmax(fabs(low), fabs(high)));
  *offset = low;
  *scale = span > 0 ? span / (1 << bits) : 1;
}

static void put_scaled(motion *o, const double *y) {
  double offset, scale;
  find_scale(o, y, 24, &offset, &scale);
  mbg__json_number(o->w, offset);
  mbg__json_number(o->w, scale);
  put_channel(o, y, offset, scale);
}

static void put_times(motion *o) {
  for (int i = 0; i < o->n; i++) {
    o->y[i] = o->t[i] = mbg_run_node_time(o->run, o->node[i]);
  }
  mbg__json_key(o->w, "time");
  mbg__json_begin_array(o->w);
  const double span = o->y[o->n - 1] - o->y[0];
  mbg__json_number(o->w, o->y[0]);
  mbg__json_number(o->w, span > 0 ? span / (1 << 30) : 1);
  put_channel(o, o->y, o->y[0], span > 0 ? span / (1 << 30) : 1);
  mbg__json_end_array(o->w);
}

/* ---------------------------------------------------------------------- bodies */

static const double *frame_at(const motion *o, int body, int i) {
  return mbg_run_value_array(o->run) + (size_t)o->node[i] * (size_t)mbg_run_value_width(o->run) +
         mbg_run_frame_column(o->run, body);
}

/* a twenty-millionth of the mechanism, or as many bits as there are: half of it is the largest error */
static double position_scale(const motion *o) {
  double most = 0;
  for (int b = 0; b < mbg__frames(o->m); b++) {
    for (int i = 0; i < o->n; i++) {
      for (int k = 0; k < 3; k++) {
        most = fmax(most, fabs(frame_at(o, b, i)[9 + k]));
      }
    }
  }
  return fmax(o->m->size / 2e7, most / (1 << 30));
}

static void put_bodies(motion *o) {
  const double scale = position_scale(o), turn = 1.0 / (1 << 24);
  const size_t n = (size_t)o->n;
  mbg__json_key(o->w, "position");
  mbg__json_number(o->w, scale);
  mbg__json_key(o->w, "rotation");
  mbg__json_number(o->w, turn);
  for (int b = 0; b < mbg__frames(o->m); b++) {
    double q[4] = {0, 0, 0, 1};
    for (size_t i = 0; i < n; i++) {
      const double *H = frame_at(o, b, (int)i), before[4] = {q[0], q[1], q[2], q[3]};
      mbg__motion_quaternion(H, before, q);
      for (size_t k = 0; k < 7; k++) {
        o->y[k * n + i] = k < 3 ? H[9 + k] : q[k - 3];
      }
    }
    for (size_t k = 0; k < 7; k++) {
      put_channel(o, o->y + k * n, 0, k < 3 ? scale : turn);
    }
  }
}

static void put_modal(motion *o) {
  const int count = mbg_model_modal_count(o->m);
  mbg__json_key(o->w, "modal");
  mbg__json_begin_array(o->w);
  for (int j = 0; j < count; j++) {
    for (int i = 0; i < o->n; i++) {
      o->y[i] = o->modal[(size_t)o->node[i] * (size_t)count + (size_t)j];
    }
    put_scaled(o, o->y);
  }
  mbg__json_end_array(o->w);
}

/* ---------------------------------------------------------------------- signals */

static bool is_shown(const motion *o, int kept) {
  return mbg_model_signal_name(o->m, mbg_run_kept_signal(o->run, kept)) != NULL;
}

/* "names", and "signals": offset, scale and step of each */
static void put_signals(motion *o) {
  enum { BITS = 21 }; /* a millionth of the largest value */
  mbg__json_key(o->w, "names");
  mbg__json_begin_array(o->w);
  for (int k = 0; k < mbg_run_kept_count(o->run); k++) {
    if (is_shown(o, k)) {
      mbg__json_string(o->w, mbg_model_signal_name(o->m, mbg_run_kept_signal(o->run, k)));
    }
  }
  mbg__json_end_array(o->w);
  mbg__json_key(o->w, "signals");
  mbg__json_begin_array(o->w);
  for (int k = 0; k < mbg_run_kept_count(o->run); k++) {
    if (is_shown(o, k)) {
      double offset, scale;
      for (int i = 0; i < o->n; i++) {
        o->y[i] = mbg__run_column(o->run, o->node[i], k);
      }
      find_scale(o, o->y, BITS, &offset, &scale);
      mbg__json_number(o->w, offset);
      mbg__json_number(o->w, scale);
      mbg__json_integer(o->w, mbg__motion_sparse(o->bytes, o->n, o->t, o->y, offset, scale, &o->room));
    }
  }
  mbg__json_end_array(o->w);
}

/* ---------------------------------------------------------------------- all */

int mbg__motion_write(mbg_context *ctx, const mbg_run *run, int frames, mbg__json_writer *w, mbg__buffer *bytes) {
  motion o = {.run = run, .m = mbg__run_model(run), .w = w, .bytes = bytes};
  const size_t nodes = (size_t)mbg_run_node_count(run), modal = nodes * (size_t)mbg_model_modal_count(o.m);
  mbg__arena arena;
  int err = MBG_OK;
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  o.node = MBG_TAKE(&arena, int, nodes);
  o.modal = MBG_TAKE(&arena, double, 2 * modal + 1);
  MBG_TRY(mbg__arena_check(ctx, &arena));
  o.n = mbg__motion_nodes(run, frames, o.node);
  o.t = MBG_TAKE(&arena, double, o.n);
  o.y = MBG_TAKE(&arena, double, 7 * (size_t)o.n);
  o.room = mbg__motion_room(&arena, o.n);
  MBG_TRY(mbg__arena_check(ctx, &arena));
  if (modal > 0) {
    MBG_TRY(mbg_run_modal(run, o.modal, o.modal + modal));
  }
  mbg__json_key(w, "frames");
  mbg__json_integer(w, o.n);
  put_times(&o);
  put_bodies(&o);
  put_modal(&o);
  put_signals(&o);
done:
  mbg__arena_destroy(&arena);
  return err;
}
