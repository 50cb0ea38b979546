/* The control problem of the file: the controls that `mbgrad control` finds, and its objective. */
#include "load/load.h"

#include <string.h>

/* a fixed number under a key; *out stays when it is not there */
int mbg__task_number(mbg__item *item, const mbg__json *object, const char *key, double *out) {
  const mbg__json *json = mbg__json_member(object, key);
  return json ? mbg__item_fixed(item, json, key, out, NULL) : MBG_OK;
}

/* the same, and it must not be negative */
int mbg__task_weight(mbg__item *item, const mbg__json *object, const char *key, double *out) {
  const mbg__json *json = mbg__json_member(object, key);
  const int err = mbg__task_number(item, object, key, out);
  return err == MBG_OK && json && *out < 0 ? mbg__item_bad(item, json, "%s must not be negative, is %g", key, *out)
                                           : err;
}

int mbg__task_count(mbg__item *item, const mbg__json *object, const char *key, int least, int *out) {
  const mbg__json *json = mbg__json_member(object, key);
  const int err = json ? mbg__item_count(item, json, key, out) : MBG_OK;
  return err == MBG_OK && json && !item->bad && *out < least
             ? mbg__item_bad(item, json, "%s must be at least %d, is %d", key, least, *out)
             : err;
}

/* ---------------------------------------------------------------------- controls */

static int task_bounds(mbg__item *item, const mbg__json *json, mbg__task_control *c) {
  int err = MBG_OK;
  MBG_TRY(mbg__task_number(item, json, "min", &c->min));
  MBG_TRY(mbg__task_number(item, json, "max", &c->max));
  if (c->min > c->max) {
    return mbg__item_bad_key(item, json, "bounds of '%s': min %g exceeds max %g", json->key, c->min, c->max);
  }
done:
  return err;
}

static int task_interpolation(mbg__item *item, const mbg__json *json, mbg__task_control *c) {
  const mbg__json *word = mbg__json_member(json, "interpolation");
  const int err = mbg__item_choice(item, word, "interpolation", "linear cubic", &c->interpolation);
  if (err < 0 || item->bad || c->interpolation != MBG__LINEAR) {
    return err;
  }
  return item->L->controls.at[c->control].spline->interpolation == MBG__LINEAR
             ? MBG_OK
             : mbg__item_bad(
                   item, word,
                   "control '%s' is cubic, and its users may need the second derivative; make it linear in 'controls'",
                   json->key);
}

/* "NAME": {...}; c->control is -1 after an error in the name */
static int task_control(mbg__item *item, const mbg__json *json, mbg__task_control *c) {
  int err = MBG_OK;
  static const mbg__file_object keys[] = {MBG__KEYS_TASK_CONTROL};
  char hint[MBG__HINT_SIZE];
  mbg__loader *L = item->L;
  bool yes;
  *c = (mbg__task_control){.control = -1, .interpolation = -1, .min = -INFINITY, .max = INFINITY, .effort = NAN};
  const mbg__symbol *symbol = mbg__name_find(L, item->source, MBG__NAME_CONTROL, json->key);
  if (!symbol || symbol->kind != MBG__NAME_CONTROL) {
    return mbg__item_bad_key(item, json, "unknown control '%s'%s", json->key,
                             mbg__hint(hint, mbg__name_nearest(L, item->source, 1u << MBG__NAME_CONTROL, json->key)));
  }
  MBG_TRY(mbg__item_object(item, json, json->key, &yes));
  if (!yes || symbol->bad) {
    item->bad = true;
    return MBG_OK;
  }
  c->control = symbol->index;
  MBG_TRY(mbg__item_keys(item, json, keys, 1, NULL, 0));
  MBG_TRY(mbg__task_count(item, json, "samples", 2, &c->samples));
  MBG_TRY(task_interpolation(item, json, c));
  MBG_TRY(task_bounds(item, json, c));
  MBG_TRY(mbg__task_weight(item, json, "effort", &c->effort));
done:
  return err;
}

static int task_controls(mbg__item *item, const mbg__json *json, mbg__control_task *task) {
  int err = MBG_OK, n = 0;
  bool yes;
  if (!json) {
    return MBG_OK;
  }
  MBG_TRY(mbg__item_object(item, json, "controls", &yes));
  if (!yes) {
    return MBG_OK;
  }
  mbg__task_control *list = MBG_TAKE(item->L->arena, mbg__task_control, json->count);
  MBG_TRY(mbg__arena_check(item->L->ctx, item->L->arena));
  for (const mbg__json *entry = json->child; entry; entry = entry->next) {
    if (strcmp(entry->key, "note") != 0) {
      MBG_TRY(task_control(item, entry, &list[n++]));
    }
  }
  if (n == 0) {
    MBG_TRY(mbg__item_bad_key(item, json, "controls: the list is empty; remove the key to optimize all controls"));
  }
  task->controls = list;
  task->ncontrol = n;
done:
  return err;
}

/* ---------------------------------------------------------------------- objective */

/* the criterion called `name` at a value or at a key */
static int task_criterion(mbg__item *item, const mbg__json *json, const char *name, bool at_key, int *criterion) {
  char hint[MBG__HINT_SIZE];
  mbg__loader *L = item->L;
  const mbg__symbol *symbol = mbg__name_find(L, item->source, MBG__NAME_CRITERION, name);
  *criterion = -1;
  if (symbol && symbol->kind == MBG__NAME_CRITERION) {
    item->bad = item->bad || symbol->bad;
    *criterion = symbol->index;
    return MBG_OK;
  }
  mbg__hint(hint, mbg__name_nearest(L, item->source, 1u << MBG__NAME_CRITERION, name));
  return at_key ? mbg__item_bad_key(item, json, "unknown criterion '%s'%s", name, hint)
                : mbg__item_bad(item, json, "unknown criterion '%s'%s", name, hint);
}

/* a name, or {NAME: weight} */
static int task_objective(mbg__item *item, const mbg__json *json, mbg__control_task *task) {
  int err = MBG_OK, n = 0;
  const bool one = json && json->kind == MBG__JSON_STRING;
  if (!json) {
    return MBG_OK;
  }
  if (!one && json->kind != MBG__JSON_OBJECT) {
    return mbg__item_wrong(item, json, "objective", "the name of a criterion, or names with weights");
  }
  mbg__task_term *terms = MBG_TAKE(item->L->arena, mbg__task_term, one ? 1 : json->count);
  MBG_TRY(mbg__arena_check(item->L->ctx, item->L->arena));
  if (one) {
    terms[n].weight = 1;
    MBG_TRY(task_criterion(item, json, json->text, false, &terms[n++].criterion));
  }
  for (const mbg__json *entry = one ? NULL : json->child; entry; entry = entry->next) {
    if (strcmp(entry->key, "note") != 0) {
      MBG_TRY(task_criterion(item, entry, entry->key, true, &terms[n].criterion));
      MBG_TRY(mbg__item_fixed(item, entry, entry->key, &terms[n++].weight, NULL));
    }
  }
  if (n == 0) {
    MBG_TRY(mbg__item_bad(item, json, "objective: at least one criterion is required"));
  }
  task->terms = terms;
  task->nterm = n;
done:
  return err;
}

/* ---------------------------------------------------------------------- section */

static int task_numbers(mbg__item *item, mbg__control_task *task) {
  int err = MBG_OK, optimizer = -1;
  static const char *const optimizers[] = {"lbfgs", "ipopt", "ipopt-exact", "newton", "cg", "steepest"};
  const mbg__json *json = item->json, *reduction = mbg__json_member(json, "reduction");
  MBG_TRY(mbg__task_weight(item, json, "effort", &task->effort));
  MBG_TRY(mbg__task_count(item, json, "stages", 1, &task->stages));
  MBG_TRY(mbg__task_number(item, json, "reduction", &task->reduction));
  if (reduction && (task->reduction <= 0 || task->reduction >= 1)) {
    MBG_TRY(mbg__item_bad(item, reduction, "reduction must lie between 0 and 1, is %g", task->reduction));
  }
  MBG_TRY(mbg__task_count(item, json, "iterations", 1, &task->iterations));
  MBG_TRY(mbg__task_weight(item, json, "gradient_tolerance", &task->gradient_tolerance));
  MBG_TRY(mbg__item_choice(item, mbg__json_member(json, "optimizer"), "optimizer",
                           "lbfgs ipopt ipopt-exact newton cg steepest", &optimizer));
  task->optimizer = optimizer >= 0 ? optimizers[optimizer] : NULL;
done:
  return err;
}

int mbg__load_control_task(mbg__loader *L) {
  int err = MBG_OK;
  static const mbg__file_object keys[] = {MBG__KEYS_CONTROL_TASK};
  mbg__control_task *task = &L->model->task;
  mbg__source *source = L->sources.at[0];
  const mbg__json *json = mbg__json_member(source->root, "control");
  mbg__item item;
  bool yes;
  *task = (mbg__control_task){.effort = NAN, .reduction = NAN, .gradient_tolerance = NAN};
  if (!json) {
    return MBG_OK;
  }
  MBG_TRY(mbg__item_make(L, source, json, "control", &item));
  MBG_TRY(mbg__item_object(&item, json, NULL, &yes));
  if (!yes) {
    return MBG_OK;
  }
  MBG_TRY(mbg__item_keys(&item, json, keys, 1, NULL, 0));
  MBG_TRY(task_controls(&item, mbg__json_member(json, "controls"), task));
  MBG_TRY(task_objective(&item, mbg__json_member(json, "objective"), task));
  MBG_TRY(task_numbers(&item, task));
done:
  return err;
}
