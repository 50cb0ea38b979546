/* Tendons: ropes over markers and pulleys (theory 8, section 11). A tendon is the sum of its strands, each a function
   of one relative frame, times the ratios of its branches. An inextensible one is a row whose terms are the strands; an
   elastic one is a force on each strand, whose length and rate are sums of signals that no file shows. */
#include "load/load_tendons.h"
#include "elements/strand_kernels.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------- keys */

#define MARKERS "markers and pulleys in the order of the tendon"
static const mbg__file_key branch_keys[] = {
    {"via", MBG__SHAPE_VIA, true, NULL, MARKERS},
    {"ratio", MBG__SHAPE_NUMBER, false, NULL, "factor of its length, by which it carries the tension; 1 when absent"},
};
static const mbg__file_key pulley_keys[] = {
    {"pulley", MBG__SHAPE_NAME, true, NULL, "marker whose z axis is the axle"},
    {"radius", MBG__SHAPE_NUMBER, true, NULL, "radius of the pulley; 0: a point"},
    {"side", MBG__SHAPE_CHOICE, true, "left right",
     "side of the tendon on which the axle lies: left, where it turns counterclockwise about z"},
    {"turns", MBG__SHAPE_ELEMENT, false, NULL, "whole turns round the pulley, beside the arc at the start"},
};
static const mbg__file_key path_keys[] = {
    {"via", MBG__SHAPE_VIA, false, NULL, MARKERS},
    {"branches", MBG__SHAPE_BRANCHES, false, NULL, "several paths under one tension, in the place of `via`"},
};

mbg__file_keys mbg__tendon_keys(mbg__file_object object) {
  return object == MBG__KEYS_BRANCH   ? (mbg__file_keys){branch_keys, MBG_COUNT(branch_keys)}
         : object == MBG__KEYS_PULLEY ? (mbg__file_keys){pulley_keys, MBG_COUNT(pulley_keys)}
                                      : (mbg__file_keys){path_keys, MBG_COUNT(path_keys)};
}

/* ---------------------------------------------------------------------- places of the path */

static int read_turns(mbg__item *item, const mbg__json *json, int *turns) {
  *turns = 0;
  if (!json) {
    return MBG_OK;
  }
  if (json->kind != MBG__JSON_NUMBER || json->number != floor(json->number) || !(json->number >= 0) ||
      !(json->number <= 1e6)) {
    return mbg__item_bad(item, json, "turns must be an integer from 0");
  }
  *turns = (int)json->number;
  return MBG_OK;
}

static int read_pulley(mbg__item *item, const mbg__json *json, const char *label, mbg__via *via) {
  static const mbg__file_object keys[] = {MBG__KEYS_PULLEY};
  int err = MBG_OK, side = 0;
  char key[64];
  const mbg__json *pulley = mbg__json_member(json, "pulley"), *radius = mbg__json_member(json, "radius");
  MBG_TRY(mbg__item_keys(item, json, keys, 1, NULL, 0));
  if (pulley) {
    mbg__format(key, sizeof(key), "%s.pulley", label);
    MBG_TRY(mbg__item_marker(item, pulley, key, &via->marker));
    via->name = pulley->kind == MBG__JSON_STRING ? mbg__intern(item->L, pulley->text) : NULL;
  }
  mbg__format(key, sizeof(key), "%s.radius", label);
  MBG_TRY(mbg__item_attribute(item, radius, key, "m", 0, 1, &via->radius));
  MBG_TRY(mbg__item_check_sign(item, radius, MBG__NOT_NEGATIVE, via->radius));
  MBG_TRY(mbg__item_choice(item, mbg__json_member(json, "side"), "side", "left right", &side));
  MBG_TRY(read_turns(item, mbg__json_member(json, "turns"), &via->turns));
  via->side = (side == 0 ? 1 : -1) * item->source->sign[0] * item->source->sign[1];
done:
  return err;
}

static int read_via(mbg__item *item, const mbg__json *json, const char *label) {
  int err = MBG_OK;
  mbg__via via = {.marker = -1, .radius = -1, .in = -1, .out = -1};
  if (json->kind == MBG__JSON_OBJECT) {
    MBG_TRY(read_pulley(item, json, label, &via));
  } else if (json->kind == MBG__JSON_STRING) {
    MBG_TRY(mbg__item_marker(item, json, label, &via.marker));
    via.name = mbg__intern(item->L, json->text);
  } else {
    return mbg__item_wrong(item, json, label, "the name of a marker, or an object with 'pulley'");
  }
  MBG_TRY(MBG__ADD(item->L, item->L->vias, via));
done:
  return err;
}

/* ---------------------------------------------------------------------- strands */

static mbg__term *new_term(mbg__loader *L, int pair, int factor) {
  mbg__term *t = MBG_TAKE(L->arena, mbg__term, 1);
  if (t) {
    *t = (mbg__term){.pair = pair, .law = -1, .attr_sign = 1, .turn = -1, .sign = 1, .factor = factor, .outer = -1};
  }
  return t;
}

static void set_entries(mbg__term *t, mbg__row_kernel kernel, int n, const int *entry) {
  t->kernel = kernel;
  t->nentry = n;
  memcpy(t->entry, entry, (size_t)n * sizeof(int));
}

/* a coordinate whose turns are counted, and the counter */
static int add_bearing(mbg__loader *L, int pair, const char *type, const int entry[2], mbg__term **out) {
  int err = MBG_OK;
  mbg__term *t = new_term(L, pair, -1);
  MBG_TRY(mbg__arena_check(L->ctx, L->arena));
  set_entries(t, mbg__strand_bearing, 2, entry);
  t->quarters = true;
  t->turn = L->model->nturn++;
  MBG_TRY(MBG__ADD(L, L->coords, (mbg__coord){mbg__coord_find(type), pair, 1, t->turn, t}));
  *out = t;
done:
  return err;
}

/* radius times the angle of the second pulley against the first */
static int add_angle(mbg__loader *L, const mbg__via *to, int factor, mbg__strand *s) {
  static const int entry[] = {MBG__R11, MBG__R21};
  int err = MBG_OK;
  mbg__term *t = new_term(L, s->length->pair, factor);
  MBG_TRY(mbg__arena_check(L->ctx, L->arena));
  MBG_TRY(add_bearing(L, t->pair, "angle", entry, &s->bearing[1]));
  set_entries(t, mbg__strand_angle, 2, entry);
  t->quarters = true;
  t->turn = s->bearing[1]->turn;
  t->nattr = 1;
  t->attr[0] = to->radius;
  t->attr_sign = to->side;
  s->angle = t;
done:
  return err;
}

/* rho = r_from - r_to, the radii with their signs */
static void set_radii(mbg__term *t, const mbg__via *from, const mbg__via *to) {
  const bool two = from->radius >= 0 && to->radius >= 0, back = from->radius < 0;
  t->nattr = two ? 2 : 1;
  t->attr[0] = back ? to->radius : from->radius;
  t->attr[1] = to->radius;
  t->attr_sign = back ? -to->side : from->side;
  t->joined = two ? -to->side : 0;
}

static int add_strand(mbg__loader *L, int tendon, int from, int to, int factor) {
  static const int xyz[] = {MBG__X1, MBG__X2, MBG__X3};
  int err = MBG_OK, pair;
  const mbg__via a = L->vias.at[from], b = L->vias.at[to];
  mbg__strand s = {.tendon = tendon, .from = from, .to = to, .row_term = -1, .coord = {-1, -1}};
  s.back = a.radius < 0 && b.radius >= 0;
  MBG_TRY(mbg__pair_add(L, s.back ? b.marker : a.marker, s.back ? a.marker : b.marker, &pair));
  s.length = new_term(L, pair, factor);
  MBG_TRY(mbg__arena_check(L->ctx, L->arena));
  if (a.radius < 0 && b.radius < 0) {
    set_entries(s.length, mbg__coord_find("distance")->value, 3, xyz);
  } else {
    set_entries(s.length, s.back ? mbg__strand_back : mbg__strand_out, 3, xyz);
    set_radii(s.length, &a, &b);
    MBG_TRY(add_bearing(L, pair, "polar", xyz, &s.bearing[0]));
    s.length->quarters = true;
    s.length->turn = s.bearing[0]->turn;
    MBG_TRY(a.radius >= 0 && b.radius >= 0 ? add_angle(L, &b, factor, &s) : MBG_OK);
  }
  L->vias.at[from].out = L->vias.at[to].in = L->strands.count;
  MBG_TRY(MBG__ADD(L, L->strands, s));
done:
  return err;
}

static int read_path(mbg__item *item, const mbg__json *json, const char *label, int tendon, int factor) {
  int err = MBG_OK, k = 0;
  mbg__loader *L = item->L;
  const int first = L->vias.count;
  const mbg__json *place = NULL;
  MBG_TRY(mbg__item_array(item, json, label, -1, &place));
  if (json->kind == MBG__JSON_ARRAY && json->count < 2) {
    return mbg__item_bad(item, json, "%s: a tendon needs two places at least, as in [\"hook\", \"load\"]", label);
  }
  for (; place; place = place->next, k++) {
    char name[64];
    mbg__format(name, sizeof(name), "%s[%d]", label, k);
    MBG_TRY(read_via(item, place, name));
    const int last = L->vias.count - 1;
    if (!item->bad && k > 0 && L->vias.at[last].marker == L->vias.at[last - 1].marker) {
      return mbg__item_bad(item, place, "%s: '%s' follows itself, the tendon has no length there", name,
                           L->vias.at[last].name);
    }
  }
  for (int i = first; !item->bad && i + 1 < L->vias.count; i++) {
    MBG_TRY(add_strand(L, tendon, i, i + 1, factor));
  }
done:
  return err;
}

static int read_branch(mbg__item *item, const mbg__json *json, int k, int tendon) {
  static const mbg__file_object keys[] = {MBG__KEYS_BRANCH};
  int err = MBG_OK, ratio;
  const mbg__json *via = mbg__json_member(json, "via"), *factor = mbg__json_member(json, "ratio");
  char label[64], key[80];
  bool yes;
  mbg__format(label, sizeof(label), "branches[%d]", k);
  MBG_TRY(mbg__item_object(item, json, label, &yes));
  if (!yes) {
    return MBG_OK;
  }
  MBG_TRY(mbg__item_keys(item, json, keys, 1, NULL, 0));
  mbg__format(key, sizeof(key), "%s.ratio", label);
  MBG_TRY(mbg__item_attribute(item, factor, key, "", 1, 1, &ratio));
  MBG_TRY(mbg__item_check_sign(item, factor, MBG__POSITIVE, ratio));
  mbg__format(key, sizeof(key), "%s.via", label);
  MBG_TRY(via ? read_path(item, via, key, tendon, ratio) : MBG_OK);
done:
  return err;
}

/* "via" or "branches" */
static int read_tendon(mbg__item *item, int *index) {
  int err = MBG_OK, k = 0;
  mbg__loader *L = item->L;
  const mbg__json *via = mbg__json_member(item->json, "via"), *branches = mbg__json_member(item->json, "branches");
  const mbg__json *branch = NULL;
  mbg__tendon tendon = {.name = item->name, .via = L->vias.count, .strand = L->strands.count, .row = -1, .force = -1};
  tendon.length_fn = tendon.rate_fn = -1;
  tendon.where = mbg__item_where_key(item, item->json);
  *index = L->tendons.count;
  if (!via == !branches) {
    return mbg__item_bad_key(item, item->json, "give 'via' or 'branches'%s", via ? ", not both" : "");
  }
  if (via) {
    MBG_TRY(read_path(item, via, "via", *index, -1));
  } else {
    MBG_TRY(mbg__item_array(item, branches, "branches", -1, &branch));
    if (branches->kind == MBG__JSON_ARRAY && branches->count == 0) {
      MBG_TRY(mbg__item_bad(item, branches, "branches: at least one path is required"));
    }
  }
  for (; branch; branch = branch->next) {
    MBG_TRY(read_branch(item, branch, k++, *index));
  }
  tendon.nvia = L->vias.count - tendon.via;
  tendon.nstrand = item->bad ? 0 : L->strands.count - tendon.strand;
  MBG_TRY(MBG__ADD(L, L->tendons, tendon));
  MBG_TRY(MBG__ADD(L, L->tendon_at, (mbg__tendon_at){item->source, item->json}));
done:
  return err;
}

/* ---------------------------------------------------------------------- inextensible: a row */

int mbg__tendon_terms(mbg__item *item, int row) {
  int err = MBG_OK, index;
  mbg__loader *L = item->L;
  MBG_TRY(read_tendon(item, &index));
  if (item->bad) {
    return MBG_OK;
  }
  mbg__tendon *tendon = &L->tendons.at[index];
  tendon->row = row;
  for (int i = tendon->strand; i < tendon->strand + tendon->nstrand; i++) {
    mbg__strand *s = &L->strands.at[i];
    s->row_term = L->terms.count;
    MBG_TRY(MBG__ADD(L, L->terms, *s->length));
    MBG_TRY(s->angle ? MBG__ADD(L, L->terms, *s->angle) : MBG_OK);
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- signals behind lengths and rates */

/* a signal that no name refers to */
static int add_measure(mbg__loader *L, const mbg__tendon *tendon, int coord, bool rate) {
  int err = MBG_OK;
  const mbg__tendon_at *at = &L->tendon_at.at[tendon - L->tendons.at];
  mbg__symbol *symbol = MBG_TAKE(&L->temp, mbg__symbol, 1);
  MBG_TRY(mbg__arena_check(L->ctx, &L->temp));
  *symbol = (mbg__symbol){.name = tendon->name,
                          .kind = MBG__NAME_SIGNAL,
                          .index = L->names[MBG__NAME_SIGNAL].count,
                          .state = -1,
                          .measured = 1 + coord,
                          .rate = rate,
                          .json = at->json,
                          .source = at->source};
  MBG_TRY(MBG__ADD(L, L->names[MBG__NAME_SIGNAL], symbol));
done:
  return err;
}

void mbg__tendon_measure(const mbg__loader *L, const mbg__symbol *symbol, mbg__signal *signal) {
  const mbg__coord *c = &L->coords.at[symbol->measured - 1];
  int n;
  const mbg__signal_type *const *types = mbg__signal_types(&n);
  for (int i = 0; i < n; i++) {
    if (types[i]->role == (symbol->rate ? MBG__ROLE_COORD_RATE : MBG__ROLE_COORD_VALUE)) {
      signal->type = types[i];
    }
  }
  assert(signal->type);
  signal->level = signal->type->level;
  signal->coord = symbol->measured - 1;
  signal->pair = c->pair;
  signal->where = (mbg__where){symbol->source->file, symbol->json->key_line, symbol->json->key_column, NULL};
}

static int add_coords(mbg__loader *L, const mbg__tendon *tendon) {
  int err = MBG_OK;
  for (int i = tendon->strand; i < tendon->strand + tendon->nstrand; i++) {
    mbg__strand *s = &L->strands.at[i];
    for (int k = 0; k < 2; k++) {
      const mbg__term *t = k == 0 ? s->length : s->angle;
      if (t) {
        s->coord[k] = L->coords.count;
        MBG_TRY(MBG__ADD(L, L->coords, (mbg__coord){mbg__coord_find("distance"), t->pair, 1, -1, t}));
      }
    }
  }
done:
  return err;
}

static int resolve_part(void *user, const char *name, int index, const char **hint) {
  (void)user, (void)index, (void)hint;
  return atoi(name + 1);
}

/* s0 + s1 + ... of n signals from `first` on */
static int add_sum(mbg__loader *L, const mbg__tendon *tendon, int first, int n, int *fn) {
  int err = MBG_OK;
  const size_t room = 16 * (size_t)n;
  const mbg__scope scope = {.resolve = resolve_part, .t_input = -1};
  char *text = mbg__arena_take(L->arena, room, 1);
  mbg__input *input = MBG_TAKE(L->arena, mbg__input, n);
  mbg__expr *expr = NULL;
  MBG_TRY(mbg__arena_check(L->ctx, L->arena));
  for (int k = 0; k < n; k++) {
    const size_t used = strlen(text);
    mbg__format(text + used, room - used, k ? "+s%d" : "s%d", k);
    input[k] = (mbg__input){MBG__ROLE_SIGNAL, first + k};
  }
  MBG_TRY(mbg__expr_compile(L->ctx, L->arena, text, &tendon->where, &scope, &expr));
  const mbg__fn made = {.expr = expr,
                        .ninput = n,
                        .input = input,
                        .nact = L->model->clock >= 0,
                        .nsignal = n,
                        .text = "the parts of the tendon"};
  MBG_TRY(MBG__ADD(L, L->fns, made));
  *fn = L->fns.count - 1;
done:
  return err;
}

/* functions of signals: length and rate */
static int add_functions(mbg__loader *L, mbg__tendon *tendon) {
  int err = MBG_OK;
  if (tendon->length_fn >= 0) {
    return MBG_OK;
  }
  MBG_TRY(add_coords(L, tendon));
  for (int rate = 0; rate < 2; rate++) {
    const int first = L->names[MBG__NAME_SIGNAL].count;
    for (int i = tendon->strand; i < tendon->strand + tendon->nstrand; i++) {
      for (int k = 0; k < 2; k++) {
        const int coord = L->strands.at[i].coord[k];
        MBG_TRY(coord >= 0 ? add_measure(L, tendon, coord, rate) : MBG_OK);
      }
    }
    MBG_TRY(add_sum(L, tendon, first, L->names[MBG__NAME_SIGNAL].count - first,
                    rate ? &tendon->rate_fn : &tendon->length_fn));
  }
done:
  return err;
}

/* a function that may belong to one element alone, once more; its inputs are numbered anew with it */
static int copy_function(mbg__loader *L, int fn, int *out) {
  int err = MBG_OK;
  mbg__fn made = L->fns.at[fn];
  mbg__input *input = MBG_TAKE(L->arena, mbg__input, made.ninput);
  MBG_TRY(mbg__arena_check(L->ctx, L->arena));
  if (made.ninput > 0) {
    memcpy(input, made.input, (size_t)made.ninput * sizeof(*input));
  }
  made.input = input;
  MBG_TRY(MBG__ADD(L, L->fns, made));
  *out = L->fns.count - 1;
done:
  return err;
}

int mbg__tendon_function(mbg__loader *L, int tendon, bool rate, int *fn) {
  const int err = add_functions(L, &L->tendons.at[tendon]);
  const mbg__tendon *t = &L->tendons.at[tendon];
  return err < 0 ? err : copy_function(L, rate ? t->rate_fn : t->length_fn, fn);
}

int mbg__tendon_find(const mbg__loader *L, int row, int force) {
  int k = 0;
  while (k < L->tendons.count && !(row >= 0 && L->tendons.at[k].row == row) &&
         !(force >= 0 && L->tendons.at[k].force == force)) {
    k++;
  }
  return k < L->tendons.count ? k : -1;
}

/* ---------------------------------------------------------------------- elastic: forces */

/* the force on one coordinate; functions: the preload, length, rate */
static int add_force(mbg__item *item, const mbg__tendon *tendon, mbg__force *force, int coord) {
  int err = MBG_OK, fn;
  mbg__loader *L = item->L;
  const mbg__term *t = L->coords.at[coord].term;
  const bool first = L->forces.count == tendon->force;
  if (!first) {
    const int preload = force->fn;
    MBG_TRY(copy_function(L, preload, &force->fn));
  }
  MBG_TRY(copy_function(L, tendon->length_fn, &fn));
  MBG_TRY(copy_function(L, tendon->rate_fn, &fn));
  force->nfn = 3;
  force->pair = t->pair;
  force->coord = coord;
  force->scale = first; /* the whole energy */
  force->nact = force->nattr + t->nattr + (t->factor >= 0);
  for (int k = 0; k < force->nfn; k++) {
    force->nact += L->fns.at[force->fn + k].nact;
  }
  MBG_TRY(MBG__ADD(L, L->forces, *force));
done:
  return err;
}

int mbg__tendon_forces(mbg__item *item, mbg__force *force) {
  int err = MBG_OK, index;
  mbg__loader *L = item->L;
  const mbg__json *preload = mbg__json_member(item->json, "preload");
  MBG_TRY(read_tendon(item, &index));
  if (item->bad) {
    return MBG_OK;
  }
  mbg__tendon *tendon = &L->tendons.at[index];
  MBG_TRY(add_functions(L, tendon));
  static const mbg__function_rule rule = {
      .key = "preload", .unit = "N", .uses = MBG__USES_TIME | MBG__USES_CONTROLS | MBG__USES_SIGNALS, .sign = 1};
  MBG_TRY(mbg__item_function(item, preload, &rule, &force->fn));
  if (item->bad) {
    return MBG_OK;
  }
  tendon->force = L->forces.count;
  for (int i = tendon->strand; i < tendon->strand + tendon->nstrand; i++) {
    for (int k = 0; k < 2; k++) {
      const int coord = L->strands.at[i].coord[k];
      MBG_TRY(coord >= 0 ? add_force(item, tendon, force, coord) : MBG_OK);
    }
  }
  tendon->nforce = L->forces.count - tendon->force;
done:
  return err;
}
