/* Contacts between shapes: the section "contacts" becomes forces "contact" between the spheres that bodies and markers
   carry as "shape" and the surfaces they may touch. A capsule is the two spheres of its ends, a box the eight spheres
   of its corners (radius `rounding`, tangent to the faces). The forces of the group NAME are NAME.0, NAME.1 ...;
   markers that the file does not show stand where a sphere is not at the origin of its body or marker. */
#include "elements/contact_shape.h"
#include "load/load.h"

#include <string.h>

static const mbg__file_key contact_keys[] = {
    {"between", MBG__SHAPE_TWO_SIDES, false, NULL,
     "two sides, each a name or an array of names: bodies and markers with spheres, capsules or boxes as shapes, then "
     "others, or a marker without shape or the ground: a plane"},
    {"among", MBG__SHAPE_NAMES, false, NULL, "instead of `between`: names whose shapes may touch each other"},
    {"rounding", MBG__SHAPE_NUMBER, false, NULL, "radius of the corners of boxes, 0 when absent"},
    {"inside", MBG__SHAPE_BOOL, false, NULL,
     "the shapes of the second side are hollow: a sphere is a socket, a cylinder a hole"},
};

mbg__file_keys mbg__contact_keys(void) { return (mbg__file_keys){contact_keys, MBG_COUNT(contact_keys)}; }

/* A sphere of a shape, or a surface. */
typedef struct {
  int marker, body;
  mbg__contact_kind kind;  /* SPHERE; surfaces: PLANE, ROAD, SOCKET, HOLE */
  const mbg__json *radius; /* NULL: 0 */
  const mbg__json *at;     /* its name in the file */
} touch;

typedef MBG__LIST_OF(touch) touches;

/* A group of the section. */
typedef struct {
  mbg__item item;
  const char *name;          /* full */
  const mbg__json *rounding; /* of boxes, NULL: 0 */
  const mbg__force_type *type;
  bool inside;
  int count; /* forces so far */
} group;

/* ---------------------------------------------------------------------- values that the file does not show */

static mbg__json *made(const group *g, mbg__json_kind kind, const mbg__json *at, const char *key) {
  mbg__json *json = MBG_TAKE(&g->item.L->temp, mbg__json, 1);
  if (json) {
    *json = (mbg__json){.kind = kind, .key = key};
    json->line = json->key_line = at->line;
    json->column = json->key_column = at->column;
  }
  return json;
}

static mbg__json *text_of(const group *g, const mbg__json *at, const char *key, const char *text) {
  mbg__json *json = made(g, MBG__JSON_STRING, at, key);
  const size_t n = strlen(text) + 1;
  char *copy = mbg__arena_take(&g->item.L->temp, n, 1);
  if (json && copy) {
    memcpy(copy, text, n);
    json->text = copy;
    json->length = (unsigned)(n - 1);
  }
  return json;
}

static void append(mbg__json *object, mbg__json ***end, mbg__json *member) {
  if (object && member) {
    **end = member;
    *end = &member->next;
    object->count++;
  }
}

/* a value of the file under another key */
static mbg__json *copy(const group *g, const mbg__json *json, const char *key) {
  mbg__json *more = MBG_TAKE(&g->item.L->temp, mbg__json, 1);
  if (more) {
    *more = *json;
    more->key = key;
    more->next = NULL;
  }
  return more;
}

/* "(value)" of a number or an expression of the file */
static const char *value_text(const group *g, const mbg__json *json) {
  const size_t size = (json && json->kind == MBG__JSON_STRING ? json->length : 0) + 40;
  char *out = mbg__arena_take(&g->item.L->temp, size, 1);
  if (out && json && json->kind == MBG__JSON_STRING) {
    mbg__format(out, size, "(%s)", json->text);
  } else if (out) {
    mbg__format(out, size, "(%.17g)", json && json->kind == MBG__JSON_NUMBER ? json->number : 0.);
  }
  return out ? out : "";
}

/* half an edge less the rounding, the same for three edges in an array, or for one vector */
static mbg__json *half(const group *g, const mbg__json *json, bool vector) {
  const char *edge = value_text(g, json), *round = g->rounding ? value_text(g, g->rounding) : "(0)";
  const size_t size = strlen(edge) + strlen(round) + 24;
  char *text = mbg__arena_take(&g->item.L->temp, size, 1);
  if (!text) {
    return NULL;
  }
  mbg__format(text, size, vector ? "%s/2 - %s*[1, 1, 1]" : "%s/2 - %s", edge, round);
  return text_of(g, json, NULL, text);
}

/* ---------------------------------------------------------------------- spheres of a shape */

/* the marker at `offset` (with signs; NULL: 0) in the frame of a shape on a marker */
static int place_marker(mbg__item *owner, const mbg__json *shape, int on, const mbg__json *offset,
                        const double signs[3], int *marker) {
  int err = MBG_OK, at, shift = -1, first, pose;
  mbg__loader *L = owner->L;
  const mbg__marker base = L->markers.at[on];
  const mbg__where where = mbg__item_where(owner, shape);
  *marker = on;
  if (!offset && !mbg__json_member(shape, "at") && !mbg__json_member(shape, "rotate")) {
    return MBG_OK;
  }
  MBG_TRY(mbg__item_vector(owner, mbg__json_member(shape, "at"), "at", "m", 0, NULL, &at));
  if (offset) {
    MBG_TRY(mbg__item_vector(owner, offset, "corner", "m", 0, signs, &shift));
    for (int k = 0; k < 3 && !owner->bad; k++) {
      if (mbg__value(L, shift + k) * signs[k] < 0) {
        return mbg__item_bad(owner, shape, "the rounding of its contacts is larger than half an edge of the box");
      }
    }
  }
  MBG_TRY(mbg__pose_begin(L, &first));
  MBG_TRY(mbg__pose_op_add(L, MBG__POSE_OF, 0, base.pose));
  MBG_TRY(mbg__pose_enter_local(L, owner->source));
  MBG_TRY(mbg__pose_op_add(L, MBG__POSE_TRANSLATE, 0, at));
  MBG_TRY(mbg__item_rotate(owner, mbg__json_member(shape, "rotate"), "rotate"));
  if (offset) {
    MBG_TRY(mbg__pose_op_add(L, MBG__POSE_TRANSLATE, 0, shift));
  }
  MBG_TRY(mbg__pose_leave(L, owner->source));
  MBG_TRY(mbg__pose_end(owner, first, &pose));
  MBG_TRY(mbg__marker_add(L, NULL, base.body, pose, &where, marker));
  L->markers.at[*marker].node = base.node;
done:
  return err;
}

static int add_touch(group *g, touches *list, const touch *t) { return MBG__ADD(g->item.L, *list, *t); }

/* corners: 8 of a box, 2 ends of a capsule */
static int add_corners(group *g, mbg__item *owner, const mbg__json *shape, int on, bool box, touch t, touches *list) {
  int err = MBG_OK;
  mbg__json *offset = NULL;
  const mbg__json *size = mbg__json_member(shape, box ? "size" : "length");
  if (box && size->kind == MBG__JSON_STRING) {
    offset = half(g, size, true);
  } else {
    offset = made(g, MBG__JSON_ARRAY, size, "corner");
    mbg__json **end = offset ? &offset->child : NULL;
    const mbg__json *edge = box ? size->child : size;
    for (int k = 0; offset && k < 3; k++, edge = box && edge ? edge->next : edge) {
      append(offset, &end, box && edge ? half(g, edge, false) : text_of(g, size, NULL, "0"));
    }
    if (offset && !box) { /* along z */
      const size_t room = strlen(value_text(g, size)) + 4;
      char *text = mbg__arena_take(&g->item.L->temp, room, 1);
      MBG_TRY(mbg__arena_check(g->item.L->ctx, &g->item.L->temp));
      mbg__format(text, room, "%s/2", value_text(g, size));
      offset->child->next->next->text = text;
      offset->child->next->next->length = (unsigned)strlen(text);
    }
  }
  MBG_TRY(mbg__arena_check(g->item.L->ctx, &g->item.L->temp));
  for (int k = 0; k < (box ? 8 : 2) && !owner->bad && !g->item.bad; k++) {
    const double x = k & 1 ? 1 : -1, y = k & 2 ? 1 : -1, z = k & 4 ? 1 : -1;
    const double signs[3] = {x, y, box ? z : x};
    MBG_TRY(place_marker(owner, shape, on, offset, signs, &t.marker));
    MBG_TRY(add_touch(g, list, &t));
  }
done:
  return err;
}

/* a radius of another file must be a plain number: its names are not known here */
static int check_radius(group *g, const mbg__item *owner, const mbg__json *at, const mbg__json *radius) {
  if (owner->source == g->item.source || !radius || radius->kind == MBG__JSON_NUMBER) {
    return MBG_OK;
  }
  return mbg__item_bad(&g->item, at,
                       "'%s' is in the file of a part, where its radius is an expression: give the "
                       "contact there",
                       at->text);
}

/* The spheres of one shape; *known: shapes of that kind touch. surface: of the second side. */
static int add_shape(group *g, mbg__item *owner, const mbg__json *shape, const mbg__json *at, int on, bool surface,
                     touches *list, bool *known) {
  int err = MBG_OK;
  const mbg__json *type = shape->kind == MBG__JSON_OBJECT ? mbg__json_member(shape, "type") : NULL;
  const char *word = type && type->kind == MBG__JSON_STRING ? type->text : "";
  const bool box = !strcmp(word, "box"), sphere = !strcmp(word, "sphere"), inside = surface && g->inside;
  const bool hole = inside && !strcmp(word, "cylinder"), capsule = !strcmp(word, "capsule");
  touch t = {.body = g->item.L->markers.at[on].body, .kind = MBG__CONTACT_SPHERE, .at = at};
  *known = inside ? hole || sphere : box || sphere || capsule;
  if (!*known || !mbg__json_member(shape, box ? "size" : "radius") || (capsule && !mbg__json_member(shape, "length"))) {
    return MBG_OK; /* a missing key is reported with the figure */
  }
  t.radius = box ? g->rounding : mbg__json_member(shape, "radius");
  MBG_TRY(check_radius(g, owner, at, t.radius));
  if (box || capsule) {
    return add_corners(g, owner, shape, on, box, t, list);
  }
  t.kind = !inside ? MBG__CONTACT_SPHERE : hole ? MBG__CONTACT_HOLE : MBG__CONTACT_SOCKET;
  MBG_TRY(place_marker(owner, shape, on, NULL, NULL, &t.marker));
  MBG_TRY(add_touch(g, list, &t));
done:
  return err;
}

static const char *kinds_of(const group *g, bool surface) {
  return surface && g->inside ? "a sphere or cylinder" : "a sphere, capsule or box";
}

/* all spheres of a body or marker of the file */
static int add_shapes(group *g, const mbg__json *at, mbg__symbol *symbol, int on, bool surface, touches *list) {
  int err = MBG_OK;
  const mbg__json *shapes = mbg__json_member(symbol->json, "shape");
  const bool many = shapes && shapes->kind == MBG__JSON_ARRAY;
  mbg__item owner;
  bool any = false, known;
  if (!shapes) {
    const bool marker = symbol->kind == MBG__NAME_MARKER;
    return mbg__item_bad(&g->item, at, "%s '%s' has no shape: a contact needs %s%s", marker ? "marker" : "body",
                         at->text, kinds_of(g, surface),
                         marker && !surface ? "; a plane stands on the second side" : "");
  }
  MBG_TRY(mbg__item_open(g->item.L, symbol, &owner));
  for (const mbg__json *s = many ? shapes->child : shapes; s; s = many ? s->next : NULL) {
    MBG_TRY(add_shape(g, &owner, s, at, on, surface, list, &known));
    any = any || known;
  }
  g->item.bad = g->item.bad || owner.bad;
  if (!any) {
    MBG_TRY(mbg__item_bad(&g->item, at, "the shape of '%s' does not touch anything: expected %s", at->text,
                          kinds_of(g, surface)));
  }
done:
  return err;
}

/* one name of the first (spheres) or second side (spheres or a surface) */
static int add_name(group *g, const mbg__json *at, bool surface, touches *list) {
  int err = MBG_OK, marker;
  const bool road = surface && mbg__json_member(g->item.json, "road");
  MBG_TRY(mbg__item_marker(&g->item, at, "between", &marker));
  if (marker < 0) {
    return MBG_OK;
  }
  mbg__symbol *symbol = mbg__name_find(g->item.L, g->item.source, MBG__NAME_BODY, at->text);
  const bool ground = strcmp(at->text, "ground") == 0;
  const bool bare = ground || (symbol && symbol->kind == MBG__NAME_MARKER && !mbg__json_member(symbol->json, "shape"));
  if (road || (surface && bare && !g->inside)) {
    const touch t = {.marker = marker,
                     .body = g->item.L->markers.at[marker].body,
                     .kind = road ? MBG__CONTACT_ROAD : MBG__CONTACT_PLANE,
                     .at = at};
    return add_touch(g, list, &t);
  }
  if (ground || !symbol) {
    return mbg__item_bad(&g->item, at, "'%s' has no shape: a contact needs %s here", at->text, kinds_of(g, surface));
  }
  MBG_TRY(add_shapes(g, at, symbol, marker, surface, list));
done:
  return err;
}

/* one side: a name or an array of names */
static int add_side(group *g, const mbg__json *side, bool surface, touches *list) {
  int err = MBG_OK;
  const bool many = side->kind == MBG__JSON_ARRAY;
  if (!many && side->kind != MBG__JSON_STRING) {
    return mbg__item_wrong(&g->item, side, "between", "a name, or an array of names");
  }
  if (many && side->count == 0) {
    return mbg__item_bad(&g->item, side, "the list of names is empty");
  }
  for (const mbg__json *at = many ? side->child : side; at; at = many ? at->next : NULL) {
    for (const mbg__json *b = many ? side->child : at; b != at; b = b->next) {
      if (at->kind == MBG__JSON_STRING && b->kind == MBG__JSON_STRING && !strcmp(at->text, b->text)) {
        return mbg__item_bad(&g->item, at, "'%s' stands in the list twice", at->text);
      }
    }
    MBG_TRY(add_name(g, at, surface, list));
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- forces */

static bool own_key(const char *key) {
  return !strcmp(key, "between") || !strcmp(key, "among") || !strcmp(key, "inside") || !strcmp(key, "rounding") ||
         !strcmp(key, "note");
}

/* the force of a pair as the file could have it, without its ends */
static mbg__json *force_json(const group *g, const touch *a, const touch *b) {
  static const char *const words[] = {
      [MBG__CONTACT_PLANE] = "sphere-plane",   [MBG__CONTACT_SPHERE] = "sphere-sphere",
      [MBG__CONTACT_SOCKET] = "sphere-socket", [MBG__CONTACT_HOLE] = "pin-hole",
      [MBG__CONTACT_ROAD] = "sphere-road",
  };
  mbg__json *json = made(g, MBG__JSON_OBJECT, g->item.json, g->item.json->key);
  mbg__json **end = json ? &json->child : NULL;
  if (!json) {
    return NULL;
  }
  json->key_line = g->item.json->key_line;
  json->key_column = g->item.json->key_column;
  append(json, &end, text_of(g, g->item.json, "shape", words[a->kind]));
  append(json, &end, b->radius ? copy(g, b->radius, "radius") : text_of(g, g->item.json, "radius", "0"));
  if (a->radius) {
    append(json, &end, copy(g, a->radius, "radius_a"));
  }
  for (const mbg__json *c = g->item.json->child; c; c = c->next) {
    if (!own_key(c->key)) {
      append(json, &end, copy(g, c, c->key));
    }
  }
  return json;
}

/* A with the surface, B with the sphere */
static int add_pair(group *g, const touch *a, const touch *b) {
  int err = MBG_OK, pair, index;
  mbg__loader *L = g->item.L;
  if (a->kind == MBG__CONTACT_SPHERE && !a->radius && !b->radius) {
    return mbg__item_bad(&g->item, b->at, "the corners of two boxes are points, which do not touch: give 'rounding'");
  }
  mbg__item item = g->item;
  const size_t size = strlen(g->name) + 16;
  char *name = mbg__arena_take(L->arena, size, 1);
  item.json = force_json(g, a, b);
  MBG_TRY(mbg__arena_check(L->ctx, L->arena));
  MBG_TRY(mbg__arena_check(L->ctx, &L->temp));
  if (L->forces.count >= MBG__LOAD_ELEMENTS_MAX) {
    return mbg__item_bad_key(&g->item, g->item.json, "the model has more than %d forces", MBG__LOAD_ELEMENTS_MAX);
  }
  mbg__format(name, size, "%s.%d", g->name, g->count++);
  item.name = name;
  MBG_TRY(mbg__pair_add(L, a->marker, b->marker, &pair));
  MBG_TRY(mbg__contact_force_add(&item, g->type, pair, &index));
  MBG_TRY(mbg__name_made(&item, MBG__NAME_FORCE, index));
  g->item.bad = item.bad; /* the numbers of all pairs are the same: one message is enough */
done:
  return err;
}

static int same_body(group *g, const touch *a, const touch *b) {
  return mbg__item_bad(&g->item, b->at, "'%s' and '%s' are on the same body and do not move against each other",
                       b->at->text, a->at->text);
}

static int add_between(group *g, const mbg__json *between) {
  int err = MBG_OK;
  touches first = {0}, second = {0};
  if (between->kind != MBG__JSON_ARRAY || between->count != 2) {
    return mbg__item_bad(&g->item, between,
                         "between: expected two sides, each a name or an array of names, as in "
                         "[[\"foot1\", \"foot2\"], \"floor\"]");
  }
  MBG_TRY(add_side(g, between->child, false, &first));
  MBG_TRY(add_side(g, between->child->next, true, &second));
  for (int i = 0; !g->item.bad && i < first.count; i++) {
    for (int k = 0; !g->item.bad && k < second.count; k++) {
      MBG_TRY(first.at[i].body == second.at[k].body ? same_body(g, &second.at[k], &first.at[i])
                                                    : add_pair(g, &second.at[k], &first.at[i]));
    }
  }
done:
  return err;
}

/* every two spheres of different bodies */
static int add_among(group *g, const mbg__json *among) {
  int err = MBG_OK;
  touches all = {0};
  if (among->kind != MBG__JSON_ARRAY || among->count < 2) {
    return mbg__item_bad(&g->item, among, "among: expected an array of two or more names");
  }
  MBG_TRY(add_side(g, among, false, &all));
  for (int i = 0; !g->item.bad && i < all.count; i++) {
    for (int k = i + 1; !g->item.bad && k < all.count; k++) {
      MBG_TRY(all.at[i].body == all.at[k].body ? MBG_OK : add_pair(g, &all.at[i], &all.at[k]));
    }
  }
  if (!g->item.bad && g->count == 0) {
    return mbg__item_bad(&g->item, among, "all shapes are on one body and do not move against each other");
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- groups */

static int check_group(group *g, const mbg__json *between, const mbg__json *among) {
  const mbg__json *road = mbg__json_member(g->item.json, "road"), *inside = mbg__json_member(g->item.json, "inside");
  if (!between == !among) {
    return mbg__item_bad_key(&g->item, g->item.json, "give 'between' or 'among'%s", among ? ", not both" : "");
  }
  if (among && (road || inside)) {
    return mbg__item_bad_key(&g->item, road ? road : inside, "'%s' belongs to 'between'", road ? "road" : "inside");
  }
  if (road && g->inside) {
    return mbg__item_bad_key(&g->item, road, "give 'road' or 'inside', not both");
  }
  return MBG_OK;
}

static int load_group(mbg__loader *L, mbg__source *source, const mbg__json *json) {
  static const mbg__file_object keys[] = {MBG__KEYS_CONTACT};
  int err = MBG_OK;
  char owner[MBG__HINT_SIZE];
  bool yes;
  group g = {.type = mbg__contact_type()};
  const size_t size = strlen(source->prefix) + strlen(json->key) + 1;
  char *name = mbg__arena_take(&L->temp, size, 1);
  MBG_TRY(mbg__arena_check(L->ctx, &L->temp));
  mbg__format(name, size, "%s%s", source->prefix, json->key);
  g.name = name;
  mbg__format(owner, sizeof(owner), "contact '%s'", name);
  MBG_TRY(mbg__item_make(L, source, json, owner, &g.item));
  MBG_TRY(mbg__item_object(&g.item, json, NULL, &yes));
  if (!yes) {
    goto done;
  }
  MBG_TRY(mbg__item_keys(&g.item, json, keys, 1, g.type->keys + MBG__CONTACT_FIRST_KEYS,
                         g.type->nkey - MBG__CONTACT_FIRST_KEYS));
  const mbg__json *between = mbg__json_member(json, "between"), *among = mbg__json_member(json, "among");
  g.rounding = mbg__json_member(json, "rounding");
  if (mbg__json_member(json, "inside")) {
    MBG_TRY(mbg__item_bool(&g.item, mbg__json_member(json, "inside"), "inside", &g.inside));
  }
  MBG_TRY(check_group(&g, between, among));
  if (!g.item.bad) {
    MBG_TRY(between ? add_between(&g, between) : add_among(&g, among));
  }
done:
  if (g.item.bad) { /* its names are not missed */
    const size_t room = strlen(g.name) + 2;
    char *lost = mbg__arena_take(&L->temp, room, 1);
    if (!lost) {
      return mbg__fail_memory(L->ctx);
    }
    mbg__format(lost, room, "%s.", g.name);
    err = err < 0 ? err : MBG__ADD(L, L->lost, lost);
  }
  return err;
}

int mbg__load_contacts(mbg__loader *L) {
  int err = MBG_OK;
  for (int i = 0; i < L->sources.count; i++) {
    mbg__source *source = L->sources.at[i];
    const mbg__json *list = mbg__json_member(source->root, "contacts");
    mbg__item item;
    bool yes = false;
    if (!list) {
      continue;
    }
    MBG_TRY(mbg__item_make(L, source, list, "", &item));
    MBG_TRY(mbg__item_object(&item, list, "contacts", &yes));
    for (const mbg__json *c = yes ? list->child : NULL; c; c = c->next) {
      if (strcmp(c->key, "note") != 0 || c->kind != MBG__JSON_STRING) {
        MBG_TRY(load_group(L, source, c));
      }
    }
  }
done:
  return err;
}
