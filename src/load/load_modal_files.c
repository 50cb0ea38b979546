/* Modal bodies from the files of a finite-element program: matrices in Matrix Market form and nodes in CSV, or all of
   them in HDF5. */
#include "io/file.h"
#include "io/hdf5.h"
#include "io/matrix_market.h"
#include "load/load_modal.h"
#include "load/modal_reduce.h"

#include <string.h>

/* contents of the files */
typedef struct {
  mbg__modal_reader *r;
  mbg__item *item;
  mbg__matrix M, K;
  const double *id;
  mbg__mesh mesh;
  bool *fixed, *interface;
  double *shapes;
} files;

/* ---------------------------------------------------------------------- matrices */

/* The text of a key is FILE.mtx, or FILE.h5 or FILE.h5:DATASET; the dataset has the name of the key when absent. */
static int read_matrix(files *f, const char *key, mbg__matrix *out) {
  mbg__loader *L = f->item->L;
  const mbg__json *json = mbg__json_member(f->item->json, key);
  const char *name = NULL;
  size_t length = 0;
  bool yes;
  int err = mbg__item_text(f->item, json, key, &name);
  if (err < 0 || !name) {
    return err;
  }
  const bool hdf5 = mbg__hdf5_named(name, &length);
  const char *dataset = hdf5 && name[length] == ':' ? name + length + 1 : key;
  const char *file = hdf5 ? mbg__arena_text(&L->temp, name, length) : name;
  const char *path = file ? mbg__path_beside(&L->temp, f->item->source->base, file) : NULL;
  if (!path) {
    return mbg__fail_memory(L->ctx);
  }
  err = mbg__item_readable(f->item, json, path, &yes);
  if (err < 0 || !yes) {
    return err;
  }
  err = hdf5 ? mbg__hdf5_matrix(L->ctx, &L->temp, path, dataset, out) : mbg__matrix_read(L->ctx, &L->temp, path, out);
  if (err < 0) {
    const int filed = mbg__item_filed(f->item, err);
    return filed < 0 ? filed : mbg__item_bad(f->item, json, "cannot use the matrix of '%s'", name);
  }
  return MBG_OK;
}

static int check_symmetric(files *f, const char *key, const mbg__matrix *m) {
  const mbg__json *json = mbg__json_member(f->item->json, key);
  if (m->rows != m->cols) {
    return mbg__item_bad(f->item, json, "%s: expected a square matrix, found %d by %d", key, m->rows, m->cols);
  }
  double most = 0;
  for (size_t k = 0; k < (size_t)m->rows * (size_t)m->rows; k++) {
    most = fmax(most, fabs(m->at[k]));
  }
  for (int i = 0; i < m->rows; i++) {
    for (int j = 0; j < i; j++) {
      const double a = m->at[(size_t)i + (size_t)m->rows * (size_t)j];
      const double b = m->at[(size_t)j + (size_t)m->rows * (size_t)i];
      if (fabs(a - b) > 1e-9 * most) {
        return mbg__item_bad(f->item, json, "%s must be symmetric: entries (%d, %d) and (%d, %d) are %g and %g", key,
                             i + 1, j + 1, j + 1, i + 1, a, b);
      }
    }
  }
  return MBG_OK;
}

static int read_matrices(files *f) {
  int err = MBG_OK;
  static const char *const keys[] = {"mass", "stiffness"};
  mbg__matrix *m[] = {&f->M, &f->K};
  for (int k = 0; k < 2; k++) {
    MBG_TRY(read_matrix(f, keys[k], m[k]));
    if (!f->item->bad) {
      MBG_TRY(check_symmetric(f, keys[k], m[k]));
    }
  }
  if (!f->item->bad && f->M.rows != f->K.rows) {
    MBG_TRY(mbg__item_bad(f->item, mbg__json_member(f->item->json, "stiffness"),
                          "stiffness: the matrix is %d by %d, but the mass matrix is %d by %d", f->K.rows, f->K.rows,
                          f->M.rows, f->M.rows));
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- nodes */

/* columns node, x, y, z, by their names or in this order */
static int csv_nodes(files *f, const mbg__json *json, const double *column[4], int *count) {
  int err = MBG_OK;
  static const char *const names[] = {"node", "x", "y", "z"};
  mbg__data_file *data;
  MBG_TRY(mbg__item_data_open(f->item, json, &data));
  for (int k = 0; data && !f->item->bad && k < 4; k++) {
    MBG_TRY(mbg__item_data_column(f->item, data, json, NULL, names[k], k, &column[k], count));
    if (!column[k]) {
      return MBG_OK; /* reported */
    }
  }
done:
  return err;
}

/* rows number, x, y, z; without the number they are counted from 1 */
static int hdf5_nodes(files *f, const mbg__json *json, const double *column[4], int *count) {
  int err = MBG_OK;
  mbg__loader *L = f->item->L;
  mbg__matrix m = {0};
  MBG_TRY(read_matrix(f, "nodes", &m));
  if (f->item->bad) {
    return MBG_OK;
  }
  if (m.cols != 3 && m.cols != 4) {
    return mbg__item_bad(f->item, json, "nodes: expected rows of number, x, y, z or of x, y, z, found %d columns",
                         m.cols);
  }
  double *id = MBG_TAKE(&L->temp, double, m.rows);
  MBG_TRY(mbg__arena_check(L->ctx, &L->temp));
  for (int i = 0; i < m.rows; i++) {
    id[i] = i + 1;
  }
  for (int k = 0; k < 4; k++) {
    const int at = k - (4 - m.cols);
    column[k] = at < 0 ? id : m.at + (size_t)m.rows * (size_t)at;
  }
  *count = m.rows;
done:
  return err;
}

static int read_nodes(files *f) {
  int err = MBG_OK, count = 0;
  mbg__loader *L = f->item->L;
  const mbg__json *json = mbg__json_member(f->item->json, "nodes");
  const double *column[4] = {NULL};
  const char *name = NULL;
  size_t length;
  MBG_TRY(mbg__item_text(f->item, json, "nodes", &name));
  if (name) {
    MBG_TRY((mbg__hdf5_named(name, &length) ? hdf5_nodes : csv_nodes)(f, json, column, &count));
  }
  if (!column[3] || f->item->bad) {
    return MBG_OK;
  }
  const int size = f->M.rows;
  if (count == 0 || size % count != 0 || (size / count != 3 && size / count != 6)) {
    return mbg__item_bad(f->item, json, "nodes: %d nodes do not fit matrices of %d by %d; a node has 3 or 6 unknowns",
                         count, size, size);
  }
  double *place = MBG_TAKE(&L->temp, double, 3 * count);
  f->fixed = MBG_TAKE(&L->temp, bool, count);
  f->interface = MBG_TAKE(&L->temp, bool, count);
  MBG_TRY(mbg__arena_check(L->ctx, &L->temp));
  for (int i = 0; i < 3 * count; i++) {
    place[i] = column[1 + i % 3][i / 3];
  }
  f->id = column[0];
  f->mesh = (mbg__mesh){.nnode = count,
                        .per_node = size / count,
                        .place = place,
                        .M = f->M.at,
                        .K = f->K.at,
                        .fixed = f->fixed,
                        .interface = f->interface};
done:
  return err;
}

/* marks the nodes of a list of numbers */
static int mark_nodes(files *f, const char *key, bool *mark) {
  int err = MBG_OK, n = 0;
  const mbg__json *json = mbg__json_member(f->item->json, key);
  double *list;
  if (!json) {
    return MBG_OK;
  }
  MBG_TRY(mbg__item_plains(f->item, json, key, &list, &n));
  for (int k = 0; !f->item->bad && k < n; k++) {
    int at = -1;
    for (int i = 0; i < f->mesh.nnode; i++) {
      at = f->id[i] == list[k] ? i : at;
    }
    if (at < 0) {
      MBG_TRY(mbg__item_bad(f->item, json, "%s: there is no node %g", key, list[k]));
    } else {
      mark[at] = true;
    }
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- shapes */

static int given_shapes(files *f, int n) {
  int err = MBG_OK;
  mbg__matrix T = {0};
  const mbg__json *json = mbg__json_member(f->item->json, "shapes");
  MBG_TRY(read_matrix(f, "shapes", &T));
  if (f->item->bad) {
    return MBG_OK;
  }
  if (T.rows != f->M.rows || T.cols != n) {
    return mbg__item_bad(f->item, json, "shapes: expected %d by %d (unknowns by modes), found %d by %d", f->M.rows, n,
                         T.rows, T.cols);
  }
  f->shapes = T.at;
done:
  return err;
}

static int computed_shapes(files *f, int n) {
  mbg__loader *L = f->item->L;
  const int count = mbg__mesh_static(&f->mesh);
  const mbg__json *modes = mbg__json_member(f->r->item->json, "modes");
  if (n < count) {
    return mbg__item_bad(f->item, modes, "modes: the interface alone has %d static modes, found %d", count, n);
  }
  f->shapes = MBG_TAKE(&L->temp, double, (size_t)f->M.rows *(size_t)n);
  if (!f->shapes) {
    return mbg__fail_memory(L->ctx);
  }
  const int err = mbg__mesh_modes(L->ctx, &f->mesh, n, f->shapes);
  if (err == MBG_ERROR_INPUT) {
    return mbg__item_bad(f->item, modes, "modes: the mesh has fewer than %d modes", n);
  }
  if (err == MBG_ERROR_SINGULAR) {
    return mbg__item_bad_key(
        f->item, f->item->json,
        "with the fixed and interface nodes held, the matrices are not positive definite; fix enough nodes to hold the "
        "body, and check that the files of mass and stiffness are not swapped");
  }
  return err;
}

/* ---------------------------------------------------------------------- the body */

/* sign of a number of the flat array in a mirrored part */
static double sign_of(const mbg__modal_layout *l, const mbg__source *s, int entry) {
  const double *S = s->sign;
  const int starts[] = {l->I2, l->I7, l->I3, l->I4, l->I5, l->I6, l->I8, l->I9, l->K};
  int k = 0;
  while (k < 9 && entry >= starts[k]) {
    k++;
  }
  const int c = k > 0 ? entry - starts[k - 1] : 0;
  switch (k - 1) {
  case 0: /* I2, I3 */
  case 2:
    return S[c % 3];
  case 3: /* I4, I5 */
  case 4:
    return s->handed * S[c % 3];
  case 1: /* I7, I8, I9 */
  case 6:
  case 7:
    return S[c % 9 / 3] * S[c % 3];
  default:
    return 1;
  }
}

static int add_numbers(files *f, int n) {
  int err = MBG_OK, mass, stiffness;
  mbg__loader *L = f->item->L;
  const mbg__modal_layout l = mbg__modal_places(n);
  double *D = MBG_TAKE(&L->temp, double, l.count);
  MBG_TRY(mbg__arena_check(L->ctx, &L->temp));
  MBG_TRY(mbg__item_attribute(f->item, mbg__json_member(f->item->json, "mass_factor"), "mass_factor", "", 1, 1, &mass));
  MBG_TRY(mbg__item_attribute(f->item, mbg__json_member(f->item->json, "stiffness_factor"), "stiffness_factor", "", 1,
                              1, &stiffness));
  MBG_TRY(mbg__mesh_invariants(L->ctx, &f->mesh, n, f->shapes, D));
  for (int i = 0; i < l.count; i++) {
    if (D[i] != 0) {
      MBG_TRY(mbg__modal_link_add(f->r, i, i < l.K ? mass : stiffness, sign_of(&l, f->item->source, i) * D[i]));
    }
  }
done:
  return err;
}

static int add_nodes(files *f, int n) {
  mbg__loader *L = f->item->L;
  const mbg__source *s = f->item->source;
  const int d = f->mesh.per_node;
  for (int i = 0; i < f->mesh.nnode; i++) {
    mbg__modal_node *node = MBG__PUSH(L, f->r->nodes);
    double *P = MBG_TAKE(L->arena, double, 6 * n);
    char name[40];
    mbg__format(name, sizeof(name), "%.17g", f->id[i]);
    if (!node || !P) {
      return mbg__fail_memory(L->ctx);
    }
    *node = (mbg__modal_node){.name = mbg__intern(L, name), .at = -1, .columns = -1, .P = P};
    if (!node->name) {
      return mbg__fail_memory(L->ctx);
    }
    for (int c = 0; c < 3; c++) {
      node->place[c] = s->sign[c] * f->mesh.place[3 * i + c];
      for (int j = 0; j < n; j++) {
        const double *phi = f->shapes + (size_t)f->M.rows * (size_t)j + d * i;
        P[6 * j + c] = s->sign[c] * phi[c];
        P[6 * j + 3 + c] = d == 6 ? s->handed * s->sign[c] * phi[3 + c] : 0;
      }
    }
  }
  return MBG_OK;
}

int mbg__modal_imported(mbg__modal_reader *r) {
  int err = MBG_OK;
  static const mbg__file_object keys[] = {MBG__KEYS_MODAL_FILES};
  mbg__item item = *r->item;
  files f = {.r = r, .item = &item};
  bool yes;
  item.json = mbg__json_member(r->item->json, "files");
  if (r->body->motion != MBG__SPATIAL) {
    return mbg__item_bad_key(r->item, item.json, "'files' applies only to spatial bodies");
  }
  MBG_TRY(mbg__item_object(&item, item.json, "files", &yes));
  if (yes) {
    MBG_TRY(mbg__item_keys(&item, item.json, keys, 1, NULL, 0));
  }
  if (!item.bad) {
    MBG_TRY(read_matrices(&f));
  }
  if (!item.bad) {
    MBG_TRY(read_nodes(&f));
  }
  if (!item.bad) {
    MBG_TRY(mark_nodes(&f, "fixed", f.fixed));
    MBG_TRY(mark_nodes(&f, "interface", f.interface));
  }
  if (!item.bad) {
    const bool given = mbg__json_member(item.json, "shapes") != NULL;
    MBG_TRY(given ? given_shapes(&f, r->modal->n) : computed_shapes(&f, r->modal->n));
  }
  if (!item.bad) {
    MBG_TRY(add_numbers(&f, r->modal->n));
    MBG_TRY(add_nodes(&f, r->modal->n));
  }
  r->item->bad = r->item->bad || item.bad;
done:
  return err;
}
