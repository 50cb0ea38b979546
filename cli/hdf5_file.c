/* Results as an HDF5 file. The same results are the same bytes. */
#include "hdf5_file.h"

#ifdef MBG_HDF5
#include "cli.h"
#include "poses.h"
#include "text.h"

#include <hdf5.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------- numbers and texts */

/* each function returns false when HDF5 could not write */
static bool put_text(hid_t object, const char *name, const char *text) {
  const hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
  H5Tset_size(type, strlen(text) + 1);
  const hid_t a = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  const bool ok = a >= 0 && H5Awrite(a, type, text) >= 0;
  H5Aclose(a);
  H5Sclose(space);
  H5Tclose(type);
  return ok;
}

/* count 0: a single number */
static bool put_numbers(hid_t object, const char *name, int count, const double *values) {
  const hsize_t size = (hsize_t)count;
  const hid_t space = count > 0 ? H5Screate_simple(1, &size, NULL) : H5Screate(H5S_SCALAR);
  const hid_t a = H5Acreate2(object, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT);
  const bool ok = a >= 0 && H5Awrite(a, H5T_NATIVE_DOUBLE, values) >= 0;
  H5Aclose(a);
  H5Sclose(space);
  return ok;
}

/* objects without the time of their making: the same results are the same file */
static hid_t timeless(hid_t kind) {
  const hid_t list = H5Pcreate(kind);
  H5Pset_obj_track_times(list, false);
  return list;
}

/* numbers of any rank, with their unit (NULL: none) */
static bool put_block(hid_t group, const char *name, int rank, const hsize_t *size, const double *values,
                      const char *unit) {
  const hid_t space = H5Screate_simple(rank, size, NULL), plain = timeless(H5P_DATASET_CREATE);
  const hid_t d = H5Dcreate2(group, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, plain, H5P_DEFAULT);
  const bool ok = d >= 0 && H5Dwrite(d, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0 &&
                  (!unit || put_text(d, "unit", unit));
  H5Dclose(d);
  H5Pclose(plain);
  H5Sclose(space);
  return ok;
}

static bool put_column(hid_t group, const char *name, int rows, const double *values, const char *unit) {
  return put_block(group, name, 1, (const hsize_t[]){(hsize_t)rows}, values, unit);
}

/* names of bodies: a dataset, because attributes have at most 64 kB */
static bool put_names(hid_t group, const char *name, int count, const char **names) {
  const hsize_t size = (hsize_t)count;
  const hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate_simple(1, &size, NULL);
  const hid_t plain = timeless(H5P_DATASET_CREATE);
  H5Tset_size(type, H5T_VARIABLE);
  H5Tset_cset(type, H5T_CSET_UTF8);
  const hid_t d = H5Dcreate2(group, name, type, space, H5P_DEFAULT, plain, H5P_DEFAULT);
  const bool ok = d >= 0 && H5Dwrite(d, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, names) >= 0;
  H5Dclose(d);
  H5Pclose(plain);
  H5Sclose(space);
  H5Tclose(type);
  return ok;
}

static bool put_parameters(hid_t group, const cli_origin *o) {
  bool ok = true;
  for (int i = 0; i < mbg_model_parameter_group_count(o->model); i++) {
    const char *name;
    int first, count;
    (void)mbg_model_parameter_group(o->model, i, &name, &first, &count);
    ok = ok && put_numbers(group, name, count, o->parameters + first);
  }
  return ok;
}

static bool put_criteria(hid_t group, const cli_origin *o) {
  bool ok = true;
  for (int i = 0; o->criteria && i < mbg_model_criterion_count(o->model); i++) {
    ok = ok && put_numbers(group, mbg_model_criterion_name(o->model, i), 0, &o->criteria[i]);
  }
  return ok;
}

/* ---------------------------------------------------------------------- poses */

/* /frames and /twists of all bodies, and their names */
static bool put_frames(hid_t file, const cli_poses *o, const mbg_model *model) {
  const hsize_t rows = (hsize_t)o->rows, bodies = (hsize_t)o->bodies;
  const char **names = cli_resize(NULL, (size_t)o->bodies, sizeof(*names));
  for (int b = 0; b < o->bodies; b++) {
    names[b] = mbg_model_body_name(model, b);
  }
  const bool ok = put_names(file, "bodies", o->bodies, names) &&
                  put_block(file, "frames", 3, (const hsize_t[]){rows, bodies, 12}, o->frames,
                            "rotation row by row, then position in m") &&
                  put_block(file, "twists", 3, (const hsize_t[]){rows, bodies, 6}, o->twists,
                            "velocity in m/s, angular velocity in rad/s; body axes");
  free(names);
  return ok;
}

/* /modal: coordinates and their rates, and the body of each */
static bool put_modal(hid_t file, const cli_poses *o, const mbg_model *model) {
  const hsize_t size[2] = {(hsize_t)o->rows, (hsize_t)o->modes};
  const hid_t plain = timeless(H5P_GROUP_CREATE), group = H5Gcreate2(file, "modal", H5P_DEFAULT, plain, H5P_DEFAULT);
  const char **names = cli_resize(NULL, (size_t)o->modes, sizeof(*names));
  for (int j = 0; j < o->modes; j++) {
    names[j] = mbg_model_body_name(model, mbg_model_modal_body(model, j));
  }
  const bool ok = put_names(group, "bodies", o->modes, names) &&
                  put_block(group, "coordinates", 2, size, o->modal, NULL) &&
                  put_block(group, "rates", 2, size, o->rates, NULL);
  free(names);
  H5Gclose(group);
  H5Pclose(plain);
  return ok;
}

/* /beams/NAME: positions of its nodes, which are bodies, too */
static bool put_beam(hid_t group, const cli_poses *o, const mbg_model *model, int beam) {
  int first, count;
  (void)mbg_model_beam_nodes(model, beam, &first, &count);
  const size_t n = (size_t)count;
  double *x = cli_resize(NULL, 3 * n * (size_t)o->rows, sizeof(double));
  for (size_t i = 0; i < (size_t)o->rows; i++) {
    for (size_t k = 0; k < n; k++) {
      const double *frame = o->frames + 12 * (i * (size_t)o->bodies + (size_t)first + k);
      memcpy(x + 3 * (i * n + k), frame + 9, 3 * sizeof(double));
    }
  }
  const bool ok = put_block(group, mbg_model_beam_name(model, beam), 3,
                            (const hsize_t[]){(hsize_t)o->rows, (hsize_t)count, 3}, x, "m");
  free(x);
  return ok;
}

static bool put_beams(hid_t file, const cli_poses *o, const mbg_model *model) {
  const hid_t plain = timeless(H5P_GROUP_CREATE), group = H5Gcreate2(file, "beams", H5P_DEFAULT, plain, H5P_DEFAULT);
  bool ok = true;
  for (int i = 0; ok && i < mbg_model_beam_count(model); i++) {
    ok = put_beam(group, o, model, i);
  }
  H5Gclose(group);
  H5Pclose(plain);
  return ok;
}

static bool put_poses(hid_t file, const cli_poses *o, const mbg_model *model) {
  return (o->bodies == 0 || put_frames(file, o, model)) && (o->modes == 0 || put_modal(file, o, model)) &&
         (mbg_model_beam_count(model) == 0 || put_beams(file, o, model));
}

/* ---------------------------------------------------------------------- all */

static bool put_series(hid_t file, const cli_series *s, const cli_origin *o) {
  const double partial = mbg_run_partial(o->run);
  bool ok = put_text(file, "model", mbg_model_name(o->model)) &&
            put_text(file, "formulation", mbg_run_formulation(o->run)) && put_numbers(file, "partial", 0, &partial) &&
            put_column(file, "time", s->rows, s->time, "s");
  const hid_t plain = timeless(H5P_GROUP_CREATE);
  const hid_t signals = H5Gcreate2(file, "signals", H5P_DEFAULT, plain, H5P_DEFAULT);
  const hid_t parameters = H5Gcreate2(file, "parameters", H5P_DEFAULT, plain, H5P_DEFAULT);
  const hid_t criteria = H5Gcreate2(file, "criteria", H5P_DEFAULT, plain, H5P_DEFAULT);
  ok = ok && put_parameters(parameters, o) && put_criteria(criteria, o);
  for (int c = 0; ok && c < s->columns; c++) {
    ok = put_column(signals, s->names[c], s->rows, s->values + (size_t)c * (size_t)s->rows, NULL);
  }
  H5Gclose(criteria);
  H5Gclose(parameters);
  H5Gclose(signals);
  H5Pclose(plain);
  return ok;
}

int cli_hdf5_write(const cli_series *s, const cli_origin *o, const char *path) {
  H5dont_atexit();                       /* HDF5 crashes there when a file could not be written */
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* messages are ours */
  char *name = cli_file_begin(path);
  if (!name) {
    return CLI_FAILED;
  }
  const hid_t plain = timeless(H5P_FILE_CREATE);
  const hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, plain, H5P_DEFAULT);
  H5Pclose(plain);
  const bool ok = file >= 0 && put_series(file, s, o) && (!o->poses || put_poses(file, o->poses, o->model));
  return cli_file_end(name, path, file >= 0 && H5Fclose(file) >= 0 && ok);
}
#endif
