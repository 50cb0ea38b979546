/* Modes and events (theory 7, section 1). */
#include "load/load.h"

#include <string.h>

/* ---------------------------------------------------------------------- modes */

/* an attribute that no parameter moves */
static int add_number(mbg__item *item, double value, const char *key, int *index) {
  const mbg__formula formula = {.number = value};
  const mbg__where where = mbg__item_where_key(item, item->json);
  return mbg__attribute_add(item, &formula, key, "", &where, index);
}

static int integer_of(mbg__item *item, const mbg__json *json, const char *label, double *value) {
  *value = 0;
  if (json->kind != MBG__JSON_NUMBER || json->number != floor(json->number) || fabs(json->number) > 1e9) {
    return mbg__item_wrong(item, json, label, "an integer");
  }
  *value = json->number;
  return MBG_OK;
}

static int load_mode(mbg__item *item, mbg__symbol *symbol) {
  int err = MBG_OK;
  mbg__event_mode mode = {.name = item->name, .where = mbg__item_where_key(item, item->json)};
  MBG_TRY(integer_of(item, item->json, "its first value", &mode.first));
  MBG_TRY(add_number(item, mode.first, "mode", &mode.attr));
  symbol->index = item->L->modes.count;
  MBG_TRY(MBG__ADD(item->L, item->L->modes, mode));
done:
  return err;
}

/* events are known by their places, and those with an impact by the attribute of its impulse */
static int announce(mbg__item *item, mbg__symbol *symbol) {
  int err = MBG_OK;
  mbg__loader *L = item->L;
  mbg__event event = {.name = item->name,
                      .guard = -1,
                      .at = -1,
                      .armed = -1,
                      .restitution = -1,
                      .impulse = -1,
                      .friction = -1,
                      .slip_speed = -1,
                      .tangent = -1,
                      .where = mbg__item_where_key(item, item->json)};
  if (L->model->clock < 0) {
    MBG_TRY(add_number(item, 0, "clock", &L->model->clock));
  }
  if (item->json->kind == MBG__JSON_OBJECT && mbg__json_member(item->json, "impact")) {
    MBG_TRY(add_number(item, 0, "impulse", &event.impulse));
  }
  symbol->index = L->events.count;
  MBG_TRY(MBG__ADD(L, L->events, event));
done:
  return err;
}

int mbg__load_modes(mbg__loader *L) {
  const int err = mbg__load_each(L, MBG__NAME_MODE, load_mode);
  return err < 0 ? err : mbg__load_each(L, MBG__NAME_EVENT, announce);
}

/* ---------------------------------------------------------------------- guards */

/* " uses accelerations", or NULL: the guard may use the signal */
static const char *refused_level(const mbg__loader *L, int signal) {
  const mbg__signal *s = &L->signals.at[signal];
  return s->level == MBG__LEVEL_ACCELERATION ? "accelerations"
         : s->level == MBG__LEVEL_REACTION   ? "reactions"
         : mbg__signal_of_loads(L, signal)   ? "forces, energies or strains of beams"
                                             : NULL;
}

static int load_guard(mbg__item *item, const mbg__json *json, const char *label, mbg__event *event) {
  int err = MBG_OK;
  MBG_TRY(mbg__item_signal(item, json, label, &event->guard));
  const char *refused = event->guard >= 0 ? refused_level(item->L, event->guard) : NULL;
  if (refused) {
    MBG_TRY(mbg__item_bad(item, json,
                          "%s: it uses %s; a guard takes positions, velocities, states and time: put a state between, "
                          "such as a lag with a short time",
                          label, refused));
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- impacts */

static const mbg__signal_type *type_of(const char *key) {
  int n;
  const mbg__signal_type *const *types = mbg__signal_types(&n);
  for (int i = 0; i < n; i++) {
    if (strcmp(types[i]->key, key) == 0) {
      return types[i];
    }
  }
  return NULL;
}

/* the signal that is the rate of a signal of positions; *rate -1: there is none */
static int rate_of(mbg__loader *L, int signal, int *rate) {
  static const char *const pairs[][2] = {{"position", "velocity"},
                                         {"coordinate", "rate"},
                                         {"distance", "distance-rate"},
                                         {"modal-coordinate", "modal-rate"}};
  const mbg__signal *s = &L->signals.at[signal];
  *rate = -1;
  for (int k = 0; k < MBG_COUNT(pairs); k++) {
    if (strcmp(s->type->key, pairs[k][0]) != 0 || (k == 0 && s->opt[1] != 0)) {
      continue;
    }
    mbg__signal made = *s;
    made.name = NULL;
    made.type = type_of(pairs[k][1]);
    made.level = made.type->level;
    *rate = L->signals.count;
    const int err = MBG__ADD(L, L->signals, made);
    return err < 0 ? err : MBG__ADD(L, L->signal_whole, false);
  }
  return MBG_OK;
}

static int not_a_gap(mbg__item *item, const mbg__json *json) {
  return mbg__item_bad(item, json,
                       "the gap of an impact is a signal of type position (axes A), coordinate, distance or "
                       "modal-coordinate, or an expression of such signals, names and time");
}

/* the signals in the gap, in the order of the inputs of its function, and their rates */
static int load_gap(mbg__item *item, const mbg__json *json, mbg__event *event) {
  int err = MBG_OK;
  mbg__loader *L = item->L;
  const int fn = L->signals.at[event->guard].fn, n = fn >= 0 ? L->fns.at[fn].ninput : 1;
  int *base = MBG_TAKE(L->arena, int, n + 1), *rate = MBG_TAKE(L->arena, int, n + 1);
  MBG_TRY(mbg__arena_check(L->ctx, L->arena));
  for (int k = 0; k < n; k++) {
    const mbg__input *in = fn >= 0 ? &L->fns.at[fn].input[k] : &(mbg__input){MBG__ROLE_SIGNAL, event->guard};
    if (in->role == MBG__ROLE_CTRL) {
      return mbg__item_bad(item, json, "the gap of an impact cannot use controls");
    }
    if (in->role == MBG__ROLE_SIGNAL) {
      base[event->nbase] = in->index;
      MBG_TRY(rate_of(L, in->index, &rate[event->nbase]));
      if (rate[event->nbase++] < 0) {
        return not_a_gap(item, json);
      }
    }
  }
  if (event->nbase == 0) {
    return not_a_gap(item, json);
  }
  event->base = base;
  event->rate = rate;
done:
  return err;
}

static int load_friction(mbg__item *item, const mbg__json *impact, mbg__event *event) {
  int err = MBG_OK;
  const mbg__json *mu = mbg__json_member(impact, "friction"), *along = mbg__json_member(impact, "along");
  const mbg__json *slip = mbg__json_member(impact, "slip_speed"), *any = mu ? mu : along ? along : slip;
  mbg__symbol *symbol = NULL;
  if (any && (!mu || !along || !slip)) {
    return mbg__item_bad_key(item, any, "friction needs 'friction', 'along' and 'slip_speed'");
  }
  if (!any) {
    return MBG_OK;
  }
  MBG_TRY(mbg__item_attribute(item, mu, "friction", "", 0, 1, &event->friction));
  MBG_TRY(mbg__item_check_sign(item, mu, MBG__NOT_NEGATIVE, event->friction));
  MBG_TRY(mbg__item_attribute(item, slip, "slip_speed", "m/s", 0, 1, &event->slip_speed));
  MBG_TRY(mbg__item_check_sign(item, slip, MBG__POSITIVE, event->slip_speed));
  MBG_TRY(mbg__item_reference(item, along, "along", MBG__NAME_SIGNAL, &symbol));
  if (!symbol) {
    return MBG_OK;
  }
  const mbg__signal *s = &item->L->signals.at[symbol->index];
  const bool speed = s->type && (strcmp(s->type->key, "velocity") == 0 || strcmp(s->type->key, "rate") == 0);
  event->tangent = symbol->index;
  return speed ? MBG_OK : mbg__item_bad(item, along, "along: '%s' is not a signal of type velocity or rate", s->name);
done:
  return err;
}

static int load_impact(mbg__item *item, const mbg__json *impact, mbg__event *event) {
  static const mbg__file_object keys[] = {MBG__KEYS_IMPACT};
  int err = MBG_OK;
  bool yes;
  const mbg__json *guard = mbg__json_member(item->json, "guard");
  MBG_TRY(mbg__item_object(item, impact, "impact", &yes));
  if (!yes) {
    return MBG_OK;
  }
  MBG_TRY(mbg__item_keys(item, impact, keys, 1, NULL, 0));
  const mbg__json *gap = mbg__json_member(impact, "signal"), *e = mbg__json_member(impact, "restitution");
  if (!gap == !guard) {
    return mbg__item_bad_key(item, impact,
                             "the gap of an impact is the 'guard' of the event, or 'signal' of the "
                             "impact%s",
                             gap ? ", not both" : "");
  }
  if (mbg__json_member(item->json, "at")) {
    return mbg__item_bad_key(item, impact, "an impact happens where its gap closes; remove 'at'");
  }
  if (!e || item->bad) {
    return MBG_OK;
  }
  MBG_TRY(mbg__item_attribute(item, e, "restitution", "", 0, 1, &event->restitution));
  const double value = mbg__value(item->L, event->restitution);
  if (value < 0 || value > 1) {
    MBG_TRY(mbg__item_bad(item, e, "restitution must be between 0 and 1, is %g", value));
  }
  MBG_TRY(gap ? load_guard(item, gap, "signal", event) : MBG_OK);
  event->impact = true;
  MBG_TRY(event->guard >= 0 && !item->bad ? load_gap(item, gap ? gap : guard, event) : MBG_OK);
  MBG_TRY(load_friction(item, impact, event));
done:
  return err;
}

/* ---------------------------------------------------------------------- settings */

static int load_settings(mbg__item *item, const mbg__json *set, mbg__event *event) {
  int err = MBG_OK;
  bool yes;
  char hint[MBG__HINT_SIZE];
  mbg__loader *L = item->L;
  MBG_TRY(mbg__item_object(item, set, "set", &yes));
  if (!yes) {
    return MBG_OK;
  }
  mbg__event_setting *list = MBG_TAKE(L->arena, mbg__event_setting, set->count + 1);
  MBG_TRY(mbg__arena_check(L->ctx, L->arena));
  for (const mbg__json *c = set->child; c; c = c->next) {
    const mbg__symbol *mode = mbg__name_find(L, item->source, MBG__NAME_MODE, c->key);
    if (!mode || mode->kind != MBG__NAME_MODE) {
      return mbg__item_bad_key(item, c, "set: unknown mode '%s'%s", c->key,
                               mbg__hint(hint, mbg__name_nearest(L, item->source, 1u << MBG__NAME_MODE, c->key)));
    }
    list[event->nset].mode = mode->index;
    MBG_TRY(integer_of(item, c, c->key, &list[event->nset++].value));
  }
  event->set = list;
done:
  return err;
}

static bool is_mode(const mbg__loader *L, int attr) {
  for (int k = 0; k < L->modes.count; k++) {
    if (L->modes.at[k].attr == attr) {
      return true;
    }
  }
  return false;
}

static int load_armed(mbg__item *item, const mbg__json *json, mbg__event *event) {
  static const mbg__function_rule rule = {.key = "armed", .unit = "", .sign = 1};
  const int err = mbg__item_function(item, json, &rule, &event->armed);
  for (int k = 0; err == MBG_OK && event->armed >= 0 && k < item->L->fns.at[event->armed].ninput; k++) {
    if (!is_mode(item->L, item->L->fns.at[event->armed].input[k].index)) {
      return mbg__item_bad(item, json, "armed: an expression of modes alone");
    }
  }
  return err;
}

/* ---------------------------------------------------------------------- events */

static int load_direction(mbg__item *item, mbg__event *event) {
  int err = MBG_OK, direction = -1;
  const mbg__json *json = mbg__json_member(item->json, "direction");
  MBG_TRY(mbg__item_choice(item, json, "direction", "- +", &direction));
  event->direction = direction == 1 ? 1 : -1;
  if (event->at >= 0 && json) {
    MBG_TRY(mbg__item_bad_key(item, json, "a time event has no direction"));
  }
  const bool impact = mbg__json_member(item->json, "impact") != NULL;
  if (impact && direction == 1) {
    MBG_TRY(mbg__item_bad(item, json, "direction: the gap of an impact closes, which is \"-\""));
  }
  if (event->at < 0 && !impact && !json) {
    MBG_TRY(mbg__item_bad_key(item, item->json,
                              "'direction' is missing: \"-\" when the guard falls through 0, \"+\" when it rises"));
  }
done:
  return err;
}

static int load_event(mbg__item *item, mbg__symbol *symbol) {
  static const mbg__file_object keys[] = {MBG__KEYS_EVENT};
  int err = MBG_OK;
  bool yes;
  mbg__event event = item->L->events.at[symbol->index];
  MBG_TRY(mbg__item_object(item, item->json, NULL, &yes));
  if (!yes) {
    return MBG_OK;
  }
  MBG_TRY(mbg__item_keys(item, item->json, keys, 1, NULL, 0));
  const mbg__json *guard = mbg__json_member(item->json, "guard"), *at = mbg__json_member(item->json, "at");
  const mbg__json *impact = mbg__json_member(item->json, "impact"), *armed = mbg__json_member(item->json, "armed");
  const mbg__json *set = mbg__json_member(item->json, "set"), *end = mbg__json_member(item->json, "end");
  if ((!guard == !at) && !(impact && !at)) {
    return mbg__item_bad_key(item, item->json, "give 'guard' or 'at'%s", guard ? ", not both" : "");
  }
  MBG_TRY(guard ? load_guard(item, guard, "guard", &event) : MBG_OK);
  MBG_TRY(at ? mbg__item_attribute(item, at, "at", "s", 0, 1, &event.at) : MBG_OK);
  MBG_TRY(impact ? load_impact(item, impact, &event) : MBG_OK);
  MBG_TRY(set ? load_settings(item, set, &event) : MBG_OK);
  MBG_TRY(armed ? load_armed(item, armed, &event) : MBG_OK);
  MBG_TRY(end ? mbg__item_bool(item, end, "end", &event.end) : MBG_OK);
  MBG_TRY(load_direction(item, &event));
  if (event.end && impact) {
    MBG_TRY(mbg__item_bad_key(item, end, "an event that ends the run has no impact"));
  }
  item->L->events.at[symbol->index] = event;
done:
  return err;
}

int mbg__load_events(mbg__loader *L) { return mbg__load_each(L, MBG__NAME_EVENT, load_event); }
