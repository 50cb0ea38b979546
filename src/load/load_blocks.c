/* Blocks: ready controllers, filters and actuators. Each is written out in the parsed file, before any name is known,
   as constants, signals, states and forces, so that formulations, gradients and messages need nothing of their own.
   Values that the file gives keep their places in messages; what is made from a table has the place of the block. */
#include "load/load_blocks.h"

#include <string.h>

static const mbg__file_key block_keys[] = {
    {"type", MBG__SHAPE_NAME, true, NULL, "type of the block"},
};
#define START "\"steady\": the block is at rest under its input"
static const mbg__file_key start_keys[] = {
    {"initial", MBG__SHAPE_NUMBER, false, NULL, "value of the state at the start, or " START},
};
static const mbg__file_key delay_keys[] = {
    {"order", MBG__SHAPE_COUNT, false, NULL, "order of the approximation, 1 to 10; 4 when absent"},
    {"initial", MBG__SHAPE_NUMBER, false, NULL, "input before the start; absent: the input at the start"},
};
static const mbg__file_key cylinder_keys[] = {
    {"between", MBG__SHAPE_TWO_NAMES, true, NULL, "the two markers or bodies that the cylinder pushes apart"},
    {"pressure_a", MBG__SHAPE_NUMBER, false, NULL, "pressure at the start, or \"steady\" (default)"},
    {"pressure_b", MBG__SHAPE_NUMBER, false, NULL, "pressure at the start, or \"steady\" (default)"},
};
static const mbg__file_key motor_keys[] = {
    {"joint", MBG__SHAPE_NAME, true, NULL, "joint that the motor turns"},
    {"coordinate", MBG__SHAPE_NAME, false, NULL, "one of its free coordinates"},
    {"initial", MBG__SHAPE_NUMBER, false, NULL, "current at the start, or \"steady\" (default)"},
};

enum { DELAY_ORDER = 4, DELAY_ORDER_MAX = 10 };

#define KEYS(list)                                                                                                     \
  { list, MBG_COUNT(list) }
mbg__file_keys mbg__block_keys(int k) {
  static const mbg__file_keys tables[] = {KEYS(block_keys), KEYS(start_keys), KEYS(delay_keys), KEYS(cylinder_keys),
                                          KEYS(motor_keys)};
  return tables[k];
}

/* A block of the file. */
typedef struct {
  mbg__item item;
  const mbg__block_type *type;
  const char *name; /* without the prefix of its part */
} block;

/* ---------------------------------------------------------------------- nodes of the file */

/* a value that the file does not show, at the place of the block */
static mbg__json *node(const block *b, mbg__json_kind kind, const char *key, const char *text) {
  mbg__json *json = MBG_TAKE(&b->item.L->temp, mbg__json, 1);
  if (json) {
    const mbg__json *at = b->item.json;
    *json = (mbg__json){.kind = kind, .key = key, .text = text, .length = text ? (unsigned)strlen(text) : 0};
    json->line = json->key_line = at->key_line;
    json->column = json->key_column = at->key_column;
  }
  return json;
}

/* a value of the file under another key; NULL: none */
static mbg__json *copy(const block *b, const mbg__json *json, const char *key) {
  mbg__json *more = json ? MBG_TAKE(&b->item.L->temp, mbg__json, 1) : NULL;
  if (more) {
    *more = *json;
    more->key = key;
    more->next = NULL;
  }
  return more;
}

static void append(mbg__json *object, mbg__json *member) {
  mbg__json **end = &object->child;
  while (member && *end) {
    end = &(*end)->next;
  }
  if (member) {
    *end = member;
    object->count++;
  }
}

/* the section of that name, made when it is missing; NULL: it is no object, which is reported elsewhere */
static mbg__json *section(const block *b, const char *name) {
  mbg__json *root = (mbg__json *)b->item.source->root; /* owned by the loader, not shared yet */
  mbg__json *found = (mbg__json *)mbg__json_member(root, name);
  if (!found) {
    found = node(b, MBG__JSON_OBJECT, name, NULL);
    append(root, found);
  }
  return found && found->kind == MBG__JSON_OBJECT ? found : NULL;
}

static int add_member(const block *b, const char *name, mbg__json *member) {
  mbg__json *to = section(b, name);
  if (to) {
    append(to, member);
  }
  return mbg__arena_check(b->item.L->ctx, &b->item.L->temp);
}

/* the text with the name of the block in the place of $ */
static const char *fill(const block *b, const char *text) {
  size_t size = 1;
  for (const char *c = text; *c; c++) {
    size += *c == '$' ? strlen(b->name) : 1;
  }
  char *out = mbg__arena_take(&b->item.L->temp, size, 1), *to = out;
  for (const char *c = text; out && *c; c++) {
    if (*c == '$') {
      memcpy(to, b->name, strlen(b->name));
      to += strlen(b->name);
    } else {
      *to++ = *c;
    }
  }
  return out;
}

static mbg__json *text_node(const block *b, const char *key, const char *text) {
  return node(b, MBG__JSON_STRING, key, fill(b, text));
}

static const mbg__json *given(const block *b, const char *key) { return mbg__json_member(b->item.json, key); }

/* ---------------------------------------------------------------------- pieces */

/* numbers become constants, functions signals */
static int add_key(const block *b, const mbg__key *key, const char *preset) {
  const char *name = mbg__arena_take(&b->item.L->temp, strlen(b->name) + strlen(key->name) + 2, 1);
  mbg__json *value;
  if (!name) {
    return mbg__fail_memory(b->item.L->ctx);
  }
  mbg__format((char *)name, strlen(b->name) + strlen(key->name) + 2, "%s_%s", b->name, key->name);
  const bool number = key->kind == MBG__KEY_NUMBER;
  value = copy(b, given(b, key->name), number ? name : "value");
  if (!value && preset) {
    value = text_node(b, name, preset);
  }
  if (!value || number) {
    return value ? add_member(b, "constants", value) : MBG_OK;
  }
  mbg__json *signal = node(b, MBG__JSON_OBJECT, name, NULL);
  if (signal) {
    append(signal, text_node(b, "type", "expression"));
    append(signal, value);
  }
  return add_member(b, "signals", signal);
}

/* are all (any: one of them) of the keys given? */
static bool has(const block *b, const char *words, bool any) {
  bool all = true, one = false;
  while (*words) {
    char word[32];
    const size_t n = strcspn(words, " ");
    mbg__format(word, sizeof(word), "%.*s", (int)n, words);
    all = all && given(b, word);
    one = one || given(b, word);
    words += n + (words[n] == ' ');
  }
  return any ? one : all;
}

/* initial value and guess of a state */
static void add_start(const block *b, mbg__json *state, const char *key, const char *absent) {
  const mbg__json *json = key ? given(b, key) : NULL;
  const bool steady =
      json ? json->kind == MBG__JSON_STRING && strcmp(json->text, "steady") == 0 : strncmp(absent, "steady", 6) == 0;
  if (json) {
    append(state, copy(b, json, "initial"));
  } else {
    append(state, text_node(b, "initial", steady ? "steady" : absent));
  }
  if (steady && strncmp(absent, "steady ", 7) == 0) {
    append(state, text_node(b, "guess", absent + 7));
  }
}

/* of and relative_to, or between, from the two ends of the block; wrong ends are reported with the force */
static void add_ends(const block *b, mbg__json *signal) {
  const mbg__json *ends = given(b, "between");
  if (ends && ends->kind == MBG__JSON_ARRAY && ends->count == 2) {
    append(signal, copy(b, ends->child->next, "of"));
    append(signal, copy(b, ends->child, "relative_to"));
  }
}

static int add_piece(const block *b, const mbg__block_piece *piece) {
  static const struct {
    const char *section, *type, *value, *keys[2];
  } forms[] = {
      [MBG__PIECE_SIGNAL] = {"signals", "expression", "value", {NULL}},
      [MBG__PIECE_STATE] = {"states", NULL, "rate", {NULL}},
      [MBG__PIECE_RATE] = {"signals", "rate", NULL, {"joint", "coordinate"}},
      [MBG__PIECE_DISTANCE] = {"signals", "distance", NULL, {NULL}},
      [MBG__PIECE_DISTANCE_RATE] = {"signals", "distance-rate", NULL, {NULL}},
      [MBG__PIECE_JOINT_FORCE] = {"forces", "expression", "force", {"joint", "coordinate"}},
      [MBG__PIECE_DISTANCE_FORCE] = {"forces", "expression", "force", {"between", NULL}},
  };
  const char *name = fill(b, piece->name);
  mbg__json *json = node(b, MBG__JSON_OBJECT, name, NULL);
  if (!name || !json) {
    return mbg__fail_memory(b->item.L->ctx);
  }
  if (forms[piece->kind].type) {
    append(json, text_node(b, "type", forms[piece->kind].type));
  }
  if (piece->value) {
    append(json, text_node(b, forms[piece->kind].value, piece->value));
  }
  for (int k = 0; k < 2 && forms[piece->kind].keys[k]; k++) {
    append(json, copy(b, given(b, forms[piece->kind].keys[k]), forms[piece->kind].keys[k]));
  }
  if (piece->kind == MBG__PIECE_STATE) {
    add_start(b, json, piece->initial, piece->absent);
  } else if (piece->kind == MBG__PIECE_DISTANCE || piece->kind == MBG__PIECE_DISTANCE_RATE) {
    add_ends(b, json);
  }
  return add_member(b, forms[piece->kind].section, json);
}

/* the states of a delay are a vector */
static int add_delay(block *b) {
  int err = MBG_OK, n = DELAY_ORDER;
  char *rates[DELAY_ORDER_MAX], *output;
  const mbg__json *order = given(b, "order"), *initial = given(b, "initial");
  if (order) {
    if (order->kind != MBG__JSON_NUMBER || !(order->number >= 1 && order->number <= DELAY_ORDER_MAX) ||
        order->number != floor(order->number)) {
      return mbg__item_bad(&b->item, order, "order must be an integer from 1 to %d", DELAY_ORDER_MAX);
    }
    n = (int)order->number;
  }
  MBG_TRY(mbg__delay_rates(b->item.L, b->name, n, rates, &output));
  mbg__json *state = node(b, MBG__JSON_OBJECT, fill(b, "$_z"), NULL), *rate = node(b, MBG__JSON_ARRAY, "rate", NULL);
  mbg__json *start = initial ? node(b, MBG__JSON_ARRAY, "initial", NULL) : text_node(b, "initial", "steady");
  MBG_TRY(mbg__arena_check(b->item.L->ctx, &b->item.L->temp));
  for (int k = 0; k < n; k++) {
    append(rate, node(b, MBG__JSON_STRING, NULL, rates[k]));
    if (initial) {
      append(start, k == 0 ? copy(b, initial, NULL) : text_node(b, NULL, "0"));
    }
  }
  append(state, rate);
  append(state, start);
  MBG_TRY(add_member(b, "states", state));
  MBG_TRY(add_piece(b, &(mbg__block_piece){.kind = MBG__PIECE_SIGNAL, .name = "$", .value = output}));
done:
  return err;
}

static int expand(block *b) {
  int err = MBG_OK;
  const mbg__block_type *type = b->type;
  for (int k = 0; k < type->nkey; k++) {
    MBG_TRY(add_key(b, &type->keys[k], type->presets[k]));
  }
  for (int k = 0; k < type->npiece; k++) {
    const mbg__block_piece *piece = &type->pieces[k];
    if ((!piece->with || has(b, piece->with, false)) && !(piece->without && has(b, piece->without, true))) {
      MBG_TRY(add_piece(b, piece));
    }
  }
  MBG_TRY(type->npiece == 0 ? add_delay(b) : MBG_OK);
done:
  return err;
}

/* ---------------------------------------------------------------------- reading */

static int find_type(block *b) {
  int n, k;
  const char *names[MBG__TYPES_MAX];
  const mbg__block_type *types = mbg__block_types(&n);
  for (int i = 0; i < n; i++) {
    names[i] = types[i].key;
  }
  const int err = mbg__item_own_type(&b->item, names, n, &k);
  b->type = err == MBG_OK && k >= 0 ? &types[k] : NULL;
  return err;
}

static int check_name(block *b) {
  if (!mbg__name_plain(b->name)) {
    return mbg__item_bad_key(&b->item, b->item.json,
                             "the name of a block is used in expressions: it consists of letters, digits and '_' and "
                             "does not start with a digit");
  }
  return mbg__expr_reserved(b->name)
             ? mbg__item_bad_key(&b->item, b->item.json, "'%s' is reserved in expressions and cannot be a name",
                                 b->name)
             : MBG_OK;
}

static int open_block(mbg__loader *L, mbg__source *source, const mbg__json *json, block *b) {
  char owner[MBG__HINT_SIZE];
  mbg__format(owner, sizeof(owner), "block '%s%s'", source->prefix, json->key);
  *b = (block){.name = json->key};
  return mbg__item_make(L, source, json, owner, &b->item);
}

static int load_block(mbg__loader *L, mbg__source *source, const mbg__json *json) {
  int err = MBG_OK;
  block b;
  bool yes;
  MBG_TRY(open_block(L, source, json, &b));
  MBG_TRY(mbg__item_object(&b.item, json, NULL, &yes));
  if (yes) {
    MBG_TRY(check_name(&b));
    MBG_TRY(find_type(&b));
  }
  if (b.type) {
    MBG_TRY(mbg__item_keys(&b.item, json, b.type->own, 2, b.type->keys, b.type->nkey));
    MBG_TRY(b.type->check ? b.type->check(&b.item) : MBG_OK);
  }
  if (!b.item.bad) {
    MBG_TRY(expand(&b));
  }
  if (b.item.bad) { /* its names are not missed */
    const size_t size = strlen(source->prefix) + strlen(b.name) + 1;
    char *lost = mbg__arena_take(&L->temp, size, 1);
    MBG_TRY(mbg__arena_check(L->ctx, &L->temp));
    mbg__format(lost, size, "%s%s", source->prefix, b.name);
    MBG_TRY(MBG__ADD(L, L->lost, lost));
  }
done:
  return err;
}

/* visits the blocks of all files */
static int each_block(mbg__loader *L, int (*visit)(mbg__loader *, mbg__source *, const mbg__json *)) {
  int err = MBG_OK;
  for (int i = 0; i < L->sources.count; i++) {
    mbg__source *source = L->sources.at[i];
    const mbg__json *list = mbg__json_member(source->root, "blocks");
    mbg__item item;
    bool yes = false;
    MBG_TRY(mbg__item_make(L, source, list, "", &item));
    if (list && (visit == load_block || list->kind == MBG__JSON_OBJECT)) {
      MBG_TRY(mbg__item_object(&item, list, "blocks", &yes));
    }
    for (const mbg__json *c = yes ? list->child : NULL; c; c = c->next) {
      if (strcmp(c->key, "note") != 0 || c->kind != MBG__JSON_STRING) {
        MBG_TRY(visit(L, source, c));
      }
    }
  }
done:
  return err;
}

int mbg__load_blocks(mbg__loader *L) { return each_block(L, load_block); }

/* ---------------------------------------------------------------------- signs of numbers */

static int check_sign(block *b, const mbg__key *key) {
  static const char *const words[] = {[MBG__NOT_NEGATIVE] = "not be negative", [MBG__POSITIVE] = "be positive"};
  const mbg__json *json = given(b, key->name);
  char name[2 * MBG__EXPR_NAME_MAX];
  double value;
  if (!json || key->kind != MBG__KEY_NUMBER || key->sign == MBG__ANY_SIGN) {
    return MBG_OK;
  }
  mbg__format(name, sizeof(name), "%s_%s", b->name, key->name);
  const mbg__symbol *symbol = mbg__name_find(b->item.L, b->item.source, MBG__NAME_CONSTANT, name);
  if (!symbol || symbol->bad || symbol->kind != MBG__NAME_CONSTANT) {
    return MBG_OK;
  }
  const int err = mbg__item_fixed(&b->item, json, key->name, &value, NULL);
  const bool fine = value > 0 || (value == 0 && key->sign == MBG__NOT_NEGATIVE) || isnan(value);
  return err < 0 || fine ? err
                         : mbg__item_bad(&b->item, json, "%s must %s, found %g", key->name, words[key->sign], value);
}

static int check_block(mbg__loader *L, mbg__source *source, const mbg__json *json) {
  int err = MBG_OK;
  block b;
  if (json->kind != MBG__JSON_OBJECT || mbg__name_lost(L, source, json->key)) {
    return MBG_OK;
  }
  MBG_TRY(open_block(L, source, json, &b));
  MBG_TRY(find_type(&b));
  for (int k = 0; b.type && k < b.type->nkey; k++) {
    MBG_TRY(check_sign(&b, &b.type->keys[k]));
  }
done:
  return err;
}

int mbg__check_blocks(mbg__loader *L) { return each_block(L, check_block); }
