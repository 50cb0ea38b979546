/* model: a mechanism as read from a file; immutable after loading, shared by threads.

   Everything that may vary with the parameters is an attribute (one number); a = A(p) is evaluated by model/design.h.
   Indices are zero-based; -1 means none (for bodies: the ground). Lists keep the order of the file. */
#ifndef MBG_MODEL_MODEL_H
#define MBG_MODEL_MODEL_H

#include "base/where.h"
#include "expr/expr.h"
#include "model/curve_types.h"
#include "model/event_types.h"
#include "model/figure.h"
#include "model/modal.h"
#include "model/section.h"
#include "model/state_types.h"
#include "model/tendon_types.h"
#include "model/types.h"

/* ---------------------------------------------------------------------- numbers */

/* A named parameter: `count` consecutive entries of the parameter vector p from `first`. */
typedef struct {
  const char *name;
  int first, count;
  bool vector;     /* written name[i] */
  double min, max; /* -INFINITY, INFINITY when not given */
  bool log_scale;
  double deviation; /* standard deviation of its scatter, 0 when not given */
  int distribution; /* mbg_distribution */
  bool set;         /* by the run that the model was loaded for */
  const char *unit, *note;
  mbg__where where;
} mbg__parameter;

/* An expression of parameters and constants: local input k of `expr` is entry input[k] of s = (p, constants).
   expr NULL: the number. Large models have many. */
typedef struct {
  const mbg__expr *expr;
  union {
    double number;
    const int *input; /* (mbg__formula_inputs) */
  };
} mbg__formula;

static inline int mbg__formula_inputs(const mbg__formula *f) { return f->expr ? mbg__expr_ninputs(f->expr) : 0; }

typedef struct {
  const char *name;
  mbg__formula formula; /* refers to parameters and to constants before it in the list (sorted when loading) */
  mbg__where where;
} mbg__constant;

/* What many numbers of a file have in common. */
typedef struct {
  const char *key; /* "mass", "position[2]" */
  const char *unit;
  const char *file;
} mbg__label;

/* One number of an element: from a formula, or the second derivative of a cubic control at a knot. Large models have
   many. */
typedef struct mbg__attribute {
  mbg__formula formula;
  const mbg__label *label;
  const char *owner; /* "body 'bob'" */
  int line, column;
  int control; /* >= 0: a curvature of that control; formula unused */
} mbg__attribute;

static inline mbg__where mbg__attribute_where(const mbg__attribute *a) {
  return (mbg__where){a->label->file, a->line, a->column, a->owner};
}

/* u(t) = sum N_k(t) u_k on knots; the samples are attributes attr..attr+n-1, then (cubic) n curvatures. */
typedef struct {
  const char *name;
  const mbg__spline *spline;
  int attr;
  mbg__where where;
} mbg__control;

/* A function of the file: local input k of `expr` is described by role[k]. Inputs are t, arguments, attributes
   (names: one attribute each, made for this function), controls, signals. */
typedef enum { MBG__ROLE_T, MBG__ROLE_ARG, MBG__ROLE_ATTR, MBG__ROLE_CTRL, MBG__ROLE_SIGNAL } mbg__input_role;
typedef struct {
  mbg__input_role role;
  int index; /* argument, global attribute, control, signal */
} mbg__input;
typedef struct {
  const mbg__expr *expr; /* never NULL: a plain number of the file is an attribute that the function returns */
  int ninput;
  const mbg__input *input;
  int nact;         /* most active attributes at a time: one per ATTR input, 2 or 4 per CTRL input */
  int nsignal;      /* SIGNAL inputs */
  const char *text; /* as written, for reports */
} mbg__fn;

/* ---------------------------------------------------------------------- geometry */

/* A pose is a product of factors F1 F2 ..., each a frame that depends on attributes (theory 0, section 10). */
typedef enum {
  MBG__POSE_TRANSLATE,  /* attr..+2: vector                                               */
  MBG__POSE_TURN,       /* attr: angle about axis `mode` (0 x, 1 y, 2 z)                  */
  MBG__POSE_VECTOR,     /* attr..+2: rotation vector                                      */
  MBG__POSE_AXIS_ANGLE, /* attr..+2: axis (any length), attr+3: angle                     */
  MBG__POSE_ZX,         /* attr..+2: z axis, attr+3..+5: a vector in the x-z half plane   */
  MBG__POSE_ALIGN,      /* attr..+2: direction of axis `mode` % 3 (0 x, 1 y, 2 z); the other axes by a fixed rule whose
                           branch is mode / 3, chosen at the nominal parameters           */
  MBG__POSE_XY,         /* attr..+2: x axis, attr+3..+5: a vector in the x-y half plane               */
  MBG__POSE_LINE,       /* attr..+2: start, attr+3..+5: end, attr+6..+8: a vector in the x-y half plane; the point at
                           `fraction` of the way, x along it */
  MBG__POSE_HELIX,      /* attr: length, attr+1..+3: curvature k; exp(fraction * length (1, 0, 0, k))                 */
  MBG__POSE_CURVE,      /* `mode` points from attr on, then a vector in the x-y half plane; the curve at `fraction` of
                           the way from the first point to the last, counted in points, x along it (pose.c) */
  MBG__POSE_MIRROR, /* everything after it until the matching UNMIRROR is conjugated by the reflection of axis mode */
  MBG__POSE_UNMIRROR,
  MBG__POSE_OF,         /* the pose `attr`                                                */
  MBG__POSE_INVERSE_OF, /* its inverse                                                    */
  MBG__POSE_AT_OF,      /* only the rotation of pose `attr` is kept (origin 0)            */
} mbg__pose_kind;
typedef struct mbg__pose_op {
  mbg__pose_kind kind;
  int mode;
  int attr;        /* first attribute, or the pose */
  double fraction; /* LINE, HELIX, CURVE */
} mbg__pose_op;
typedef struct {
  int first, count; /* operations */
  int ndep;         /* attributes it depends on, counted with repetition (size of its list of omegas) */
} mbg__pose;

typedef enum { MBG__SPATIAL, MBG__PLANAR, MBG__POINT, MBG__PLANAR_POINT } mbg__motion;
typedef enum { MBG__HISTORY_AUTO, MBG__HISTORY_BODY, MBG__HISTORY_WORLD } mbg__history_axes;

typedef struct {
  const char *name;
  const mbg__body_type *type;
  mbg__motion motion;
  mbg__history_axes axes; /* of the histories of lie and dae (theory 4, section 14) */
  unsigned mask;          /* bit k: component k of the twist is free */
  int nvel;               /* velocities: six of the frame (masked or not), then the body's own */
  int voff;               /* the first one in vectors of the whole model */
  int attr, nattr;        /* own attributes in the order of the type's keys */
  const int *opt;
  int design;   /* pose: design configuration (markers refer to it) */
  int guess;    /* pose: first guess of the start; = design unless `initial` overrides */
  int velocity; /* attributes of the guessed velocity: origin's velocity (3), angular velocity (3) */
  bool velocity_in_body;
  double velocity_sign[3]; /* signs of the axes by mirrored parts, 1 each otherwise */
  int velocity_frame;      /* pose of the part the velocity is given in, or -1 */
  int velocity_point;      /* pose whose origin has the given velocity (a beam moves as a rigid body), or -1: its own */
  int modal;               /* the frame of this modal body, or -1 */
  int carrier;             /* carries coordinates of this modal body and nothing else, or -1 */
  int state;               /* carries states from this one on and nothing else, or -1 */
  bool figured;            /* the file says what it looks like */
  mbg__where where;
} mbg__body;

/* A frame h fixed on a body: H_m = H h; on a modal body H_m = H E(eta), E(0) = h. */
typedef struct {
  const char *name; /* NULL: made for an element */
  int body;         /* -1: ground */
  int pose;
  int node; /* on a modal body: its node, or 1 + its element of a generated beam (0: before it);
               MBG__MODAL_RIGID: moves with the frame; -1: none yet */
  mbg__where where;
} mbg__marker;

/* Relative frame G = H_A^-1 H_B of two markers; elements on the same markers share it. */
typedef struct {
  int A, B;
} mbg__pair;

/* A coordinate in use: q = sign * F(G), with the turn counter `turn` (-1: none). */
typedef struct {
  const mbg__coord_type *type;
  int pair;
  double sign;
  int turn;
  const struct mbg__term *term; /* of a tendon: what is measured; NULL: what the type says */
} mbg__coord;

/* ---------------------------------------------------------------------- constraints */

/* One term of a row on one pair: factor * sign * F(z), z = (entries, law, attributes), or factor * f(sign * F(z)) with
   an outer function f. With a law (a driver q = theta, q = sign * F(entries)) the sign multiplies the law's value
   instead: F(entries) = sign * theta. */
typedef struct mbg__term {
  mbg__row_kernel kernel; /* NULL: the entry itself; with a law: the entry minus sign * law */
  double sign;
  double attr_sign; /* of attributes: -1 for the pitch of a screw in a mirrored part, else 1 */
  int pair;         /* -1: no pair, F = 1, or the law (the constant of a coupling) */
  int nentry, entry[MBG__CONTACT_Z];
  int law;            /* function of t, or -1 */
  int nattr, attr[2]; /* global attributes in z */
  double joined;      /* not 0: one input for both attributes, attr_sign * first + joined * second */
  int turn;           /* turn counter or -1 */
  bool quarters;      /* the kernel counts quarter turns: four for each turn of the counter, and `wind` */
  int wind;
  int factor;        /* global attribute that multiplies the term (coupling), or -1 */
  int outer;         /* function of one argument, the coordinate (coupling), or -1 */
  int rate, contact; /* of a row on rates: MBG__RATE_...; of a contact: 1 + 2 (contact) + row; else 0 */
  int profile;       /* of a contact with a height profile: 1 + row of the joint; else 0 */
  mbg__rate_kernel coefficients;
} mbg__term;

typedef enum { MBG__ROW_JOINT, MBG__ROW_DRIVER, MBG__ROW_COUPLING } mbg__row_kind;

/* phi = sum of terms. A row on rates (rolling, a blade) has phid = sum of terms and counts with phi = 0, whose
   derivatives are 0 too; its gradient b is that by the twist (theory 8, section 3). */
typedef struct {
  mbg__row_kind kind;
  int owner;        /* joint, driver, coupling or pin */
  const char *name; /* "x1" */
  int term, nterm;
  bool rate; /* on rates */
  int decay; /* attribute: `lie` and `dae` take phid + decay phi = 0 for phi = 0; -1: phi = 0 */
} mbg__row;

typedef struct {
  const char *name;
  const mbg__joint_type *type;
  int pair;
  double sign[3];   /* of its free coordinates: -1 where a mirrored part turns them round */
  int row, nrow;    /* rows kept after masking */
  int law;          /* function of time in the place of an attribute of its rows, or -1 */
  int contact, cut; /* contact of its rows, or -1; hint: 1 cut, 0 keep, -1 no hint */
  int attr, nattr;
  const int *opt;
  mbg__where where;
} mbg__joint;

typedef struct {
  const char *name;
  int joint;
  int coord; /* in model->coords */
  int law;   /* function theta(t) */
  int row;
  mbg__where where;
} mbg__driver;

typedef struct {
  const char *name;
  int row;
  mbg__where where;
} mbg__coupling;

/* ---------------------------------------------------------------------- forces */

typedef struct {
  const char *name;
  const mbg__law_type *law;    /* a law along a coordinate ... */
  const mbg__force_type *type; /* ... or a wrench on a pair; one of them is NULL */
  int pair;
  int coord;       /* law: in model->coords */
  int joint;       /* law on a joint's coordinate, else -1 */
  int attr, nattr; /* own attributes */
  const int *opt;
  int fn, nfn;  /* functions */
  int nact;     /* own attributes + most active ones of the functions */
  double scale; /* rate of a state: see mbg__user_state */
  bool shaped;  /* of the section "contacts": pictures show the shapes themselves */
  bool late;    /* rate of a state that uses accelerations, reactions, forces or energies: it is found after these */
  mbg__where where;
} mbg__force;

/* ---------------------------------------------------------------------- beams */

/* A beam of `count` elements between count + 1 nodes, which are bodies without inertia. All elements of a line
   (start, end) and of a helix (length, curvature) share one reference d0; each element of a curve through points has
   its own. */
typedef struct {
  const char *name;
  mbg__beam_rule rule;
  bool lumped;
  int first, count;    /* elements */
  int body;            /* first node */
  mbg__pose_kind kind; /* MBG__POSE_LINE, MBG__POSE_HELIX or MBG__POSE_CURVE */
  int shape;           /* its attributes: start (3), end (3) | length, curvature (3) | points (3 npoint), vector (3) */
  int npoint;          /* CURVE */
  int reference;       /* its first reference of nreference: one, or (CURVE) one for each element */
  double sign[6];      /* of the entries of d0 in a mirrored part, else 1 */
  mbg__where where;
} mbg__beam;

typedef struct {
  int beam, pair;
  int reference;
  int body[2];                 /* nodes A and B */
  int attr[MBG__BEAM_NUMBERS]; /* shared between elements where they are the same; -1: not in use */
} mbg__beam_element;

/* ---------------------------------------------------------------------- signals, criteria, start, run */

typedef struct {
  const char *name; /* NULL: made for a criterion */
  const char *unit; /* as the file says, of types that have none of their own; else NULL */
  const mbg__signal_type *type;
  mbg__level level; /* of the type; for expressions the highest level of its signals */
  int pair;         /* OF_PAIR */
  int coord;        /* OF_COORD */
  int row, nrow;    /* OF_JOINT: rows of joint, driver or coupling; for joints the drivers on it follow in `rows` */
  int nrows;        /* OF_JOINT: rows that make the reaction */
  const int *rows;
  int force;   /* OF_FORCE */
  int body;    /* OF_BODIES: -1 all */
  int control; /* OF_CONTROL */
  int beam;    /* OF_BEAM: -1 all */
  int element; /* OF_BEAM: in model->elements, -1 all of the beam */
  int fn;      /* OF_VALUE */
  const int *opt;
  int attr, nattr;
  mbg__where where;
} mbg__signal;

typedef enum {
  MBG__TERMINAL,
  MBG__INTEGRAL,
  MBG__LEAST_SQUARES,
  MBG__SMOOTH_MAXIMUM,
  MBG__PATH,
  MBG__SUM,        /* of the values at the firings of an event */
  MBG__COMBINATION /* expression of other criteria */
} mbg__criterion_kind;

typedef struct {
  const char *name;
  mbg__criterion_kind kind;
  int signal;          /* the value it accumulates; -1 for COMBINATION */
  double sharpness;    /* SMOOTH_MAXIMUM: k */
  double every;        /* PATH: spacing, 0: every step */
  int event;           /* TERMINAL, SUM: event, -1: the end of the run */
  int firing;          /* TERMINAL: its firing from 1, 0: the last */
  bool before;         /* ... before it acts */
  double lower, upper; /* PATH: limits, infinite when not given */
  int nsample;         /* LEAST_SQUARES: data */
  const double *time, *value, *weight;
  int nmissing;          /* rows of the data without a value */
  bool sigma;            /* the weights are 1/sigma^2 */
  bool fit;              /* `identify` fits it */
  const mbg__expr *expr; /* COMBINATION: inputs (criteria, then s = (p, constants)) by `input` */
  int ninput;
  const mbg__input *input; /* role SIGNAL: criterion index; role ATTR: attribute */
  mbg__where where;
} mbg__criterion;

/* An equation of the start: value and/or rate of a coordinate, or of a signal of position or velocity level. */
typedef struct {
  const char *name;
  int coord;       /* or -1 */
  int signal;      /* or -1 */
  int value, rate; /* attributes, -1: not given */
  mbg__where where;
} mbg__pin;

typedef enum { MBG__START_ASSEMBLE, MBG__START_EXACT, MBG__START_EQUILIBRIUM } mbg__start;

typedef struct {
  const char *formulation, *integrator;                     /* NULL: default */
  int method;                                               /* mbg_method */
  double start, end;                                        /* end NAN: not given */
  double step;                                              /* 0: not given */
  double tolerance, relative_tolerance, absolute_tolerance; /* 0: not given */
  double accuracy;                                          /* "step": "auto": find the step; 0: not given */
  double stabilization;                                     /* 0: none */
  double rho_inf, alpha_f;                                  /* NAN: default */
  double kappa;                                             /* ali3p: penalty factor of projections, 0: exact */
  bool augmented;                                           /* ali3p: iteration of the paper, else saddle point */
  double alpha, varsigma;                                   /* ali3p: its penalties, 0: not given */
  bool oblique;                                             /* ali3p: projections by the matrix of the step */
  int index;                                                /* 3, or 2: velocity constraints too */
  double memory;                                            /* bytes, 0: no limit */
  bool redundant_error;
  int max_events;
  int nbreak;
  const double *breaks;
} mbg__run;

/* The control problem of the file: the controls to find, and the objective. */
typedef struct {
  int control;
  int samples;       /* 0: its own times */
  int interpolation; /* -1: its own */
  double min, max;   /* infinite when not given */
  double effort;     /* NAN: as the problem */
} mbg__task_control;
typedef struct {
  int criterion;
  double weight;
} mbg__task_term;
typedef struct {
  int ncontrol;
  const mbg__task_control *controls; /* 0: not given */
  int nterm;
  const mbg__task_term *terms; /* 0: not given */
  double effort, reduction;    /* NAN: not given */
  double gradient_tolerance;   /* NAN: not given */
  int stages, iterations;      /* 0: not given */
  const char *optimizer;       /* NULL: not given */
} mbg__control_task;
/* The design problem of the file: parameters, objective and limits. */
typedef struct {
  int first, count; /* entries of p */
  double weight;    /* mean: of each of them; filter: its radius, in entries */
} mbg__task_vector;
typedef struct {
  const char *name;
  int criterion; /* -1: the mean of parameters, or left out by the run */
  int nmean;
  const mbg__task_vector *means;
  double min, max, equal; /* infinite, infinite, NAN when not given */
  double scale;           /* NAN: chosen */
  double aggregate;       /* PATH: sharpness of one constraint for all points; 0: each point */
  mbg__where where;
} mbg__task_limit;
typedef struct {
  bool given;
  int nparameter;
  int *parameters;       /* entries of p; 0: not listed */
  int objective;         /* criterion, -1: none or left out by the run */
  const char *text;      /* the objective as written, NULL: none */
  bool worst;            /* of all runs, else their weighted sum */
  const double *weights; /* weights of the runs, 0: left out (nrun); NULL: all 1 */
  int nlimit;
  const mbg__task_limit *limits;
  int nfilter;
  const mbg__task_vector *filters;
  double scale, tolerance, settle; /* NAN: not given */
  double robust;                   /* deviations that are added to the objective, 0: none */
  int iterations;                  /* 0: not given */
  const char *optimizer;           /* NULL: not given */
} mbg__optimize_task;

/* One of several runs of the file. */
typedef struct {
  const char *name, *note;
} mbg__named_run;

typedef struct mbg_model mbg_model;

/* A file that the model was made from. */
typedef struct mbg__model_source {
  const char *path; /* relative paths in it start from its folder */
  const char *text; /* followed by a 0 */
  size_t length;
  struct mbg__model_source *next;
} mbg__model_source;

struct mbg_model {
  mbg__arena arena;
  const char *name, *note, *file;
  mbg__model_source *sources; /* the text of the model, then of the files of its parts */

  int nparameter;
  mbg__parameter *parameters;
  int np;
  double *p; /* nominal parameter vector */
  int nconstant;
  mbg__constant *constants;
  int na;
  mbg__attribute *attributes;
  int ncontrol;
  mbg__control *controls;
  int ntable;
  const mbg__table **tables;
  const mbg__where *table_where;
  int nfn;
  mbg__fn *fns;

  int npose;
  mbg__pose *poses;
  int nop;
  mbg__pose_op *ops;
  int nbody;
  mbg__body *bodies;
  int nmarker;
  mbg__marker *markers;
  int npair;
  mbg__pair *pairs;
  int ncoord;
  mbg__coord *coords;
  int nturn;

  int nterm;
  mbg__term *terms;
  int nrow;
  mbg__row *rows; /* rows of joints, drivers, couplings: the constraints; pins are not among them */
  int njoint;
  mbg__joint *joints;
  int ndriver;
  mbg__driver *drivers;
  int ncoupling, ncurve, ncontact;
  mbg__coupling *couplings;
  mbg__curve *curves;
  mbg__contact *contacts;
  int ntendon, nvia, nstrand;
  mbg__tendon *tendons;
  mbg__via *vias;
  mbg__strand *strands;

  int gravity; /* attributes (3), or -1 */
  int nforce;
  mbg__force *forces; /* the rates of states are the last ones */
  int nstate;
  mbg__user_state *states;
  int clock; /* attribute 0, by which functions of time are differentiated as by time; -1: no events */
  int nmode, nevent;
  mbg__event_mode *modes;
  mbg__event *events;
  int nbeam;
  mbg__beam *beams;
  int nelement;
  mbg__beam_element *elements;
  int nreference; /* of all beams */
  int nmodal;
  mbg__modal *modals;
  mbg__figures figures;
  int nsignal;
  mbg__signal *signals; /* sorted: a signal refers to earlier ones only */
  int ncriterion;
  mbg__criterion *criteria;
  mbg__start start;
  int npin;
  mbg__pin *pins;
  mbg__run run;
  mbg__control_task task;
  mbg__optimize_task optimize;
  int nrun;
  mbg__named_run *runs;
  int chosen;    /* the run of this model, or -1 */
  int nidentify; /* entries of p that `identify` lists, 0: no list */
  int *identify;

  int nw;      /* sum of nvel: length of full vectors (six per rigid body, masked components included) */
  int nv;      /* free ones */
  int *dof;    /* full index -> free index or -1 (nw) */
  int *full;   /* free index -> full index (nv) */
  double size; /* l_ref: extent of the design configuration, at least 1e-3 */
};

/* As mbg_model_for_run, with tracking forces that draw the model to its measurements (load_tracking.c).
   tracking NULL: none. *ntracked (may be NULL): the number of criteria with a tracking force. */
typedef struct {
  double gain;
  double mass; /* kg */
  double size; /* m: lever for angles */
} mbg__tracking;
int mbg__model_for_run(mbg_context *ctx, const mbg_model *model, const char *run, const mbg__tracking *tracking,
                       mbg_model **out, int *ntracked);

/* Bodies without the carriers of states, which are the last ones; forces without the rates of states. */
static inline int mbg__masses(const mbg_model *m) { return m->nbody - (m->nstate + 2) / 3; }
static inline int mbg__forces(const mbg_model *m) { return m->nforce - m->nstate; }

/* Bodies without the carriers of states and of modal coordinates, which come before these. */
static inline int mbg__frames(const mbg_model *m) {
  int n = mbg__masses(m);
  while (n > 0 && m->bodies[n - 1].carrier >= 0) {
    n--;
  }
  return n;
}

/* A sum over the texts of the model and its parts, and the name of its run, after `sum`. */
uint64_t mbg__model_sum(uint64_t sum, const mbg_model *m);
/* ... and of the contents of other files that its texts name. */
int mbg__model_sum_files(mbg_context *ctx, const mbg_model *model, uint64_t *sum);

/* "joint 'crank' row x1" */
void mbg__row_label(const mbg_model *model, int row, char *buffer, size_t size);

/* Does a row follow a function of time? */
static inline bool mbg__row_in_time(const mbg_model *m, int row) {
  for (int k = m->rows[row].term; k < m->rows[row].term + m->rows[row].nterm; k++) {
    if (m->terms[k].law >= 0) {
      return true;
    }
  }
  return false;
}

bool mbg__model_has_rates(const mbg_model *m);

static inline bool mbg__model_in_time(const mbg_model *m) {
  for (int k = 0; k < m->nterm; k++) {
    if (m->terms[k].law >= 0) {
      return true;
    }
  }
  return false;
}

#endif
