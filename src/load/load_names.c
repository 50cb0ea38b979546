/* Names: a hash table of all names of all files in use. Bodies and markers share a namespace, and so do all names that
   expressions may use. */
#include "load/load.h"

#include <string.h>

typedef struct {
  const char *section; /* of the file */
  mbg__name_kind kind;
  const char *noun;
  int space;     /* names are unique in it */
  bool of_parts; /* taken from parts too */
} section;

enum {
  SPACE_NUMBERS,
  SPACE_FRAMES,
  SPACE_JOINTS,
  SPACE_DRIVERS,
  SPACE_COUPLINGS,
  SPACE_FORCES,
  SPACE_BEAMS,
  SPACE_PINS,
  SPACE_GUESS,
  SPACE_RUNS,
  SPACE_EVENTS,
  SPACE_CURVES
};

/* in the order of mbg__name_kind */
static const section sections[MBG__NAME_KINDS] = {
    {"parameters", MBG__NAME_PARAMETER, "parameter", SPACE_NUMBERS, true},
    {"constants", MBG__NAME_CONSTANT, "constant", SPACE_NUMBERS, true},
    {"tables", MBG__NAME_TABLE, "table", SPACE_NUMBERS, true},
    {"controls", MBG__NAME_CONTROL, "control", SPACE_NUMBERS, true},
    {"signals", MBG__NAME_SIGNAL, "signal", SPACE_NUMBERS, true},
    {"criteria", MBG__NAME_CRITERION, "criterion", SPACE_NUMBERS, false},
    {"bodies", MBG__NAME_BODY, "body", SPACE_FRAMES, true},
    {"markers", MBG__NAME_MARKER, "marker", SPACE_FRAMES, true},
    {"joints", MBG__NAME_JOINT, "joint", SPACE_JOINTS, true},
    {"drivers", MBG__NAME_DRIVER, "driver", SPACE_DRIVERS, true},
    {"couplings", MBG__NAME_COUPLING, "coupling", SPACE_COUPLINGS, true},
    {"forces", MBG__NAME_FORCE, "force", SPACE_FORCES, true},
    {"beams", MBG__NAME_BEAM, "beam", SPACE_BEAMS, true},
    {"pin", MBG__NAME_PIN, "pin", SPACE_PINS, true},
    {"bodies", MBG__NAME_GUESS, "initial body", SPACE_GUESS, true},
    {"runs", MBG__NAME_RUN, "run", SPACE_RUNS, false},
    {"modes", MBG__NAME_MODE, "mode", SPACE_NUMBERS, false},
    {"events", MBG__NAME_EVENT, "event", SPACE_EVENTS, false},
    {"curves", MBG__NAME_CURVE, "curve", SPACE_CURVES, true},
};

/* states are signals that expressions use by name, each entry of a vector one */
static const section states = {"states", MBG__NAME_SIGNAL, "state", SPACE_NUMBERS, true};

const char *mbg__name_noun(mbg__name_kind kind) { return sections[kind].noun; }

/* ---------------------------------------------------------------------- table */

static unsigned long hash(int space, const char *prefix, const char *name) {
  unsigned long h = 14695981039346656037UL + (unsigned long)space;
  for (; *prefix; prefix++) {
    h = (h ^ (unsigned char)*prefix) * 1099511628211UL;
  }
  for (; *name; name++) {
    h = (h ^ (unsigned char)*name) * 1099511628211UL;
  }
  return h;
}

static bool same(const char *full, const char *prefix, const char *name) {
  const size_t n = strlen(prefix);
  return strncmp(full, prefix, n) == 0 && strcmp(full + n, name) == 0;
}

static mbg__symbol *find(const mbg__loader *L, int space, const char *prefix, const char *name) {
  if (L->nbucket == 0) {
    return NULL;
  }
  mbg__symbol *s = L->buckets[hash(space, prefix, name) % (unsigned long)L->nbucket];
  while (s && !(sections[s->kind].space == space && same(s->name, prefix, name))) {
    s = s->next;
  }
  return s;
}

static int grow(mbg__loader *L) {
  const int n = L->nbucket ? 2 * L->nbucket : 256;
  mbg__symbol **buckets = MBG_TAKE(&L->temp, mbg__symbol *, n);
  if (!buckets) {
    return mbg__fail_memory(L->ctx);
  }
  for (int i = 0; i < L->nbucket; i++) {
    for (mbg__symbol *s = L->buckets[i], *next; s; s = next) {
      next = s->next;
      mbg__symbol **bucket = &buckets[hash(sections[s->kind].space, "", s->name) % (unsigned long)n];
      s->next = *bucket;
      *bucket = s;
    }
  }
  L->buckets = buckets;
  L->nbucket = n;
  return MBG_OK;
}

static int insert(mbg__loader *L, mbg__symbol *s) {
  if (L->nsymbol >= L->nbucket && grow(L) < 0) {
    return MBG_ERROR_MEMORY;
  }
  mbg__symbol **bucket = &L->buckets[hash(sections[s->kind].space, "", s->name) % (unsigned long)L->nbucket];
  s->next = *bucket;
  *bucket = s;
  L->nsymbol++;
  return MBG_OK;
}

/* ---------------------------------------------------------------------- spelling */

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool mbg__name_plain(const char *name) {
  for (const char *c = name; *c; c++) {
    if (!is_letter(*c) && *c != '_' && (c == name || !is_digit(*c))) {
      return false;
    }
  }
  return name[0] != 0;
}

static bool is_name(const char *name) {
  for (const char *c = name; *c; c++) {
    if (!is_letter(*c) && !is_digit(*c) && *c != '_' && *c != '-') {
      return false;
    }
  }
  return name[0] != 0;
}

static int check_spelling(mbg__item *item, const section *s) {
  const char *name = item->json->key;
  if (strlen(name) > MBG__EXPR_NAME_MAX) {
    return mbg__item_bad_key(item, item->json, "the name is longer than %d characters", MBG__EXPR_NAME_MAX);
  }
  if (s->kind == MBG__NAME_GUESS) {
    return MBG_OK;
  }
  if (s->space == SPACE_NUMBERS && mbg__expr_reserved(name)) {
    return mbg__item_bad_key(item, item->json, "'%s' is reserved in expressions and cannot be a name", name);
  }
  if (s->space == SPACE_NUMBERS && !mbg__name_plain(name)) {
    return mbg__item_bad_key(
        item, item->json,
        "a name used in expressions consists of letters, digits and '_' and does not start with a digit");
  }
  if (s->space == SPACE_FRAMES && strcmp(name, "ground") == 0) {
    return mbg__item_bad_key(item, item->json, "'ground' is reserved and cannot be a name");
  }
  if (!is_name(name)) {
    return mbg__item_bad_key(item, item->json, "a name consists of letters, digits, '_' and '-'");
  }
  return MBG_OK;
}

/* ---------------------------------------------------------------------- registering */

static int check_clash(mbg__item *item, const mbg__symbol *other) {
  if (!other) {
    return MBG_OK;
  }
  const char *noun = other->state >= 0 || other->entries > 0 ? states.noun : sections[other->kind].noun;
  return mbg__item_bad_key(item, item->json, "the name is already used by a %s in line %d", noun,
                           other->json->key_line);
}

static int add_name(mbg__loader *L, mbg__source *source, const section *s, const mbg__json *json) {
  int err = MBG_OK;
  mbg__item item;
  mbg__symbol *symbol = MBG_TAKE(&L->temp, mbg__symbol, 1);
  const size_t size = strlen(source->prefix) + strlen(json->key) + 1;
  char *name = mbg__arena_take(L->arena, size, 1);
  MBG_TRY(MBG__ADD(L, L->names[s->kind], symbol));
  MBG_TRY(mbg__arena_check(L->ctx, &L->temp));
  MBG_TRY(mbg__arena_check(L->ctx, L->arena));
  mbg__format(name, size, "%s%s", source->prefix, json->key);
  *symbol = (mbg__symbol){.name = name, .kind = s->kind, .index = -1, .state = -1, .json = json, .source = source};
  symbol->state = s == &states ? L->nstate++ : -1;
  if (s->kind == MBG__NAME_SIGNAL || s->kind == MBG__NAME_CRITERION) {
    symbol->index = L->names[s->kind].count - 1; /* they are referred to before they are read */
  } else if (s->kind == MBG__NAME_PARAMETER && source->part) {
    symbol->set = mbg__json_member(mbg__json_member(source->part, "set"), json->key);
  }
  MBG_TRY(mbg__item_open(L, symbol, &item));
  MBG_TRY(check_spelling(&item, s));
  mbg__symbol *other = find(L, s->space, "", name);
  MBG_TRY(check_clash(&item, other));
  symbol->bad = item.bad;
  if (!other) {
    MBG_TRY(insert(L, symbol));
  }
done:
  return err;
}

int mbg__name_made(mbg__item *item, mbg__name_kind kind, int index) {
  int err = MBG_OK;
  mbg__symbol *symbol = MBG_TAKE(&item->L->temp, mbg__symbol, 1);
  MBG_TRY(mbg__arena_check(item->L->ctx, &item->L->temp));
  *symbol = (mbg__symbol){.name = item->name,
                          .kind = kind,
                          .index = index,
                          .state = -1,
                          .json = item->json,
                          .source = item->source,
                          .bad = item->bad};
  const mbg__symbol *other = find(item->L, sections[kind].space, "", item->name);
  MBG_TRY(other ? check_clash(item, other) : insert(item->L, symbol));
done:
  return err;
}

/* The nodes of a beam are bodies NAME.0, NAME.1 ...; they are not in the list of names that are read one by one. */
static int add_node(mbg__loader *L, const mbg__symbol *beam, int k) {
  int err = MBG_OK;
  mbg__symbol *symbol = MBG_TAKE(&L->temp, mbg__symbol, 1);
  const size_t size = strlen(beam->name) + 16;
  char *name = mbg__arena_take(L->arena, size, 1);
  MBG_TRY(mbg__arena_check(L->ctx, &L->temp));
  MBG_TRY(mbg__arena_check(L->ctx, L->arena));
  mbg__format(name, size, "%s.%d", beam->name, k);
  *symbol = (mbg__symbol){.name = name,
                          .kind = MBG__NAME_BODY,
                          .index = -1,
                          .state = -1,
                          .json = beam->json,
                          .source = beam->source,
                          .bad = beam->bad};
  const mbg__symbol *other = find(L, SPACE_FRAMES, "", name);
  if (other) {
    mbg__item item;
    MBG_TRY(mbg__item_open(L, symbol, &item));
    MBG_TRY(check_clash(&item, other));
  } else {
    MBG_TRY(insert(L, symbol));
  }
done:
  return err;
}

static int add_nodes(mbg__loader *L, const mbg__symbol *beam) {
  int err = MBG_OK;
  const mbg__json *json = mbg__json_member(beam->json, "elements");
  const double n = json && json->kind == MBG__JSON_NUMBER ? json->number : 0;
  if (!(n >= 1 && n <= MBG__LOAD_BEAM_MAX) || n != floor(n)) {
    /* reported where the beam is read: its nodes are not missed */
    const size_t size = strlen(beam->name) + 2;
    char *prefix = mbg__arena_take(&L->temp, size, 1);
    MBG_TRY(mbg__arena_check(L->ctx, &L->temp));
    mbg__format(prefix, size, "%s.", beam->name);
    return MBG__ADD(L, L->lost, prefix);
  }
  for (int k = 0; k <= (int)n; k++) {
    MBG_TRY(add_node(L, beam, k));
  }
done:
  return err;
}

/* The entries of a vector are NAME[0], NAME[1] ...; NAME itself stands in the table alone, to find them. */
static int add_entries(mbg__loader *L, const mbg__symbol *first, int n) {
  int err = MBG_OK;
  const size_t size = strlen(first->name) + 16;
  for (int k = 0; k < n; k++) {
    mbg__symbol *symbol = MBG_TAKE(&L->temp, mbg__symbol, 1);
    char *name = mbg__arena_take(L->arena, size, 1);
    MBG_TRY(MBG__ADD(L, L->names[MBG__NAME_SIGNAL], symbol));
    MBG_TRY(mbg__arena_check(L->ctx, &L->temp));
    MBG_TRY(mbg__arena_check(L->ctx, L->arena));
    mbg__format(name, size, "%s[%d]", first->name, k);
    *symbol = *first;
    symbol->name = name;
    symbol->index = L->names[MBG__NAME_SIGNAL].count - 1;
    symbol->state = L->nstate++;
    symbol->entry = k;
    symbol->entries = 0;
    MBG_TRY(insert(L, symbol));
  }
done:
  return err;
}

static int add_state(mbg__loader *L, mbg__source *source, const mbg__json *json) {
  int err = MBG_OK;
  const mbg__json *rate = json->kind == MBG__JSON_OBJECT ? mbg__json_member(json, "rate") : NULL;
  MBG_TRY(add_name(L, source, &states, json));
  if (rate && rate->kind == MBG__JSON_ARRAY && rate->count > 0 && rate->count <= MBG__LOAD_ELEMENTS_MAX) {
    mbg__symbol *symbol = L->names[MBG__NAME_SIGNAL].at[--L->names[MBG__NAME_SIGNAL].count];
    L->nstate--;
    symbol->state = -1;
    symbol->entries = rate->count;
    return add_entries(L, symbol, rate->count);
  }
done:
  return err;
}

static int add_section(mbg__loader *L, mbg__source *source, const section *s) {
  int err = MBG_OK;
  const bool start = s->kind == MBG__NAME_PIN || s->kind == MBG__NAME_GUESS;
  const mbg__json *root = start ? mbg__json_member(source->root, "initial") : source->root;
  const mbg__json *list = mbg__json_member(root, s->section);
  if (!list || (source->outer && !s->of_parts)) {
    return MBG_OK;
  }
  mbg__item item;
  bool yes;
  MBG_TRY(mbg__item_make(L, source, list, "", &item));
  MBG_TRY(mbg__item_object(&item, list, s->section, &yes));
  if (yes && list->count > MBG__LOAD_ELEMENTS_MAX) {
    return mbg__item_bad(&item, list, "%s: more than %d entries", s->section, MBG__LOAD_ELEMENTS_MAX);
  }
  for (const mbg__json *c = yes ? list->child : NULL; c; c = c->next) {
    if (strcmp(c->key, "note") == 0 && c->kind == MBG__JSON_STRING) {
      continue;
    }
    if (s->kind == MBG__NAME_CRITERION && mbg__run_leaves_out(L, c)) {
      continue;
    }
    if (L->names[s->kind].count >= MBG__LOAD_ELEMENTS_MAX) {
      return mbg__item_bad(&item, list, "the model has more than %d %s", MBG__LOAD_ELEMENTS_MAX, s->section);
    }
    MBG_TRY(s == &states ? add_state(L, source, c) : add_name(L, source, s, c));
    if (s->kind == MBG__NAME_BEAM) {
      MBG_TRY(add_nodes(L, L->names[s->kind].at[L->names[s->kind].count - 1]));
    }
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- rates of states in expressions */

/* "rate(NAME)" in a text, with blanks anywhere between */
static bool text_mentions(const char *text, const char *name) {
  for (const char *at = strstr(text, "rate"); at; at = strstr(at + 1, "rate")) {
    const char *c = at + 4 + strspn(at + 4, " ");
    if (*c != '(') {
      continue;
    }
    const char *k = name;
    for (c++; *k && (*c == *k || *c == ' '); c++) {
      k += *c == *k;
    }
    c += strspn(c, " ");
    if (!*k && *c == ')') {
      return true;
    }
  }
  return false;
}

static bool mentions(const mbg__json *json, const char *name) {
  bool any = json->kind == MBG__JSON_STRING && text_mentions(json->text, name);
  for (const mbg__json *c = json->child; !any && c; c = c->next) {
    any = mentions(c, name);
  }
  return any;
}

/* the signal "rate(NAME)" of a state that an expression of its file mentions: an expression, the rate of the state */
static int add_rate(mbg__loader *L, const mbg__symbol *state) {
  int err = MBG_OK;
  const char *local = state->name + strlen(state->source->prefix);
  const mbg__json *rate = state->json->kind == MBG__JSON_OBJECT ? mbg__json_member(state->json, "rate") : NULL;
  if (!rate || !mentions(state->source->root, local)) {
    return MBG_OK;
  }
  const size_t size = strlen(state->name) + 8;
  char *name = mbg__arena_take(L->arena, size, 1);
  mbg__json *nodes = MBG_TAKE(&L->temp, mbg__json, 3);
  mbg__symbol *symbol = MBG_TAKE(&L->temp, mbg__symbol, 1);
  MBG_TRY(mbg__arena_check(L->ctx, &L->temp));
  MBG_TRY(mbg__arena_check(L->ctx, L->arena));
  mbg__format(name, size, "%srate(%s)", state->source->prefix, local);
  rate = rate->kind == MBG__JSON_ARRAY ? rate->child : rate;
  for (int k = 0; rate && k < state->entry; k++) {
    rate = rate->next;
  }
  nodes[0] = *state->json;
  nodes[0].child = &nodes[1];
  nodes[0].count = 2;
  nodes[1] = (mbg__json){.kind = MBG__JSON_STRING, .key = "type", .text = "expression", .next = &nodes[2]};
  nodes[1].length = (unsigned)strlen(nodes[1].text);
  nodes[2] = *rate;
  nodes[2].key = "value";
  nodes[2].next = NULL;
  *symbol = *state;
  symbol->name = name;
  symbol->json = &nodes[0];
  symbol->state = -1;
  symbol->entry = 0;
  symbol->index = L->names[MBG__NAME_SIGNAL].count;
  MBG_TRY(MBG__ADD(L, L->names[MBG__NAME_SIGNAL], symbol));
  MBG_TRY(insert(L, symbol));
done:
  return err;
}

static int add_rates(mbg__loader *L) {
  int err = MBG_OK;
  for (int i = 0, n = L->names[MBG__NAME_SIGNAL].count; i < n; i++) {
    const mbg__symbol *symbol = L->names[MBG__NAME_SIGNAL].at[i];
    MBG_TRY(symbol->state >= 0 ? add_rate(L, symbol) : MBG_OK);
  }
done:
  return err;
}

int mbg__load_names(mbg__loader *L) {
  int err = MBG_OK;
  const mbg__json *objective;
  for (int k = 0; k < MBG__NAME_KINDS; k++) {
    for (int i = 0; i < L->sources.count; i++) {
      MBG_TRY(add_section(L, L->sources.at[i], &sections[k]));
    }
    for (int i = 0; k == MBG__NAME_SIGNAL && i < L->sources.count; i++) {
      MBG_TRY(add_section(L, L->sources.at[i], &states));
    }
  }
  MBG_TRY(add_rates(L));
  MBG_TRY(mbg__optimize_criterion(L, &objective));
  if (objective) {
    MBG_TRY(add_name(L, L->sources.at[0], &sections[MBG__NAME_CRITERION], objective));
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- finding */

mbg__symbol *mbg__name_find(mbg__loader *L, const mbg__source *source, mbg__name_kind space, const char *name) {
  return find(L, sections[space].space, source->prefix, name);
}

bool mbg__name_lost(const mbg__loader *L, const mbg__source *source, const char *name) {
  const size_t n = strlen(source->prefix);
  for (int i = 0; i < L->lost.count; i++) {
    const char *lost = L->lost.at[i];
    if (strncmp(lost, source->prefix, n) == 0 && strncmp(lost + n, name, strlen(lost + n)) == 0) {
      return true;
    }
  }
  return false;
}

const char *mbg__name_nearest(mbg__loader *L, const mbg__source *source, unsigned kinds, const char *name) {
  MBG__LIST_OF(const char *) words = {0};
  const size_t prefix = strlen(source->prefix);
  for (int k = 0; k < MBG__NAME_KINDS; k++) {
    for (int i = 0; (kinds >> k & 1) && i < L->names[k].count; i++) {
      const char *full = L->names[k].at[i]->name;
      if (strncmp(full, source->prefix, prefix) == 0) {
        if (MBG__ADD(L, words, full + prefix) < 0) {
          return NULL;
        }
      }
    }
  }
  return mbg__near(name, words.at, words.count);
}

int mbg__item_reference(mbg__item *item, const mbg__json *json, const char *label, mbg__name_kind kind,
                        mbg__symbol **out) {
  const char *name = NULL;
  char hint[MBG__HINT_SIZE];
  *out = NULL;
  const int err = mbg__item_text(item, json, label, &name);
  if (err < 0 || !name) {
    return err;
  }
  mbg__symbol *s = mbg__name_find(item->L, item->source, kind, name);
  if (!s && mbg__name_lost(item->L, item->source, name)) {
    item->bad = true;
    return MBG_OK;
  }
  if (s && s->kind == kind && s->entries > 0) {
    return mbg__item_bad(item, json, "'%s' is a vector: write %s[i]", name, name);
  }
  if (!s || s->kind != kind) {
    return mbg__item_bad(item, json, "unknown %s '%s'%s", sections[kind].noun, name,
                         mbg__hint(hint, mbg__name_nearest(item->L, item->source, 1u << kind, name)));
  }
  if (s->bad) {
    item->bad = true;
    return MBG_OK;
  }
  *out = s;
  return MBG_OK;
}
