/* Signals: the objects they refer to, their order, their levels. */
#include "load/load.h"
#include "load/load_tendons.h"

#include <string.h>

static int find_type(mbg__item *item, const mbg__signal_type **out) {
  int n, k;
  const mbg__signal_type *const *types = mbg__signal_types(&n);
  const char *keys[MBG__TYPES_MAX];
  assert(n <= MBG__TYPES_MAX);
  for (int i = 0; i < n; i++) {
    keys[i] = types[i]->key;
  }
  const int err = mbg__item_own_type(item, keys, n, &k);
  *out = k >= 0 ? types[k] : NULL;
  return err;
}

static const mbg__json ground = {.kind = MBG__JSON_STRING, .text = "ground", .length = 6};

/* ---------------------------------------------------------------------- what it refers to */

static int of_pair(mbg__item *item, mbg__signal *signal) {
  int err = MBG_OK, A = -1, B = -1;
  const mbg__json *of = mbg__json_member(item->json, "of"), *to = mbg__json_member(item->json, "relative_to");
  mbg__item world = *item;
  if (!of) {
    return MBG_OK;
  }
  MBG_TRY(mbg__item_marker(item, of, "of", &B));
  if (signal->type->gravity) {
    /* inertial: relative to the model's own ground */
    world.source = item->L->sources.at[0];
    if (to) {
      MBG_TRY(mbg__item_bad_key(
          item, to, "a signal of type '%s' is always relative to the ground; remove 'relative_to'", signal->type->key));
    }
    MBG_TRY(mbg__item_marker(&world, &ground, "relative_to", &A));
  } else {
    MBG_TRY(mbg__item_marker(item, to ? to : &ground, "relative_to", &A));
  }
  if (A >= 0 && B >= 0) {
    MBG_TRY(mbg__pair_add(item->L, A, B, &signal->pair));
    MBG_TRY(mbg__item_world_axes(item, signal->pair, false));
  }
done:
  return err;
}

/* a coordinate of two markers, by its type's key */
static int of_marker_coord(mbg__item *item, mbg__signal *signal) {
  int err = MBG_OK, n, k = -1;
  const mbg__coord_type *const *types = mbg__coord_types(&n);
  const mbg__json *coordinate = mbg__json_member(item->json, "coordinate");
  char all[256] = "";
  MBG_TRY(of_pair(item, signal));
  if (!coordinate) {
    return mbg__item_bad_key(item, item->json, "'coordinate' is missing");
  }
  for (int i = 0; i < n; i++) {
    const size_t used = strlen(all);
    mbg__format(all + used, sizeof(all) - used, "%s%s", i ? " " : "", types[i]->key);
  }
  MBG_TRY(mbg__item_choice(item, coordinate, "coordinate", all, &k));
  if (k < 0 || signal->pair < 0) {
    return MBG_OK;
  }
  const double sign = mbg__coord_sign(item->source, types[k]);
  if (sign == 0) {
    return mbg__item_bad(item, coordinate, "coordinate '%s' cannot be mirrored along this axis", types[k]->key);
  }
  MBG_TRY(mbg__coord_add(item->L, types[k], signal->pair, sign, true, &signal->coord));
done:
  return err;
}

static int of_coord(mbg__item *item, mbg__signal *signal) {
  int err = MBG_OK;
  const mbg__json *joint = mbg__json_member(item->json, "joint"), *of = mbg__json_member(item->json, "of");
  if (!joint == !of) {
    return mbg__item_bad_key(item, item->json, "give 'joint' or 'of'%s", joint ? ", not both" : "");
  }
  if (of) {
    return of_marker_coord(item, signal);
  }
  mbg__symbol *symbol;
  MBG_TRY(mbg__item_reference(item, joint, "joint", MBG__NAME_JOINT, &symbol));
  if (symbol) {
    signal->pair = item->L->joints.at[symbol->index].pair;
    MBG_TRY(mbg__item_joint_coord(item, symbol, mbg__json_member(item->json, "coordinate"), true, &signal->coord));
  }
done:
  return err;
}

/* rows of a joint and of the drivers on it */
static int joint_rows(mbg__loader *L, int joint, mbg__signal *signal) {
  const mbg__joint *j = &L->joints.at[joint];
  int n = j->nrow;
  for (int d = L->joint_driver.at[joint]; d >= 0; d = L->driver_before.at[d]) {
    n++;
  }
  int *rows = MBG_TAKE(L->arena, int, n);
  if (!rows) {
    return mbg__fail_memory(L->ctx);
  }
  for (int i = 0; i < j->nrow; i++) {
    rows[i] = j->row + i;
  }
  for (int d = L->joint_driver.at[joint], i = n; d >= 0; d = L->driver_before.at[d]) {
    rows[--i] = L->drivers.at[d].row;
  }
  signal->pair = j->pair;
  signal->row = j->row;
  signal->nrow = j->nrow;
  signal->nrows = n;
  signal->rows = rows;
  return MBG_OK;
}

static int single_row(mbg__loader *L, int row, mbg__signal *signal) {
  int *rows = MBG_TAKE(L->arena, int, 1);
  if (!rows) {
    return mbg__fail_memory(L->ctx);
  }
  rows[0] = row;
  signal->pair = L->terms.at[L->rows.at[row].term].pair;
  signal->row = row;
  signal->nrow = signal->nrows = 1;
  signal->rows = rows;
  return MBG_OK;
}

/* an axial force belongs to a joint of type distance, which has one row */
static int check_rod(mbg__item *item, const mbg__json *json, const mbg__joint *joint) {
  if (!joint->type || strcmp(joint->type->key, "distance") == 0) {
    return MBG_OK;
  }
  return mbg__item_bad(item, json, "joint '%s' is of type '%s', an axial force needs 'distance'; use a 'reaction'",
                       joint->name, joint->type->key);
}

static int of_joint(mbg__item *item, mbg__signal *signal) {
  static const struct {
    const char *key;
    mbg__name_kind kind;
  } owners[] = {{"joint", MBG__NAME_JOINT}, {"driver", MBG__NAME_DRIVER}, {"coupling", MBG__NAME_COUPLING}};
  int err = MBG_OK, given = 0;
  mbg__loader *L = item->L;
  if (signal->type->role == MBG__ROLE_CURVE) {
    return mbg__signal_of_contact(item, signal);
  }
  for (int k = 0; k < MBG_COUNT(owners); k++) {
    const mbg__json *json = mbg__json_member(item->json, owners[k].key);
    mbg__symbol *symbol;
    if (!json) {
      continue;
    }
    given++;
    MBG_TRY(mbg__item_reference(item, json, owners[k].key, owners[k].kind, &symbol));
    if (!symbol) {
      continue;
    }
    if (owners[k].kind == MBG__NAME_JOINT) {
      MBG_TRY(joint_rows(L, symbol->index, signal));
      MBG_TRY(signal->type->role == MBG__ROLE_AXIAL ? check_rod(item, json, &L->joints.at[symbol->index]) : MBG_OK);
    } else {
      const int row =
          owners[k].kind == MBG__NAME_DRIVER ? L->drivers.at[symbol->index].row : L->couplings.at[symbol->index].row;
      MBG_TRY(single_row(L, row, signal));
    }
  }
  if (given != 1 && signal->type->role != MBG__ROLE_AXIAL) {
    MBG_TRY(mbg__item_bad_key(item, item->json, "give one of 'joint', 'driver' and 'coupling'"));
  }
done:
  return err;
}

static int of_force(mbg__item *item, mbg__signal *signal) {
  int err = MBG_OK;
  const mbg__json *json = mbg__json_member(item->json, "force");
  const mbg__json *component = mbg__json_member(item->json, "component");
  mbg__symbol *symbol;
  if (!json) {
    return MBG_OK;
  }
  MBG_TRY(mbg__item_reference(item, json, "force", MBG__NAME_FORCE, &symbol));
  if (!symbol) {
    return MBG_OK;
  }
  const mbg__force *force = &item->L->forces.at[symbol->index];
  signal->force = symbol->index;
  signal->pair = force->pair;
  if (signal->type->role == MBG__ROLE_CONTACT) {
    return !symbol->bad && (!force->type || !force->type->measure)
               ? mbg__item_bad(item, json, "force: '%s' is not a contact", force->name)
               : MBG_OK;
  }
  if (force->law && component) {
    MBG_TRY(mbg__item_bad_key(
        item, component, "force '%s' acts along a coordinate and has no components; remove 'component'", force->name));
  }
  if (!force->law && !component) {
    MBG_TRY(mbg__item_bad_key(item, item->json, "'component' is missing: force '%s' is a wrench with six components",
                              force->name));
  }
done:
  return err;
}

static int of_bodies(mbg__item *item, mbg__signal *signal) {
  int err = MBG_OK, body = -1;
  const mbg__json *of = mbg__json_member(item->json, "of");
  if (of && signal->type->role != MBG__ROLE_KINETIC) {
    return mbg__item_bad_key(item, of, "the %s is always that of the whole model; remove this key", signal->type->key);
  }
  if (of) {
    MBG_TRY(mbg__item_body(item, of, "of", &body));
    if (body == -1) {
      MBG_TRY(mbg__item_bad(item, of, "of: the ground has no energy"));
    }
  }
  signal->body = body;
done:
  return err;
}

static int of_control(mbg__item *item, mbg__signal *signal) {
  const mbg__json *json = mbg__json_member(item->json, "control");
  mbg__symbol *symbol = NULL;
  const int err = json ? mbg__item_reference(item, json, "control", MBG__NAME_CONTROL, &symbol) : MBG_OK;
  signal->control = symbol ? symbol->index : -1;
  return err;
}

static const mbg__function_rule value_rule = {
    .key = "value", .unit = "", .uses = MBG__USES_TIME | MBG__USES_CONTROLS | MBG__USES_SIGNALS, .sign = 1};

static int of_value(mbg__item *item, mbg__signal *signal) {
  const mbg__json *json = mbg__json_member(item->json, "value");
  return json ? mbg__item_function(item, json, &value_rule, &signal->fn) : MBG_OK;
}

/* the attribute that the last impact of an event has set */
static int of_event(mbg__item *item, mbg__signal *signal) {
  int err = MBG_OK;
  const mbg__json *json = mbg__json_member(item->json, "event");
  mbg__loader *L = item->L;
  mbg__symbol *symbol = NULL;
  MBG_TRY(json ? mbg__item_reference(item, json, "event", MBG__NAME_EVENT, &symbol) : MBG_OK);
  if (!symbol) {
    return MBG_OK;
  }
  if (L->events.at[symbol->index].impulse < 0) {
    return mbg__item_bad(item, json, "event '%s' has no impact", symbol->name);
  }
  mbg__input *input = MBG_TAKE(L->arena, mbg__input, 1);
  MBG_TRY(mbg__arena_check(L->ctx, L->arena));
  *input = (mbg__input){MBG__ROLE_ATTR, L->events.at[symbol->index].impulse};
  const mbg__fn fn = {.expr = L->identity, .ninput = 1, .input = input, .nact = 2, .text = "impulse"};
  MBG_TRY(MBG__ADD(L, L->fns, fn));
  signal->fn = L->fns.count - 1;
done:
  return err;
}

/* length and rate of a tendon are expressions, its tension a multiplier or a force */
static int read_tendon(mbg__item *item, const mbg__symbol *symbol, int tendon, mbg__signal *signal) {
  enum { LENGTH, RATE, TENSION };
  int err = MBG_OK;
  const int quantity = signal->opt[0], row = item->L->tendons.at[tendon].row;
  if (quantity == TENSION) {
    signal->type = mbg__signal_of_role(row >= 0 ? MBG__ROLE_AXIAL : MBG__ROLE_FORCE);
    signal->level = signal->type->level;
    signal->force = row >= 0 ? -1 : symbol->index;
    signal->pair = row >= 0 ? -1 : item->L->forces.at[symbol->index].pair;
    return row >= 0 ? single_row(item->L, row, signal) : MBG_OK;
  }
  signal->type = mbg__signal_of_role(MBG__ROLE_VALUE);
  signal->level = signal->type->level;
  signal->unit = quantity == RATE ? "m/s" : "m";
  MBG_TRY(mbg__tendon_function(item->L, tendon, quantity == RATE, &signal->fn));
done:
  return err;
}

static int of_tendon(mbg__item *item, mbg__signal *signal) {
  int err = MBG_OK;
  mbg__loader *L = item->L;
  const mbg__json *coupling = mbg__json_member(item->json, "coupling"), *force = mbg__json_member(item->json, "force");
  const mbg__json *json = coupling ? coupling : force;
  mbg__symbol *symbol = NULL;
  if (!coupling == !force) {
    return mbg__item_bad_key(item, item->json, "give 'coupling' or 'force'%s", coupling ? ", not both" : "");
  }
  MBG_TRY(mbg__item_reference(item, json, coupling ? "coupling" : "force",
                              coupling ? MBG__NAME_COUPLING : MBG__NAME_FORCE, &symbol));
  if (!symbol || item->bad) {
    return MBG_OK;
  }
  const int row = coupling ? L->couplings.at[symbol->index].row : -1;
  const int tendon = mbg__tendon_find(L, row, coupling ? -1 : symbol->index);
  if (tendon < 0) {
    return mbg__item_bad(item, json, "%s '%s' is not a tendon", coupling ? "coupling" : "force", symbol->name);
  }
  MBG_TRY(read_tendon(item, symbol, tendon, signal));
done:
  return err;
}

/* of an expression or control, whose unit nothing else says */
static int read_unit(mbg__item *item, mbg__signal *signal) {
  int err = MBG_OK;
  const char *text = NULL;
  const mbg__json *json = mbg__json_member(item->json, "unit");
  if (json && (signal->type->of == MBG__OF_VALUE || signal->type->of == MBG__OF_CONTROL)) {
    MBG_TRY(mbg__item_text(item, json, "unit", &text));
    signal->unit = mbg__intern(item->L, text ? text : "");
    MBG_TRY(signal->unit ? MBG_OK : mbg__fail_memory(item->L->ctx));
  }
done:
  return err;
}

/* a coordinate of a modal body */
static int of_modes(mbg__item *item, mbg__signal *signal) {
  int err = MBG_OK, body, mode;
  mbg__loader *L = item->L;
  const mbg__json *of = mbg__json_member(item->json, "of");
  MBG_TRY(mbg__item_body(item, of, "of", &body));
  if (body == -2) {
    return MBG_OK;
  }
  if (body < 0 || L->bodies.at[body].modal < 0) {
    return mbg__item_bad(item, of, "of: '%s' is not a modal body", of->text);
  }
  MBG_TRY(mbg__item_mode(item, mbg__json_member(item->json, "mode"), L->bodies.at[body].modal, &mode));
  if (mode < 0) {
    return MBG_OK;
  }
  int *opt = MBG_TAKE(L->arena, int, 1);
  MBG_TRY(mbg__arena_check(L->ctx, L->arena));
  opt[0] = mode % 3;
  signal->opt = opt;
  MBG_TRY(mbg__modal_pair(L, L->bodies.at[body].modal, mode, &signal->pair));
done:
  return err;
}

/* stress of all elements: at the outer fibres of their sections, or at points of a section that has no known outline */
static int of_all_elements(mbg__item *item, mbg__signal *signal, const mbg__json *element, const mbg__beam *beam) {
  const mbg__json *y = mbg__json_member(item->json, "y"), *z = mbg__json_member(item->json, "z");
  const bool general = beam->rule.section == MBG__GENERAL;
  if (signal->type->role != MBG__ROLE_STRESS) {
    return mbg__item_bad(item, element, "element \"all\" belongs to stresses; here it must be an integer from 0 to %d",
                         beam->count - 1);
  }
  if (general && !y && !z) {
    return mbg__item_bad_key(item, element,
                             "a section of type 'general' has no known outline: give y and z of its outer fibres, too");
  }
  if (!general && (y || z)) {
    return mbg__item_bad_key(item, y ? y : z,
                             "element \"all\" takes the outer fibres of the sections; leave y and z out");
  }
  return MBG_OK;
}

/* an element of a beam; energies may cover a beam or all beams */
static int of_beam(mbg__item *item, mbg__signal *signal) {
  int err = MBG_OK;
  const mbg__json *json = mbg__json_member(item->json, "beam"), *element = mbg__json_member(item->json, "element");
  const bool whole = signal->type->role == MBG__ROLE_STRAIN_ENERGY;
  mbg__symbol *symbol = NULL;
  const mbg__json *of = mbg__json_member(item->json, "of");
  if (of) {
    MBG_TRY(mbg__item_body(item, of, "of", &signal->body));
    if (!whole || json || element) {
      return mbg__item_bad_key(item, of, "'of' (strain energy of a modal body) excludes 'beam' and 'element'");
    }
    if (signal->body != -2 && (signal->body < 0 || item->L->bodies.at[signal->body].modal < 0)) {
      return mbg__item_bad(item, of, "of: '%s' is not a modal body", of->text);
    }
    return MBG_OK;
  }
  if (!json) {
    return whole && !element ? MBG_OK : mbg__item_missing(item, item->json, "beam");
  }
  MBG_TRY(mbg__item_reference(item, json, "beam", MBG__NAME_BEAM, &symbol));
  if (!symbol) {
    return MBG_OK;
  }
  signal->beam = symbol->index;
  if (!element) {
    return whole ? MBG_OK : mbg__item_missing(item, item->json, "element");
  }
  const mbg__beam *beam = &item->L->beams.at[symbol->index];
  if (element->kind == MBG__JSON_STRING && !strcmp(element->text, "all")) {
    return of_all_elements(item, signal, element, beam);
  }
  if (element->kind != MBG__JSON_NUMBER || element->number != floor(element->number) || !(element->number >= 0) ||
      !(element->number < beam->count)) {
    return mbg__item_bad(item, element, "element must be an integer from 0 to %d%s: beam '%s' has %d elements",
                         beam->count - 1, signal->type->role == MBG__ROLE_STRESS ? ", or \"all\"" : "", beam->name,
                         beam->count);
  }
  signal->element = beam->first + (int)element->number;
  signal->pair = item->L->elements.at[signal->element].pair;
done:
  return err;
}

/* ---------------------------------------------------------------------- reading */

static void no_signal(mbg__signal *signal) {
  *signal = (mbg__signal){
      .pair = -1, .coord = -1, .row = -1, .force = -1, .body = -1, .control = -1, .fn = -1, .beam = -1, .element = -1};
}

static int load_signal(mbg__item *item, mbg__signal *signal) {
  static int (*const readers[])(mbg__item *, mbg__signal *) = {
      [MBG__OF_PAIR] = of_pair,    [MBG__OF_COORD] = of_coord,   [MBG__OF_JOINT] = of_joint,
      [MBG__OF_FORCE] = of_force,  [MBG__OF_BODIES] = of_bodies, [MBG__OF_CONTROL] = of_control,
      [MBG__OF_VALUE] = of_value,  [MBG__OF_BEAM] = of_beam,     [MBG__OF_EVENT] = of_event,
      [MBG__OF_TENDON] = of_tendon};
  int err = MBG_OK;
  bool yes;
  no_signal(signal);
  signal->name = item->name;
  signal->where = mbg__item_where_key(item, item->json);
  MBG_TRY(mbg__item_object(item, item->json, NULL, &yes));
  if (!yes) {
    return MBG_OK;
  }
  MBG_TRY(find_type(item, &signal->type));
  if (!signal->type) {
    return MBG_OK;
  }
  const mbg__signal_type *type = signal->type;
  const mbg__file_object keys[] = {MBG__KEYS_SIGNAL, mbg__signal_object(type)};
  signal->level = type->level;
  MBG_TRY(mbg__item_keys(item, item->json, keys, 2, type->keys, type->nkey));
  MBG_TRY(mbg__item_type_numbers(item, type->keys, type->nkey, &signal->attr, &signal->nattr, &signal->opt));
  if (item->bad && type->modes) {
    return MBG_OK;
  }
  MBG_TRY(read_unit(item, signal));
  MBG_TRY(type->modes ? of_modes(item, signal) : readers[type->of](item, signal));
done:
  return err;
}

/* ---------------------------------------------------------------------- order and levels */

static int signal_dependences(const mbg__loader *L, int i, int *list) {
  const int fn = L->signals.at[i].fn;
  return fn < 0 ? 0 : mbg__load_references(L->fns.at[fn].input, L->fns.at[fn].ninput, list);
}

static int permute_signals(mbg__loader *L, const int *order) {
  const int n = L->signals.count;
  int *place = MBG_TAKE(&L->temp, int, n);
  mbg__signal *sorted = MBG_TAKE(&L->temp, mbg__signal, n);
  mbg__symbol **symbols = MBG_TAKE(&L->temp, mbg__symbol *, n);
  if (mbg__arena_check(L->ctx, &L->temp) < 0) {
    return MBG_ERROR_MEMORY;
  }
  for (int k = 0; k < n; k++) {
    place[order[k]] = k;
    sorted[k] = L->signals.at[order[k]];
    symbols[k] = L->names[MBG__NAME_SIGNAL].at[order[k]];
    symbols[k]->index = k;
  }
  for (int k = 0; k < n; k++) {
    L->signals.at[k] = sorted[k];
    L->names[MBG__NAME_SIGNAL].at[k] = symbols[k];
  }
  for (int i = 0; i < L->fns.count; i++) {
    mbg__load_renumber(L->fns.at[i].input, L->fns.at[i].ninput, place);
  }
  return MBG_OK;
}

/* level of an expression, and whether something of the whole model (forces, energies, contacts) is behind it */
static void set_level(mbg__loader *L, mbg__signal *s, bool *whole) {
  *whole = s->type && (s->type->of == MBG__OF_FORCE || s->type->of == MBG__OF_BODIES || s->type->of == MBG__OF_BEAM ||
                       s->type->role == MBG__ROLE_CURVE);
  if (s->fn < 0) {
    return;
  }
  const mbg__fn *fn = &L->fns.at[s->fn];
  for (int k = 0; k < fn->ninput; k++) {
    if (fn->input[k].role == MBG__ROLE_SIGNAL) {
      const int index = fn->input[k].index;
      const mbg__signal *other = &L->signals.at[index];
      s->level = other->level > s->level ? other->level : s->level;
      *whole = *whole || (index < L->signal_whole.count && L->signal_whole.at[index]); /* later ones: a cycle */
    }
  }
}

static int set_levels(mbg__loader *L) {
  for (int i = 0; i < L->signals.count; i++) {
    bool *whole = MBG__PUSH(L, L->signal_whole);
    if (!whole) {
      return mbg__fail_memory(L->ctx);
    }
    set_level(L, &L->signals.at[i], whole);
  }
  return MBG_OK;
}

int mbg__load_signals(mbg__loader *L) {
  int err = MBG_OK, *order;
  for (int i = 0; i < L->names[MBG__NAME_SIGNAL].count; i++) {
    mbg__symbol *s = L->names[MBG__NAME_SIGNAL].at[i];
    mbg__item item;
    mbg__signal signal;
    MBG_TRY(mbg__item_open(L, s, &item));
    if (s->state >= 0) {
      no_signal(&signal);
      mbg__state_signal(L, s->state, &signal);
    } else if (s->measured) {
      no_signal(&signal);
      mbg__tendon_measure(L, s, &signal);
    } else {
      MBG_TRY(load_signal(&item, &signal));
    }
    MBG_TRY(MBG__ADD(L, L->signals, signal));
    s->bad = item.bad;
  }
  MBG_TRY(mbg__load_order(L, L->names[MBG__NAME_SIGNAL].at, L->signals.count, signal_dependences, "signals", &order));
  MBG_TRY(permute_signals(L, order));
  MBG_TRY(set_levels(L));
  for (int i = 0; i < L->names[MBG__NAME_FORCE].count; i++) {
    mbg__symbol *s = L->names[MBG__NAME_FORCE].at[i];
    MBG_TRY(mbg__check_law(L, s, s->index));
  }
  MBG_TRY(mbg__check_state_rates(L));
done:
  return err;
}

/* ---------------------------------------------------------------------- signals of criteria */

static const mbg__signal_type *expression_type(void) {
  int n;
  const mbg__signal_type *const *types = mbg__signal_types(&n);
  for (int i = 0; i < n; i++) {
    if (types[i]->of == MBG__OF_VALUE) {
      return types[i];
    }
  }
  return NULL;
}

int mbg__item_signal(mbg__item *item, const mbg__json *json, const char *label, int *signal) {
  int err = MBG_OK, fn;
  mbg__loader *L = item->L;
  *signal = -1;
  if (json->kind == MBG__JSON_STRING) {
    const mbg__symbol *s = mbg__name_find(L, item->source, MBG__NAME_SIGNAL, json->text);
    if (s && s->kind == MBG__NAME_SIGNAL && s->entries == 0) {
      item->bad = item->bad || s->bad;
      *signal = s->bad ? -1 : s->index;
      return MBG_OK;
    }
  }
  mbg__function_rule rule = value_rule;
  rule.key = label;
  MBG_TRY(mbg__item_function(item, json, &rule, &fn));
  if (fn < 0) {
    return MBG_OK;
  }
  mbg__signal *made = MBG__PUSH(L, L->signals);
  bool *whole = MBG__PUSH(L, L->signal_whole);
  if (!made || !whole) {
    return mbg__fail_memory(L->ctx);
  }
  no_signal(made);
  made->type = expression_type();
  assert(made->type);
  made->level = made->type->level;
  made->fn = fn;
  made->where = mbg__item_where(item, json);
  set_level(L, made, whole);
  *signal = L->signals.count - 1;
done:
  return err;
}
