/* The JSON Schema of model files, written from the tables by which the loader reads them. */
#include "elements/contact_shape.h"
#include "load/load_blocks.h"
#include "load/schema_write.h"
#include "mbgrad/model.h"

#include <string.h>

static const char *section_of(const char *name) {
  /* clang-format off */
  static const char *const sections[][2] = {
    {"parameters", "parameter"}, {"tables", "table"}, {"curves", "curve"}, {"controls", "control"}, {"bodies", "body"},
    {"markers", "marker"}, {"joints", "joint"}, {"drivers", "driver"}, {"couplings", "coupling"}, {"forces", "force"},
    {"beams", "beam"}, {"section", "*section"}, {"signals", "signal"}, {"criteria", "criterion"}, {"parts", "part"},
    {"pin", "pin"}, {"initial", "*initial"}, {"run", "*run"}, {"control", "*control_task"}, {"runs", "named_run"},
    {"identify", "*identify"}, {"invariants", "*invariants"}, {"nodes", "modal_node"}, {"beam", "*modal_beam"},
    {"files", "*modal_files"}, {"optimize", "*optimize"}, {"constraints", "limit"}, {"states", "state"},
    {"blocks", "block"}, {"events", "event"}, {"impact", "*impact"}, {"contacts", "contacts"}};
  /* clang-format on */
  for (int i = 0; i < MBG_COUNT(sections); i++) {
    if (strcmp(sections[i][0], name) == 0) {
      return sections[i][1];
    }
  }
  return NULL;
}

static void section(writer *w, mbg__file_object owner, const char *name) {
  const char *of = section_of(name);
  assert(of);
  of = owner == MBG__KEYS_INITIAL && strcmp(name, "bodies") == 0 ? "guess" : of;
  of = owner == MBG__KEYS_CONTROL_TASK ? "task_control" : of;
  if (of[0] == '*') {
    reference(w, of + 1);
  } else {
    names_to(w, of);
  }
}

/* How a shape is written, by one of these. */
typedef struct {
  const char *any[3]; /* a definition, or one of several */
  const char *items;  /* array of a definition, with least and most */
  const char *values; /* object with any names as keys, values of a definition */
  const char *type;   /* "integer": from least to most */
  int least, most;    /* -1: no limit */
} shape_form;

static const shape_form forms[] = {
    [MBG__SHAPE_TEXT] = {.type = "string"},
    [MBG__SHAPE_NAME] = {.type = "string"},
    [MBG__SHAPE_BOOL] = {.type = "boolean"},
    [MBG__SHAPE_PLAIN] = {.any = {"plain"}},
    [MBG__SHAPE_COUNT] = {.type = "integer", .least = 1, .most = MBG__LOAD_ELEMENTS_MAX},
    [MBG__SHAPE_ELEMENT] = {.type = "integer", .least = 0, .most = -1},
    [MBG__SHAPE_ELEMENT_OR_ALL] = {.any = {"number"}}, /* "all" is text, too */
    [MBG__SHAPE_NUMBER] = {.any = {"number"}},
    [MBG__SHAPE_NUMBERS] = {.any = {"numbers"}},
    [MBG__SHAPE_PLAINS] = {.any = {"plains"}},
    [MBG__SHAPE_VALUES] = {.any = {"plain", "plains"}},
    [MBG__SHAPE_SAMPLES] = {.any = {"number", "numbers"}},
    [MBG__SHAPE_TIMES] = {.any = {"plains", "times", "text"}},
    [MBG__SHAPE_COLUMN] = {.any = {"plains", "text"}},
    [MBG__SHAPE_GRID] = {.any = {"nested", "text"}},
    [MBG__SHAPE_DATA] = {.any = {"text", "data"}},
    [MBG__SHAPE_VEC3] = {.any = {"vector"}},
    [MBG__SHAPE_POINTS] = {.items = "vector", .least = 2, .most = -1},
    [MBG__SHAPE_TWO_VEC3] = {.items = "vector", .least = 2, .most = 2},
    [MBG__SHAPE_TWO_NAMES] = {.items = "text", .least = 2, .most = 2},
    [MBG__SHAPE_TWO_SIDES] = {.items = "side", .least = 2, .most = 2},
    [MBG__SHAPE_ROTATE] = {.any = {"rotate"}},
    [MBG__SHAPE_INERTIA] = {.any = {"number", "numbers", "matrix3"}},
    [MBG__SHAPE_NAMES_TO_NAMES] = {.values = "text"},
    [MBG__SHAPE_NAMES_TO_NUMBERS] = {.values = "number"},
    [MBG__SHAPE_OBJECTIVE] = {.any = {"text", "weights"}},
    [MBG__SHAPE_NAMES_TO_SETTINGS] = {.values = "setting"},
    [MBG__SHAPE_NAMES] = {.items = "text", .least = -1, .most = -1},
    [MBG__SHAPE_SERIES] = {.any = {"number", "numbers", "series"}},
    [MBG__SHAPE_PAIR] = {.any = {"number", "numbers"}},
    [MBG__SHAPE_NESTED] = {.any = {"nested"}},
    [MBG__SHAPE_TERMS] = {.items = "term", .least = -1, .most = -1},
    [MBG__SHAPE_RATE_TERMS] = {.items = "rate-term", .least = -1, .most = -1},
    [MBG__SHAPE_VIA] = {.items = "place", .least = 2, .most = -1},
    [MBG__SHAPE_BRANCHES] = {.items = "branch", .least = 1, .most = -1},
    [MBG__SHAPE_FIGURES] = {.any = {"shape", "shapes"}},
    [MBG__SHAPE_SECTION] = {.any = {NULL}}, /* as CHOICE and VERSION: written by shape() itself */
};

static void shape(writer *w, mbg__file_object owner, const mbg__file_key *key) {
  const shape_form *f = &forms[key->shape];
  if (key->shape == MBG__SHAPE_CHOICE) {
    enumeration(w, key->name, key->choices);
  } else if (key->shape == MBG__SHAPE_VERSION) {
    integer_member(w, "const", 1);
  } else if (key->shape == MBG__SHAPE_SECTION) {
    section(w, owner, key->name);
  } else if (f->any[1]) {
    any_of(w, f->any, f->any[2] ? 3 : 2);
  } else if (f->any[0]) {
    reference(w, f->any[0]);
  } else if (f->items) {
    array_of(w, f->items, f->least, f->most);
  } else if (f->values) {
    names_to(w, f->values);
  } else {
    text_member(w, "type", f->type);
    if (strcmp(f->type, "integer") == 0) {
      integer_member(w, "minimum", f->least);
    }
    if (strcmp(f->type, "integer") == 0 && f->most >= 0) {
      integer_member(w, "maximum", f->most);
    }
  }
}

/* the value under a key of a type */
static void type_value(writer *w, const mbg__key *key) {
  static const char *const refs[] = {[MBG__KEY_NUMBER] = "number",
                                     [MBG__KEY_FN] = "number",
                                     [MBG__KEY_VEC3] = "vector",
                                     [MBG__KEY_FN3] = "vector",
                                     [MBG__KEY_SYM6] = "matrix"};
  if (key->kind == MBG__KEY_CHOICE) {
    enumeration(w, key->name, key->choices);
  } else if (key->kind == MBG__KEY_BOOL || key->kind == MBG__KEY_CURVE) {
    text_member(w, "type", key->kind == MBG__KEY_BOOL ? "boolean" : "string");
  } else {
    reference(w, refs[key->kind]);
  }
}

/* ---------------------------------------------------------------------- objects */

/* An object with its own keys (several lists) and the keys of a type. */
typedef struct {
  const mbg__file_object *own;
  int nown;
  const mbg__key *keys;
  int nkey;
  const char *type; /* value of "type", NULL: any */
  bool type_needed;
  const char *help; /* may be NULL */
} object;

static bool type_has(const object *o, const char *name) {
  for (int k = 0; k < o->nkey; k++) {
    if (strcmp(o->keys[k].name, name) == 0) {
      return true;
    }
  }
  return false;
}

/* was the key in an earlier list? */
static bool repeated(const object *o, int list, const char *name) {
  for (int i = 0; i < list; i++) {
    const mbg__file_keys of = mbg__file_keys_of(o->own[i]);
    for (int k = 0; k < of.count; k++) {
      if (strcmp(of.keys[k].name, name) == 0) {
        return true;
      }
    }
  }
  return false;
}

static void own_property(writer *w, const object *o, int list, const mbg__file_key *key) {
  if (type_has(o, key->name) || repeated(o, list, key->name)) {
    return;
  }
  mbg__json_key(w, key->name);
  mbg__json_begin_object(w);
  text_member(w, "description", key->help);
  if (o->type && strcmp(key->name, "type") == 0) {
    text_member(w, "const", o->type);
  } else {
    shape(w, o->own[list], key);
  }
  mbg__json_end_object(w);
}

static void properties(writer *w, const object *o) {
  mbg__json_key(w, "properties");
  mbg__json_begin_object(w);
  for (int i = 0; i < o->nown; i++) {
    const mbg__file_keys of = mbg__file_keys_of(o->own[i]);
    for (int k = 0; k < of.count; k++) {
      own_property(w, o, i, &of.keys[k]);
    }
  }
  for (int k = 0; k < o->nkey; k++) {
    if (mbg__key_hidden(o->keys[k].name)) {
      continue;
    }
    mbg__json_key(w, o->keys[k].name);
    mbg__json_begin_object(w);
    text_member(w, "description", o->keys[k].help);
    type_value(w, &o->keys[k]);
    mbg__json_end_object(w);
  }
  typed_member(w, "note", "string");
  mbg__json_end_object(w);
}

static void required(writer *w, const object *o) {
  mbg__json_key(w, "required");
  mbg__json_begin_array(w);
  for (int i = 0; i < o->nown; i++) {
    const mbg__file_keys of = mbg__file_keys_of(o->own[i]);
    for (int k = 0; k < of.count; k++) {
      if (of.keys[k].required || (o->type_needed && strcmp(of.keys[k].name, "type") == 0)) {
        mbg__json_string(w, of.keys[k].name);
      }
    }
  }
  for (int k = 0; k < o->nkey; k++) {
    if (o->keys[k].required) {
      mbg__json_string(w, o->keys[k].name);
    }
  }
  mbg__json_end_array(w);
}

static void object_members(writer *w, const object *o) {
  if (o->help) {
    text_member(w, "description", o->help);
  }
  text_member(w, "type", "object");
  properties(w, o);
  required(w, o);
  mbg__json_key(w, "additionalProperties");
  mbg__json_boolean(w, false);
}

static void object_schema(writer *w, const object *o) {
  mbg__json_begin_object(w);
  object_members(w, o);
  mbg__json_end_object(w);
}

/* an object with the keys of one list */
static void own_object(writer *w, mbg__file_object keys) {
  const object o = {.own = &keys, .nown = 1};
  object_schema(w, &o);
}

static void define(writer *w, const char *name, mbg__file_object keys) {
  mbg__json_key(w, name);
  own_object(w, keys);
}

/* ---------------------------------------------------------------------- elements */

static void begin_choice(writer *w, const char *name) {
  mbg__json_key(w, name);
  mbg__json_begin_object(w);
  mbg__json_key(w, "anyOf");
  mbg__json_begin_array(w);
}

static void end_choice(writer *w) {
  mbg__json_end_array(w);
  mbg__json_end_object(w);
}

static void define_bodies(writer *w) {
  int n;
  const mbg__body_type *const *types = mbg__body_types(&n);
  begin_choice(w, "body");
  for (int i = 0; i < n; i++) {
    const bool preset = strcmp(types[i]->key, "rigid") == 0;
    const mbg__file_object own[] = {MBG__KEYS_BODY, types[i]->modal ? MBG__KEYS_MODAL : MBG__KEYS_RIGID};
    const object o = {own, 2, types[i]->keys, types[i]->nkey, types[i]->key, !preset, types[i]->help};
    object_schema(w, &o);
  }
  own_object(w, MBG__KEYS_OUTER_BODY);
  end_choice(w);
}

/* numbers in arrays of any depth, and the objects inside a modal body */
static void define_modal(writer *w) {
  static const char *const nested[] = {"number", "nested"};
  mbg__json_key(w, "nested");
  mbg__json_begin_object(w);
  text_member(w, "type", "array");
  mbg__json_key(w, "items");
  mbg__json_begin_object(w);
  any_of(w, nested, 2);
  mbg__json_end_object(w);
  mbg__json_end_object(w);
  define(w, "invariants", MBG__KEYS_INVARIANTS);
  define(w, "modal_node", MBG__KEYS_MODAL_NODE);
  define(w, "modal_beam", MBG__KEYS_MODAL_BEAM);
  define(w, "modal_files", MBG__KEYS_MODAL_FILES);
}

static void define_joints(writer *w) {
  int n;
  const mbg__joint_type *const *types = mbg__joint_types(&n);
  static const mbg__file_object own[] = {MBG__KEYS_JOINT, MBG__KEYS_BETWEEN, MBG__KEYS_AXIS2};
  begin_choice(w, "joint");
  for (int i = 0; i < n; i++) {
    const int nown = types[i]->axes == MBG__AXES_UNIVERSAL ? 3 : 2;
    const object o = {own, nown, types[i]->keys, types[i]->nkey, types[i]->key, true, types[i]->help};
    object_schema(w, &o);
  }
  end_choice(w);
}

static void define_forces(writer *w) {
  int nlaw, nforce;
  const mbg__law_type *const *laws = mbg__law_types(&nlaw);
  const mbg__force_type *const *forces = mbg__force_types(&nforce);
  mbg__file_object own[4];
  begin_choice(w, "force");
  for (int i = 0; i < nlaw; i++) {
    const int nown = mbg__force_objects(laws[i], NULL, own);
    const object o = {own, nown, laws[i]->keys, laws[i]->nkey, laws[i]->key, true, laws[i]->help};
    object_schema(w, &o);
  }
  for (int i = 0; i < nforce; i++) {
    const int nown = mbg__force_objects(NULL, forces[i], own);
    const object o = {own, nown, forces[i]->keys, forces[i]->nkey, forces[i]->key, true, forces[i]->help};
    object_schema(w, &o);
  }
  end_choice(w);
}

/* objects of kinds that "type" names (kinds NULL: their keys tell them apart): the keys of kind k are those of object
   first + k */
static void define_kinds(writer *w, const char *name, mbg__file_object first, const char *const *kinds, int n) {
  begin_choice(w, name);
  for (int k = 0; k < n; k++) {
    const mbg__file_object own[] = {(mbg__file_object)(first + k)};
    const object o = {.own = own, .nown = 1, .type = kinds ? kinds[k] : NULL};
    object_schema(w, &o);
  }
  end_choice(w);
}

static void define_signals(writer *w) {
  int n;
  const mbg__signal_type *const *types = mbg__signal_types(&n);
  begin_choice(w, "signal");
  for (int i = 0; i < n; i++) {
    const mbg__file_object own[] = {MBG__KEYS_SIGNAL, mbg__signal_object(types[i])};
    const object o = {own, 2, types[i]->keys, types[i]->nkey, types[i]->key, true, types[i]->help};
    object_schema(w, &o);
  }
  end_choice(w);
}

static void define_blocks(writer *w) {
  int n;
  const mbg__block_type *types = mbg__block_types(&n);
  begin_choice(w, "block");
  for (int i = 0; i < n; i++) {
    const object o = {types[i].own, 2, types[i].keys, types[i].nkey, types[i].key, true, types[i].help};
    object_schema(w, &o);
  }
  end_choice(w);
}

/* groups of contacts: the keys of the force without those of its shape */
static void define_contacts(writer *w) {
  static const mbg__file_object own[] = {MBG__KEYS_CONTACT};
  const mbg__force_type *type = mbg__contact_type();
  const object o = {.own = own,
                    .nown = 1,
                    .keys = type->keys + MBG__CONTACT_FIRST_KEYS,
                    .nkey = type->nkey - MBG__CONTACT_FIRST_KEYS,
                    .help = "contacts between shapes"};
  begin_choice(w, "side");
  reference_object(w, "text");
  array_object(w, "text", -1);
  end_choice(w);
  mbg__json_key(w, "contacts");
  object_schema(w, &o);
}

/* ---------------------------------------------------------------------- small definitions */

static void define_list(writer *w, const char *name, const char *items, int n) {
  mbg__json_key(w, name);
  array_object(w, items, n);
}

static void define_values(writer *w) {
  typed_member(w, "text", "string");
  typed_member(w, "plain", "number");
  mbg__json_key(w, "number");
  mbg__json_begin_object(w);
  text_member(w, "description", "a number, or an expression of parameters and constants (some keys allow more names)");
  mbg__json_key(w, "type");
  words(w, "number string");
  mbg__json_end_object(w);
  define_list(w, "plains", "plain", -1);
  define_list(w, "numbers", "number", -1);
  define_list(w, "matrix3", "vector", 3);
  define_list(w, "row", "number", 6);
  begin_choice(w, "vector");
  array_object(w, "number", 3);
  reference_object(w, "text");
  end_choice(w);
  begin_choice(w, "matrix");
  array_object(w, "number", 6);
  array_object(w, "row", 6);
  end_choice(w);
}

/* a turn is ["z", angle] */
static void define_rotate(writer *w) {
  static const mbg__file_object ways[] = {MBG__KEYS_ROTATE_VECTOR, MBG__KEYS_ROTATE_AXIS, MBG__KEYS_ROTATE_ZX};
  mbg__json_key(w, "turn");
  mbg__json_begin_object(w);
  text_member(w, "type", "array");
  mbg__json_key(w, "prefixItems");
  mbg__json_begin_array(w);
  mbg__json_begin_object(w);
  mbg__json_key(w, "enum");
  words(w, "x y z");
  mbg__json_end_object(w);
  reference_object(w, "number");
  mbg__json_end_array(w);
  integer_member(w, "minItems", 2);
  integer_member(w, "maxItems", 2);
  mbg__json_end_object(w);
  begin_choice(w, "rotate");
  array_object(w, "turn", -1);
  reference_object(w, "matrix3");
  for (int i = 0; i < MBG_COUNT(ways); i++) {
    own_object(w, ways[i]);
  }
  end_choice(w);
}

static void define_parameter(writer *w) {
  begin_choice(w, "parameter");
  reference_object(w, "plain");
  own_object(w, MBG__KEYS_PARAMETER);
  end_choice(w);
}

static void define_runs(writer *w) {
  static const mbg__file_object own[] = {MBG__KEYS_RUN, MBG__KEYS_RUNS};
  const object o = {.own = own, .nown = 2};
  begin_choice(w, "setting");
  reference_object(w, "number");
  reference_object(w, "plains");
  end_choice(w);
  mbg__json_key(w, "named_run");
  object_schema(w, &o);
}

static void definitions(writer *w) {
  static const char *const sections[] = {"rectangle", "circle", "tube", "general"};
  mbg__json_key(w, "$defs");
  mbg__json_begin_object(w);
  define_values(w);
  define_rotate(w);
  define_parameter(w);
  define(w, "table", MBG__KEYS_TABLE);
  define(w, "times", MBG__KEYS_TIMES);
  define(w, "control", MBG__KEYS_CONTROL);
  define_bodies(w);
  define_modal(w);
  define(w, "marker", MBG__KEYS_MARKER);
  define_kinds(w, "shape", MBG__KEYS_BOX, mbg__figure_words, MBG__FIGURE_KINDS);
  define_list(w, "shapes", "shape", -1);
  define_joints(w);
  define(w, "curve", MBG__KEYS_CURVE);
  define(w, "driver", MBG__KEYS_DRIVER);
  define(w, "term", MBG__KEYS_COUPLING_TERM);
  define(w, "rate-term", MBG__KEYS_RATE_TERM);
  define(w, "pulley", MBG__KEYS_PULLEY);
  begin_choice(w, "place");
  reference_object(w, "text");
  reference_object(w, "pulley");
  end_choice(w);
  define(w, "branch", MBG__KEYS_BRANCH);
  define_kinds(w, "coupling", MBG__KEYS_COUPLING, mbg__coupling_words, MBG__COUPLING_KINDS);
  define_forces(w);
  define(w, "series", MBG__KEYS_SERIES);
  define_kinds(w, "section", MBG__KEYS_RECTANGLE, sections, MBG_COUNT(sections));
  define(w, "beam", MBG__KEYS_BEAM);
  define_contacts(w);
  define_signals(w);
  define(w, "state", MBG__KEYS_STATE);
  define(w, "event", MBG__KEYS_EVENT);
  define(w, "impact", MBG__KEYS_IMPACT);
  define_blocks(w);
  define(w, "data", MBG__KEYS_DATA);
  define_kinds(w, "criterion", MBG__KEYS_TERMINAL, NULL, MBG__COMBINATION + 1);
  define(w, "guess", MBG__KEYS_GUESS);
  define(w, "pin", MBG__KEYS_PIN);
  define(w, "initial", MBG__KEYS_INITIAL);
  define(w, "part", MBG__KEYS_PART);
  define(w, "run", MBG__KEYS_RUN);
  mbg__json_key(w, "weights");
  mbg__json_begin_object(w);
  names_to(w, "number");
  mbg__json_end_object(w);
  define(w, "task_control", MBG__KEYS_TASK_CONTROL);
  define(w, "control_task", MBG__KEYS_CONTROL_TASK);
  define_runs(w);
  define(w, "identify", MBG__KEYS_IDENTIFY);
  define(w, "limit", MBG__KEYS_LIMIT);
  define(w, "optimize", MBG__KEYS_OPTIMIZE);
  mbg__json_end_object(w);
}

int mbg_model_schema(mbg_context *ctx, char **text) {
  static const mbg__file_object own[] = {MBG__KEYS_MODEL};
  const object model = {.own = own, .nown = 1, .help = "a mechanism for mbgrad, see docs/model.md"};
  writer w;
  MBG_NEED(ctx, ctx && text);
  mbg__json_writer_init(&w, ctx, true);
  mbg__json_begin_object(&w);
  text_member(&w, "$schema", "https://json-schema.org/draft/2020-12/schema");
  text_member(&w, "title", "mbgrad model");
  object_members(&w, &model);
  definitions(&w);
  mbg__json_end_object(&w);
  return mbg__json_writer_hand_over(&w, text);
}
