#include "support/fuzz_tree.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------------- text */

static void put_string(fuzz_text *out, const char *text, size_t length) {
  fuzz_puts(out, "\"");
  for (size_t i = 0; i < length; i++) {
    const unsigned char c = (unsigned char)text[i];
    if (c < 0x20) {
      fuzz_printf(out, "\\u%04x", c);
    } else if (c == '"' || c == '\\') {
      fuzz_printf(out, "\\%c", c);
    } else {
      fuzz_put(out, text + i, 1);
    }
  }
  fuzz_puts(out, "\"");
}

void fuzz_tree_put(fuzz_text *out, const mbg__json *tree) {
  switch (tree->kind) {
  case MBG__JSON_NULL:
    fuzz_puts(out, "null");
    return;
  case MBG__JSON_BOOL:
    fuzz_puts(out, tree->boolean ? "true" : "false");
    return;
  case MBG__JSON_NUMBER:
    fuzz_puts(out, tree->text);
    return;
  case MBG__JSON_STRING:
    put_string(out, tree->text, tree->length);
    return;
  default:
    break;
  }
  const bool object = tree->kind == MBG__JSON_OBJECT;
  fuzz_puts(out, object ? "{" : "[");
  for (const mbg__json *e = tree->child; e; e = e->next) {
    if (object) {
      const char *key = e->key ? e->key : "";
      put_string(out, key, strlen(key));
      fuzz_puts(out, ": ");
    }
    fuzz_tree_put(out, e);
    fuzz_puts(out, e->next ? (object ? ",\n" : ", ") : "");
  }
  fuzz_puts(out, object ? "}" : "]");
}

mbg__json *fuzz_tree_parse(mbg_context *ctx, mbg__arena *arena, const char *name, const char *text, size_t length) {
  mbg__json *tree = NULL;
  if (mbg__json_parse(ctx, arena, name, text, length, &tree) < 0) {
    fprintf(stderr, "%s\n", mbg_context_error(ctx));
    abort();
  }
  return tree;
}

/* ---------------------------------------------------------------------- donors */

void fuzz_donors_add(fuzz_donors *donors, const mbg__json *tree) {
  for (const mbg__json *e = tree->child; e; e = e->next) {
    if (e->key) {
      if (donors->count == donors->room) {
        donors->room = 2 * donors->room + 1024;
        donors->at = realloc(donors->at, (size_t)donors->room * sizeof(donors->at[0]));
        CHECK(donors->at);
      }
      donors->at[donors->count++] = e;
    }
    fuzz_donors_add(donors, e);
  }
}

static int by_key(const void *a, const void *b) {
  const mbg__json *const *x = a, *const *y = b;
  const int order = strcmp((*x)->key, (*y)->key);
  return order ? order : (*x)->line != (*y)->line ? (*x)->line - (*y)->line : (*x)->column - (*y)->column;
}

void fuzz_donors_sort(fuzz_donors *donors) {
  if (donors->count > 0) {
    qsort(donors->at, (size_t)donors->count, sizeof(donors->at[0]), by_key);
  }
}

void fuzz_donors_free(fuzz_donors *donors) {
  free(donors->at);
  *donors = (fuzz_donors){0};
}

/* first one whose key is not before `key` (after: not before or equal) */
static int bound(const fuzz_donors *donors, const char *key, bool after) {
  int low = 0, high = donors->count;
  while (low < high) {
    const int middle = (low + high) / 2, order = strcmp(donors->at[middle]->key, key);
    if (order < 0 || (after && order == 0)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/* a value that stands under this key somewhere (key NULL: under any), or NULL */
static const mbg__json *donor(support_rng *rng, const fuzz_donors *donors, const char *key) {
  const int first = key ? bound(donors, key, false) : 0, last = key ? bound(donors, key, true) : donors->count;
  return last > first ? donors->at[first + support_index(rng, last - first)] : NULL;
}

/* ---------------------------------------------------------------------- places */

/* A place: the link that leads to a value, and what holds the value. */
typedef struct {
  mbg__json **link, *parent;
} place;

typedef struct {
  support_rng *rng;
  mbg__arena *arena;
  const fuzz_donors *donors;
  mbg__json *root;
  place *places;
  int count, room;
} work;

static void list(work *w, mbg__json **link, mbg__json *parent) {
  if (w->count == w->room) {
    place *more = mbg__arena_take(w->arena, (size_t)(w->room = 2 * w->room + 256), sizeof(*more));
    CHECK(more);
    if (w->count > 0) {
      memcpy(more, w->places, (size_t)w->count * sizeof(*more));
    }
    w->places = more;
  }
  w->places[w->count++] = (place){link, parent};
  mbg__json *node = *link;
  for (mbg__json **e = &node->child; *e; e = &(*e)->next) {
    list(w, e, node);
  }
}

static bool is_scalar(const mbg__json *node) { return node->kind < MBG__JSON_ARRAY; }

/* a random place; of these kinds (a bit for each) when there is one */
static place any(work *w, unsigned kinds) {
  for (int tries = 0; tries < 40; tries++) {
    const place p = w->places[support_index(w->rng, w->count)];
    if (kinds >> (*p.link)->kind & 1) {
      return p;
    }
  }
  return w->places[support_index(w->rng, w->count)];
}

enum {
  OF_NUMBER = 1 << MBG__JSON_NUMBER,
  OF_STRING = 1 << MBG__JSON_STRING,
  OF_ARRAY = 1 << MBG__JSON_ARRAY,
  OF_OBJECT = 1 << MBG__JSON_OBJECT,
  OF_ANY = -1
};

/* ---------------------------------------------------------------------- new values */

static mbg__json *copy(work *w, const mbg__json *from) {
  mbg__json *to = mbg__arena_take(w->arena, 1, sizeof(*to));
  CHECK(to);
  *to = *from;
  to->next = to->child = NULL;
  mbg__json **end = &to->child;
  for (const mbg__json *e = from->child; e; e = e->next, end = &(*end)->next) {
    *end = copy(w, e);
  }
  return to;
}

static const char *keep(work *w, const char *text, size_t length) {
  char *kept = mbg__arena_text(w->arena, text, length);
  CHECK(kept);
  return kept;
}

static void set_text(work *w, mbg__json *node, mbg__json_kind kind, const char *text) {
  node->kind = kind;
  node->length = strlen(text);
  node->text = keep(w, text, node->length);
  node->child = NULL;
}

/* the value at a place becomes a copy of another one; the key stays */
static void replace(work *w, place p, const mbg__json *by) {
  mbg__json *node = copy(w, by);
  node->key = (*p.link)->key;
  node->next = (*p.link)->next;
  *p.link = node;
}

static void erase(place p) { *p.link = (*p.link)->next; }

/* before the value at a link */
static void insert(mbg__json **link, mbg__json *node) {
  node->next = *link;
  *link = node;
}

/* ---------------------------------------------------------------------- numbers */

static void scale(work *w, mbg__json *node) {
  char text[40];
  const double x = node->number, factors[] = {2, 0.5, -1, 1.1, 10, 0.1, 1e3, 1e-3};
  const double y = fuzz_one_of(w->rng, 3) ? x + support_normal(w->rng) : x * FUZZ_PICK(w->rng, factors);
  snprintf(text, sizeof(text), "%.9g", fuzz_one_of(w->rng, 6) ? floor(y) : y);
  set_text(w, node, MBG__JSON_NUMBER, isfinite(y) ? text : "1");
}

static void change_number(work *w) {
  mbg__json *node = *any(w, OF_NUMBER).link;
  if (node->kind != MBG__JSON_NUMBER) {
    return;
  }
  if (fuzz_one_of(w->rng, 2)) {
    set_text(w, node, MBG__JSON_NUMBER, fuzz_number(w->rng));
  } else {
    scale(w, node);
  }
}

/* a number becomes an expression */
static void change_expression(work *w) {
  static const char *const forms[] = {
      "%s + 0*t",   "(%s)*(1 + t)",  "%s/0",        "sqrt(%s)", "log(%s)",
      "%s^0.5",     "sin(%s*t)",     "%s deg",      "abs(%s)",  "if(t > 0.001, %s, 1)",
      "max(%s, 0)", "1/(%s - %s*1)", "exp(800*%s)", "(%s",      "smooth_max(%s, 1, 1e-9)"};
  mbg__json *node = *any(w, OF_NUMBER | OF_STRING).link;
  char text[400];
  if (!is_scalar(node) || !node->text || node->length > 100) {
    return;
  }
  const char *form = FUZZ_PICK(w->rng, forms), *second = strstr(form, "%s") + 2;
  size_t n = (size_t)snprintf(text, sizeof(text), "%.*s%s", (int)(second - form - 2), form, node->text);
  for (const char *c = second; *c && n < 300; c++) {
    if (c[0] == '%' && c[1] == 's') {
      n += (size_t)snprintf(text + n, sizeof(text) - n, "%s", node->text);
      c++;
    } else {
      text[n++] = *c;
    }
  }
  text[n] = 0;
  set_text(w, node, MBG__JSON_STRING, text);
}

/* ---------------------------------------------------------------------- names and words */

static const char *odd_word(work *w) {
  static const char *const words[] = {
      "",
      "ground",
      "world",
      "x",
      "t",
      "pi",
      "1/0",
      "0*t",
      "sqrt(-1)",
      "log(0)",
      "1e308*10",
      "sin(t)",
      "\xc3\xa9",
      "a b",
      "a.b",
      "a[0]",
      "a[1]",
      "\xe6\x97\xa5\xe6\x9c\xac",
      "\x1b[31m",
      "\xff",
      "\xed\xa0\x80",
      "\xc0\x80",
      ".",
      "..",
      "/",
      "model.json",
      "data.csv",
      "%s%n",
      "\n",
      "\xe2\x80\xae",
      "\x7f",
      "\xc2\x9b"
      "31m",
      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};
  return FUZZ_PICK(w->rng, words);
}

/* sections whose entries a key refers to */
static const char *referred(const char *key) {
  static const char *const pairs[][2] = {
      {"between", "bodies"},    {"on", "bodies"},          {"of", "bodies"},         {"relative_to", "bodies"},
      {"in", "bodies"},         {"from", "bodies"},        {"joint", "joints"},      {"force", "forces"},
      {"signal", "signals"},    {"beam", "beams"},         {"driver", "drivers"},    {"least_squares", "signals"},
      {"terminal", "signals"},  {"integral", "signals"},   {"path", "signals"},      {"control", "controls"},
      {"runs", "runs"},         {"objective", "criteria"}, {"criteria", "criteria"}, {"curve", "curves"},
      {"event", "events"},      {"tendon", "couplings"},   {"state", "states"},      {"input", "signals"},
      {"coupling", "couplings"}};
  for (size_t i = 0; key && i < sizeof(pairs) / sizeof(pairs[0]); i++) {
    if (!strcmp(key, pairs[i][0])) {
      return pairs[i][1];
    }
  }
  return NULL;
}

/* the name of an entry of a section of the tree, or NULL */
static const char *entry_of(work *w, const char *section) {
  const mbg__json *s = mbg__json_member(w->root, section);
  int n = 0;
  for (const mbg__json *e = s && s->kind == MBG__JSON_OBJECT ? s->child : NULL; e; e = e->next) {
    n++;
  }
  if (n == 0) {
    return NULL;
  }
  n = support_index(w->rng, n);
  const mbg__json *e = s->child;
  while (n-- > 0) {
    e = e->next;
  }
  return e->key;
}

/* the names in a copied element become names of this tree, most of the time */
static void adopt(work *w, mbg__json *node, const char *key) {
  const char *section = referred(node->key ? node->key : key), *name = section ? entry_of(w, section) : NULL;
  if (node->kind == MBG__JSON_STRING && name && strcmp(node->text, "ground") != 0 && !fuzz_one_of(w->rng, 8)) {
    set_text(w, node, MBG__JSON_STRING, name);
  }
  for (mbg__json *e = node->child; e; e = e->next) {
    adopt(w, e, node->key ? node->key : key);
  }
}

/* a string of the tree, a key of it, an entry of a section, or an odd word */
static void change_string(work *w, bool rough) {
  const place p = any(w, OF_STRING);
  mbg__json *node = *p.link;
  if (node->kind != MBG__JSON_STRING) {
    return;
  }
  const char *key = node->key ? node->key : p.parent ? p.parent->key : NULL, *section = referred(key);
  const mbg__json *same = key ? donor(w->rng, w->donors, key) : NULL;
  const mbg__json *other = *any(w, OF_STRING).link;
  switch (support_index(w->rng, rough ? 6 : 3)) {
  case 0:
    section = section && entry_of(w, section) ? entry_of(w, section) : NULL;
    set_text(w, node, MBG__JSON_STRING, section ? section : "ground");
    break;
  case 1:
    if (same && same->kind == MBG__JSON_STRING) {
      set_text(w, node, MBG__JSON_STRING, same->text);
    }
    break;
  case 2:
  case 3:
    if (other->kind == MBG__JSON_STRING) {
      set_text(w, node, MBG__JSON_STRING, other->text);
    }
    break;
  case 4:
    other = *any(w, OF_ANY).link;
    set_text(w, node, MBG__JSON_STRING, other->key ? other->key : "ground");
    break;
  default:
    set_text(w, node, MBG__JSON_STRING, odd_word(w));
    break;
  }
}

/* ---------------------------------------------------------------------- structure */

/* the same key from elsewhere */
static void take_same_key(work *w) {
  const place p = any(w, OF_ANY);
  const mbg__json *by = (*p.link)->key ? donor(w->rng, w->donors, (*p.link)->key) : NULL;
  if (by) {
    replace(w, p, by);
    adopt(w, *p.link, NULL);
  }
}

/* an element of a section more, under a name of its own, or in place of another one; a section that is missing */
static void take_element(work *w) {
  static const char *const sections[] = {"bodies",  "joints", "forces",    "signals",  "criteria", "drivers",
                                         "markers", "beams",  "couplings", "tables",   "controls", "parameters",
                                         "initial", "run",    "runs",      "optimize", "identify", "control",
                                         "states",  "blocks", "events",    "curves",   "contacts", "modes"};
  const char *name = FUZZ_PICK(w->rng, sections);
  const mbg__json *from = donor(w->rng, w->donors, name);
  mbg__json *to = NULL;
  for (mbg__json *e = w->root->child; e; e = e->next) {
    to = e->key && !strcmp(e->key, name) ? e : to;
  }
  if (!from || from->kind != MBG__JSON_OBJECT || w->root->kind != MBG__JSON_OBJECT || from->count == 0) {
    return;
  }
  if (!to) {
    mbg__json *section = copy(w, from);
    adopt(w, section, NULL);
    insert(&w->root->child, section);
    return;
  }
  const mbg__json *element = from->child;
  for (int n = support_index(w->rng, from->count); n > 0; n--) {
    element = element->next;
  }
  mbg__json *more = copy(w, element);
  adopt(w, more, NULL);
  if (fuzz_one_of(w->rng, 2) && to->child) { /* replaces the first, or stands beside it */
    more->key = to->child->key;
    more->next = to->child->next;
    to->child = more;
  } else {
    insert(&to->child, more);
  }
}

static void rename_key(work *w, bool rough) {
  mbg__json *node = *any(w, OF_ANY).link;
  const mbg__json *other = fuzz_one_of(w->rng, 2) ? *any(w, OF_ANY).link : donor(w->rng, w->donors, NULL);
  if (node->key && other && other->key) {
    node->key = rough && fuzz_one_of(w->rng, 4) ? odd_word(w) : other->key;
  }
}

/* once more, beside itself: an item, or a member of the same or of another name */
static void duplicate(work *w) {
  const place p = any(w, OF_ANY);
  if (p.parent) {
    mbg__json *twin = copy(w, *p.link);
    if (twin->key && !fuzz_one_of(w->rng, 4)) {
      char name[200];
      snprintf(name, sizeof(name), "%.150s_2", twin->key);
      twin->key = keep(w, name, strlen(name));
    }
    insert(&(*p.link)->next, twin);
  }
}

static bool inside(const mbg__json *node, const mbg__json *tree) {
  for (const mbg__json *e = tree->child; e; e = e->next) {
    if (e == node || inside(node, e)) {
      return true;
    }
  }
  return node == tree;
}

static void move(work *w) {
  const place from = any(w, OF_ANY);
  mbg__json *node = *from.link, *to = *any(w, OF_OBJECT | OF_ARRAY).link;
  if (from.parent && !is_scalar(to) && !inside(to, node)) {
    erase(from);
    node->key = to->kind == MBG__JSON_OBJECT && !node->key ? "moved" : node->key;
    insert(&to->child, node);
  }
}

static void exchange(work *w) {
  const place a = any(w, OF_ANY), b = any(w, is_scalar(*a.link) ? OF_NUMBER | OF_STRING : OF_OBJECT | OF_ARRAY);
  const mbg__json *x = *a.link, *y = *b.link;
  if (!inside(x, y) && !inside(y, x)) {
    const mbg__json *first = copy(w, x), *second = copy(w, y);
    replace(w, b, first);
    if (*a.link == x) { /* the link of a may have been in b's node */
      replace(w, a, second);
    }
  }
}

static void nest(work *w) {
  const place p = any(w, OF_ANY);
  const int depth = fuzz_one_of(w->rng, 20) ? 120 : 1 + support_index(w->rng, 2);
  for (int i = 0; i < depth; i++) {
    mbg__json *node = *p.link, *outer = mbg__arena_take(w->arena, 1, sizeof(*outer));
    CHECK(outer);
    const bool object = fuzz_one_of(w->rng, 2);
    *outer = (mbg__json){.kind = object ? MBG__JSON_OBJECT : MBG__JSON_ARRAY, .key = node->key, .next = node->next};
    outer->child = copy(w, node);
    outer->child->key = object ? (fuzz_one_of(w->rng, 2) || !node->key ? "value" : node->key) : NULL;
    *p.link = outer;
  }
}

static void unwrap(work *w) {
  const place p = any(w, OF_OBJECT | OF_ARRAY);
  if (p.parent && (*p.link)->child) {
    replace(w, p, (*p.link)->child);
  }
}

static void change_length(work *w) {
  mbg__json *list_of = *any(w, OF_ARRAY).link;
  if (list_of->kind != MBG__JSON_ARRAY) {
    return;
  }
  switch (support_index(w->rng, 3)) {
  case 0:
    list_of->child = NULL;
    break;
  case 1:
    list_of->child = list_of->child ? list_of->child->next : NULL;
    break;
  default:
    for (int n = fuzz_one_of(w->rng, 30) ? 2000 : 1 + support_index(w->rng, 3); n > 0 && list_of->child; n--) {
      insert(&list_of->child, copy(w, list_of->child));
    }
    break;
  }
}

static void change_kind(work *w) {
  const place p = any(w, OF_ANY);
  mbg__json *node = copy(w, *p.link);
  node->child = NULL;
  node->next = (*p.link)->next;
  switch (support_index(w->rng, 7)) {
  case 0:
    node->kind = MBG__JSON_NULL;
    break;
  case 1:
    node->kind = MBG__JSON_BOOL;
    node->boolean = fuzz_one_of(w->rng, 2);
    break;
  case 2:
    set_text(w, node, MBG__JSON_NUMBER, fuzz_number(w->rng));
    break;
  case 3:
    set_text(w, node, MBG__JSON_STRING, node->text ? node->text : odd_word(w));
    break;
  case 4:
    node->kind = MBG__JSON_ARRAY;
    break;
  case 5:
    node->kind = MBG__JSON_OBJECT;
    break;
  default:
    set_text(w, node, MBG__JSON_NUMBER, fuzz_no_number(w->rng));
    break;
  }
  *p.link = node;
}

static void drop(work *w) {
  const place p = any(w, OF_ANY);
  if (p.parent) {
    erase(p);
  }
}

/* ---------------------------------------------------------------------- a change */

static void change_gently(work *w) {
  switch (support_index(w->rng, 10)) {
  case 0:
  case 1:
  case 2:
    change_number(w);
    break;
  case 3:
    change_expression(w);
    break;
  case 4:
    change_string(w, false);
    break;
  case 5:
  case 6:
    take_same_key(w);
    break;
  case 7:
  case 8:
    take_element(w);
    break;
  default:
    drop(w);
    break;
  }
}

static void change_roughly(work *w) {
  switch (support_index(w->rng, 11)) {
  case 0:
    change_string(w, true);
    break;
  case 1:
    rename_key(w, true);
    break;
  case 2:
    duplicate(w);
    break;
  case 3:
    move(w);
    break;
  case 4:
    exchange(w);
    break;
  case 5:
    nest(w);
    break;
  case 6:
    unwrap(w);
    break;
  case 7:
    change_length(w);
    break;
  case 8:
    change_kind(w);
    break;
  case 9:
    drop(w);
    break;
  default:
    change_gently(w);
    break;
  }
}

void fuzz_tree_change(support_rng *rng, mbg__arena *arena, mbg__json **tree, const fuzz_donors *donors,
                      fuzz_force force) {
  static const fuzz_donors none;
  work w = {.rng = rng, .arena = arena, .donors = donors ? donors : &none, .root = *tree};
  list(&w, tree, NULL);
  (force == FUZZ_NUMBERS ? change_number : force == FUZZ_GENTLE ? change_gently : change_roughly)(&w);
}
