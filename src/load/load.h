/* load: from the text of a model file to an mbg_model. Private to src/load.

   Sections are loaded in an order in which every name and number is known when it is needed: names of all files,
   numbers (parameters, tables, constants, controls), bodies and markers, joints, drivers, couplings, forces, signals,
   criteria, start, run. The results are collected in growing lists (temporary memory) that are copied into the model at
   the end; numbers and poses are evaluated at the nominal parameters as soon as they are read, so that every check is
   made, and reported, where the number stands.

   Errors of the file are filed and loading continues: an item (one element of the file) with an error is marked bad,
   and items that refer to it fail silently. Reading functions return MBG_OK in that case; a negative status stops
   loading (out of memory, too many errors). */
#ifndef MBG_LOAD_LOAD_H
#define MBG_LOAD_LOAD_H

#include "elements/lists.h"
#include "io/json.h"
#include "load/load_keys.h"
#include "model/design.h"
#include "model/model.h"

#include <string.h>

enum {
  MBG__LOAD_ELEMENTS_MAX = 1000000, /* of a kind, of a vector parameter, of a list in the file */
  MBG__LOAD_BEAM_MAX = 100000,      /* elements of a beam, each with some twenty numbers */
  MBG__LOAD_PARTS_DEEP = 10,        /* parts inside parts */
  MBG__LOAD_PARTS_MAX = 10000       /* files in use */
};

/* ---------------------------------------------------------------------- lists that grow */

#define MBG__LIST_OF(type)                                                                                             \
  struct {                                                                                                             \
    type *at;                                                                                                          \
    int count, room;                                                                                                   \
  }

typedef struct mbg__loader mbg__loader;

/* Room for one more entry of a list, not cleared; NULL when out of memory. */
void *mbg__list_more(mbg__loader *L, void *at, int count, int *room, size_t size);

/* The next entry of a list, cleared; NULL when out of memory (nothing is lost: the memory is the loader's). */
#define MBG__PUSH(L, list)                                                                                             \
  (((list).count < (list).room ||                                                                                      \
    ((list).at = mbg__list_more((L), (list).at, (list).count, &(list).room, sizeof(*(list).at))) != NULL)              \
       ? memset(&(list).at[(list).count++], 0, sizeof(*(list).at))                                                     \
       : NULL)

/* Adds a value to a list: MBG_OK, or MBG_ERROR_MEMORY with its message. */
#define MBG__ADD(L, list, ...)                                                                                         \
  (MBG__PUSH(L, list) ? ((list).at[(list).count - 1] = __VA_ARGS__, MBG_OK) : mbg__fail_memory((L)->ctx))

/* ---------------------------------------------------------------------- files in use */

/* The model itself, or one use of another file as a part. */
typedef struct mbg__source {
  struct mbg__source *outer; /* NULL: the model itself */
  const char *file;          /* name in messages */
  const char *base;          /* file that relative paths start from */
  const char *prefix;        /* of its names: "" or "FL." */
  const char *name;          /* of the part: "FL" */
  const mbg__json *root;     /* the file */
  const mbg__json *part;     /* the entry in the outer file */
  int depth;
  int pose;       /* place of the file's world in the outer file's world (after mirroring), or -1 */
  int mirror;     /* axis, or -1 */
  int frame;      /* place of the file's world in the world, or -1: the same */
  double sign[3]; /* reflection S of its local axes: product of the mirrors */
  double handed;  /* det S */
  int ground;     /* marker for `ground`, -1: not made yet */
  bool bad;
} mbg__source;

/* ---------------------------------------------------------------------- names */

typedef enum {
  MBG__NAME_PARAMETER,
  MBG__NAME_CONSTANT,
  MBG__NAME_TABLE,
  MBG__NAME_CONTROL,
  MBG__NAME_SIGNAL,
  MBG__NAME_CRITERION,
  MBG__NAME_BODY,
  MBG__NAME_MARKER,
  MBG__NAME_JOINT,
  MBG__NAME_DRIVER,
  MBG__NAME_COUPLING,
  MBG__NAME_FORCE,
  MBG__NAME_BEAM,
  MBG__NAME_PIN,
  MBG__NAME_GUESS, /* entries of initial.bodies: they refer to bodies */
  MBG__NAME_RUN,
  MBG__NAME_MODE,
  MBG__NAME_EVENT,
  MBG__NAME_CURVE,
  MBG__NAME_KINDS
} mbg__name_kind;

typedef struct mbg__symbol {
  const char *name; /* full: with the prefix of its part */
  mbg__name_kind kind;
  int index;    /* in the list of its kind; -1 until it is read */
  int state;    /* SIGNAL: the state that it is, -1: none */
  int entry;    /* ... in its vector */
  int entries;  /* SIGNAL: a vector of states, found as NAME[i]; 0: no vector */
  int measured; /* SIGNAL: 1 + coordinate of a tendon that it measures, 0: none */
  bool rate;    /* ... its rate */
  bool bad;     /* an error was filed: references to it fail silently */
  const mbg__json *json;
  mbg__source *source;
  const mbg__json *set;     /* PARAMETER of a part: the outer file's value, a constant then */
  const mbg__json *value;   /* PARAMETER: the value that the chosen run sets, or NULL */
  struct mbg__symbol *next; /* in its bucket */
} mbg__symbol;

/* ---------------------------------------------------------------------- the loader */

typedef struct {
  int translate;       /* first attribute of its position */
  int rotate, nrotate; /* operations of its rotation */
} mbg__own_pose;

/* A formula that the file may repeat; equal ones share their program. */
typedef struct {
  const mbg__source *source; /* whose names it uses */
  const char *text;
  double sign, value;
  mbg__formula formula;
} mbg__shared_formula;

/* Where a tendon stands in the file. */
typedef struct {
  mbg__source *source;
  const mbg__json *json;
} mbg__tendon_at;

struct mbg__loader {
  mbg_context *ctx;
  mbg_model *model;
  mbg__arena *arena; /* the model's */
  mbg__arena temp;   /* dies with the loader, as do the blocks of the lists */
  struct mbg__list_block *blocks;
  const mbg__model_source *known; /* files whose text is known: the model, perhaps parts */
  const char *run_name;           /* the run to load the model for, or NULL */
  mbg__tracking tracking;         /* gain 0: none */
  int ntracked;                   /* criteria with a tracking force */
  const mbg__json *chosen;        /* its entry in "runs" */
  bool again;                     /* the model is made from one in memory */
  int errors;                     /* filed by this loader and those it called */
  bool no_memory;                 /* out of memory where no status can be returned */

  MBG__LIST_OF(mbg__source *) sources;
  MBG__LIST_OF(const char *) lost; /* prefixes of parts that could not be read: their names are not missed */
  MBG__LIST_OF(mbg__symbol *) names[MBG__NAME_KINDS]; /* in the order of the files */
  mbg__symbol **buckets;
  int nbucket, nsymbol;
  int nstate; /* of the names */

  /* the model's lists */
  MBG__LIST_OF(mbg__parameter) parameters;
  MBG__LIST_OF(double) p;
  MBG__LIST_OF(mbg__constant) constants;
  MBG__LIST_OF(mbg__attribute) attributes;
  MBG__LIST_OF(mbg__control) controls;
  MBG__LIST_OF(const mbg__table *) tables;
  MBG__LIST_OF(mbg__where) table_where;
  MBG__LIST_OF(mbg__fn) fns;
  MBG__LIST_OF(mbg__pose) poses;
  MBG__LIST_OF(mbg__pose_op) ops;
  MBG__LIST_OF(mbg__body) bodies;
  MBG__LIST_OF(mbg__marker) markers;
  MBG__LIST_OF(mbg__pair) pairs;
  MBG__LIST_OF(mbg__coord) coords;
  MBG__LIST_OF(mbg__term) terms;
  MBG__LIST_OF(mbg__row) rows;
  MBG__LIST_OF(mbg__joint) joints;
  MBG__LIST_OF(mbg__driver) drivers;
  MBG__LIST_OF(mbg__coupling) couplings;
  MBG__LIST_OF(mbg__curve) curves;
  MBG__LIST_OF(mbg__contact) contacts;
  MBG__LIST_OF(mbg__tendon) tendons;
  MBG__LIST_OF(mbg__via) vias;
  MBG__LIST_OF(mbg__strand) strands;
  MBG__LIST_OF(mbg__force) forces;
  MBG__LIST_OF(mbg__beam) beams;
  MBG__LIST_OF(mbg__beam_element) elements;
  MBG__LIST_OF(mbg__modal) modals;
  MBG__LIST_OF(mbg__user_state) states;
  MBG__LIST_OF(mbg__event_mode) modes;
  MBG__LIST_OF(mbg__event) events;
  MBG__LIST_OF(mbg__signal) signals;
  MBG__LIST_OF(mbg__criterion) criteria;
  MBG__LIST_OF(mbg__pin) pins;
  MBG__LIST_OF(mbg__figure) figures;

  /* Two sets of parameters: [0] nominal, [1] nearby. A property that holds at both holds by geometry, not by
     coincidence. Values that cannot be computed are NaN. */
  real *s[2];                          /* (p, constants) */
  bool *s_varies;                      /* depends on a parameter */
  MBG__LIST_OF(real) values[2];        /* of the attributes */
  MBG__LIST_OF(mbg__placed) placed[2]; /* of the poses */

  /* beside the lists above */
  MBG__LIST_OF(mbg__own_pose) body_pose;  /* of each body */
  MBG__LIST_OF(int) body_marker;          /* of each body: the marker of its frame, or -1 */
  MBG__LIST_OF(int) joint_driver;         /* of each joint: its last driver, or -1 */
  MBG__LIST_OF(int) driver_before;        /* of each driver: the one before it on the same joint, or -1 */
  MBG__LIST_OF(bool) signal_whole;        /* of each signal: forces or energies are behind it */
  MBG__LIST_OF(mbg__tendon_at) tendon_at; /* of each tendon */
  int element, nelement;  /* of the beam whose numbers are read: a vector parameter stands for its entry; -1: none */
  bool element_used;      /* ... and has done so */
  const mbg__json *timed; /* number of a joint that is a function of time and no attribute */
  int component;          /* of the vector expression that is compiled; -1: of a number */
  int quarter;            /* attribute -pi/2, or -1 */
  int empty_pose;         /* pose without operations, or -1 */
  int carrier_ground;     /* marker of the ground for states and signals of modal coordinates, or -1 */
  struct mbg__index_map *pair_map, *coord_map, *text_map, *label_map, *driver_map, *formula_map;
  MBG__LIST_OF(mbg__shared_formula) formulas;
  MBG__LIST_OF(const char *) texts;
  MBG__LIST_OF(const mbg__label *) labels;
  const mbg__expr *identity;         /* the expression that returns its only input */
  MBG__LIST_OF(int) formula_input;   /* inputs of the formula that is compiled: entries of (p, constants) */
  MBG__LIST_OF(mbg__input) fn_input; /* inputs of the function that is compiled */
  MBG__LIST_OF(int) fn_source;       /* ATTR: entry of (p, constants), else -1 */
  int *pose_dep;                     /* scratch of one pose */
  real (*pose_omega)[6];
  int pose_room;
  real *x, *scratch; /* of one expression */
  int x_room;
  size_t scratch_room;
};

/* ---------------------------------------------------------------------- load_item.c: one element of the file */

typedef struct {
  mbg__loader *L;
  mbg__source *source;
  const mbg__json *json; /* its object (or value) */
  const char *name;      /* full name */
  const char *owner;     /* "body 'bob'" */
  bool bad;
} mbg__item;

/* The item of a symbol; noun: "body". Memory only. */
int mbg__item_open(mbg__loader *L, mbg__symbol *symbol, mbg__item *item);
/* Loads each item of a kind; `load` gives its symbol an index. Marks symbols of items with errors bad. */
int mbg__load_each(mbg__loader *L, mbg__name_kind kind, int (*load)(mbg__item *item, mbg__symbol *symbol));
/* The item of anything else; owner is copied. */
int mbg__item_make(mbg__loader *L, mbg__source *source, const mbg__json *json, const char *owner, mbg__item *item);

/* Places: of a value (of the text of a string), of a key. */
mbg__where mbg__item_where(const mbg__item *item, const mbg__json *json);
mbg__where mbg__item_where_key(const mbg__item *item, const mbg__json *json);

/* Files an error and marks the item; at a value, at its key. */
int mbg__item_bad(mbg__item *item, const mbg__json *at, const char *format, ...) MBG_PRINTF(3, 4);
int mbg__item_bad_key(mbg__item *item, const mbg__json *at, const char *format, ...) MBG_PRINTF(3, 4);
/* For an error that another function has filed: counts it and marks the item. Returns `status` if loading must stop,
   else MBG_OK. */
int mbg__item_filed(mbg__item *item, int status);

/* A warning at a value. Silent when the model is made anew from one in memory, whose loading has said it. */
void mbg__item_warn(const mbg__item *item, const mbg__json *at, const char *format, ...) MBG_PRINTF(3, 4);

/* "; did you mean 'x'?" into a buffer, or "". */
enum { MBG__HINT_SIZE = 320 };
const char *mbg__hint(char buffer[MBG__HINT_SIZE], const char *nearest);
/* As mbg__nearest; a single letter is near to nothing. */
const char *mbg__near(const char *word, const char *const *candidates, int count);
/* load_words.c: the candidate that a word of another program stands for ("hinge"), else as mbg__near. */
const char *mbg__near_word(const char *word, const char *const *candidates, int count);
/* What to do instead when the thing is not of this section ("gear" among joints), or NULL. owner: of the item. */
const char *mbg__word_elsewhere(const char *owner, const char *word);
/* A required key is missing: the message may name a misspelled key. */
int mbg__item_missing(mbg__item *item, const mbg__json *object, const char *key);
/* Can the file be opened for reading? If not, an error. */
int mbg__item_readable(mbg__item *item, const mbg__json *at, const char *path, bool *yes);
/* After a reader refused `file`, called `name` in the model: when it lies outside the folder of the model, the message
   since the mark keeps its place and loses what it quotes. */
void mbg__item_hide(mbg__item *item, const char *name, const char *file, int mark);

/* Is it an object? If not, an error. */
int mbg__item_object(mbg__item *item, const mbg__json *json, const char *label, bool *yes);
/* Checks that every key of the object is in the lists (own objects, then the keys of a type) and that required keys
   exist. */
int mbg__item_keys(mbg__item *item, const mbg__json *object, const mbg__file_object *own, int nown,
                   const mbg__key *keys, int nkey);
int mbg__item_text(mbg__item *item, const mbg__json *json, const char *label, const char **out);
int mbg__item_bool(mbg__item *item, const mbg__json *json, const char *label, bool *out);
/* Words of the run section: formulations, methods of the gradient (in the order of mbg_method), integrators. */
extern const char mbg__formulation_words[], mbg__method_words[], mbg__integrator_words[];

/* Index of a word among `choices` (separated by blanks); json NULL: leaves *out. */
int mbg__item_choice(mbg__item *item, const mbg__json *json, const char *label, const char *choices, int *out);
/* An array of n entries (n < 0: any number): its first entry, or NULL after an error. */
int mbg__item_array(mbg__item *item, const mbg__json *json, const char *label, int n, const mbg__json **first);
int mbg__item_wrong(mbg__item *item, const mbg__json *json, const char *label, const char *expected);
/* Index of the type that a string names among the keys of n types, -1 after an error. */
int mbg__item_type(mbg__item *item, const mbg__json *json, const char *const *keys, int n, int *type);
/* ... of the string "type" of the item, which must be there. */
enum { MBG__TYPES_MAX = 64 };
int mbg__item_own_type(mbg__item *item, const char *const *keys, int n, int *type);

/* ---------------------------------------------------------------------- load_names.c */

/* Registers the names of all sources. */
int mbg__load_names(mbg__loader *L);
const char *mbg__name_noun(mbg__name_kind kind); /* "body" */
/* The symbol in the namespace of that kind, seen from a source, or NULL. */
mbg__symbol *mbg__name_find(mbg__loader *L, const mbg__source *source, mbg__name_kind space, const char *name);
/* The nearest of the names of the kinds in `kinds` (bits) that the source sees, as it would write it; or NULL. */
const char *mbg__name_nearest(mbg__loader *L, const mbg__source *source, unsigned kinds, const char *name);
/* A reference: the symbol that a string of the file names; NULL after an error or when that symbol is bad. */
int mbg__item_reference(mbg__item *item, const mbg__json *json, const char *label, mbg__name_kind kind,
                        mbg__symbol **out);
bool mbg__name_plain(const char *name); /* fit for expressions */
/* Registers item->name, which the file does not show: NAME.0 of a group. */
int mbg__name_made(mbg__item *item, mbg__name_kind kind, int index);
/* Does the name belong to a part that could not be read? */
bool mbg__name_lost(const mbg__loader *L, const mbg__source *source, const char *name);

/* ---------------------------------------------------------------------- load_numbers.c */

int mbg__load_parameters(mbg__loader *L);
int mbg__load_tables(mbg__loader *L);
int mbg__load_constants(mbg__loader *L);
int mbg__load_controls(mbg__loader *L);
int mbg__load_gravity(mbg__loader *L);

/* A number of the file as a formula, multiplied by sign (1 or -1), and its value (NaN after an error). */
int mbg__item_formula(mbg__item *item, const mbg__json *json, const char *label, double sign, mbg__formula *out,
                      double *value);
/* A number that is not differentiated, at the nominal parameters. varies (may be NULL): it depends on a parameter. */
int mbg__item_fixed(mbg__item *item, const mbg__json *json, const char *label, double *value, bool *varies);
/* The entry of s = (p, constants) of a parameter or constant as an answer of an mbg__scope, see expr.h. */
int mbg__name_input(mbg__loader *L, const mbg__source *source, const char *name, int index, unsigned also,
                    mbg__symbol **symbol, const char **hint);
/* Entries of a vector parameter; 0 for all other names. */
int mbg__name_length(mbg__loader *L, const mbg__source *source, const char *name);
const mbg__table *mbg__name_table(mbg__loader *L, const mbg__source *source, const char *name, const char **hint);

/* load_units.c: a number with a unit, "1 kg"? Then *found, and an error that says what to write. key_unit: the unit of
   the number, "" or NULL when it has none. */
int mbg__item_unit(mbg__item *item, const mbg__json *json, const char *label, const char *key_unit, bool *found);

/* Values of an expression at both sets; errors are filed for the nominal one only. */
int mbg__load_evaluate(mbg__item *item, const mbg__formula *formula, real value[2]);

/* load_tables.c */
int mbg__item_plains(mbg__item *item, const mbg__json *json, const char *label, double **out, int *count);
int mbg__item_count(mbg__item *item, const mbg__json *json, const char *label, int *out);
/* A column of a CSV file beside the model. json: its name; NULL: column number `column`. *out NULL after an error. */
typedef struct mbg__data_file mbg__data_file;
int mbg__item_data_open(mbg__item *item, const mbg__json *file, mbg__data_file **out);
/* ... with gaps (NaN); values NULL after an error. */
typedef struct {
  const char *path, *name; /* of the file, of the column */
  int count;
  const double *values;
  const int *lines; /* of the file */
} mbg__data_cells;
int mbg__item_data_cells(mbg__item *item, mbg__data_file *data, const mbg__json *at, const mbg__json *json,
                         const char *label, int column, mbg__data_cells *out);
int mbg__item_data_column(mbg__item *item, mbg__data_file *data, const mbg__json *at, const mbg__json *json,
                          const char *label, int column, const double **out, int *count);

/* ---------------------------------------------------------------------- load_attributes.c */

/* Adds an attribute. The unit is not copied. */
int mbg__attribute_add(mbg__item *item, const mbg__formula *formula, const char *key, const char *unit,
                       const mbg__where *where, int *index);
/* One number: json NULL gives the preset. key is copied. */
int mbg__item_attribute(mbg__item *item, const mbg__json *json, const char *key, const char *unit, double preset,
                        double sign, int *index);
/* Three numbers; signs (3) may be NULL. first: index of the first attribute. */
int mbg__item_vector(mbg__item *item, const mbg__json *json, const char *key, const char *unit, double preset,
                     const double *signs, int *first);
/* Cosine of the angle between two vectors. */
double mbg__cosine(const mbg__loader *L, int a, int b);
/* A direction: a vector that is not zero. */
int mbg__item_direction(mbg__item *item, const mbg__json *json, const char *key, int *first);
/* The sign of an attribute at the nominal parameters; json NULL or no value: fine. */
int mbg__item_check_sign(mbg__item *item, const mbg__json *json, mbg__sign sign, int attribute);
double mbg__value(const mbg__loader *L, int attribute); /* at the nominal parameters */
/* One copy of a text, kept with the model; NULL when out of memory. */
const char *mbg__intern(mbg__loader *L, const char *text);

/* All numbers and options of a type's keys, in its order; absent ones get their presets. */
int mbg__item_type_numbers(mbg__item *item, const mbg__key *keys, int nkey, int *attr, int *nattr, const int **opt);
/* All functions of a type's keys. */
int mbg__item_type_functions(mbg__item *item, const mbg__key *keys, int nkey, int *fn, int *nfn);

/* ---------------------------------------------------------------------- load_functions.c */

/* A function of the file. args: "x v" or NULL; uses: MBG__USES_...; smooth: two derivatives by time are needed. */
typedef struct {
  const char *key; /* "law" */
  const char *args;
  const char *unit;
  unsigned uses;
  bool smooth;
  double sign;
  double preset; /* when json is NULL */
} mbg__function_rule;
enum { MBG__USES_CRITERIA = 8 }; /* besides the MBG__USES_... of model/types.h: other criteria, as inputs SIGNAL */
int mbg__item_function(mbg__item *item, const mbg__json *json, const mbg__function_rule *rule, int *fn);
/* The same, not added to the model's functions; out->expr is NULL after an error. */
int mbg__item_function_make(mbg__item *item, const mbg__json *json, const mbg__function_rule *rule, mbg__fn *out);

/* ---------------------------------------------------------------------- load_geometry.c */

/* Poses are built by operations between begin and end. */
int mbg__pose_begin(mbg__loader *L, int *first);
int mbg__pose_op_add(mbg__loader *L, mbg__pose_kind kind, int mode, int attr);
int mbg__pose_end(mbg__item *item, int first, int *pose);
/* From the world of a source to the world, and its end; the same for local axes. */
int mbg__pose_enter(mbg__loader *L, const mbg__source *source);
int mbg__pose_leave(mbg__loader *L, const mbg__source *source);
int mbg__pose_enter_local(mbg__loader *L, const mbg__source *source);
int mbg__pose_empty(mbg__loader *L, int *pose);
/* load_rotate.c: the operations of "rotate". */
int mbg__item_rotate(mbg__item *item, const mbg__json *json, const char *label);
/* Axis `axis` along the direction. */
int mbg__pose_align(mbg__loader *L, int axis, int direction);

int mbg__load_part_poses(mbg__loader *L);
int mbg__load_bodies(mbg__loader *L);
/* own: its pose in the file; NULL: none. */
int mbg__body_add(mbg__loader *L, const mbg__body *body, const mbg__own_pose *own);
int mbg__load_markers(mbg__loader *L);
/* The marker of the body's own frame. */
int mbg__body_marker(mbg__loader *L, int body, int *marker);
int mbg__marker_add(mbg__loader *L, const char *name, int body, int pose, const mbg__where *where, int *marker);
/* The marker that a string names: a marker, a body's frame, ground. -1 after an error. */
int mbg__item_marker(mbg__item *item, const mbg__json *json, const char *label, int *marker);
/* The body that a string names, -1 for ground, -2 after an error. */
int mbg__item_body(mbg__item *item, const mbg__json *json, const char *label, int *body);
const mbg__frame *mbg__body_frame(const mbg__loader *L, int body); /* design; body >= 0 */
/* A body's guess: reads position, rotate, velocity ... of `json`. OWN: also its design configuration; OVERRIDE: from
   `initial`, absent keys keep their values; FROM_OUTSIDE: from `initial` of another file than the body's. */
typedef enum { MBG__GUESS_OWN, MBG__GUESS_OVERRIDE, MBG__GUESS_FROM_OUTSIDE } mbg__guess;
int mbg__body_guess(mbg__item *item, const mbg__json *json, mbg__body *body, mbg__own_pose *own, mbg__guess override);

/* ---------------------------------------------------------------------- load_ends.c: between two markers */

/* How the markers of an element are made. */
typedef struct {
  mbg__axes axes;
  bool axes_needed;
  bool roll;   /* the rows hold the rotation about z too: marker B takes its x from A where the axes agree */
  bool has_in; /* "in" means the frame of points and axes (not something of the element's own) */
} mbg__ends_rule;
int mbg__item_ends(mbg__item *item, const mbg__ends_rule *rule, int *pair);
int mbg__pair_add(mbg__loader *L, int A, int B, int *pair);
/* "in": "world" of an element that knows the axes of A and B: an error unless A has the axes of the world. old: a
   warning, for files from the time when "world" meant the axes of A. */
int mbg__item_world_axes(mbg__item *item, int pair, bool old);
/* A coordinate in use; turns: it is needed over many turns. */
int mbg__coord_add(mbg__loader *L, const mbg__coord_type *type, int pair, double sign, bool turns, int *coord);
/* Sign of a coordinate in a source that is mirrored; 0 when it has no mirror image. */
double mbg__coord_sign(const mbg__source *source, const mbg__coord_type *type);
const mbg__coord_type *mbg__coord_find(const char *key);
/* The coordinate of a joint that the file names; json NULL: its only one. *coord is -1 after an error. */
int mbg__item_joint_coord(mbg__item *item, mbg__symbol *joint, const mbg__json *json, bool turns, int *coord);

/* A copy of a list in the memory of the model, the list itself goes. out: address of a pointer. */
int mbg__list_copy(mbg__loader *L, void *at, int count, size_t size, void *out);

/* ---------------------------------------------------------------------- the other sections */

int mbg__load_joints(mbg__loader *L);
int mbg__load_drivers(mbg__loader *L);
int mbg__load_couplings(mbg__loader *L);
/* load_curves.c: curves; the contact of a joint on them, or on a surface. */
int mbg__load_curves(mbg__loader *L);
int mbg__joint_contact(mbg__item *item, mbg__joint *joint, int index);
/* Does the text name the time or a control? */
bool mbg__item_names_time(const mbg__item *item, const char *text);
int mbg__load_forces(mbg__loader *L);
/* load_contacts.c: forces between the shapes of bodies and markers, after the forces of the file. */
int mbg__load_contacts(mbg__loader *L);
/* The type "contact"; a force of that type between the markers of a pair, from the numbers in item->json. */
const mbg__force_type *mbg__contact_type(void);
int mbg__contact_force_add(mbg__item *item, const mbg__force_type *type, int pair, int *index);
/* load_beams.c: nodes and elements of beams. */
int mbg__load_beams(mbg__loader *L);
/* load_beam_numbers.c: section and material in item->json for n elements: attributes of each, or -1. */
int mbg__item_beam_numbers(mbg__item *item, int n, mbg__beam_rule *rule, int (*attr)[MBG__BEAM_NUMBERS]);

/* load_modal.c: the keys of a modal body beyond its frame; the body is the next one in the list of bodies. */
int mbg__item_modal(mbg__item *item, const mbg__body *body);
/* The bodies that carry its coordinates; after all others. */
int mbg__load_carriers(mbg__loader *L);
/* Which node the markers on modal bodies move with; "node" of a marker: its place and index, -1 when it is not
   given. */
int mbg__load_modal_markers(mbg__loader *L);
int mbg__item_modal_node(mbg__item *item, int body, int *node, int *at);
/* The pair of the ground and a carrier; ... of a modal coordinate. */
int mbg__carrier_pair(mbg__loader *L, int body, int *pair);
int mbg__modal_pair(mbg__loader *L, int modal, int mode, int *pair);
/* The mode that the file names, from 0; -1 after an error. */
int mbg__item_mode(mbg__item *item, const mbg__json *json, int modal, int *mode);
/* load_states.c: the bodies that carry states, after all others; their rates, after all other forces; the signal that
   is a state; the check of what rates may use, after the levels of signals are known. */
int mbg__load_state_carriers(mbg__loader *L);
int mbg__load_state_rates(mbg__loader *L);
void mbg__state_signal(const mbg__loader *L, int state, mbg__signal *signal);
int mbg__check_state_rates(mbg__loader *L);
/* load_signals.c: the signals that the functions of a force may use. */
int mbg__check_law(mbg__loader *L, mbg__symbol *symbol, int force);
/* Are forces or energies behind a signal, directly or by expressions? */
bool mbg__signal_of_loads(const mbg__loader *L, int signal);
/* ... or, without these, contacts of joints on curves? The message of a force that uses them. */
bool mbg__signal_of_curve(const mbg__loader *L, int signal);
int mbg__signal_curve_refused(mbg__item *item, const mbg__signal *signal, const mbg__fn *fn);
/* load_curves.c: the joint of a signal of type curve-contact. */
int mbg__signal_of_contact(mbg__item *item, mbg__signal *signal);
const mbg__signal_type *mbg__signal_of_role(int role); /* or NULL */
int mbg__load_signals(mbg__loader *L);
int mbg__load_criteria(mbg__loader *L);
/* load_events.c: modes and what functions need of events; then the events. */
int mbg__load_modes(mbg__loader *L);
int mbg__load_events(mbg__loader *L);
int mbg__load_initial(mbg__loader *L);

int mbg__load_run(mbg__loader *L);
int mbg__load_control_task(mbg__loader *L);
/* load_control.c: fixed numbers under a key of the sections that describe problems; *out stays when it is not there. */
int mbg__task_number(mbg__item *item, const mbg__json *object, const char *key, double *out);
int mbg__task_weight(mbg__item *item, const mbg__json *object, const char *key, double *out); /* not negative */
int mbg__task_count(mbg__item *item, const mbg__json *object, const char *key, int least, int *out);
/* load_optimize.c: the section, and (with the names) the criterion that an objective written as an expression
   becomes. */
int mbg__load_optimize(mbg__loader *L);
int mbg__optimize_criterion(mbg__loader *L, const mbg__json **out);

/* load_run.c: the keys of a run, written over the values in `run`; the item is "run" or an entry of "runs". */
int mbg__item_run(mbg__item *item, mbg__run *run);

/* load_runs.c: several runs, and their changes to other sections. */
int mbg__choose_run(mbg__loader *L);    /* before the names */
int mbg__load_settings(mbg__loader *L); /* after the names: parameters and constants that the chosen run sets */
int mbg__load_runs(mbg__loader *L);
int mbg__load_identify(mbg__loader *L);
/* The entries of p that an array of names of parameters stands for, vectors for all theirs; *count 0 after an error. */
int mbg__item_parameters(mbg__item *item, const mbg__json *json, int **list, int *count);
/* True if the file has a criterion of that name, even one that the run leaves out. */
bool mbg__file_has_criterion(const mbg__loader *L, const char *name);
/* The parameter of that name, or NULL. */
const mbg__parameter *mbg__parameter_named(const mbg__loader *L, const char *name);
/* load_tracking.c: adds the tracking forces to the parsed file, before the names. */
int mbg__load_tracking(mbg__loader *L);
/* load_blocks.c: writes blocks out as constants, signals, states and forces, before the names; after the constants: the
   signs of their numbers. */
int mbg__load_blocks(mbg__loader *L);
int mbg__check_blocks(mbg__loader *L);
/* load_criteria.c: the samples of a least-squares criterion. */
int mbg__item_samples(mbg__item *item, mbg__criterion *c);
/* True if the criterion is left out: the chosen run does not list it, or no run gives it data. */
bool mbg__run_leaves_out(const mbg__loader *L, const mbg__json *criterion);
/* The file that the chosen run gives for a table or (data: true) a criterion, else NULL. */
const mbg__json *mbg__run_file(const mbg__loader *L, const char *name, bool data);

/* load_signals.c: a signal made for a criterion from a number or an expression. */
int mbg__item_signal(mbg__item *item, const mbg__json *json, const char *label, int *signal);

/* load_rows.c: rows of a joint that act on the free motions of both ends; drivers that cannot move. */
int mbg__joint_rows(mbg__item *item, mbg__joint *joint, int index);
int mbg__term_moves(mbg__loader *L, const mbg__term *term, bool *moves, double *phi);
bool mbg__body_is_planar(const mbg__loader *L, int body); /* or the ground */

/* load_figures.c: "shape" of bodies and markers; after all attributes. */
int mbg__load_figures(mbg__loader *L);

/* load_sizes.c: warns of a length or a mass far above the rest; after all attributes. */
int mbg__load_sizes(mbg__loader *L);

/* load_format.c: an error when the text (ended by 0) is a file of another kind: a picture, XML, YAML, .... */
int mbg__load_format(mbg_context *ctx, const char *file, const char *text, size_t length);

/* load_parts.c: reads the model and its parts. */
int mbg__load_sources(mbg__loader *L, const char *file);
/* After the names: checks the names in "set" and "bind". */
int mbg__check_parts(mbg__loader *L);

/* ---------------------------------------------------------------------- load_order.c */

/* The items that item i depends on, into list (NULL: counts only); returns their number. */
typedef int mbg__dependences(const mbg__loader *L, int i, int *list);
/* An order of n items (in temporary memory) in which each follows the items it depends on, in the order of the file
   otherwise. Cycles are reported ("constants depend on each other: a -> b -> a") and their symbols marked bad; a bad
   symbol depends on nothing. */
int mbg__load_order(mbg__loader *L, mbg__symbol *const *symbols, int n, mbg__dependences *of, const char *what,
                    int **order);
/* The signals (or criteria) among the inputs of a function, as mbg__dependences; and their numbers in a new order. */
int mbg__load_references(const mbg__input *input, int n, int *list);
void mbg__load_renumber(const mbg__input *input, int n, const int *place);

#endif
