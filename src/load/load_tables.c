/* Tables, controls and data: numbers in arrays and in CSV files. */
#include "io/csv.h"
#include "io/file.h"
#include "load/load.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------- arrays and columns */

int mbg__item_count(mbg__item *item, const mbg__json *json, const char *label, int *out) {
  if (json->kind != MBG__JSON_NUMBER) {
    return mbg__item_wrong(item, json, label, "an integer");
  }
  if (!(json->number >= 1 && json->number <= MBG__LOAD_ELEMENTS_MAX) || json->number != floor(json->number)) {
    return mbg__item_bad(item, json, "%s must be an integer from 1 to %d, is %s", label, MBG__LOAD_ELEMENTS_MAX,
                         json->text);
  }
  *out = (int)json->number;
  return MBG_OK;
}

int mbg__item_plains(mbg__item *item, const mbg__json *json, const char *label, double **out, int *count) {
  int err = MBG_OK, n = 0;
  const mbg__json *entry;
  *out = NULL;
  *count = 0;
  MBG_TRY(mbg__item_array(item, json, label, -1, &entry));
  if (json->kind != MBG__JSON_ARRAY) {
    return MBG_OK;
  }
  double *x = MBG_TAKE(&item->L->temp, double, json->count);
  MBG_TRY(mbg__arena_check(item->L->ctx, &item->L->temp));
  for (; entry; entry = entry->next) {
    if (entry->kind != MBG__JSON_NUMBER) {
      return mbg__item_bad(item, entry, "%s[%d]: expected a plain number, found %s", label, n,
                           mbg__json_kind_name(entry->kind));
    }
    x[n++] = entry->number;
  }
  *out = x;
  *count = n;
done:
  return err;
}

struct mbg__data_file {
  const char *path;
  bool outside; /* of the folder of the model: nothing of it is quoted */
  mbg__csv csv;
};

int mbg__item_data_open(mbg__item *item, const mbg__json *file, mbg__data_file **out) {
  mbg__loader *L = item->L;
  const char *name = NULL;
  *out = NULL;
  const int err = mbg__item_text(item, file, file->key, &name);
  if (err < 0 || !name) {
    return err;
  }
  mbg__data_file *data = MBG_TAKE(&L->temp, mbg__data_file, 1);
  const char *path = mbg__path_beside(&L->temp, item->source->base, name);
  if (mbg__arena_check(L->ctx, &L->temp) < 0) {
    return MBG_ERROR_MEMORY;
  }
  data->path = path;
  data->outside = mbg__path_outside(name);
  bool yes;
  const int stop = mbg__item_readable(item, file, path, &yes);
  if (stop < 0 || !yes) {
    return stop;
  }
  const int mark = mbg__message_mark(L->ctx), status = mbg__csv_read(L->ctx, &L->temp, path, &data->csv);
  if (status == MBG_ERROR_INPUT) {
    mbg__item_hide(item, name, path, mark);
  }
  if (status < 0) {
    /* the reader has reported the error in the file; this message names the element that uses it */
    const int filed = mbg__item_filed(item, status);
    return filed < 0 ? filed : mbg__item_bad(item, file, "cannot use the data of '%s'", name);
  }
  *out = data;
  return MBG_OK;
}

static int find_column(mbg__item *item, const mbg__data_file *data, const mbg__json *json, const char *label,
                       int *column) {
  const char *name = NULL;
  char hint[MBG__HINT_SIZE];
  const int err = mbg__item_text(item, json, label, &name);
  if (err < 0 || !name) {
    return err;
  }
  *column = mbg__csv_find(&data->csv, name);
  if (*column >= 0) {
    return MBG_OK;
  }
  return mbg__item_bad(item, json, "'%s' has no column '%s'%s", data->path, name,
                       mbg__hint(hint, data->outside ? NULL : mbg__near(name, data->csv.names, data->csv.ncolumns)));
}

int mbg__item_data_cells(mbg__item *item, mbg__data_file *data, const mbg__json *at, const mbg__json *json,
                         const char *label, int column, mbg__data_cells *out) {
  int err = MBG_OK;
  *out = (mbg__data_cells){.path = data->path, .count = data->csv.nrows, .lines = data->csv.lines};
  if (json) {
    column = -1;
    MBG_TRY(find_column(item, data, json, label, &column));
  } else if (column >= data->csv.ncolumns) {
    MBG_TRY(mbg__item_bad(item, at, "'%s' has only %d column; column %d with the %s is missing", data->path,
                          data->csv.ncolumns, column + 1, label));
    column = -1;
  }
  if (column >= 0) {
    out->name = data->outside && !json ? label : data->csv.names[column];
    out->values = mbg__csv_column(&data->csv, column);
  }
done:
  return err;
}

int mbg__item_data_column(mbg__item *item, mbg__data_file *data, const mbg__json *at, const mbg__json *json,
                          const char *label, int column, const double **out, int *count) {
  mbg__data_cells cells;
  const int err = mbg__item_data_cells(item, data, at, json, label, column, &cells);
  *out = NULL;
  *count = cells.count;
  for (int i = 0; err == MBG_OK && cells.values && i < cells.count; i++) {
    if (!isfinite(cells.values[i])) {
      return mbg__item_bad(item, at, "'%s', column '%s': the number in row %d is missing", cells.path, cells.name,
                           i + 1);
    }
  }
  *out = cells.values;
  return err;
}

/* ---------------------------------------------------------------------- tables */

static int table_data(mbg__item *item, const double **x, const double **y, int *n) {
  int err = MBG_OK, nx = 0, ny = 0;
  const mbg__json *jx = mbg__json_member(item->json, "x"), *jy = mbg__json_member(item->json, "y");
  const mbg__json *other = mbg__run_file(item->L, item->name, false);
  const mbg__json *file = other ? other : mbg__json_member(item->json, "file");
  *x = *y = NULL;
  if (!jx || !jy) {
    return MBG_OK;
  }
  if (file) {
    mbg__data_file *data;
    MBG_TRY(mbg__item_data_open(item, file, &data));
    if (data) {
      MBG_TRY(mbg__item_data_column(item, data, file, jx, "x", 0, x, &nx));
      MBG_TRY(mbg__item_data_column(item, data, file, jy, "y", 1, y, &ny));
    }
  } else {
    double *vx, *vy;
    MBG_TRY(mbg__item_plains(item, jx, "x", &vx, &nx));
    MBG_TRY(mbg__item_plains(item, jy, "y", &vy, &ny));
    *x = vx;
    *y = vy;
  }
  if (*x && *y && nx != ny) {
    MBG_TRY(mbg__item_bad(item, jy, "x has %d entries, y has %d", nx, ny));
  }
  *n = nx;
done:
  return err;
}

/* the values of a grid of n times m points */
typedef struct {
  int n, m;
  double *x, *y, *z;
} grid;

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* the different values among n, increasing; returns their number */
static int distinct(int n, const double *all, double *out) {
  int count = 0;
  memcpy(out, all, (size_t)n * sizeof(*all));
  qsort(out, (size_t)n, sizeof(*out), by_value);
  for (int i = 0; i < n; i++) {
    if (count == 0 || out[i] != out[count - 1]) {
      out[count++] = out[i];
    }
  }
  return count;
}

static int place_of(double value, const double *list, int n) {
  const double *found = bsearch(&value, list, (size_t)n, sizeof(*list), by_value);
  return (int)(found - list);
}

/* rows x, y, z of a file, in any order: every pair of an x and a y once */
static int grid_from_rows(mbg__item *item, const mbg__json *file, int rows, const double *const column[3], grid *g) {
  mbg__loader *L = item->L;
  g->x = MBG_TAKE(&L->temp, double, rows);
  g->y = MBG_TAKE(&L->temp, double, rows);
  g->z = MBG_TAKE(&L->temp, double, rows);
  bool *given = MBG_TAKE(&L->temp, bool, rows);
  if (mbg__arena_check(L->ctx, &L->temp) < 0) {
    return MBG_ERROR_MEMORY;
  }
  g->n = distinct(rows, column[0], g->x);
  g->m = distinct(rows, column[1], g->y);
  if ((long long)g->n * g->m != rows) {
    return mbg__item_bad(item, file, "%d values of x and %d of y need %lld rows, the file has %d", g->n, g->m,
                         (long long)g->n * g->m, rows);
  }
  for (int k = 0; k < rows; k++) {
    const int at = place_of(column[0][k], g->x, g->n) * g->m + place_of(column[1][k], g->y, g->m);
    if (given[at]) {
      return mbg__item_bad(item, file, "row %d: the point (%g, %g) is given twice", k + 1, column[0][k], column[1][k]);
    }
    given[at] = true;
    g->z[at] = column[2][k];
  }
  return MBG_OK;
}

static int grid_of_file(mbg__item *item, const mbg__json *file, const mbg__json *const json[3], grid *g) {
  static const char *const labels[] = {"x", "y", "z"};
  int err = MBG_OK, rows = 0;
  const double *column[3] = {NULL, NULL, NULL};
  mbg__data_file *data;
  MBG_TRY(mbg__item_data_open(item, file, &data));
  for (int k = 0; data && k < 3; k++) {
    MBG_TRY(mbg__item_data_column(item, data, file, json[k], labels[k], k, &column[k], &rows));
  }
  if (column[0] && column[1] && column[2] && !item->bad) {
    MBG_TRY(grid_from_rows(item, file, rows, column, g));
  }
done:
  return err;
}

/* x, y, and a row of z for each x */
static int grid_of_arrays(mbg__item *item, const mbg__json *const json[3], grid *g) {
  mbg__loader *L = item->L;
  int err = MBG_OK;
  const mbg__json *row = NULL;
  MBG_TRY(mbg__item_plains(item, json[0], "x", &g->x, &g->n));
  MBG_TRY(mbg__item_plains(item, json[1], "y", &g->y, &g->m));
  MBG_TRY(mbg__item_array(item, json[2], "z", item->bad ? -1 : g->n, &row));
  if (item->bad) {
    return MBG_OK;
  }
  g->z = MBG_TAKE(&L->temp, double, (size_t)g->n *(size_t)g->m);
  MBG_TRY(mbg__arena_check(L->ctx, &L->temp));
  for (int i = 0; row; i++, row = row->next) {
    char label[32];
    double *values;
    int count;
    mbg__format(label, sizeof(label), "z[%d]", i);
    MBG_TRY(mbg__item_plains(item, row, label, &values, &count));
    if (!item->bad && count != g->m) {
      MBG_TRY(mbg__item_bad(item, row, "%s must have %d entries, as many as y, not %d", label, g->m, count));
    }
    if (!item->bad && count > 0) {
      memcpy(g->z + (size_t)i * (size_t)g->m, values, (size_t)count * sizeof(*values));
    }
  }
done:
  return err;
}

/* a table of two arguments; *table stays NULL after an error in the file */
static int make_grid(mbg__item *item, int interpolation, int extrapolation, mbg__where *where, mbg__table **table) {
  int err = MBG_OK;
  mbg__loader *L = item->L;
  const mbg__json *const json[3] = {mbg__json_member(item->json, "x"), mbg__json_member(item->json, "y"),
                                    mbg__json_member(item->json, "z")};
  const mbg__json *other = mbg__run_file(L, item->name, false);
  const mbg__json *file = other ? other : mbg__json_member(item->json, "file");
  grid g = {0};
  if (interpolation == MBG__MONOTONE) {
    MBG_TRY(mbg__item_bad(item, mbg__json_member(item->json, "interpolation"),
                          "a table of two arguments is 'linear' or 'cubic', not 'monotone'"));
  }
  if (!json[0] || !json[1] || item->bad) {
    return MBG_OK;
  }
  MBG_TRY(file ? grid_of_file(item, file, json, &g) : grid_of_arrays(item, json, &g));
  if (!item->bad && g.z) {
    const int status = mbg__table_create_grid(L->ctx, L->arena, where, item->name, g.n, g.x, g.m, g.y, g.z,
                                              (mbg__interpolation)interpolation, (mbg__outside)extrapolation, table);
    MBG_TRY(status < 0 ? mbg__item_filed(item, status) : MBG_OK);
  }
done:
  return err;
}

static int make_table(mbg__item *item, int interpolation, int extrapolation, mbg__where *where, mbg__table **table) {
  int n = 0;
  const double *x, *y;
  const int err = table_data(item, &x, &y, &n);
  if (err < 0 || item->bad) {
    return err;
  }
  const int status = mbg__table_create(item->L->ctx, item->L->arena, where, item->name, n, x, y,
                                       (mbg__interpolation)interpolation, (mbg__outside)extrapolation, table);
  return status < 0 ? mbg__item_filed(item, status) : MBG_OK;
}

static int load_table(mbg__item *item, mbg__symbol *symbol) {
  int err = MBG_OK, interpolation = 0, extrapolation = 0;
  static const mbg__file_object keys[] = {MBG__KEYS_TABLE};
  mbg__loader *L = item->L;
  bool yes;
  MBG_TRY(mbg__item_object(item, item->json, NULL, &yes));
  if (!yes) {
    return MBG_OK;
  }
  MBG_TRY(mbg__item_keys(item, item->json, keys, 1, NULL, 0));
  MBG_TRY(mbg__item_choice(item, mbg__json_member(item->json, "interpolation"), "interpolation",
                           "linear cubic monotone", &interpolation));
  MBG_TRY(mbg__item_choice(item, mbg__json_member(item->json, "extrapolation"), "extrapolation", "error hold extend",
                           &extrapolation));
  mbg__table *table = NULL;
  mbg__where where = mbg__item_where_key(item, item->json);
  where.owner = NULL; /* the table names itself */
  MBG_TRY(mbg__json_member(item->json, "z") ? make_grid(item, interpolation, extrapolation, &where, &table)
                                            : make_table(item, interpolation, extrapolation, &where, &table));
  if (!table) {
    return MBG_OK;
  }
  where.owner = item->owner;
  MBG_TRY(MBG__ADD(L, L->tables, table));
  MBG_TRY(MBG__ADD(L, L->table_where, where));
  symbol->index = L->tables.count - 1;
done:
  return err;
}

int mbg__load_tables(mbg__loader *L) { return mbg__load_each(L, MBG__NAME_TABLE, load_table); }

/* ---------------------------------------------------------------------- controls */

static int time_number(mbg__item *item, const mbg__json *times, const char *key, double *out) {
  const mbg__json *json = mbg__json_member(times, key);
  if (json && json->kind != MBG__JSON_NUMBER) {
    return mbg__item_wrong(item, json, key, "a plain number");
  }
  *out = json ? json->number : 0;
  return MBG_OK;
}

/* {"from", "to", "count"} */
static int even_times(mbg__item *item, const mbg__json *json, double **out, int *count) {
  int err = MBG_OK, n = 1;
  static const mbg__file_object keys[] = {MBG__KEYS_TIMES};
  double from = 0, to = 0;
  MBG_TRY(mbg__item_keys(item, json, keys, 1, NULL, 0));
  MBG_TRY(time_number(item, json, "from", &from));
  MBG_TRY(time_number(item, json, "to", &to));
  if (mbg__json_member(json, "count")) {
    MBG_TRY(mbg__item_count(item, mbg__json_member(json, "count"), "count", &n));
  }
  if (item->bad) {
    return MBG_OK;
  }
  if (!(to > from) || n < 2) {
    return mbg__item_bad(item, json, "times: 'to' must be later than 'from', and 'count' must be at least 2");
  }
  double *t = MBG_TAKE(&item->L->temp, double, n);
  MBG_TRY(mbg__arena_check(item->L->ctx, &item->L->temp));
  for (int i = 0; i < n; i++) {
    t[i] = i == n - 1 ? to : from + (to - from) * i / (n - 1);
  }
  *out = t;
  *count = n;
done:
  return err;
}

/* the vector parameter that the string names, or NULL */
static const mbg__parameter *vector_named(mbg__item *item, const mbg__json *json) {
  if (json->kind != MBG__JSON_STRING) {
    return NULL;
  }
  const mbg__symbol *s = mbg__name_find(item->L, item->source, MBG__NAME_PARAMETER, json->text);
  if (!s || s->kind != MBG__NAME_PARAMETER || s->bad || s->set || !item->L->parameters.at[s->index].vector) {
    return NULL;
  }
  return &item->L->parameters.at[s->index];
}

/* sample i is entry i of a vector parameter */
static int vector_sample(mbg__item *item, const mbg__json *json, const mbg__parameter *p, int i, const char *key) {
  int index;
  mbg__loader *L = item->L;
  int *input = MBG_TAKE(L->arena, int, 1);
  if (!input) {
    return mbg__fail_memory(L->ctx);
  }
  *input = p->first + i;
  const mbg__formula formula = {.expr = L->identity, .input = input};
  const mbg__where where = mbg__item_where(item, json);
  return mbg__attribute_add(item, &formula, key, "", &where, &index);
}

/* samples as plain numbers of a file */
static int file_samples(mbg__item *item, const mbg__json *json, const double *value, int n) {
  const mbg__where where = mbg__item_where(item, json);
  char key[64];
  int err = MBG_OK, index;
  for (int i = 0; i < n; i++) {
    const mbg__formula formula = {.number = value[i]};
    mbg__format(key, sizeof(key), "values[%d]", i);
    MBG_TRY(mbg__attribute_add(item, &formula, key, "", &where, &index));
  }
done:
  return err;
}

static int control_samples(mbg__item *item, const mbg__json *json, int n) {
  int err = MBG_OK, index;
  const mbg__parameter *vector = vector_named(item, json);
  const mbg__json *entry = NULL;
  char key[64];
  if (vector && vector->count != n) {
    return mbg__item_bad(item, json, "values: '%s' has %d entries, but there are %d times", vector->name, vector->count,
                         n);
  }
  if (json->kind == MBG__JSON_ARRAY) {
    MBG_TRY(mbg__item_array(item, json, "values", n, &entry));
  }
  for (int i = 0; i < n && !item->bad; i++) {
    mbg__format(key, sizeof(key), "values[%d]", i);
    if (vector) {
      MBG_TRY(vector_sample(item, json, vector, i, key));
    } else {
      MBG_TRY(mbg__item_attribute(item, entry ? entry : json, key, "", 0, 1, &index));
    }
    entry = entry ? entry->next : NULL;
  }
done:
  return err;
}

/* second derivatives of a cubic control, attributes that follow from the samples */
static int control_curvatures(mbg__item *item, int control, int n) {
  mbg__loader *L = item->L;
  int err = MBG_OK, index;
  char key[64];
  const mbg__formula none = {0};
  const mbg__where where = mbg__item_where_key(item, item->json);
  const int first = L->controls.at[control].attr;
  for (int i = 0; i < n; i++) {
    mbg__format(key, sizeof(key), "curvature[%d]", i);
    MBG_TRY(mbg__attribute_add(item, &none, key, "", &where, &index));
    L->attributes.at[index].control = control;
  }
  for (int set = 0; set < 2; set++) {
    real *y = L->values[set].at + first;
    mbg__spline_curvature(L->controls.at[control].spline, y, y + n);
  }
done:
  return err;
}

/* times, and the samples too when they are in a file (else *value is NULL); *t is NULL after an error */
static int control_times(mbg__item *item, const double **t, const double **value, int *n) {
  int err = MBG_OK, count = 0;
  const mbg__json *times = mbg__json_member(item->json, "times"), *values = mbg__json_member(item->json, "values");
  const mbg__json *file = mbg__json_member(item->json, "file");
  double *own = NULL;
  *t = *value = NULL;
  if (!times || !values) {
    return MBG_OK;
  }
  if (file) {
    mbg__data_file *data;
    MBG_TRY(mbg__item_data_open(item, file, &data));
    if (data) {
      MBG_TRY(mbg__item_data_column(item, data, file, times, "times", 0, t, n));
      MBG_TRY(mbg__item_data_column(item, data, file, values, "values", 1, value, &count));
    }
    return MBG_OK;
  }
  if (times->kind == MBG__JSON_OBJECT) {
    MBG_TRY(even_times(item, times, &own, n));
  } else {
    MBG_TRY(mbg__item_plains(item, times, "times", &own, n));
  }
  *t = own;
done:
  return err;
}

static int load_control(mbg__item *item, mbg__symbol *symbol) {
  int err = MBG_OK, interpolation = 0, n = 0;
  static const mbg__file_object keys[] = {MBG__KEYS_CONTROL};
  mbg__loader *L = item->L;
  const double *t = NULL, *value = NULL;
  bool yes;
  MBG_TRY(mbg__item_object(item, item->json, NULL, &yes));
  if (!yes) {
    return MBG_OK;
  }
  MBG_TRY(mbg__item_keys(item, item->json, keys, 1, NULL, 0));
  MBG_TRY(mbg__item_choice(item, mbg__json_member(item->json, "interpolation"), "interpolation", "linear cubic",
                           &interpolation));
  const mbg__json *times = mbg__json_member(item->json, "times"), *values = mbg__json_member(item->json, "values");
  MBG_TRY(control_times(item, &t, &value, &n));
  if (item->bad || !t) {
    return MBG_OK;
  }
  mbg__spline *spline = NULL;
  const mbg__where where = mbg__item_where(item, times);
  const int status = mbg__spline_create(L->ctx, L->arena, &where, "times", n, t, (mbg__interpolation)interpolation,
                                        MBG__OUTSIDE_HOLD, &spline);
  if (status < 0) {
    return mbg__item_filed(item, status);
  }
  const mbg__control control = {item->name, spline, L->attributes.count, mbg__item_where_key(item, item->json)};
  MBG_TRY(MBG__ADD(L, L->controls, control));
  symbol->index = L->controls.count - 1;
  MBG_TRY(value ? file_samples(item, values, value, n) : control_samples(item, values, n));
  if (interpolation == MBG__CUBIC && !item->bad) {
    MBG_TRY(control_curvatures(item, symbol->index, n));
  }
done:
  return err;
}

int mbg__load_controls(mbg__loader *L) { return mbg__load_each(L, MBG__NAME_CONTROL, load_control); }

/* ---------------------------------------------------------------------- gravity */

int mbg__load_gravity(mbg__loader *L) {
  mbg__source *source = L->sources.at[0];
  const mbg__json *json = mbg__json_member(source->root, "gravity");
  mbg__item item;
  L->model->gravity = -1;
  if (!json) {
    return MBG_OK;
  }
  const int err = mbg__item_make(L, source, json, "gravity", &item);
  return err < 0 ? err : mbg__item_vector(&item, json, "gravity", "m/s^2", 0, NULL, &L->model->gravity);
}
