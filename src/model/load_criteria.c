/* Criteria: kinds, data, combinations and their order. */
#include "model/load.h"

#include <string.h>

static const char *const kind_keys[] = {[MBG__TERMINAL] = "terminal",
                                        [MBG__INTEGRAL] = "integral",
                                        [MBG__LEAST_SQUARES] = "least_squares",
                                        [MBG__SMOOTH_MAXIMUM] = "smooth_maximum",
                                        [MBG__PATH] = "path",
                                        [MBG__COMBINATION] = "value"};

/* the kind is the one key of the list that the object has */
static int find_kind(mbg__item *item, int *kind) {
  *kind = -1;
  for (int k = 0; k < MBG_COUNT(kind_keys); k++) {
    const mbg__json *json = mbg__json_member(item->json, kind_keys[k]);
    if (json && *kind >= 0) {
      return mbg__item_bad_key(item, json, "a criterion is either '%s' or '%s'", kind_keys[*kind], kind_keys[k]);
    }
    *kind = json ? k : *kind;
  }
  if (*kind >= 0) {
    return MBG_OK;
  }
  /* a misspelt kind is more likely than none */
  char hint[MBG__HINT_SIZE];
  for (const mbg__json *c = item->json->child; c; c = c->next) {
    const char *nearest = mbg__near(c->key, kind_keys, MBG_COUNT(kind_keys));
    if (nearest) {
      return mbg__item_bad_key(item, c, "unknown key '%s'%s", c->key, mbg__hint(hint, nearest));
    }
  }
  return mbg__item_bad_key(item, item->json,
                           "give one of 'terminal', 'integral', 'least_squares', 'smooth_maximum', 'path' and 'value'");
}

/* ---------------------------------------------------------------------- numbers */

/* A number that a criterion does not differentiate by. */
static int fixed_number(mbg__item *item, const char *key, double *value) {
  const mbg__json *json = mbg__json_member(item->json, key);
  bool varies;
  if (!json) {
    return MBG_OK;
  }
  const int err = mbg__item_fixed(item, json, key, value, &varies);
  if (err < 0 || !varies) {
    return err;
  }
  return mbg__item_bad(item, json, "%s is not differentiated and must not depend on parameters", key);
}

static int positive_number(mbg__item *item, const char *key, double *value) {
  const mbg__json *json = mbg__json_member(item->json, key);
  const int err = fixed_number(item, key, value);
  if (err < 0 || !json || isnan(*value) || *value > 0) {
    return err;
  }
  return mbg__item_bad(item, json, "%s must be positive, is %g", key, *value);
}

static int path_numbers(mbg__item *item, mbg__criterion *c) {
  int err = MBG_OK;
  MBG_TRY(positive_number(item, "every", &c->every));
  MBG_TRY(fixed_number(item, "min", &c->lower));
  MBG_TRY(fixed_number(item, "max", &c->upper));
  if (c->lower > c->upper) {
    MBG_TRY(
        mbg__item_bad(item, mbg__json_member(item->json, "min"), "min %g is greater than max %g", c->lower, c->upper));
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- least squares */

static int inline_data(mbg__item *item, const mbg__json *data, const double **time, const double **value, int *nt,
                       int *nv) {
  int err = MBG_OK;
  static const mbg__file_object keys[] = {MBG__KEYS_DATA};
  const mbg__json *jt = mbg__json_member(data, "time"), *jv = mbg__json_member(data, "value");
  double *t = NULL, *v = NULL;
  MBG_TRY(mbg__item_keys(item, data, keys, 1, NULL, 0));
  if (jt) {
    MBG_TRY(mbg__item_plains(item, jt, "time", &t, nt));
  }
  if (jv) {
    MBG_TRY(mbg__item_plains(item, jv, "value", &v, nv));
  }
  *time = t;
  *value = v;
done:
  return err;
}

static int file_data(mbg__item *item, const mbg__json *data, const double **time, const double **value, int *nt,
                     int *nv) {
  int err = MBG_OK;
  mbg__data_file *file;
  MBG_TRY(mbg__item_data_open(item, data, &file));
  if (!file) {
    return MBG_OK;
  }
  MBG_TRY(mbg__item_data_column(item, file, data, mbg__json_member(item->json, "time"), "time", 0, time, nt));
  MBG_TRY(mbg__item_data_column(item, file, data, mbg__json_member(item->json, "column"), "column", 1, value, nv));
done:
  return err;
}

static int check_samples(mbg__item *item, const mbg__json *data, const double *time, int nt, int nv) {
  if (nt != nv) {
    return mbg__item_bad(item, data, "data: there are %d times and %d values", nt, nv);
  }
  if (nt == 0) {
    return mbg__item_bad(item, data, "data: there are no samples");
  }
  for (int i = 1; i < nt; i++) {
    if (!(time[i] > time[i - 1])) {
      return mbg__item_bad(item, data, "data: times must increase, but %g follows %g (sample %d)", time[i], time[i - 1],
                           i + 1);
    }
  }
  return MBG_OK;
}

static int sample_weight(mbg__item *item, double *weight) {
  int err = MBG_OK;
  double sigma = 1;
  const mbg__json *js = mbg__json_member(item->json, "sigma"), *jw = mbg__json_member(item->json, "weight");
  *weight = 1;
  if (js && jw) {
    return mbg__item_bad_key(item, jw, "give 'sigma' or 'weight', not both");
  }
  MBG_TRY(positive_number(item, "sigma", &sigma));
  MBG_TRY(positive_number(item, "weight", weight));
  if (js) {
    *weight = 1 / (sigma * sigma);
  }
done:
  return err;
}

static int least_squares(mbg__item *item, mbg__criterion *c) {
  int err = MBG_OK, nt = 0, nv = 0;
  mbg__loader *L = item->L;
  const mbg__json *data = mbg__json_member(item->json, "data");
  const double *time = NULL, *value = NULL;
  double weight;
  MBG_TRY(sample_weight(item, &weight));
  if (!data) {
    return MBG_OK;
  }
  if (data->kind == MBG__JSON_OBJECT) {
    MBG_TRY(inline_data(item, data, &time, &value, &nt, &nv));
  } else {
    MBG_TRY(file_data(item, data, &time, &value, &nt, &nv));
  }
  if (!time || !value) {
    return MBG_OK;
  }
  MBG_TRY(check_samples(item, data, time, nt, nv));
  if (item->bad) {
    return MBG_OK;
  }
  double *copy = MBG_TAKE(L->arena, double, 3 * (size_t)nt);
  if (!copy) {
    return mbg__fail_memory(L->ctx);
  }
  memcpy(copy, time, (size_t)nt * sizeof(double));
  memcpy(copy + nt, value, (size_t)nt * sizeof(double));
  for (int i = 0; i < nt; i++) {
    copy[2 * nt + i] = weight;
  }
  c->nsample = nt;
  c->time = copy;
  c->value = copy + nt;
  c->weight = copy + 2 * nt;
done:
  return err;
}

/* ---------------------------------------------------------------------- reading */

static int combination(mbg__item *item, mbg__criterion *c) {
  static const mbg__function_rule rule = {.key = "value", .unit = "", .uses = MBG__USES_CRITERIA, .sign = 1};
  mbg__fn fn;
  const int err = mbg__item_function_make(item, mbg__json_member(item->json, "value"), &rule, &fn);
  c->expr = fn.expr;
  c->ninput = fn.ninput;
  c->input = fn.input;
  return err;
}

static int load_criterion(mbg__item *item, mbg__criterion *c) {
  int err = MBG_OK, kind;
  bool yes;
  *c = (mbg__criterion){.name = item->name, .signal = -1, .lower = -INFINITY, .upper = INFINITY};
  c->where = mbg__item_where_key(item, item->json);
  MBG_TRY(mbg__item_object(item, item->json, NULL, &yes));
  if (!yes) {
    return MBG_OK;
  }
  MBG_TRY(find_kind(item, &kind));
  if (kind < 0 || item->bad) {
    return MBG_OK;
  }
  const mbg__file_object keys[] = {MBG__KEYS_CRITERION, (mbg__file_object)(MBG__KEYS_TERMINAL + kind)};
  c->kind = (mbg__criterion_kind)kind;
  MBG_TRY(mbg__item_keys(item, item->json, keys, 2, NULL, 0));
  if (kind == MBG__COMBINATION) {
    return combination(item, c);
  }
  MBG_TRY(mbg__item_signal(item, mbg__json_member(item->json, kind_keys[kind]), kind_keys[kind], &c->signal));
  if (kind == MBG__SMOOTH_MAXIMUM) {
    MBG_TRY(positive_number(item, "sharpness", &c->sharpness));
  } else if (kind == MBG__PATH) {
    MBG_TRY(path_numbers(item, c));
  } else if (kind == MBG__LEAST_SQUARES) {
    MBG_TRY(least_squares(item, c));
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- order */

static int criterion_deps(mbg__loader *L, int **start, int **dep) {
  const int n = L->criteria.count;
  int total = 0, k = 0;
  for (int i = 0; i < n; i++) {
    total += L->criteria.at[i].ninput;
  }
  *start = MBG_TAKE(&L->temp, int, n + 1);
  *dep = MBG_TAKE(&L->temp, int, total);
  if (!*start || !*dep) {
    return mbg__fail_memory(L->ctx);
  }
  for (int i = 0; i < n; i++) {
    const mbg__criterion *c = &L->criteria.at[i];
    (*start)[i] = k;
    for (int j = 0; !L->names[MBG__NAME_CRITERION].at[i]->bad && j < c->ninput; j++) {
      if (c->input[j].role == MBG__ROLE_SIGNAL) {
        (*dep)[k++] = c->input[j].index;
      }
    }
  }
  (*start)[n] = k;
  return MBG_OK;
}

static int order_criteria(mbg__loader *L, int *order) {
  int err = MBG_OK;
  int *next = MBG_TAKE(&L->temp, int, L->criteria.count);
  if (!next) {
    return mbg__fail_memory(L->ctx);
  }
  for (int cycle = 0; cycle >= 0;) {
    int *start, *dep;
    MBG_TRY(criterion_deps(L, &start, &dep));
    MBG_TRY(mbg__load_order(L, L->criteria.count, start, dep, order, &cycle, next));
    if (cycle >= 0) {
      MBG_TRY(mbg__load_cycle(L, L->names[MBG__NAME_CRITERION].at, cycle, next, "criteria"));
    }
  }
done:
  return err;
}

static int permute_criteria(mbg__loader *L, const int *order) {
  const int n = L->criteria.count;
  int *place = MBG_TAKE(&L->temp, int, n);
  mbg__criterion *sorted = MBG_TAKE(&L->temp, mbg__criterion, n);
  if (!place || !sorted) {
    return mbg__fail_memory(L->ctx);
  }
  for (int k = 0; k < n; k++) {
    place[order[k]] = k;
    sorted[k] = L->criteria.at[order[k]];
    L->names[MBG__NAME_CRITERION].at[order[k]]->index = k;
  }
  for (int k = 0; k < n; k++) {
    mbg__input *input = (mbg__input *)sorted[k].input; /* made by the loader, shared with nobody yet */
    for (int j = 0; j < sorted[k].ninput; j++) {
      if (input[j].role == MBG__ROLE_SIGNAL) {
        input[j].index = place[input[j].index];
      }
    }
    L->criteria.at[k] = sorted[k];
  }
  return MBG_OK;
}

/* a path has many values, so that it cannot be one of a sum */
static int check_paths(mbg__loader *L, mbg__symbol *symbol) {
  int err = MBG_OK;
  const mbg__criterion *c = &L->criteria.at[symbol->index];
  mbg__item item;
  MBG_TRY(mbg__item_open(L, symbol, &item));
  for (int j = 0; !symbol->bad && j < c->ninput; j++) {
    const mbg__criterion *other = c->input[j].role == MBG__ROLE_SIGNAL ? &L->criteria.at[c->input[j].index] : NULL;
    if (other && other->kind == MBG__PATH) {
      MBG_TRY(mbg__item_bad(&item, mbg__json_member(item.json, "value"),
                            "value: criterion '%s' is a path and has no single value", other->name));
    }
  }
done:
  return err;
}

int mbg__load_criteria(mbg__loader *L) {
  int err = MBG_OK;
  for (int i = 0; i < L->names[MBG__NAME_CRITERION].count; i++) {
    mbg__symbol *s = L->names[MBG__NAME_CRITERION].at[i];
    mbg__item item;
    mbg__criterion criterion;
    MBG_TRY(mbg__item_open(L, s, &item));
    MBG_TRY(load_criterion(&item, &criterion));
    mbg__criterion *place = MBG__PUSH(L, L->criteria);
    if (!place) {
      return mbg__fail_memory(L->ctx);
    }
    *place = criterion;
    s->bad = item.bad;
  }
  int *order = MBG_TAKE(&L->temp, int, L->criteria.count);
  if (!order) {
    return mbg__fail_memory(L->ctx);
  }
  MBG_TRY(order_criteria(L, order));
  MBG_TRY(permute_criteria(L, order));
  for (int i = 0; i < L->names[MBG__NAME_CRITERION].count; i++) {
    MBG_TRY(check_paths(L, L->names[MBG__NAME_CRITERION].at[i]));
  }
done:
  return err;
}
