#include "io/hdf5.h"

#include "io/file.h"

#include <string.h>

bool mbg__hdf5_named(const char *path, size_t *length) {
  static const char *const ends[] = {".h5", ".hdf5"};
  const char *colon = strrchr(path, ':');
  const size_t n = colon && !strchr(colon, '.') ? (size_t)(colon - path) : strlen(path);
  for (int k = 0; k < 2; k++) {
    const size_t tail = strlen(ends[k]);
    if (n > tail && strncmp(path + n - tail, ends[k], tail) == 0) {
      *length = n;
      return true;
    }
  }
  return false;
}

#ifdef MBG_HDF5
#define H5_USE_110_API 1 /* newer versions keep the functions of 1.10 under this name */
#include <hdf5.h>

#include <stdlib.h>

/* a file while a matrix is read from it */
typedef struct {
  mbg_context *ctx;
  mbg__arena *arena;
  const char *path, *name;
  hid_t file;
} reader;

static int wrong(const reader *r, const char *what) {
  return mbg__fail(r->ctx, MBG_ERROR_INPUT, "%s: %s: %s", r->path, r->name, what);
}

/* Does every part of a path exist, as a link within this file? */
static bool is_inside(hid_t at, const char *name) {
  char part[256];
  const size_t all = strlen(name);
  if (all == 0 || all >= sizeof(part)) {
    return false;
  }
  for (size_t n = 1; n <= all; n++) {
    if (n < all && name[n] != '/') {
      continue;
    }
    H5L_info_t info;
    memcpy(part, name, n);
    part[n] = 0;
    if (H5Lexists(at, part, H5P_DEFAULT) <= 0 || H5Lget_info(at, part, &info, H5P_DEFAULT) < 0 ||
        info.type == H5L_TYPE_EXTERNAL) {
      return false;
    }
  }
  return true;
}

/* stored in this very file, without filters that are to be loaded */
static bool is_plain(hid_t set) {
  const hid_t list = H5Dget_create_plist(set);
  bool plain = list >= 0 && H5Pget_external_count(list) == 0 && H5Pget_layout(list) != H5D_VIRTUAL;
  for (int k = 0; plain && k < H5Pget_nfilters(list); k++) {
    unsigned flags, config;
    size_t count = 0;
    const H5Z_filter_t filter = H5Pget_filter2(list, (unsigned)k, &flags, &count, NULL, 0, NULL, &config);
    plain = filter >= 0 && H5Zfilter_avail(filter) > 0;
  }
  H5Pclose(list);
  return plain;
}

/* extents of a dataset of numbers, 1 or 2 of them; the second of a column is 1 */
static int extents(const reader *r, hid_t set, hsize_t size[2]) {
  const hid_t type = H5Dget_type(set), space = H5Dget_space(set);
  const H5T_class_t class = H5Tget_class(type);
  const int rank = H5Sget_simple_extent_ndims(space);
  size[0] = 0;
  size[1] = 1;
  if (rank == 1 || rank == 2) {
    (void)H5Sget_simple_extent_dims(space, size, NULL);
  }
  H5Sclose(space);
  H5Tclose(type);
  if (class != H5T_FLOAT && class != H5T_INTEGER) {
    return wrong(r, "expected numbers");
  }
  if (rank != 1 && rank != 2) {
    return wrong(r, "expected a matrix: a dataset of two dimensions");
  }
  if (size[0] == 0 || size[1] == 0) {
    return wrong(r, "the matrix is empty");
  }
  if (size[0] > MBG__MATRIX_ENTRIES_MAX || size[1] > MBG__MATRIX_ENTRIES_MAX ||
      (double)size[0] * (double)size[1] > MBG__MATRIX_ENTRIES_MAX) {
    return wrong(r, "the matrix is too large for dense storage; reduce the finite-element model first");
  }
  return MBG_OK;
}

/* a dataset, row by row, on the heap */
static int numbers(const reader *r, hid_t group, const char *name, hsize_t size[2], double **out) {
  int err = MBG_OK;
  const hid_t set = is_inside(group, name) ? H5Dopen2(group, name, H5P_DEFAULT) : H5I_INVALID_HID;
  *out = NULL;
  if (set < 0) {
    return mbg__fail(r->ctx, MBG_ERROR_INPUT, "%s: %s: the file has no dataset '%s' of its own", r->path, r->name,
                     name);
  }
  if (!is_plain(set)) {
    err = wrong(r, "the numbers lie in another file, or need a filter that is not there");
    goto done;
  }
  MBG_TRY(extents(r, set, size));
  const size_t count = (size_t)size[0] * (size_t)size[1];
  *out = malloc(count * sizeof(double));
  if (!*out) {
    err = mbg__fail_memory(r->ctx);
    goto done;
  }
  if (H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, *out) < 0) {
    err = wrong(r, "the numbers cannot be read: the file is damaged");
    goto done;
  }
  for (size_t k = 0; k < count; k++) {
    if (!isfinite((*out)[k])) {
      err = wrong(r, "a number is not finite");
      goto done;
    }
  }
done:
  H5Dclose(set);
  return err;
}

static int take(const reader *r, mbg__matrix *out) {
  if ((double)out->rows * out->cols > MBG__MATRIX_ENTRIES_MAX) {
    return wrong(r, "the matrix is too large for dense storage; reduce the finite-element model first");
  }
  out->at = mbg__arena_take(r->arena, (size_t)out->rows * (size_t)out->cols, sizeof(double));
  return mbg__arena_check(r->ctx, r->arena);
}

static int dense(const reader *r, mbg__matrix *out) {
  int err = MBG_OK;
  hsize_t size[2];
  double *x;
  MBG_TRY(numbers(r, r->file, r->name, size, &x));
  out->rows = (int)size[0];
  out->cols = (int)size[1];
  MBG_TRY(take(r, out));
  for (int i = 0; i < out->rows; i++) {
    for (int j = 0; j < out->cols; j++) {
      out->at[(size_t)i + (size_t)out->rows * (size_t)j] = x[(size_t)i * (size_t)out->cols + (size_t)j];
    }
  }
done:
  free(x);
  return err;
}

/* columns of a compressed matrix: the attribute `shape`, or as many as rows */
static int columns_of(const reader *r, hid_t group, int rows, int *cols) {
  *cols = rows;
  if (H5Aexists(group, "shape") <= 0) {
    return MBG_OK;
  }
  double shape[2] = {0, 0};
  const hid_t a = H5Aopen(group, "shape", H5P_DEFAULT), space = H5Aget_space(a), type = H5Aget_type(a);
  const H5T_class_t class = H5Tget_class(type);
  const bool ok = (class == H5T_FLOAT || class == H5T_INTEGER) && H5Sget_simple_extent_npoints(space) == 2 &&
                  H5Aread(a, H5T_NATIVE_DOUBLE, shape) >= 0;
  H5Tclose(type);
  H5Sclose(space);
  H5Aclose(a);
  if (!ok || shape[0] != rows || shape[1] != floor(shape[1]) || shape[1] < 1 || shape[1] > MBG__MATRIX_ENTRIES_MAX) {
    return wrong(r, "the attribute 'shape' does not fit 'indptr'");
  }
  *cols = (int)shape[1];
  return MBG_OK;
}

/* entries of row i lie at start[i] .. start[i + 1] - 1 */
static int compressed(const reader *r, hid_t group, mbg__matrix *out) {
  int err = MBG_OK;
  double *x = NULL, *column = NULL, *start = NULL;
  hsize_t nx[2], nc[2], ns[2];
  MBG_TRY(numbers(r, group, "data", nx, &x));
  MBG_TRY(numbers(r, group, "indices", nc, &column));
  MBG_TRY(numbers(r, group, "indptr", ns, &start));
  const hsize_t count = nx[0];
  bool fits = nx[1] == 1 && nc[1] == 1 && ns[1] == 1 && nc[0] == count && ns[0] > 1 && start[0] == 0 &&
              start[ns[0] - 1] == (double)count;
  for (hsize_t i = 1; fits && i < ns[0]; i++) {
    fits = start[i] >= start[i - 1] && start[i] == floor(start[i]);
  }
  if (!fits) {
    err = wrong(r, "'data', 'indices' and 'indptr' are not a matrix in compressed rows");
    goto done;
  }
  out->rows = (int)ns[0] - 1;
  MBG_TRY(columns_of(r, group, out->rows, &out->cols));
  MBG_TRY(take(r, out));
  for (int i = 0; i < out->rows; i++) {
    for (size_t k = (size_t)start[i]; k < (size_t)start[i + 1]; k++) {
      if (column[k] != floor(column[k]) || column[k] < 0 || column[k] >= out->cols) {
        err = wrong(r, "a number of 'indices' is no column, counted from 0");
        goto done;
      }
      out->at[(size_t)i + (size_t)out->rows * (size_t)column[k]] += x[k];
    }
  }
done:
  free(x);
  free(column);
  free(start);
  return err;
}

static int read_matrix(const reader *r, mbg__matrix *out) {
  H5O_info_t info;
  if (!is_inside(r->file, r->name) || H5Oget_info_by_name(r->file, r->name, &info, H5P_DEFAULT) < 0) {
    return wrong(r, "the file has no such dataset of its own");
  }
  if (info.type == H5O_TYPE_DATASET) {
    return dense(r, out);
  }
  if (info.type != H5O_TYPE_GROUP) {
    return wrong(r, "expected a dataset, or a group with 'data', 'indices', 'indptr'");
  }
  const hid_t group = H5Gopen2(r->file, r->name, H5P_DEFAULT);
  const int err = group < 0 ? wrong(r, "the group cannot be opened") : compressed(r, group, out);
  H5Gclose(group);
  return err;
}

/* The file is read as a whole, with the checks of every data file, and opened in memory. */
static hid_t open_image(char *bytes, size_t length) {
  const hid_t list = H5Pcreate(H5P_FILE_ACCESS);
  hid_t file = H5I_INVALID_HID;
  if (H5Pset_fapl_core(list, 65536, false) >= 0 && H5Pset_file_image(list, bytes, length) >= 0) {
    file = H5Fopen("memory", H5F_ACC_RDONLY, list);
  }
  H5Pclose(list);
  return file;
}

int mbg__hdf5_matrix(mbg_context *ctx, mbg__arena *arena, const char *path, const char *dataset, mbg__matrix *out) {
  char *bytes;
  size_t length;
  *out = (mbg__matrix){0};
  int err = mbg__file_read_data(ctx, arena, path, &bytes, &length);
  if (err < 0) {
    return err;
  }
  H5E_auto2_t report;
  void *data;
  (void)H5Eget_auto2(H5E_DEFAULT, &report, &data);
  (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* its own messages would go to the terminal */
  (void)H5PLset_loading_state(0);
  const reader r = {ctx, arena, path, dataset, open_image(bytes, length)};
  if (r.file < 0) {
    err = mbg__fail(ctx, MBG_ERROR_INPUT, "%s: this is no HDF5 file, or it is damaged", path);
  } else {
    err = read_matrix(&r, out);
    H5Fclose(r.file);
  }
  (void)H5Eset_auto2(H5E_DEFAULT, report, data);
  return err;
}

#else
int mbg__hdf5_matrix(mbg_context *ctx, mbg__arena *arena, const char *path, const char *dataset, mbg__matrix *out) {
  (void)arena;
  *out = (mbg__matrix){0};
  return mbg__fail(ctx, MBG_ERROR_UNSUPPORTED,
                   "%s: %s: this build of mbgrad reads no HDF5 files; give Matrix Market and CSV files", path, dataset);
}
#endif
