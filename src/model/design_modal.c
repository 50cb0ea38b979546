/* Modal bodies in a design: their flat arrays, the columns of their markers, and the dependence of both on
   attributes. */
#include "math/eigen.h"
#include "model/design.h"
#include "model/modal_beam.h"

#include <string.h>

/* ---------------------------------------------------------------------- maps */

static void map_add(mbg__modal_map *map, int entry, int attr, real val) {
  map->entry[map->count] = entry;
  map->attr[map->count] = attr;
  map->val[map->count++] = val;
}

static int map_create(mbg_context *ctx, mbg__arena *arena, int room, mbg__modal_map *map) {
  map->entry = MBG_TAKE(arena, int, room);
  map->attr = MBG_TAKE(arena, int, room);
  map->val = MBG_TAKE(arena, real, room);
  return map->entry && map->attr && map->val ? MBG_OK : mbg__fail_memory(ctx);
}

/* ---------------------------------------------------------------------- creation */

static int modal_of(const mbg_model *m, const mbg__marker *marker) {
  return marker->body >= 0 ? m->bodies[marker->body].modal : -1;
}

/* numbers that depend on attributes; proportional damping follows stiffness and mass */
static int map_room(const mbg__modal *m) {
  const int n2 = m->n * m->n, moved = m->beam ? m->beam->nlive * (m->beam->nattr + 1) : m->nlink;
  return 3 * moved + 2 * n2;
}

int mbg__design_create_modals(mbg_context *ctx, mbg__arena *arena, mbg__design *d) {
  int err = MBG_OK;
  const mbg_model *m = d->model;
  for (int i = 0; i < m->nmodal; i++) {
    mbg__modal_data *data = &d->modals[i];
    data->n = m->modals[i].n;
    data->D = MBG_TAKE(arena, real, mbg__modal_places(data->n).count);
    MBG_TRY(mbg__arena_check(ctx, arena));
    MBG_TRY(map_create(ctx, arena, map_room(&m->modals[i]), &data->map));
    if (m->modals[i].beam) {
      data->c = mbg__arena_take(arena, (size_t)m->modals[i].beam->count, sizeof(*data->c));
      data->c_z = mbg__arena_take(arena, (size_t)m->modals[i].beam->count, sizeof(*data->c_z));
      MBG_TRY(mbg__arena_check(ctx, arena));
    }
  }
  for (int i = 0; i < m->nmarker; i++) {
    const int modal = modal_of(m, &m->markers[i]);
    mbg__modal_handle *h = &d->handles[i];
    if (modal < 0 || m->markers[i].node < 0) {
      continue;
    }
    h->n = m->modals[modal].n;
    h->P = MBG_TAKE(arena, real, 6 * h->n);
    MBG_TRY(mbg__arena_check(ctx, arena));
    /* each displacement: itself, two of its rotation, the place of the node and of the marker; of a beam: six numbers
       by its length and the place of the marker */
    const int ndep = m->poses[m->markers[i].pose].ndep;
    MBG_TRY(map_create(ctx, arena, m->modals[modal].beam ? 6 * h->n * (1 + ndep) : 3 * h->n * (4 + 3 + ndep), &h->map));
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- bodies */

/* Cf += alpha Kf + beta I6, with the dependences of Kf, I6, alpha and beta */
static void add_damping(const mbg__design *d, const mbg__modal *m, mbg__modal_data *data) {
  const mbg__modal_layout l = mbg__modal_places(m->n);
  const int n2 = m->n * m->n, attr[2] = {m->damping, m->mass_damping}, from[2] = {l.K, l.I6};
  for (int k = 0; k < 2; k++) {
    if (attr[k] < 0) {
      continue;
    }
    const real c = d->attr[attr[k]];
    const int count = data->map.count;
    for (int i = 0; i < count; i++) {
      const int entry = data->map.entry[i] - from[k];
      if (entry >= 0 && entry < n2) {
        map_add(&data->map, l.C + entry, data->map.attr[i], c * data->map.val[i]);
      }
    }
    for (int i = 0; i < n2; i++) {
      data->D[l.C + i] += c * data->D[from[k] + i];
      map_add(&data->map, l.C + i, attr[k], data->D[from[k] + i]);
    }
  }
}

static void update_beam(const mbg__design *d, const mbg__modal_beam *b, mbg__modal_data *data) {
  for (int e = 0; e < b->count; e++) {
    real z[MBG__BEAM_NUMBERS];
    for (int k = 0; k < MBG__BEAM_NUMBERS; k++) {
      z[k] = b->attr[e][k] < 0 ? 0 : d->attr[b->attr[e][k]];
    }
    mbg__beam_coefs(&b->rule, z, data->c[e], data->c_z[e]);
  }
  mbg__modal_beam_data(b, data->n, d->attr[b->length], (const real(*)[MBG__BEAM_COEFS])data->c,
                       (const real(*)[MBG__BEAM_COEFS][MBG__BEAM_NUMBERS])data->c_z, data->D, &data->map);
}

static void update_modal(const mbg__design *d, const mbg__modal *m, mbg__modal_data *data) {
  data->map.count = 0;
  vn_zero(mbg__modal_places(m->n).count, data->D);
  if (m->beam) {
    update_beam(d, m->beam, data);
  }
  for (int k = 0; k < m->nlink; k++) {
    const mbg__modal_link *link = &m->links[k];
    data->D[link->entry] += link->factor * d->attr[link->attr];
    map_add(&data->map, link->entry, link->attr, link->factor);
  }
  add_damping(d, m, data);
}

/* ---------------------------------------------------------------------- markers */

/* columns of a node, and its place */
static void node_at(const mbg__design *d, const mbg__modal *m, const mbg__modal_node *node, real *P, real at[3]) {
  for (int k = 0; k < 6 * m->n; k++) {
    P[k] = node->columns < 0 ? node->P[k] : d->attr[node->columns + k];
  }
  for (int k = 0; k < 3; k++) {
    at[k] = node->at < 0 ? node->place[k] : m->sign[k] * d->attr[node->at + k];
  }
}

/* A marker fixed to a node at the distance rho: phit = phit_node + phir x rho, phir = phir_node */
static void update_node_marker(const mbg__design *d, const mbg__modal *m, const mbg__modal_node *node,
                               const mbg__placed *h, mbg__modal_handle *out) {
  real at[3], rho[3];
  node_at(d, m, node, out->P, at);
  v3_sub(rho, h->h.x, at);
  for (int j = 0; j < m->n; j++) {
    real *t = out->P + 6 * j, *r = out->P + 6 * j + 3;
    v3_cross_add(t, 1, r, rho);
    for (int c = 0; c < 3; c++) {
      /* displacements by each attribute of the column, of the node's place and of the marker's */
      real e[3] = {0}, x[3];
      e[c] = 1;
      if (node->columns >= 0) {
        map_add(&out->map, 6 * j + c, node->columns + 6 * j + c, 1);
        map_add(&out->map, 6 * j + 3 + c, node->columns + 6 * j + 3 + c, 1);
        v3_cross(x, e, rho);
        map_add(&out->map, 6 * j + (c + 1) % 3, node->columns + 6 * j + 3 + c, x[(c + 1) % 3]);
        map_add(&out->map, 6 * j + (c + 2) % 3, node->columns + 6 * j + 3 + c, x[(c + 2) % 3]);
      }
      v3_cross(x, r, e);
      for (int i = 0; node->at >= 0 && i < 3; i++) {
        map_add(&out->map, 6 * j + i, node->at + c, -m->sign[c] * x[i]);
      }
    }
    for (int k = 0; k < h->ndep; k++) {
      real dx[3], x[3];
      m3_mulv(dx, h->h.R, h->omega[k]);
      v3_cross(x, r, dx);
      for (int i = 0; i < 3; i++) {
        map_add(&out->map, 6 * j + i, h->dep[k], x[i]);
      }
    }
  }
}

static void update_beam_marker(const mbg__design *d, const mbg__modal *m, int e, const mbg__placed *h,
                               mbg__modal_handle *out) {
  for (int j = 0; j < m->n; j++) {
    real P_r[3][6], P_L[6];
    mbg__modal_beam_column(m->beam, j, e, h->h.x, d->attr[m->beam->length], m->sign, out->P + 6 * j, P_r, P_L);
    for (int i = 0; i < 6; i++) {
      map_add(&out->map, 6 * j + i, m->beam->length, P_L[i]);
    }
    for (int k = 0; k < h->ndep; k++) {
      real dx[3];
      m3_mulv(dx, h->h.R, h->omega[k]);
      for (int i = 0; i < 6; i++) {
        map_add(&out->map, 6 * j + i, h->dep[k], P_r[0][i] * dx[0] + P_r[1][i] * dx[1] + P_r[2][i] * dx[2]);
      }
    }
  }
}

static void update_marker(mbg__design *d, int i) {
  const mbg__marker *marker = &d->model->markers[i];
  const int modal = modal_of(d->model, marker);
  mbg__modal_handle *h = &d->handles[i];
  if (h->n == 0) {
    return;
  }
  const mbg__modal *m = &d->model->modals[modal];
  h->map.count = 0;
  if (m->beam) {
    update_beam_marker(d, m, marker->node - 1, d->markers[i], h);
    return;
  }
  update_node_marker(d, m, &m->nodes[marker->node], d->markers[i], h);
}

void mbg__design_update_modals(mbg__design *d) {
  for (int i = 0; i < d->model->nmodal; i++) {
    update_modal(d, &d->model->modals[i], &d->modals[i]);
  }
  for (int i = 0; i < d->model->nmarker; i++) {
    update_marker(d, i);
  }
}

/* ---------------------------------------------------------------------- checks */

/* lower triangle of an n x n matrix, row-major, in place; the row at which it is not positive definite, or -1 */
static int cholesky(int n, double *A) {
  for (int i = 0; i < n; i++) {
    const double size = A[n * i + i];
    for (int j = 0; j <= i; j++) {
      double x = A[n * i + j];
      for (int k = 0; k < j; k++) {
        x -= A[n * i + k] * A[n * j + k];
      }
      if (j == i && !(x > 1e-12 * size && size > 0)) {
        return i;
      }
      A[n * i + j] = j == i ? sqrt(x) : x / A[n * j + j];
    }
  }
  return -1;
}

/* mass matrix of the free velocities without deformation; its size */
static int mass_matrix(const mbg__design *d, int i, double *M) {
  const mbg__modal *m = &d->model->modals[i];
  const mbg__modal_view D = mbg__modal_of(m->n, d->modals[i].D);
  const unsigned mask = d->model->bodies[m->body].mask;
  real full[6][6], mc[9];
  int at[6], nf = 0, n;
  m3_skew(mc, D.I2);
  for (int a = 0; a < 6; a++) {
    if (mask >> a & 1) {
      at[nf++] = a;
    }
    for (int b = 0; b < 6; b++) {
      full[a][b] = a < 3 ? (b < 3 ? (a == b) * D.I1[0] : -mc[3 * a + b - 3])
                         : (b < 3 ? mc[3 * (a - 3) + b] : D.I7[3 * (a - 3) + b - 3]);
    }
  }
  n = nf + m->n;
  for (int a = 0; a < nf; a++) {
    for (int b = 0; b < nf; b++) {
      M[n * a + b] = re(full[at[a]][at[b]]);
    }
    for (int j = 0; j < m->n; j++) {
      M[n * (nf + j) + a] = M[n * a + nf + j] = re(at[a] < 3 ? D.I3[3 * j + at[a]] : D.I4[3 * j + at[a] - 3]);
    }
  }
  for (int j = 0; j < m->n; j++) {
    for (int k = 0; k < m->n; k++) {
      M[n * (nf + j) + nf + k] = re(D.I6[m->n * j + k]);
    }
  }
  return n;
}

static int bad(mbg_context *ctx, const mbg__modal *m, const char *format, int mode) {
  return mbg__fail_at(ctx, MBG_ERROR_INPUT, &m->where, 0, format, mode);
}

static int check_mass(mbg_context *ctx, const mbg__design *d, int i, double *work) {
  const mbg__modal *m = &d->model->modals[i];
  const mbg__modal_view D = mbg__modal_of(m->n, d->modals[i].D);
  for (int k = 0; k < m->n * m->n; k++) {
    work[k] = re(D.I6[k]);
  }
  int row = cholesky(m->n, work);
  if (row >= 0) {
    return bad(ctx, m,
               "the modal mass matrix I6 is not positive definite (mode %d); check that the mode shapes are linearly "
               "independent",
               row);
  }
  if (!(re(D.I1[0]) > 0)) {
    return mbg__fail_at(ctx, MBG_ERROR_INPUT, &m->where, 0, "the mass I1 is %g; it must be positive", re(D.I1[0]));
  }
  const int n = mass_matrix(d, i, work), frame = n - m->n;
  row = cholesky(n, work);
  if (row >= frame) {
    return bad(ctx, m,
               "the mass matrix of frame and modes is not positive definite: modes 0 to %d contain a rigid-body "
               "motion; remove rigid-body motions from the modes",
               row - frame);
  }
  return row >= 0
             ? bad(ctx, m, "the mass matrix of the frame is not positive definite (velocity %d); check I1, I2 and I7",
                   row + 1)
             : MBG_OK;
}

/* frequencies of the modes alone; ratio below which a mode is no vibration: rounding of matrices with rigid motions in
   them */
static int check_stiffness(mbg_context *ctx, const mbg__design *d, int i, double *work) {
  const mbg__modal *m = &d->model->modals[i];
  const mbg__modal_view D = mbg__modal_of(m->n, d->modals[i].D);
  const int n = m->n;
  double *K = work, *M = work + n * n, *w = work + 2 * n * n;
  for (int k = 0; k < n * n; k++) {
    K[k] = re(D.K[k]);
    M[k] = re(D.I6[k]);
  }
  const int err = mbg__eigen_pair(ctx, n, K, M, w);
  if (err < 0) {
    return err == MBG_ERROR_MEMORY ? mbg__fail_memory(ctx)
                                   : bad(ctx, m, "the frequencies of the %d modes could not be computed", n);
  }
  const double most = fmax(fabs(w[0]), fabs(w[n - 1]));
  int rigid = 0;
  while (rigid < n && fabs(w[rigid]) <= 1e-13 * most) {
    rigid++;
  }
  if (rigid > 0 || most == 0) {
    return bad(ctx, m,
               "the stiffness matrix is singular: rigid-body motions among the modes: %d; the frame already carries "
               "rigid-body motion, so remove it from the modes",
               most == 0 ? n : rigid);
  }
  d->modals[i].lowest = w[0] > 0 ? sqrt(w[0]) : 0;
  if (w[0] < 0) {
    mbg__note(ctx, MBG_WARNING,
              "%s:%d:%d: body '%s': the stiffness matrix has a negative eigenvalue: a mode is unstable", m->where.file,
              m->where.line, m->where.column, m->name);
  }
  return MBG_OK;
}

int mbg__design_check_modals(mbg_context *ctx, const mbg__design *d) {
  int err = MBG_OK;
  for (int i = 0; i < d->model->nmodal; i++) {
    const size_t n = (size_t)d->model->modals[i].n + 6;
    double *work = mbg__alloc(ctx, 3 * n * n, sizeof(double));
    if (!work) {
      return mbg__fail_memory(ctx);
    }
    err = check_mass(ctx, d, i, work);
    err = err < 0 ? err : check_stiffness(ctx, d, i, work);
    mbg__free(ctx, work);
    if (err < 0) {
      return err;
    }
  }
  return err;
}
