/* States: first-order differential equations beside the mechanism, x' = rate. A state is a velocity of a body without
   weight (mbg__user_state), its rate a force on this body, its value a signal. */
#include "elements/lists.h"
#include "load/load.h"

#include <ctype.h>
#include <string.h>

/* ---------------------------------------------------------------------- reading */

/* the value of a key for one state: of a vector its entry, or the one value of all */
static int entry_of(mbg__item *item, const mbg__symbol *s, const char *key, const mbg__json **out) {
  const mbg__json *json = mbg__json_member(item->json, key), *rate = mbg__json_member(item->json, "rate");
  const bool vector = rate && rate->kind == MBG__JSON_ARRAY;
  *out = json;
  if (!json || json->kind != MBG__JSON_ARRAY) {
    return MBG_OK;
  }
  *out = NULL;
  if (json->count == 0) {
    return mbg__item_bad(item, json, "%s: the array is empty", key);
  }
  if (!vector) {
    return mbg__item_bad(item, json, "%s: an array belongs to a state whose rate is an array", key);
  }
  if (json->count != rate->count) {
    return s->entry > 0
               ? MBG_OK
               : mbg__item_bad(item, json, "%s has %d entries, but rate has %d", key, json->count, rate->count);
  }
  *out = json->child;
  for (int k = 0; k < s->entry; k++) {
    *out = (*out)->next;
  }
  return MBG_OK;
}

static bool is_steady(const mbg__json *json) {
  return json && json->kind == MBG__JSON_STRING && strcmp(json->text, "steady") == 0;
}

/* Does a value at the start name a signal or a state? Then it is a signal itself. */
static bool uses_signals(mbg__item *item, const mbg__json *json) {
  const char *c = json && json->kind == MBG__JSON_STRING ? json->text : "";
  while (*c) {
    char name[MBG__EXPR_NAME_MAX + 1];
    size_t n = 0;
    while (isalnum((unsigned char)c[n]) || c[n] == '_') {
      n++;
    }
    if (n > 0 && n < sizeof(name) && !isdigit((unsigned char)*c)) {
      mbg__format(name, sizeof(name), "%.*s", (int)n, c);
      const mbg__symbol *s = mbg__name_find(item->L, item->source, MBG__NAME_SIGNAL, name);
      if (s && s->kind == MBG__NAME_SIGNAL) {
        return true;
      }
    }
    c += n > 0 ? n : 1;
  }
  return false;
}

static int read_scale(mbg__item *item, const mbg__symbol *symbol, mbg__user_state *state) {
  int err = MBG_OK;
  const mbg__json *json;
  const double x = fabs(mbg__value(item->L, state->initial));
  state->scale = x > 1 && isfinite(x) ? x : 1;
  MBG_TRY(entry_of(item, symbol, "scale", &json));
  if (json) {
    double scale;
    MBG_TRY(mbg__item_fixed(item, json, "scale", &scale, NULL));
    if (!(scale > 0) && !isnan(scale)) {
      MBG_TRY(mbg__item_bad(item, json, "scale must be positive, found %g", scale));
    }
    state->scale = scale > 0 && isfinite(scale) ? scale : state->scale;
  }
done:
  return err;
}

static int read_state(mbg__item *item, const mbg__symbol *symbol, mbg__user_state *state) {
  int err = MBG_OK;
  static const mbg__file_object own[] = {MBG__KEYS_STATE};
  const mbg__json *initial = NULL, *guess = NULL, *unit = NULL;
  bool yes;
  *state = (mbg__user_state){
      .name = item->name, .unit = "", .signal = -1, .force = -1, .coord = -1, .scale = 1, .start = -1};
  state->where = mbg__item_where_key(item, item->json);
  MBG_TRY(mbg__item_object(item, item->json, NULL, &yes));
  if (yes && symbol->entry == 0) {
    MBG_TRY(mbg__item_keys(item, item->json, own, 1, NULL, 0));
  }
  if (yes) {
    MBG_TRY(entry_of(item, symbol, "initial", &initial));
    MBG_TRY(entry_of(item, symbol, "guess", &guess));
    unit = mbg__json_member(item->json, "unit");
  }
  if (unit) {
    MBG_TRY(mbg__item_text(item, unit, "unit", &state->unit));
    state->unit = mbg__intern(item->L, state->unit ? state->unit : "");
    MBG_TRY(state->unit ? MBG_OK : mbg__fail_memory(item->L->ctx));
  }
  state->steady = is_steady(initial);
  if (guess && !state->steady) {
    MBG_TRY(mbg__item_bad_key(item, guess, "'guess' requires \"initial\": \"steady\""));
  }
  if (!state->steady && uses_signals(item, initial)) { /* read after the signals */
    initial = NULL;
  }
  MBG_TRY(mbg__item_attribute(item, state->steady ? guess : initial, state->steady ? "guess" : "initial", state->unit,
                              0, 1, &state->initial));
  if (yes) {
    MBG_TRY(read_scale(item, symbol, state));
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- carriers */

static int add_carrier(mbg__loader *L, int first, int used, int velocity) {
  int err = MBG_OK, pose;
  char name[64];
  const mbg__user_state *s = &L->states.at[first];
  mbg__body body = {.type = &mbg__state_carrier,
                    .motion = MBG__POINT,
                    .mask = (1u << used) - 1,
                    .nvel = 6,
                    .velocity = velocity,
                    .velocity_in_body = true,
                    .velocity_sign = {1, 1, 1},
                    .velocity_frame = -1,
                    .velocity_point = -1,
                    .modal = -1,
                    .carrier = -1,
                    .state = first,
                    .where = s->where};
  for (int k = 0; k < used; k++) {
    body.velocity_sign[k] = 1 / s[k].scale;
  }
  mbg__format(name, sizeof(name), "states.%d", first / 3);
  body.name = mbg__intern(L, name);
  MBG_TRY(mbg__pose_empty(L, &pose));
  body.design = body.guess = pose;
  err = body.name ? mbg__body_add(L, &body, NULL) : mbg__fail_memory(L->ctx);
done:
  return err;
}

/* the symbol of the next state in the list of signals */
static mbg__symbol *next_state(const mbg__loader *L, int *at) {
  while (L->names[MBG__NAME_SIGNAL].at[*at]->state < 0) {
    ++*at;
  }
  return L->names[MBG__NAME_SIGNAL].at[(*at)++];
}

int mbg__load_state_carriers(mbg__loader *L) {
  int err = MBG_OK, at = 0, filler;
  for (int first = 0; first < L->nstate; first += 3) {
    const int used = L->nstate - first < 3 ? L->nstate - first : 3, velocity = L->attributes.count;
    mbg__item item;
    for (int k = 0; k < used; k++) {
      mbg__symbol *symbol = next_state(L, &at);
      mbg__user_state state;
      MBG_TRY(mbg__item_open(L, symbol, &item));
      MBG_TRY(read_state(&item, symbol, &state));
      symbol->bad = item.bad;
      state.body = L->bodies.count;
      state.component = k;
      MBG_TRY(MBG__ADD(L, L->states, state));
    }
    while (L->attributes.count < velocity + 6) {
      MBG_TRY(mbg__item_attribute(&item, NULL, "unused", "", 0, 1, &filler));
    }
    MBG_TRY(add_carrier(L, first, used, velocity));
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- rates */

static const mbg__function_rule rate_rule = {
    .key = "rate", .unit = "", .uses = MBG__USES_TIME | MBG__USES_CONTROLS | MBG__USES_SIGNALS, .sign = 1};

static int add_rate(mbg__loader *L, mbg__item *item, const mbg__symbol *symbol, mbg__user_state *state) {
  static const char *const places[] = {"x", "y", "z"};
  int err = MBG_OK;
  const mbg__json *json = NULL;
  mbg__force force = {.name = state->name, .law = &mbg__state_rate, .joint = -1, .scale = state->scale};
  if (item->json->kind == MBG__JSON_OBJECT) {
    MBG_TRY(entry_of(item, symbol, "rate", &json));
  }
  MBG_TRY(mbg__item_function(item, json, &rate_rule, &force.fn));
  if (force.fn < 0) { /* reported */
    force.fn = 0;
    item->bad = true;
  } else {
    force.nfn = 1;
    force.nact = L->fns.at[force.fn].nact;
  }
  force.where = json ? mbg__item_where(item, json) : state->where;
  MBG_TRY(mbg__carrier_pair(L, state->body, &force.pair));
  MBG_TRY(mbg__coord_add(L, mbg__coord_find(places[state->component]), force.pair, state->scale, false, &force.coord));
  state->coord = force.coord;
  state->force = L->forces.count;
  MBG_TRY(MBG__ADD(L, L->forces, force));
done:
  return err;
}

int mbg__load_state_rates(mbg__loader *L) {
  int err = MBG_OK, at = 0;
  for (int i = 0; i < L->nstate; i++) {
    mbg__symbol *symbol = next_state(L, &at);
    mbg__item item;
    MBG_TRY(mbg__item_open(L, symbol, &item));
    MBG_TRY(add_rate(L, &item, symbol, &L->states.at[i]));
    symbol->bad = item.bad;
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- signals */

void mbg__state_signal(const mbg__loader *L, int state, mbg__signal *signal) {
  int n;
  const mbg__signal_type *const *types = mbg__signal_types(&n);
  for (int i = 0; i < n; i++) {
    if (types[i]->role == MBG__ROLE_COORD_RATE) {
      signal->type = types[i];
    }
  }
  assert(signal->type);
  signal->level = signal->type->level;
  signal->name = L->states.at[state].name;
  signal->unit = L->states.at[state].unit;
  signal->where = L->states.at[state].where;
  signal->coord = L->states.at[state].coord;
  signal->pair = L->forces.at[L->states.at[state].force].pair;
}

/* the states behind the signal of an initial value have values before */
static int check_initial(mbg__item *item, const mbg__json *json, int index, const bool *behind) {
  mbg__loader *L = item->L;
  int err = MBG_OK;
  for (int i = 0; i < L->nstate; i++) {
    const mbg__user_state *other = &L->states.at[i];
    if (!behind[other->signal]) {
      continue;
    }
    if (other->steady) {
      MBG_TRY(mbg__item_bad(item, json, "initial: state '%s' is steady, which is found after other states have values",
                            other->name));
    } else if (i >= index) {
      MBG_TRY(mbg__item_bad(item, json,
                            "initial: state '%s' gets its value later; initial values may use states that "
                            "are listed before",
                            other->name));
    }
  }
done:
  return err;
}

/* "initial" as an expression of signals */
static int read_initial(mbg__loader *L, mbg__symbol *symbol, mbg__user_state *state) {
  int err = MBG_OK;
  const mbg__json *json = NULL;
  mbg__item item;
  MBG_TRY(mbg__item_open(L, symbol, &item));
  MBG_TRY(entry_of(&item, symbol, "initial", &json));
  if (is_steady(json) || !uses_signals(&item, json)) {
    return MBG_OK;
  }
  MBG_TRY(mbg__item_signal(&item, json, "initial", &state->start));
  bool *behind = MBG_TAKE(&L->temp, bool, L->signals.count);
  MBG_TRY(mbg__arena_check(L->ctx, &L->temp));
  if (state->start < 0) {
    symbol->bad = item.bad;
    return MBG_OK;
  }
  if (L->signals.at[state->start].level > MBG__LEVEL_VELOCITY || L->signal_whole.at[state->start]) {
    MBG_TRY(mbg__item_bad(&item, json,
                          "initial: values at the start may use signals of positions and velocities alone: "
                          "accelerations, reactions and forces depend on states"));
  }
  behind[state->start] = true;
  for (int i = state->start; i >= 0; i--) {
    const int fn = behind[i] ? L->signals.at[i].fn : -1;
    for (int k = 0; fn >= 0 && k < L->fns.at[fn].ninput; k++) {
      if (L->fns.at[fn].input[k].role == MBG__ROLE_SIGNAL) {
        behind[L->fns.at[fn].input[k].index] = true;
      }
    }
  }
  MBG_TRY(check_initial(&item, json, symbol->state, behind));
  symbol->bad = item.bad;
done:
  return err;
}

int mbg__check_state_rates(mbg__loader *L) {
  int err = MBG_OK;
  for (int i = 0; i < L->names[MBG__NAME_SIGNAL].count; i++) {
    mbg__symbol *symbol = L->names[MBG__NAME_SIGNAL].at[i];
    if (symbol->state >= 0) {
      L->states.at[symbol->state].signal = i;
      MBG_TRY(mbg__check_law(L, symbol, L->states.at[symbol->state].force));
    }
  }
  for (int i = 0, n = L->names[MBG__NAME_SIGNAL].count; i < n; i++) {
    mbg__symbol *symbol = L->names[MBG__NAME_SIGNAL].at[i];
    MBG_TRY(symbol->state >= 0 && !symbol->bad ? read_initial(L, symbol, &L->states.at[symbol->state]) : MBG_OK);
  }
done:
  return err;
}
