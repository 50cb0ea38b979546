/* load_keys: the keys of each object of a model file, for the loader and for the schema. Private to src/load. */
#ifndef MBG_LOAD_LOAD_KEYS_H
#define MBG_LOAD_LOAD_KEYS_H

#include "model/types.h"

/* The form of the value under a key, for the check of keys and for the schema. */
typedef enum {
  MBG__SHAPE_TEXT,
  MBG__SHAPE_NAME, /* of another element */
  MBG__SHAPE_BOOL,
  MBG__SHAPE_CHOICE,         /* one of `choices` */
  MBG__SHAPE_PLAIN,          /* a number that is no expression */
  MBG__SHAPE_COUNT,          /* an integer from 1 */
  MBG__SHAPE_ELEMENT,        /* an integer from 0 */
  MBG__SHAPE_ELEMENT_OR_ALL, /* or "all" */
  MBG__SHAPE_NUMBER,         /* a number or an expression */
  MBG__SHAPE_NUMBERS,        /* an array of them */
  MBG__SHAPE_PLAINS,         /* an array of plain numbers */
  MBG__SHAPE_VALUES,         /* a plain number or an array of them */
  MBG__SHAPE_SAMPLES,        /* a number, an expression, or an array of them */
  MBG__SHAPE_TIMES,          /* an array of plain numbers, or {"from", "to", "count"} */
  MBG__SHAPE_COLUMN,         /* an array of plain numbers, or the name of a column */
  MBG__SHAPE_GRID,           /* an array of such arrays, or the name of a column */
  MBG__SHAPE_DATA,           /* a file, or {"time": [..], "value": [..]} */
  MBG__SHAPE_VEC3,           /* three numbers or expressions */
  MBG__SHAPE_POINTS,         /* two or more of them */
  MBG__SHAPE_TWO_VEC3,
  MBG__SHAPE_TWO_NAMES,
  MBG__SHAPE_TWO_SIDES, /* two names or arrays of names */
  MBG__SHAPE_ROTATE,
  MBG__SHAPE_INERTIA,
  MBG__SHAPE_NAMES_TO_NAMES,
  MBG__SHAPE_NAMES_TO_NUMBERS,
  MBG__SHAPE_OBJECTIVE,         /* a name, or names to numbers */
  MBG__SHAPE_NAMES_TO_SETTINGS, /* numbers, expressions, or arrays of plain numbers */
  MBG__SHAPE_NAMES,             /* an array of names */
  MBG__SHAPE_VERSION,           /* the number 1 */
  MBG__SHAPE_SERIES,            /* a number of each element of a beam: one, an array, or {"from", "to"} */
  MBG__SHAPE_PAIR,              /* a number, or two */
  MBG__SHAPE_NESTED,            /* an array of numbers or expressions, or of such arrays */
  MBG__SHAPE_TERMS,             /* array of objects with the keys of `inner` */
  MBG__SHAPE_RATE_TERMS,        /* the same, terms of a coupling of rates */
  MBG__SHAPE_VIA,               /* array of names and of pulleys */
  MBG__SHAPE_BRANCHES,          /* array of branches of a tendon */
  MBG__SHAPE_FIGURES,           /* a figure, or an array of them */
  MBG__SHAPE_SECTION            /* object of objects, described by a section of its own */
} mbg__shape;

typedef struct {
  const char *name;
  mbg__shape shape;
  bool required;
  const char *choices; /* CHOICE: separated by blanks */
  const char *help;    /* one sentence */
} mbg__file_key;

typedef struct {
  const mbg__file_key *keys;
  int count;
} mbg__file_keys;

/* Kinds of couplings. */
enum { MBG__COUPLING_KINDS = 9 };
extern const char *const mbg__coupling_words[MBG__COUPLING_KINDS];
enum { MBG__RATE_TERM_KEYS = 6 };
extern const mbg__file_key mbg__rate_term_keys[MBG__RATE_TERM_KEYS]; /* of a term of a coupling of rates */

/* The keys of each kind of object in the file. */
typedef enum {
  MBG__KEYS_MODEL,
  MBG__KEYS_PARAMETER,
  MBG__KEYS_TABLE,
  MBG__KEYS_CURVE,
  MBG__KEYS_CONTROL,
  MBG__KEYS_TIMES,
  MBG__KEYS_BODY,
  MBG__KEYS_RIGID, /* bodies of other types than modal */
  MBG__KEYS_MODAL,
  MBG__KEYS_INVARIANTS,
  MBG__KEYS_MODAL_NODE,
  MBG__KEYS_MODAL_BEAM,
  MBG__KEYS_MODAL_FILES,
  MBG__KEYS_OUTER_BODY,
  MBG__KEYS_MARKER,
  MBG__KEYS_BOX, /* MBG__KEYS_BOX + k: figures of kind k of mbg__figure_kind */
  MBG__KEYS_CYLINDER,
  MBG__KEYS_SPHERE,
  MBG__KEYS_CAPSULE,
  MBG__KEYS_CONE,
  MBG__KEYS_ARROW,
  MBG__KEYS_MESH,
  MBG__KEYS_BETWEEN, /* the ends of a joint or force */
  MBG__KEYS_JOINT,
  MBG__KEYS_AXIS2, /* universal joints */
  MBG__KEYS_DRIVER,
  MBG__KEYS_COUPLING, /* MBG__KEYS_COUPLING + k: couplings of kind k of mbg__coupling_words */
  MBG__KEYS_COUPLING_LAST = MBG__KEYS_COUPLING + MBG__COUPLING_KINDS - 1,
  MBG__KEYS_COUPLING_TERM,
  MBG__KEYS_RATE_TERM,
  MBG__KEYS_TENDON, /* the path of an elastic tendon */
  MBG__KEYS_BRANCH,
  MBG__KEYS_PULLEY,
  MBG__KEYS_FORCE,   /* all forces */
  MBG__KEYS_LAW,     /* laws along a coordinate */
  MBG__KEYS_ON,      /* wrenches on one marker */
  MBG__KEYS_SPIN,    /* wrenches with an axis */
  MBG__KEYS_CONTACT, /* groups of contacts */
  MBG__KEYS_BEAM,
  MBG__KEYS_SERIES,    /* numbers along a beam that vary linearly */
  MBG__KEYS_RECTANGLE, /* MBG__KEYS_RECTANGLE + k: sections of kind k of mbg__section_kind */
  MBG__KEYS_CIRCLE,
  MBG__KEYS_TUBE,
  MBG__KEYS_GENERAL,
  MBG__KEYS_SIGNAL,
  MBG__KEYS_OF_PAIR, /* MBG__KEYS_OF_PAIR + k: signals of kind k of mbg__signal_of */
  MBG__KEYS_OF_COORD,
  MBG__KEYS_OF_JOINT,
  MBG__KEYS_OF_FORCE,
  MBG__KEYS_OF_BODIES,
  MBG__KEYS_OF_CONTROL,
  MBG__KEYS_OF_VALUE,
  MBG__KEYS_OF_BEAM,
  MBG__KEYS_OF_EVENT,
  MBG__KEYS_OF_TENDON,
  MBG__KEYS_OF_MODES,
  MBG__KEYS_OF_ROD, /* axial forces, contacts of joints on curves */
  MBG__KEYS_STATE,
  MBG__KEYS_EVENT,
  MBG__KEYS_IMPACT,
  MBG__KEYS_BLOCK, /* all blocks; then those of some */
  MBG__KEYS_BLOCK_START,
  MBG__KEYS_BLOCK_DELAY,
  MBG__KEYS_BLOCK_CYLINDER,
  MBG__KEYS_BLOCK_MOTOR,
  MBG__KEYS_CRITERION,
  MBG__KEYS_TERMINAL, /* MBG__KEYS_TERMINAL + k: criteria of kind k of mbg__criterion_kind */
  MBG__KEYS_INTEGRAL,
  MBG__KEYS_LEAST_SQUARES,
  MBG__KEYS_SMOOTH_MAXIMUM,
  MBG__KEYS_PATH,
  MBG__KEYS_SUM,
  MBG__KEYS_COMBINATION,
  MBG__KEYS_DATA,
  MBG__KEYS_INITIAL,
  MBG__KEYS_GUESS,
  MBG__KEYS_PIN,
  MBG__KEYS_PART,
  MBG__KEYS_RUN,
  MBG__KEYS_CONTROL_TASK,
  MBG__KEYS_TASK_CONTROL,
  MBG__KEYS_RUNS, /* one of several runs, in addition to MBG__KEYS_RUN */
  MBG__KEYS_IDENTIFY,
  MBG__KEYS_OPTIMIZE,
  MBG__KEYS_LIMIT,
  MBG__KEYS_ROTATE_VECTOR,
  MBG__KEYS_ROTATE_AXIS,
  MBG__KEYS_ROTATE_ZX
} mbg__file_object;
mbg__file_keys mbg__file_keys_of(mbg__file_object object);
/* load_couplings.c: the keys of MBG__KEYS_COUPLING + kind. */
mbg__file_keys mbg__coupling_keys(int kind);
/* load_tendons.c: the keys of MBG__KEYS_TENDON, BRANCH, PULLEY. */
mbg__file_keys mbg__tendon_keys(mbg__file_object object);
/* load_curves.c: the keys of MBG__KEYS_CURVE. */
mbg__file_keys mbg__curve_keys(void);
/* load_criteria.c: the keys of MBG__KEYS_TERMINAL + kind. */
mbg__file_keys mbg__criterion_keys(int kind);
/* load_contacts.c: the keys of MBG__KEYS_CONTACT. */
mbg__file_keys mbg__contact_keys(void);
/* load_blocks.c: the keys of MBG__KEYS_BLOCK + k. */
mbg__file_keys mbg__block_keys(int k);
/* load_figure_keys.c: "box", ... and the keys of each, in the order of mbg__figure_kind. */
extern const char *const mbg__figure_words[];
mbg__file_keys mbg__figure_keys(int kind);
/* The keys of the object that a signal refers to. */
mbg__file_object mbg__signal_object(const mbg__signal_type *type);
/* Lists of keys of a force in addition to the keys of its type (law or type is NULL); returns their number, at most
   4. */
int mbg__force_objects(const mbg__law_type *law, const mbg__force_type *type, mbg__file_object own[4]);
/* Keys of a type that the file does not show: the inertia of a body is one key there. */
bool mbg__key_hidden(const char *name);

#endif
