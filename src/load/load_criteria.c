/* Criteria: kinds, data, combinations and their order. */
#include "load/load.h"

#include <string.h>

static const char *const kind_keys[] = {[MBG__TERMINAL] = "terminal",
                                        [MBG__INTEGRAL] = "integral",
                                        [MBG__LEAST_SQUARES] = "least_squares",
                                        [MBG__SMOOTH_MAXIMUM] = "smooth_maximum",
                                        [MBG__PATH] = "path",
                                        [MBG__SUM] = "sum",
                                        [MBG__COMBINATION] = "value"};

/* ---------------------------------------------------------------------- keys */

static const mbg__file_key terminal_keys[] = {
    {"terminal", MBG__SHAPE_NUMBER, true, NULL, "signal or expression of signals at the end, or at an event"},
    {"at", MBG__SHAPE_NAME, false, NULL, "event whose last firing takes the place of the end"},
    {"firing", MBG__SHAPE_COUNT, false, NULL, "its firing, from 1, instead of the last"},
    {"side", MBG__SHAPE_CHOICE, false, "after before", "after or before the event acts"},
};
static const mbg__file_key integral_keys[] = {
    {"integral", MBG__SHAPE_NUMBER, true, NULL, "signal or expression of signals, integrated over time"},
};
static const mbg__file_key least_squares_keys[] = {
    {"least_squares", MBG__SHAPE_NUMBER, true, NULL, "signal or expression of signals, compared with data"},
    {"data", MBG__SHAPE_DATA, false, NULL, "CSV file beside the model, or the samples themselves; or given by runs"},
    {"time", MBG__SHAPE_NAME, false, NULL, "column of the times; the first when absent"},
    {"column", MBG__SHAPE_NAME, false, NULL, "column of the values; the second when absent"},
    {"sigma", MBG__SHAPE_NUMBER, false, NULL, "standard deviation: weight 1/sigma^2"},
    {"sigma_column", MBG__SHAPE_NAME, false, NULL, "column of the standard deviations, instead of sigma"},
    {"weight", MBG__SHAPE_NUMBER, false, NULL, "weight of each sample, instead of sigma; 1 when absent"},
};
static const mbg__file_key smooth_maximum_keys[] = {
    {"smooth_maximum", MBG__SHAPE_NUMBER, true, NULL, "signal or expression of signals"},
    {"sharpness", MBG__SHAPE_NUMBER, true, NULL, "k of (1/k) ln((1/T) int exp(k y) dt)"},
};
static const mbg__file_key path_keys[] = {
    {"path", MBG__SHAPE_NUMBER, true, NULL, "signal or expression of signals"},
    {"every", MBG__SHAPE_NUMBER, false, NULL, "spacing in time; every step when absent"},
    {"min", MBG__SHAPE_NUMBER, false, NULL, "lower limit"},
    {"max", MBG__SHAPE_NUMBER, false, NULL, "upper limit"},
};
static const mbg__file_key sum_keys[] = {
    {"sum", MBG__SHAPE_NUMBER, true, NULL, "signal or expression of signals, added over all firings of an event"},
    {"at", MBG__SHAPE_NAME, true, NULL, "event"},
    {"side", MBG__SHAPE_CHOICE, false, "after before", "after or before the event acts"},
};
static const mbg__file_key combination_keys[] = {
    {"value", MBG__SHAPE_NUMBER, true, NULL, "expression of other criteria and names"},
};

mbg__file_keys mbg__criterion_keys(int kind) {
#define KEYS(list)                                                                                                     \
  { list, MBG_COUNT(list) }
  static const mbg__file_keys tables[] = {
      [MBG__TERMINAL] = KEYS(terminal_keys),
      [MBG__INTEGRAL] = KEYS(integral_keys),
      [MBG__LEAST_SQUARES] = KEYS(least_squares_keys),
      [MBG__SMOOTH_MAXIMUM] = KEYS(smooth_maximum_keys),
      [MBG__PATH] = KEYS(path_keys),
      [MBG__SUM] = KEYS(sum_keys),
      [MBG__COMBINATION] = KEYS(combination_keys),
  };
#undef KEYS
  return tables[kind];
}

/* the kind is the one key of the list that the object has */
static int find_kind(mbg__item *item, int *kind) {
  *kind = -1;
  for (int k = 0; k < MBG_COUNT(kind_keys); k++) {
    const mbg__json *json = mbg__json_member(item->json, kind_keys[k]);
    if (json && *kind >= 0) {
      return mbg__item_bad_key(item, json, "a criterion has one kind: '%s' or '%s', not both", kind_keys[*kind],
                               kind_keys[k]);
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
  return mbg__item_bad_key(
      item, item->json,
      "give one of 'terminal', 'integral', 'least_squares', 'smooth_maximum', 'path', 'sum' and 'value'");
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
  return mbg__item_bad(item, json, "%s must not depend on parameters: it is not differentiated", key);
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

/* Samples as they stand in the file. */
typedef struct {
  const mbg__json *at;
  int count;
  const double *time, *value, *sigma; /* value NaN: missing; sigma NULL: none */
  const int *lines;                   /* of a CSV file, else NULL */
  const char *path;
  const char *column;
} samples;

static int inline_data(mbg__item *item, const mbg__json *data, samples *s) {
  int err = MBG_OK, nt = 0, nv = 0;
  static const mbg__file_object keys[] = {MBG__KEYS_DATA};
  const mbg__json *jt = mbg__json_member(data, "time"), *jv = mbg__json_member(data, "value");
  double *t = NULL, *v = NULL;
  MBG_TRY(mbg__item_keys(item, data, keys, 1, NULL, 0));
  if (mbg__json_member(item->json, "sigma_column")) {
    MBG_TRY(
        mbg__item_bad_key(item, mbg__json_member(item->json, "sigma_column"), "'sigma_column' requires a data file"));
  }
  if (jt) {
    MBG_TRY(mbg__item_plains(item, jt, "time", &t, &nt));
  }
  if (jv) {
    MBG_TRY(mbg__item_plains(item, jv, "value", &v, &nv));
  }
  if (t && v && nt != nv) {
    return mbg__item_bad(item, data, "data: there are %d times and %d values", nt, nv);
  }
  *s = (samples){.at = data, .count = nt, .time = t, .value = v};
done:
  return err;
}

static int file_data(mbg__item *item, const mbg__json *data, samples *s) {
  int err = MBG_OK;
  mbg__data_file *file;
  mbg__data_cells time, value, sigma = {0};
  const mbg__json *js = mbg__json_member(item->json, "sigma_column");
  MBG_TRY(mbg__item_data_open(item, data, &file));
  if (!file) {
    return MBG_OK;
  }
  MBG_TRY(mbg__item_data_cells(item, file, data, mbg__json_member(item->json, "time"), "time", 0, &time));
  MBG_TRY(mbg__item_data_cells(item, file, data, mbg__json_member(item->json, "column"), "column", 1, &value));
  if (js) {
    MBG_TRY(mbg__item_data_cells(item, file, data, js, "sigma_column", 2, &sigma));
  }
  *s = (samples){data, time.count, time.values, value.values, sigma.values, time.lines, time.path, value.name};
done:
  return err;
}

static int check_line(mbg__item *item, const samples *s, int i) {
  if (s->lines && isnan(s->time[i])) {
    return mbg__item_bad(item, s->at, "'%s', line %d: the time is missing", s->path, s->lines[i]);
  }
  if (i > 0 && !(s->time[i] > s->time[i - 1]) && s->lines) {
    return mbg__item_bad(item, s->at, "'%s', line %d: times must increase, but %g follows %g", s->path, s->lines[i],
                         s->time[i], s->time[i - 1]);
  }
  if (i > 0 && !(s->time[i] > s->time[i - 1])) {
    return mbg__item_bad(item, s->at, "data: times must increase, but %g follows %g (sample %d)", s->time[i],
                         s->time[i - 1], i + 1);
  }
  if (s->sigma && !isnan(s->value[i]) && !(s->sigma[i] > 0)) {
    return mbg__item_bad(item, s->at, "'%s', line %d: the standard deviation must be positive, is %g", s->path,
                         s->lines[i], s->sigma[i]);
  }
  return MBG_OK;
}

/* times increase; at most half of the values are missing */
static int check_samples(mbg__item *item, const samples *s, int *missing) {
  *missing = 0;
  if (s->count == 0) {
    return mbg__item_bad(item, s->at, "data: there are no samples");
  }
  for (int i = 0; i < s->count && !item->bad; i++) {
    const int err = check_line(item, s, i);
    if (err < 0) {
      return err;
    }
    *missing += isnan(s->value[i]);
  }
  if (!item->bad && 2 * *missing > s->count) {
    return mbg__item_bad(item, s->at, "'%s', column '%s': %d of %d rows have no number; at most half may be missing",
                         s->path, s->column, *missing, s->count);
  }
  return MBG_OK;
}

/* one of sigma, sigma_column and weight */
static int sample_weight(mbg__item *item, double *weight, bool *sigma) {
  int err = MBG_OK;
  double deviation = 1;
  static const char *const keys[] = {"sigma", "sigma_column", "weight"};
  const char *given = NULL;
  for (int k = 0; k < MBG_COUNT(keys); k++) {
    const mbg__json *json = mbg__json_member(item->json, keys[k]);
    if (json && given) {
      return mbg__item_bad_key(item, json, "give '%s' or '%s', not both", given, keys[k]);
    }
    given = json ? keys[k] : given;
  }
  *weight = 1;
  *sigma = given && given != keys[2];
  MBG_TRY(positive_number(item, "sigma", &deviation));
  MBG_TRY(positive_number(item, "weight", weight));
  if (*sigma) {
    *weight = 1 / (deviation * deviation);
  }
done:
  return err;
}

/* the samples that have a value */
static int keep_samples(mbg__item *item, const samples *s, double weight, mbg__criterion *c) {
  mbg__loader *L = item->L;
  const int n = s->count - c->nmissing;
  double *copy = MBG_TAKE(L->arena, double, 3 * (size_t)n);
  if (!copy) {
    return mbg__fail_memory(L->ctx);
  }
  for (int i = 0; i < s->count; i++) {
    if (!isnan(s->value[i])) {
      copy[c->nsample] = s->time[i];
      copy[n + c->nsample] = s->value[i];
      copy[2 * n + c->nsample++] = s->sigma ? 1 / (s->sigma[i] * s->sigma[i]) : weight;
    }
  }
  c->time = copy;
  c->value = copy + n;
  c->weight = copy + 2 * n;
  return MBG_OK;
}

int mbg__item_samples(mbg__item *item, mbg__criterion *c) {
  int err = MBG_OK;
  const mbg__json *other = mbg__run_file(item->L, item->name, true);
  const mbg__json *data = other ? other : mbg__json_member(item->json, "data");
  samples s = {0};
  double weight;
  MBG_TRY(sample_weight(item, &weight, &c->sigma));
  if (!data) {
    return mbg__item_missing(item, item->json, "data");
  }
  if (data->kind == MBG__JSON_OBJECT) {
    MBG_TRY(inline_data(item, data, &s));
  } else {
    MBG_TRY(file_data(item, data, &s));
  }
  if (!s.time || !s.value || item->bad) {
    return MBG_OK;
  }
  MBG_TRY(check_samples(item, &s, &c->nmissing));
  if (!item->bad) {
    MBG_TRY(keep_samples(item, &s, weight, c));
  }
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

/* the event at which a value is taken */
static int at_event(mbg__item *item, mbg__criterion *c) {
  int err = MBG_OK, side = 0;
  const mbg__json *at = mbg__json_member(item->json, "at"), *firing = mbg__json_member(item->json, "firing");
  const mbg__json *other = firing ? firing : mbg__json_member(item->json, "side");
  mbg__symbol *event;
  if (!at) {
    return other ? mbg__item_bad_key(item, other, "'%s' requires 'at', the name of an event", other->key) : MBG_OK;
  }
  MBG_TRY(mbg__item_reference(item, at, "at", MBG__NAME_EVENT, &event));
  c->event = event ? event->index : -1;
  MBG_TRY(firing ? mbg__item_count(item, firing, "firing", &c->firing) : MBG_OK);
  MBG_TRY(mbg__item_choice(item, mbg__json_member(item->json, "side"), "side", "after before", &side));
  c->before = side == 1;
done:
  return err;
}

static int load_criterion(mbg__item *item, mbg__criterion *c) {
  int err = MBG_OK, kind;
  bool yes;
  *c = (mbg__criterion){.name = item->name, .signal = -1, .event = -1, .lower = -INFINITY, .upper = INFINITY};
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
  if (kind == MBG__TERMINAL || kind == MBG__SUM) {
    MBG_TRY(at_event(item, c));
  } else if (kind == MBG__SMOOTH_MAXIMUM) {
    MBG_TRY(positive_number(item, "sharpness", &c->sharpness));
  } else if (kind == MBG__PATH) {
    MBG_TRY(path_numbers(item, c));
  } else if (kind == MBG__LEAST_SQUARES) {
    MBG_TRY(mbg__item_samples(item, c));
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- order */

static int criterion_dependences(const mbg__loader *L, int i, int *list) {
  return mbg__load_references(L->criteria.at[i].input, L->criteria.at[i].ninput, list);
}

static int permute_criteria(mbg__loader *L, const int *order) {
  const int n = L->criteria.count;
  int *place = MBG_TAKE(&L->temp, int, n);
  mbg__criterion *sorted = MBG_TAKE(&L->temp, mbg__criterion, n);
  if (mbg__arena_check(L->ctx, &L->temp) < 0) {
    return MBG_ERROR_MEMORY;
  }
  for (int k = 0; k < n; k++) {
    place[order[k]] = k;
    sorted[k] = L->criteria.at[order[k]];
    L->names[MBG__NAME_CRITERION].at[order[k]]->index = k;
  }
  for (int k = 0; k < n; k++) {
    mbg__load_renumber(sorted[k].input, sorted[k].ninput, place);
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
                            "value: criterion '%s' is a path criterion and has no single value", other->name));
    }
  }
done:
  return err;
}

int mbg__load_criteria(mbg__loader *L) {
  int err = MBG_OK, *order;
  for (int i = 0; i < L->names[MBG__NAME_CRITERION].count; i++) {
    mbg__symbol *s = L->names[MBG__NAME_CRITERION].at[i];
    mbg__item item;
    mbg__criterion criterion;
    MBG_TRY(mbg__item_open(L, s, &item));
    MBG_TRY(load_criterion(&item, &criterion));
    MBG_TRY(MBG__ADD(L, L->criteria, criterion));
    s->bad = item.bad;
  }
  MBG_TRY(mbg__load_order(L, L->names[MBG__NAME_CRITERION].at, L->criteria.count, criterion_dependences, "criteria",
                          &order));
  MBG_TRY(permute_criteria(L, order));
  for (int i = 0; i < L->names[MBG__NAME_CRITERION].count; i++) {
    MBG_TRY(check_paths(L, L->names[MBG__NAME_CRITERION].at[i]));
  }
done:
  return err;
}
