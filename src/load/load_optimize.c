/* The design problem of the file: parameters, objective and limits of `mbgrad optimize`. */
#include "load/load.h"

#include <string.h>

static const mbg__json *section_of(const mbg__loader *L) {
  return mbg__json_member(L->sources.at[0]->root, "optimize");
}

static bool is_note(const mbg__json *json) { return !strcmp(json->key, "note") && json->kind == MBG__JSON_STRING; }

/* ---------------------------------------------------------------------- objective */

/* An expression becomes a criterion called `objective`, {"value": expression}. */
int mbg__optimize_criterion(mbg__loader *L, const mbg__json **out) {
  const mbg__json *text = mbg__json_member(section_of(L), "objective");
  *out = NULL;
  if (!text || text->kind != MBG__JSON_STRING || mbg__file_has_criterion(L, text->text)) {
    return MBG_OK;
  }
  mbg__json *criterion = MBG_TAKE(&L->temp, mbg__json, 1), *value = MBG_TAKE(&L->temp, mbg__json, 1);
  if (mbg__arena_check(L->ctx, &L->temp) < 0) {
    return MBG_ERROR_MEMORY;
  }
  *value = *text;
  value->key = "value";
  value->next = NULL;
  *criterion = *text;
  criterion->kind = MBG__JSON_OBJECT;
  criterion->key = "objective";
  criterion->child = value;
  criterion->count = 1;
  criterion->next = NULL;
  if (!mbg__run_leaves_out(L, criterion)) {
    *out = criterion;
  }
  return MBG_OK;
}

/* the criterion of that name: -1 when the run leaves it out */
static int find_criterion(mbg__item *item, const mbg__json *json, const char *name, bool at_key, int *criterion) {
  char hint[MBG__HINT_SIZE];
  mbg__loader *L = item->L;
  const mbg__symbol *symbol = mbg__name_find(L, item->source, MBG__NAME_CRITERION, name);
  *criterion = -1;
  if (symbol && symbol->kind == MBG__NAME_CRITERION) {
    item->bad = item->bad || symbol->bad;
    *criterion = symbol->index;
    return MBG_OK;
  }
  if (mbg__file_has_criterion(L, name)) {
    return MBG_OK;
  }
  mbg__hint(hint, mbg__name_nearest(L, item->source, 1u << MBG__NAME_CRITERION, name));
  return (at_key ? mbg__item_bad_key : mbg__item_bad)(item, json, "unknown criterion '%s'%s", name, hint);
}

static int task_objective(mbg__item *item, mbg__optimize_task *task) {
  int err = MBG_OK;
  const mbg__json *json = mbg__json_member(item->json, "objective");
  const char *text = NULL;
  task->objective = -1;
  MBG_TRY(json ? mbg__item_text(item, json, "objective", &text) : MBG_OK);
  if (!text) {
    return MBG_OK;
  }
  task->text = mbg__intern(item->L, text);
  if (!task->text) {
    return mbg__fail_memory(item->L->ctx);
  }
  if (mbg__file_has_criterion(item->L, text)) {
    return find_criterion(item, json, text, false, &task->objective);
  }
  const mbg__symbol *symbol = mbg__name_find(item->L, item->source, MBG__NAME_CRITERION, "objective");
  if (symbol && symbol->kind == MBG__NAME_CRITERION) {
    item->bad = item->bad || symbol->bad;
    task->objective = symbol->index;
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- vectors */

/* {NAME: number}: parameters with a positive number each */
static int task_vectors(mbg__item *item, const mbg__json *json, const char *label, const mbg__task_vector **out,
                        int *count) {
  int err = MBG_OK, n = 0;
  char hint[MBG__HINT_SIZE];
  mbg__loader *L = item->L;
  bool yes = false;
  *count = 0;
  if (!json) {
    return MBG_OK;
  }
  MBG_TRY(mbg__item_object(item, json, label, &yes));
  mbg__task_vector *list = MBG_TAKE(L->arena, mbg__task_vector, json->count + 1);
  MBG_TRY(mbg__arena_check(L->ctx, L->arena));
  for (const mbg__json *c = yes ? json->child : NULL; c; c = c->next) {
    if (is_note(c)) {
      continue;
    }
    const mbg__parameter *p = mbg__parameter_named(L, c->key);
    if (!p) {
      MBG_TRY(
          mbg__item_bad_key(item, c, "%s: there is no parameter '%s'%s", label, c->key,
                            mbg__hint(hint, mbg__name_nearest(L, item->source, 1u << MBG__NAME_PARAMETER, c->key))));
      continue;
    }
    list[n] = (mbg__task_vector){.first = p->first, .count = p->count};
    MBG_TRY(mbg__task_weight(item, json, c->key, &list[n].weight));
    n++;
  }
  if (yes && n == 0 && !item->bad) {
    MBG_TRY(mbg__item_bad(item, json, "%s: at least one parameter is required", label));
  }
  *out = list;
  *count = n;
done:
  return err;
}

/* ---------------------------------------------------------------------- limits */

static int limit_numbers(mbg__item *item, const mbg__json *json, mbg__task_limit *l) {
  int err = MBG_OK;
  const mbg__json *scale = mbg__json_member(json, "scale"), *aggregate = mbg__json_member(json, "aggregate");
  MBG_TRY(mbg__task_number(item, json, "min", &l->min));
  MBG_TRY(mbg__task_number(item, json, "max", &l->max));
  MBG_TRY(mbg__task_number(item, json, "equal", &l->equal));
  MBG_TRY(mbg__task_number(item, json, "scale", &l->scale));
  MBG_TRY(mbg__task_number(item, json, "aggregate", &l->aggregate));
  if (l->min > l->max) {
    return mbg__item_bad_key(item, json, "limits of '%s': min %g exceeds max %g", json->key, l->min, l->max);
  }
  if (!isnan(l->equal) && (isfinite(l->min) || isfinite(l->max))) {
    return mbg__item_bad_key(item, json, "'%s': give either 'equal' or limits ('min', 'max'), not both", json->key);
  }
  if (scale && !(l->scale > 0)) {
    return mbg__item_bad(item, scale, "scale must be positive, is %g", l->scale);
  }
  if (aggregate && !(l->aggregate > 0)) {
    return mbg__item_bad(item, aggregate, "aggregate must be positive, is %g", l->aggregate);
  }
done:
  return err;
}

/* limits of a path criterion default to the limits of the criterion itself */
static int limit_of_criterion(mbg__item *item, const mbg__json *json, mbg__task_limit *l) {
  int err = MBG_OK;
  const mbg__json *aggregate = mbg__json_member(json, "aggregate");
  MBG_TRY(find_criterion(item, json, json->key, true, &l->criterion));
  if (l->criterion < 0 || item->bad) {
    return MBG_OK;
  }
  const mbg__criterion *c = &item->L->criteria.at[l->criterion];
  if (c->kind == MBG__PATH && !isfinite(l->min) && !isfinite(l->max)) {
    l->min = c->lower;
    l->max = c->upper;
  }
  if (c->kind == MBG__PATH && !isnan(l->equal)) {
    return mbg__item_bad_key(item, json, "'%s' is a path criterion: give limits ('min', 'max') instead of 'equal'",
                             json->key);
  }
  if (c->kind != MBG__PATH && aggregate) {
    return mbg__item_bad(item, aggregate, "'%s' has a single value; 'aggregate' applies only to path criteria",
                         json->key);
  }
done:
  return err;
}

static int task_limit(mbg__item *item, const mbg__json *json, mbg__task_limit *l) {
  int err = MBG_OK;
  static const mbg__file_object keys[] = {MBG__KEYS_LIMIT};
  const mbg__json *mean = mbg__json_member(json, "mean");
  bool yes;
  *l = (mbg__task_limit){.criterion = -1, .min = -INFINITY, .max = INFINITY, .equal = NAN, .scale = NAN};
  l->where = mbg__item_where_key(item, json);
  l->name = mbg__intern(item->L, json->key);
  if (!l->name) {
    return mbg__fail_memory(item->L->ctx);
  }
  MBG_TRY(mbg__item_object(item, json, json->key, &yes));
  if (!yes) {
    return MBG_OK;
  }
  MBG_TRY(mbg__item_keys(item, json, keys, 1, NULL, 0));
  MBG_TRY(limit_numbers(item, json, l));
  if (mean) {
    MBG_TRY(task_vectors(item, mean, "mean", &l->means, &l->nmean));
  } else {
    MBG_TRY(limit_of_criterion(item, json, l));
  }
  if (!item->bad && (mean || l->criterion >= 0) && !isfinite(l->min) && !isfinite(l->max) && isnan(l->equal)) {
    return mbg__item_bad_key(item, json, "'%s' has no limit; give 'min', 'max' or 'equal'", json->key);
  }
done:
  return err;
}

static int task_limits(mbg__item *item, const mbg__json *json, mbg__optimize_task *task) {
  int err = MBG_OK;
  bool yes = false;
  if (!json) {
    return MBG_OK;
  }
  MBG_TRY(mbg__item_object(item, json, "constraints", &yes));
  mbg__task_limit *list = MBG_TAKE(item->L->arena, mbg__task_limit, json->count + 1);
  MBG_TRY(mbg__arena_check(item->L->ctx, item->L->arena));
  for (const mbg__json *c = yes ? json->child : NULL; c; c = c->next) {
    if (!is_note(c)) {
      MBG_TRY(task_limit(item, c, &list[task->nlimit++]));
    }
  }
  task->limits = list;
done:
  return err;
}

/* ---------------------------------------------------------------------- runs */

static int run_index(const mbg_model *m, const char *name) {
  for (int i = 0; i < m->nrun; i++) {
    if (!strcmp(m->runs[i].name, name)) {
      return i;
    }
  }
  return -1;
}

static int task_runs(mbg__item *item, const mbg__json *json, mbg__optimize_task *task) {
  int err = MBG_OK;
  char hint[MBG__HINT_SIZE];
  mbg__loader *L = item->L;
  const mbg_model *m = L->model;
  bool yes = false;
  if (!json) {
    return MBG_OK;
  }
  MBG_TRY(mbg__item_object(item, json, "runs", &yes));
  double *weights = MBG_TAKE(L->arena, double, m->nrun + 1);
  MBG_TRY(mbg__arena_check(L->ctx, L->arena));
  for (const mbg__json *c = yes ? json->child : NULL; c; c = c->next) {
    const int i = is_note(c) ? 0 : run_index(m, c->key);
    if (i < 0) {
      MBG_TRY(mbg__item_bad_key(item, c, "runs: there is no run '%s'%s", c->key,
                                mbg__hint(hint, mbg__name_nearest(L, item->source, 1u << MBG__NAME_RUN, c->key))));
    } else if (!is_note(c)) {
      MBG_TRY(mbg__task_weight(item, json, c->key, &weights[i]));
      if (!item->bad && !(weights[i] > 0)) {
        MBG_TRY(mbg__item_bad(item, c,
                              "runs: the weight of '%s' must be positive, is %g; remove runs that should not count",
                              c->key, weights[i]));
      }
    }
  }
  task->weights = weights;
done:
  return err;
}

/* ---------------------------------------------------------------------- section */

static int task_numbers(mbg__item *item, mbg__optimize_task *task) {
  int err = MBG_OK, optimizer = -1, combine = 0;
  static const char *const optimizers[] = {"lbfgs",  "nlopt-lbfgs", "newton",   "slsqp",      "mma",
                                           "conlin", "ipopt",       "ipopt-gn", "ipopt-exact"};
  const mbg__json *json = item->json, *scale = mbg__json_member(json, "scale");
  MBG_TRY(mbg__task_weight(item, json, "scale", &task->scale));
  if (scale && !item->bad && !(task->scale > 0)) {
    MBG_TRY(mbg__item_bad(item, scale, "scale must be positive, is %g", task->scale));
  }
  MBG_TRY(mbg__task_weight(item, json, "robust", &task->robust));
  MBG_TRY(mbg__task_weight(item, json, "tolerance", &task->tolerance));
  MBG_TRY(mbg__task_weight(item, json, "settle", &task->settle));
  MBG_TRY(mbg__task_count(item, json, "iterations", 1, &task->iterations));
  MBG_TRY(mbg__item_choice(item, mbg__json_member(json, "optimizer"), "optimizer",
                           "lbfgs nlopt-lbfgs newton slsqp mma conlin ipopt ipopt-gn ipopt-exact", &optimizer));
  MBG_TRY(mbg__item_choice(item, mbg__json_member(json, "combine"), "combine", "sum worst", &combine));
  task->optimizer = optimizer >= 0 ? optimizers[optimizer] : NULL;
  task->worst = combine == 1;
done:
  return err;
}

int mbg__load_optimize(mbg__loader *L) {
  int err = MBG_OK;
  static const mbg__file_object keys[] = {MBG__KEYS_OPTIMIZE};
  mbg__optimize_task *task = &L->model->optimize;
  const mbg__json *json = section_of(L);
  mbg__item item;
  bool yes;
  *task = (mbg__optimize_task){.objective = -1, .scale = NAN, .tolerance = NAN, .settle = NAN};
  if (!json) {
    return MBG_OK;
  }
  MBG_TRY(mbg__item_make(L, L->sources.at[0], json, "optimize", &item));
  MBG_TRY(mbg__item_object(&item, json, NULL, &yes));
  if (!yes) {
    return MBG_OK;
  }
  task->given = true;
  MBG_TRY(mbg__item_keys(&item, json, keys, 1, NULL, 0));
  MBG_TRY(mbg__item_parameters(&item, mbg__json_member(json, "parameters"), &task->parameters, &task->nparameter));
  MBG_TRY(task_objective(&item, task));
  MBG_TRY(task_runs(&item, mbg__json_member(json, "runs"), task));
  MBG_TRY(task_limits(&item, mbg__json_member(json, "constraints"), task));
  MBG_TRY(task_vectors(&item, mbg__json_member(json, "filter"), "filter", &task->filters, &task->nfilter));
  MBG_TRY(task_numbers(&item, task));
done:
  return err;
}
