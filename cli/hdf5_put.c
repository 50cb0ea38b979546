#include "hdf5_put.h"

#include "cli.h" /* a file without HDF5 is not empty */

#ifdef MBG_HDF5
#include "files.h"

#include <string.h>

bool cli_hdf5_text(hid_t object, const char *name, const char *text) {
  const hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
  H5Tset_size(type, strlen(text) + 1);
  const hid_t a = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  const bool ok = a >= 0 && H5Awrite(a, type, text) >= 0;
  H5Aclose(a);
  H5Sclose(space);
  H5Tclose(type);
  return ok;
}

bool cli_hdf5_numbers(hid_t object, const char *name, int count, const double *values) {
  const hsize_t size = (hsize_t)count;
  const hid_t space = count > 0 ? H5Screate_simple(1, &size, NULL) : H5Screate(H5S_SCALAR);
  const hid_t a = H5Acreate2(object, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT);
  const bool ok = a >= 0 && H5Awrite(a, H5T_NATIVE_DOUBLE, values) >= 0;
  H5Aclose(a);
  H5Sclose(space);
  return ok;
}

hid_t cli_hdf5_timeless(hid_t kind) {
  const hid_t list = H5Pcreate(kind);
  H5Pset_obj_track_times(list, false);
  return list;
}

bool cli_hdf5_block(hid_t group, const char *name, int rank, const hsize_t *size, const double *values,
                    const char *unit) {
  const hid_t space = H5Screate_simple(rank, size, NULL), plain = cli_hdf5_timeless(H5P_DATASET_CREATE);
  const hid_t d = H5Dcreate2(group, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, plain, H5P_DEFAULT);
  const bool ok = d >= 0 && H5Dwrite(d, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0 &&
                  (!unit || cli_hdf5_text(d, "unit", unit));
  H5Dclose(d);
  H5Pclose(plain);
  H5Sclose(space);
  return ok;
}

bool cli_hdf5_column(hid_t group, const char *name, int rows, const double *values, const char *unit) {
  return cli_hdf5_block(group, name, 1, (const hsize_t[]){(hsize_t)rows}, values, unit);
}

bool cli_hdf5_names(hid_t group, const char *name, int count, const char **names) {
  const hsize_t size = (hsize_t)count;
  const hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate_simple(1, &size, NULL);
  const hid_t plain = cli_hdf5_timeless(H5P_DATASET_CREATE);
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

int cli_hdf5_make(const char *path, bool (*put)(hid_t file, const void *user), const void *user) {
  H5dont_atexit();                       /* HDF5 crashes there when a file could not be written */
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* messages are ours */
  char *name = cli_file_begin(path);
  if (!name) {
    return CLI_FAILED;
  }
  const hid_t plain = cli_hdf5_timeless(H5P_FILE_CREATE);
  const hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, plain, H5P_DEFAULT);
  H5Pclose(plain);
  const bool ok = file >= 0 && put(file, user);
  return cli_file_end(name, path, file >= 0 && H5Fclose(file) >= 0 && ok);
}
#endif
