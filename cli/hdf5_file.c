/* Results as an HDF5 file. The same results are the same bytes. */
#include "hdf5_file.h"

#ifdef MBG_HDF5
#include "cli.h"
#include "hdf5_put.h"
#include "poses.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

static bool put_parameters(hid_t group, const cli_origin *o) {
  bool ok = true;
  for (int i = 0; i < mbg_model_parameter_group_count(o->model); i++) {
    const char *name;
    int first, count;
    (void)mbg_model_parameter_group(o->model, i, &name, &first, &count);
    ok = ok && cli_hdf5_numbers(group, name, count, o->parameters + first);
  }
  return ok;
}

static bool put_criteria(hid_t group, const cli_origin *o) {
  bool ok = true;
  for (int i = 0; o->criteria && i < mbg_model_criterion_count(o->model); i++) {
    ok = ok && cli_hdf5_numbers(group, mbg_model_criterion_name(o->model, i), 0, &o->criteria[i]);
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
  const bool ok = cli_hdf5_names(file, "bodies", o->bodies, names) &&
                  cli_hdf5_block(file, "frames", 3, (const hsize_t[]){rows, bodies, 12}, o->frames,
                                 "rotation row by row, then position in m") &&
                  cli_hdf5_block(file, "twists", 3, (const hsize_t[]){rows, bodies, 6}, o->twists,
                                 "velocity in m/s, angular velocity in rad/s; body axes");
  free(names);
  return ok;
}

/* /modal: coordinates and their rates, and the body of each */
static bool put_modal(hid_t file, const cli_poses *o, const mbg_model *model) {
  const hsize_t size[2] = {(hsize_t)o->rows, (hsize_t)o->modes};
  const hid_t plain = cli_hdf5_timeless(H5P_GROUP_CREATE),
              group = H5Gcreate2(file, "modal", H5P_DEFAULT, plain, H5P_DEFAULT);
  const char **names = cli_resize(NULL, (size_t)o->modes, sizeof(*names));
  for (int j = 0; j < o->modes; j++) {
    names[j] = mbg_model_body_name(model, mbg_model_modal_body(model, j));
  }
  const bool ok = cli_hdf5_names(group, "bodies", o->modes, names) &&
                  cli_hdf5_block(group, "coordinates", 2, size, o->modal, NULL) &&
                  cli_hdf5_block(group, "rates", 2, size, o->rates, NULL);
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
  const bool ok = cli_hdf5_block(group, mbg_model_beam_name(model, beam), 3,
                                 (const hsize_t[]){(hsize_t)o->rows, (hsize_t)count, 3}, x, "m");
  free(x);
  return ok;
}

static bool put_beams(hid_t file, const cli_poses *o, const mbg_model *model) {
  const hid_t plain = cli_hdf5_timeless(H5P_GROUP_CREATE),
              group = H5Gcreate2(file, "beams", H5P_DEFAULT, plain, H5P_DEFAULT);
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
  bool ok = cli_hdf5_text(file, "model", mbg_model_name(o->model)) &&
            cli_hdf5_text(file, "formulation", mbg_run_formulation(o->run)) &&
            cli_hdf5_numbers(file, "partial", 0, &partial) && cli_hdf5_column(file, "time", s->rows, s->time, "s");
  const hid_t plain = cli_hdf5_timeless(H5P_GROUP_CREATE);
  const hid_t signals = H5Gcreate2(file, "signals", H5P_DEFAULT, plain, H5P_DEFAULT);
  const hid_t parameters = H5Gcreate2(file, "parameters", H5P_DEFAULT, plain, H5P_DEFAULT);
  const hid_t criteria = H5Gcreate2(file, "criteria", H5P_DEFAULT, plain, H5P_DEFAULT);
  ok = ok && put_parameters(parameters, o) && put_criteria(criteria, o);
  for (int c = 0; ok && c < s->columns; c++) {
    const char *unit = mbg_model_signal_unit(o->model, s->signal[c]);
    ok = cli_hdf5_column(signals, s->names[c], s->rows, s->values + (size_t)c * (size_t)s->rows, *unit ? unit : NULL);
  }
  H5Gclose(criteria);
  H5Gclose(parameters);
  H5Gclose(signals);
  H5Pclose(plain);
  return ok;
}

typedef struct {
  const cli_series *series;
  const cli_origin *origin;
} contents;

static bool put_all(hid_t file, const void *user) {
  const contents *c = user;
  const cli_origin *o = c->origin;
  return put_series(file, c->series, o) && (!o->poses || put_poses(file, o->poses, o->model));
}

int cli_hdf5_write(const cli_series *s, const cli_origin *o, const char *path) {
  return cli_hdf5_make(path, put_all, &(contents){s, o});
}
#endif
