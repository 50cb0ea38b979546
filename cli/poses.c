#include "poses.h"

#include "cli.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------- rotations */

/* quaternion (w, x, y, z) of a rotation: the largest of four forms of 4 q_k q */
static void quaternion(const double *R, double q[4]) {
  const double s[4] = {1 + R[0] + R[4] + R[8], 1 + R[0] - R[4] - R[8], 1 - R[0] + R[4] - R[8], 1 - R[0] - R[4] + R[8]};
  const double x = R[7] - R[5], y = R[2] - R[6], z = R[3] - R[1], xy = R[1] + R[3], xz = R[2] + R[6], yz = R[5] + R[7];
  const double form[4][4] = {{s[0], x, y, z}, {x, s[1], xy, xz}, {y, xy, s[2], yz}, {z, xz, yz, s[3]}};
  int k = 0;
  double length = 0;
  for (int i = 1; i < 4; i++) {
    k = s[i] > s[k] ? i : k;
  }
  for (int i = 0; i < 4; i++) {
    length += form[k][i] * form[k][i];
  }
  for (int i = 0; i < 4; i++) {
    q[i] = form[k][i] / sqrt(length);
  }
}

static void rotation(const double q[4], double R[9]) {
  const double w = q[0], x = q[1], y = q[2], z = q[3];
  const double out[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - z * w),     2 * (x * z + y * w),
                         2 * (x * y + z * w),     1 - 2 * (x * x + z * z), 2 * (y * z - x * w),
                         2 * (x * z - y * w),     2 * (y * z + x * w),     1 - 2 * (x * x + y * y)};
  memcpy(R, out, sizeof(out));
}

/* the rotation at a part of the way from a to b */
static void turn(const double *a, const double *b, double part, double *out) {
  double p[4], q[4], dot = 0, length = 0;
  quaternion(a, p);
  quaternion(b, q);
  for (int i = 0; i < 4; i++) {
    dot += p[i] * q[i];
  }
  /* spherical, where that is not a quotient of small numbers */
  const double angle = acos(fmin(1, fabs(dot))), sine = sin(angle);
  const double u = sine > 1e-6 ? sin((1 - part) * angle) / sine : 1 - part;
  const double v = (dot < 0 ? -1 : 1) * (sine > 1e-6 ? sin(part * angle) / sine : part);
  for (int i = 0; i < 4; i++) {
    p[i] = u * p[i] + v * q[i];
    length += p[i] * p[i];
  }
  for (int i = 0; i < 4; i++) {
    p[i] /= sqrt(length);
  }
  rotation(p, out);
}

/* ---------------------------------------------------------------------- samples */

/* a time between two nodes */
typedef struct {
  size_t node, next;
  double part;
} place;

static place find(const mbg_run *run, int *node, double t) {
  const int nodes = mbg_run_node_count(run);
  while (*node + 2 < nodes && mbg_run_node_time(run, *node + 1) <= t) {
    (*node)++;
  }
  const double t0 = mbg_run_node_time(run, *node), t1 = nodes > 1 ? mbg_run_node_time(run, *node + 1) : t0;
  return (place){(size_t)*node, (size_t)*node + (nodes > 1), t1 > t0 ? fmin(1, fmax(0, (t - t0) / (t1 - t0))) : 0};
}

static void lines(int n, const double *a, const double *b, double part, double *out) {
  for (int i = 0; i < n; i++) {
    out[i] = part == 0 ? a[i] : part == 1 ? b[i] : a[i] + part * (b[i] - a[i]);
  }
}

static void take_bodies(cli_poses *o, const mbg_run *run, size_t row, const place *at) {
  const double *values = mbg_run_value_array(run);
  const size_t width = (size_t)mbg_run_value_width(run);
  for (int b = 0; b < o->bodies; b++) {
    const double *H0 = values + at->node * width + mbg_run_frame_column(run, b),
                 *H1 = H0 + (at->next - at->node) * width;
    const double *v0 = values + at->node * width + mbg_run_twist_column(run, b),
                 *v1 = v0 + (at->next - at->node) * width;
    const size_t to = row * (size_t)o->bodies + (size_t)b;
    lines(12, H0, H1, at->part, o->frames + 12 * to);
    lines(6, v0, v1, at->part, o->twists + 6 * to);
    if (at->part > 0 && at->part < 1) {
      turn(H0, H1, at->part, o->frames + 12 * to);
    }
  }
}

void cli_poses_make(cli_poses *o, const mbg_model *model, const mbg_run *run, const cli_series *times) {
  *o = (cli_poses){.rows = times->rows,
                   .bodies = mbg_model_body_count(model),
                   .modes = mbg_model_modal_count(model),
                   .time = times->time};
  const size_t rows = (size_t)o->rows, modes = (size_t)o->modes, nodes = (size_t)mbg_run_node_count(run);
  o->frames = cli_resize(NULL, 12 * rows * (size_t)o->bodies, sizeof(double));
  o->twists = cli_resize(NULL, 6 * rows * (size_t)o->bodies, sizeof(double));
  o->modal = cli_resize(NULL, rows * modes, sizeof(double));
  o->rates = cli_resize(NULL, rows * modes, sizeof(double));
  double *eta = cli_resize(NULL, 2 * nodes * modes, sizeof(double)), *etad = eta + nodes * modes;
  if (modes > 0) {
    (void)mbg_run_modal(run, eta, etad);
  }
  int node = 0;
  for (size_t i = 0; i < rows; i++) {
    const place at = find(run, &node, o->time[i]);
    take_bodies(o, run, i, &at);
    lines(o->modes, eta + at.node * modes, eta + at.next * modes, at.part, o->modal + i * modes);
    lines(o->modes, etad + at.node * modes, etad + at.next * modes, at.part, o->rates + i * modes);
  }
  free(eta);
}

void cli_poses_destroy(cli_poses *o) {
  free(o->frames);
  free(o->twists);
  free(o->modal);
  free(o->rates);
}

/* ---------------------------------------------------------------------- CSV */

static void put_name(FILE *f, const char *body, const char *what) {
  char *name = cli_format("%s.%s", body, what);
  fputc(',', f);
  cli_csv_name(f, name);
  free(name);
}

static void put_head(FILE *f, const cli_poses *o, const mbg_model *model) {
  static const char *const columns[] = {"x", "y", "z", "qw", "qx", "qy", "qz"};
  fputs("t", f);
  for (int b = 0; b < o->bodies; b++) {
    for (size_t k = 0; k < sizeof(columns) / sizeof(columns[0]); k++) {
      put_name(f, mbg_model_body_name(model, b), columns[k]);
    }
  }
  for (int j = 0, first = 0; j < o->modes; j++) {
    const int body = mbg_model_modal_body(model, j);
    first = j > 0 && mbg_model_modal_body(model, j - 1) != body ? j : first;
    char *what = cli_format("eta%d", j - first + 1);
    put_name(f, mbg_model_body_name(model, body), what);
    free(what);
  }
}

int cli_poses_write(const cli_poses *o, const mbg_model *model, const char *path) {
  FILE *f = cli_file_open(path);
  if (!f) {
    return CLI_FAILED;
  }
  put_head(f, o, model);
  for (size_t i = 0; i < (size_t)o->rows; i++) {
    fprintf(f, "\n%.15g", o->time[i]);
    for (size_t b = 0; b < (size_t)o->bodies; b++) {
      const double *H = o->frames + 12 * (i * (size_t)o->bodies + b);
      double q[4];
      quaternion(H, q);
      fprintf(f, ",%.15g,%.15g,%.15g,%.15g,%.15g,%.15g,%.15g", H[9], H[10], H[11], q[0], q[1], q[2], q[3]);
    }
    for (size_t j = 0; j < (size_t)o->modes; j++) {
      fprintf(f, ",%.15g", o->modal[i * (size_t)o->modes + j]);
    }
  }
  fputc('\n', f);
  return cli_file_close(f, path);
}
