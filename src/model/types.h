/* What an element type must provide.

   A coordinate, joint, force, signal or body type is ONE file in src/elements/ that defines one `const` table of the
   kinds below; the build makes the lists (`mbg__joint_types` ...) from the file names, so that adding a file touches
   nothing else. The loader reads an element's JSON object by the type's key table, the chain rule (src/relative)
   calls its kernel. Kernels are pure: no state, no allocation, branches on re(x) only (see base/real.h). */
#ifndef MBG_MODEL_TYPES_H
#define MBG_MODEL_TYPES_H

#include "base/base.h"
#include "math/se3.h"

/* ---------------------------------------------------------------------- keys of a JSON object */

typedef enum {
  MBG__KEY_NUMBER, /* one attribute                                                   */
  MBG__KEY_VEC3,   /* three attributes                                                */
  MBG__KEY_SYM6,   /* 6x6 symmetric matrix, 21 attributes: rows of the upper triangle; the file gives 6 diagonal
                      entries or six rows of six                                      */
  MBG__KEY_FN,     /* a function: number or expression of its arguments, t, names ...  */
  MBG__KEY_FN3,    /* three functions */
  MBG__KEY_CHOICE, /* one of `choices`; gives an option (its index)                    */
  MBG__KEY_CURVE,  /* the name of a curve; gives an option (its index)                 */
  MBG__KEY_BOOL    /* gives an option 0 or 1                                           */
} mbg__key_kind;

typedef enum { MBG__ANY_SIGN, MBG__NOT_NEGATIVE, MBG__POSITIVE } mbg__sign;

/* Names that an expression under a MBG__KEY_FN may use besides parameters and constants. */
enum { MBG__USES_TIME = 1, MBG__USES_CONTROLS = 2, MBG__USES_SIGNALS = 4 };

typedef struct {
  const char *name; /* "stiffness" */
  mbg__key_kind kind;
  bool required;
  double preset;       /* number(s) when absent; choices: index */
  mbg__sign sign;      /* checked at the nominal parameters */
  const char *unit;    /* "N/m"; "" for none; for the manual and for --all */
  const char *args;    /* FN: names of its arguments, e.g. "x v"; NULL: none */
  unsigned uses;       /* FN: MBG__USES_... */
  const char *choices; /* CHOICE: "world body" */
  bool smooth;         /* FN: its slope is used, so that tables in it must be cubic */
  const char *help;    /* one sentence for the manual */
  bool in_time;        /* NUMBER of a joint: may be a function of t and controls, the time law of its rows */
} mbg__key;

/* ---------------------------------------------------------------------- functions of the model file in kernels */

enum { MBG__FN_ARGS = 3 }; /* most arguments of a function besides t */

/* Value and derivatives of a function F(x_1..x_n, t; attributes) at a point. Index MBG__FN_ARGS of the lists is t.
   The active attributes (names and control samples that matter at this t) are listed by the caller's arrays. */
typedef struct {
  int k; /* the function of its element */
  real f;
  real f_x[MBG__FN_ARGS + 1];
  real f_xx[MBG__FN_ARGS + 1][MBG__FN_ARGS + 1]; /* order 2 only */
  int nact;                                      /* active attributes */
  const int *act;                                /* their global indices (nact) */
  const real *f_act;                             /* derivatives by them (nact) */
  const real *f_xact;                            /* order 2: d f_x / d act, (nact) x (MBG__FN_ARGS + 1) */
} mbg__fn_value;

/* A function bound to a time; kernels call mbg__fn_at. Defined in model/fn.h. */
typedef struct mbg__fn_env mbg__fn_env;
/* Evaluates function k of the element; order 1 or 2. The result is valid until the next call for the same k. */
int mbg__fn_at(mbg__fn_env *env, int k, const real *x, int order, mbg__fn_value *out);

/* ---------------------------------------------------------------------- algebraic functions of the relative frame */

enum { MBG__NZ = 4 }; /* most inputs of a row kernel */

/* F(z) with derivatives up to `order`; symmetric; the caller clears it. */
typedef struct {
  real F;
  real F_z[MBG__NZ];
  real F_zz[MBG__NZ][MBG__NZ];
  real F_zzz[MBG__NZ][MBG__NZ][MBG__NZ];
} mbg__jet3;

/* Entries of the relative matrix G: R_kl = a_k . c_l (axis k of A, axis l of B) and x_k. */
enum {
  MBG__R11,
  MBG__R12,
  MBG__R13,
  MBG__R21,
  MBG__R22,
  MBG__R23,
  MBG__R31,
  MBG__R32,
  MBG__R33,
  MBG__X1,
  MBG__X2,
  MBG__X3
};

/* z = (entries..., time law, attributes...), in this order. turns: whole turns to add to an angle. */
typedef void (*mbg__row_kernel)(const real *z, int turns, int order, mbg__jet3 *out);

/* Coefficients n_j(z) of the relative twist in a row on rates, chi = sum_j n_j(z) v_j, z = (entries..., attributes...),
   with derivatives up to order 2 (theory 8, section 3); the caller clears it. */
enum { MBG__NR = 5 }; /* most inputs */
typedef struct {
  real n[6];
  real n_z[6][MBG__NR];
  real n_zz[6][MBG__NR][MBG__NR];
} mbg__rate_jet;
typedef void (*mbg__rate_kernel)(const real *z, mbg__rate_jet *out);

/* What a term of a row on rates is: nothing of the kind (the rate of a function of positions counts), the sum of a
   kernel, minus a function of time, or (from MBG__RATE_U1 on) a component of the relative twist. */
enum { MBG__RATE_NONE, MBG__RATE_KERNEL, MBG__RATE_LAW, MBG__RATE_U1 };

/* ---------------------------------------------------------------------- coordinates: coord_*.c */

/* A scalar q(G) of one relative frame: B relative to A. */
typedef struct {
  const char *key;  /* "angle" */
  const char *unit; /* "rad" or "m" */
  const char *help;
  bool angular; /* changes sign in a mirrored part */
  bool turns;   /* multi-turn: needs a turn counter */
  int nentry;
  int entry[3];
  mbg__row_kernel value;  /* q(entries); NULL: q is its one entry */
  mbg__row_kernel driver; /* row of a driver, z = (entries, theta(t)); NULL: q - theta */
  mbg__row_kernel branch; /* must be positive when a driver holds, z as driver; NULL: no other branch */
} mbg__coord_type;

/* ---------------------------------------------------------------------- joints on curves and surfaces */

enum { MBG__CONTACT_Z = 4, MBG__CONTACT_S = 3, MBG__CONTACT_Y = MBG__CONTACT_Z + MBG__CONTACT_S };

/* psi(y) with derivatives up to third order, y = (entries z, contact parameters s); symmetric. */
typedef struct {
  int n; /* length of y */
  real f, g[MBG__CONTACT_Y], h[MBG__CONTACT_Y][MBG__CONTACT_Y];
  real t[MBG__CONTACT_Y][MBG__CONTACT_Y][MBG__CONTACT_Y];
} mbg__form;

/* A function u(y_var) of one variable: value and three derivatives. */
typedef struct {
  int var;
  real u[4];
} mbg__factor;

/* Adds c times the product of n <= 3 factors of different variables, derivatives up to `order`. */
void mbg__form_add(mbg__form *form, int order, real c, int n, const mbg__factor *factor);

/* What a contact sees. */
typedef struct {
  real y[MBG__CONTACT_Y];
  const real *attr;    /* own attributes of the joint */
  const int *opt;      /* its options */
  const double *triad; /* tangent, two normals of the nearest sample of curve A (9), of spatial curves */
  int row;             /* 0, 1: the row of a spatial curve */
  bool spatial;
} mbg__contact_in;

/* Derivatives of F, of its slopes and of its curvatures by one attribute. */
typedef struct {
  real F, F_z[MBG__CONTACT_Z], F_zz[MBG__CONTACT_Z][MBG__CONTACT_Z];
} mbg__contact_slope;

/* Samples of a curve near which the contact is looked for. */
typedef struct {
  int count, dim;
  double from, spacing;
  const double *r; /* count x 3 */
} mbg__curve_samples;

/* An orthonormal triad: along the tangent, and two normals that follow from it. */
void mbg__curve_triad(const real tangent[3], double triad[9]);

/* A joint on curves eliminates the parameters s of the contact (theory 8, section 9). Its rows are the stationary
   value of a generating function,

     phi(z) = psi(z, s*),    psi_s(z, s*) = 0,

   psi affine in the points of the curves: psi = base + sum over curves and components of along(r_component). */
typedef struct {
  int ncurve;
  int nz, entry[MBG__CONTACT_Z];
  int ns;
  int s_of[2];     /* place of the parameter of each curve among s */
  double pressed;  /* sign of lambda while the bodies press on each other; 0: the contact holds both ways */
  const char *out; /* what has happened when the contact equations are singular */
  /* derivative of psi by an own attribute, if there are any */
  void (*own)(const mbg__contact_in *in, int attr, mbg__form *form);
  void (*base)(const mbg__contact_in *in, mbg__form *form);
  /* adds the terms of component c of a curve, u(s) in the place of r_c(s) and its derivatives */
  void (*along)(const mbg__contact_in *in, int curve, int c, const real u[4], int order, mbg__form *form);
  /* the nearest samples, one of each curve, from z = y */
  void (*nearest)(const mbg__contact_in *in, const mbg__curve_samples *samples, int at[2]);
  /* s from the parameters of the curves and their tangents there */
  void (*begin)(const mbg__contact_in *in, const real *const tangent[2], real *s);
} mbg__curve_contact;

/* ---------------------------------------------------------------------- joints: joint_*.c */

typedef struct mbg__row_spec {
  const char *name;       /* "x1", for reports */
  mbg__row_kernel kernel; /* NULL: the row is entry[0] itself */
  int rate;               /* a row on rates: MBG__RATE_KERNEL with its kernel, or MBG__RATE_U1 + component; else 0 */
  mbg__rate_kernel coefficients;
  int contact; /* 1 + row of the contact of the joint, 0: none */
  int nentry;
  int entry[3];
  int nattr;
  int attr[2];                      /* attributes of the joint in z, counted from its first */
  bool turns;                       /* kernel uses the angle's turn counter */
  const struct mbg__row_spec *plus; /* a further term of the row, or NULL */
} mbg__row_spec;

typedef struct {
  const char *name;  /* "slide" */
  const char *coord; /* key of its coordinate type: "z" */
} mbg__joint_coord;

/* How the markers of a joint are made from "at"/"axis". */
typedef enum {
  MBG__AXES_NONE,     /* points only (spherical, distance)                    */
  MBG__AXES_Z,        /* "axis" is z of both markers                          */
  MBG__AXES_UNIVERSAL /* "axis" is x of A, "axis2" is y of B                  */
} mbg__axes;

/* How a body that rolls by the joint looks the same while it spins: not known, about z of B, about every axis. */
typedef enum { MBG__SPIN_NONE, MBG__SPIN_AXLE, MBG__SPIN_BALL } mbg__spin;

/* What rolls where the key "profile" is given: nothing; a wheel (attributes radius, tube); a ball (radius). */
typedef enum { MBG__PROFILE_NONE, MBG__PROFILE_WHEEL, MBG__PROFILE_BALL } mbg__profile;

typedef struct {
  const char *key; /* "revolute" */
  const char *help;
  mbg__axes axes;
  bool axes_needed; /* false: without "axis" the axes of the bodies (or the world) are taken */
  const mbg__row_spec *rows;
  int nrow;
  const mbg__joint_coord *coords; /* free coordinates that may be driven, pinned, sprung */
  int ncoord;
  const mbg__key *keys;
  int nkey;
  bool spatial; /* between spatial bodies and the ground alone */
  int decay;    /* 1 + attribute of the key "stabilization", whose rows follow the option "level"; 0: none */
  mbg__profile profile;
  mbg__spin spin;
  /* why the joint has no meaning at a relative frame; NULL: always has one */
  const char *(*broken)(const mbg__frame *G);
  const mbg__curve_contact *contact; /* on curves; NULL: none. With rows of a contact: by the function of its keys */
} mbg__joint_type;

/* ---------------------------------------------------------------------- forces along a coordinate: law_*.c */

/* What a force does to the energy of a model: nothing is known; it can only take some away; it keeps the sum of kinetic
   and potential energy. */
typedef enum { MBG__ENERGY_OPEN, MBG__ENERGY_FALLS, MBG__ENERGY_KEPT } mbg__energy_kind;

/* of an element that stores energy in a spring, if it has one, and has this damping */
static inline mbg__energy_kind mbg__energy_damped(real damping) {
  return re(damping) == 0 ? MBG__ENERGY_KEPT : re(damping) > 0 ? MBG__ENERGY_FALLS : MBG__ENERGY_OPEN;
}

/* A law gives the tension tau(q, qd, t; attributes, functions): the generalized force on q is -tau. */
typedef struct {
  real q, qd;
  const real *attr; /* the element's own attributes, in the order of its keys */
  const int *opt;   /* its options */
  const real *fn;   /* values of its functions, arguments (x = q, v = qd) and t inserted by the caller */
  double scale;     /* of a state */
} mbg__law_in;

enum { MBG__LAW_ATTR = 8, MBG__LAW_FN = 3 };

typedef struct {
  real tau, tau_q, tau_qd; /* partial: functions held */
  real tau_a[MBG__LAW_ATTR];
  real tau_fn[MBG__LAW_FN];
  real energy, energy_q; /* potential energy of the elastic part, or 0 */
  real energy_a[MBG__LAW_ATTR];
  real energy_fn[MBG__LAW_FN];
} mbg__law_out;

typedef struct {
  const char *key; /* "spring-damper" */
  const char *help;
  const char *coord; /* coordinate type when "between" is given and "along" is absent: "distance" */
  const mbg__key *keys;
  int nkey;
  void (*eval)(const mbg__law_in *in, mbg__law_out *out); /* out is cleared by the caller */
  /* How far a step of length h goes, counted in the number that smooths the law (its key into *key): far above 1 the
     step sees a jump. inertia: of the coordinate. NULL: nothing to smooth. */
  double (*sharp)(const mbg__law_in *in, double h, double inertia, const char **key);
  mbg__energy_kind (*energy)(const real *attr); /* NULL: MBG__ENERGY_OPEN */
  real (*pull)(const mbg__law_in *in); /* contacts: the force by which they pull, negative: push; NULL: no contact */
  bool tendon;                         /* q and qd are those of a whole tendon, the last two functions of the force */
} mbg__law_type;

/* ---------------------------------------------------------------------- other forces: force_*.c */

typedef struct {
  const mbg__frame *G; /* relative frame of marker B in marker A */
  const real *v;       /* relative twist in B (6) */
  real t;
  const real *attr;
  const int *opt;
  mbg__fn_env *fn;  /* functions of the element: mbg__fn_at(in->fn, k, x, order, &value) */
  bool derivatives; /* false: f alone is needed */
} mbg__force_in;

/* Wrench on B in B's axes and its derivatives; a kernel adds nothing, it sets. f_a: one column of six per attribute:
   first the element's own attributes, then whatever mbg__force_fn_column appends. */
typedef struct {
  real f[6];
  real f_G[36]; /* by the variation w of G, row-major */
  real f_v[36];
  int na;           /* columns in use; starts at the number of own attributes */
  real (*f_a)[6];   /* cleared for the own attributes */
  int *aidx;        /* global attribute of each column */
  real (*f_fn)[6];  /* by the value of each function (cleared), set by mbg__force_fn_column: for signals in it */
  real energy;      /* potential energy of the elastic part, or 0 */
  real energy_G[6]; /* by the variation of G */
  real *energy_a;   /* by the attribute of each column (cleared for the own attributes and by mbg__force_fn_column) */
  const char *why;  /* of an error: what is wrong with the position, or NULL */
} mbg__force_out;

/* Appends the columns df = g * d(value) for the active attributes of a function value; g: six numbers. When gx is not
   NULL it holds d f/d f_x as 6 numbers per argument (MBG__FN_ARGS + 1 rows) and the mixed derivatives are added: order
   2. */
void mbg__force_fn_column(mbg__force_out *out, const mbg__fn_value *value, const real g[6], const real (*gx)[6]);

typedef struct {
  const char *key; /* "bushing" */
  const char *help;
  bool on_one;   /* takes "on": one marker, A is the ground ("between" is accepted too) */
  bool z_axis;   /* takes "axis": z of marker B (tyre: spin axis) */
  bool of_world; /* with "on", A is the ground of the model, not that of the part */
  const mbg__key *keys;
  int nkey;
  int (*eval)(const mbg__force_in *in, mbg__force_out *out);
  /* contacts: depth, normal force and sliding speed in the place of the first three of f; NULL: no contact */
  int (*measure)(const mbg__force_in *in, mbg__force_out *out);
  /* checks the data at the nominal parameters, writes the reason of a refusal into `why`; NULL: the keys suffice */
  bool (*check)(const real *attr, const int *opt, char *why, size_t size);
  mbg__energy_kind (*energy)(const real *attr);                /* as of a law */
  real (*pull)(const mbg__force_in *in, const real wrench[6]); /* as of a law, with the wrench on B */
} mbg__force_type;

/* ---------------------------------------------------------------------- signals: signal_*.c */

/* The object that a signal refers to; the loader reads the matching keys. */
typedef enum {
  MBG__OF_PAIR,    /* "of" (marker B), "relative_to" (marker A, default ground)               */
  MBG__OF_COORD,   /* "joint" + "coordinate", or "of"/"relative_to" + "coordinate"            */
  MBG__OF_JOINT,   /* "joint": a joint, driver or coupling with its rows                      */
  MBG__OF_FORCE,   /* "force": a force element                                                */
  MBG__OF_BODIES,  /* "of": a body, or absent: all bodies                                     */
  MBG__OF_CONTROL, /* "control"                                                               */
  MBG__OF_VALUE,   /* "value": an expression of t, names and other signals                    */
  MBG__OF_BEAM,    /* "beam", "element"                                                       */
  MBG__OF_EVENT,   /* "event": an event with an impact                                        */
  MBG__OF_TENDON   /* "coupling" or "force": a tendon                                         */
} mbg__signal_of;

/* Levels a signal needs: a force law may use MBG__LEVEL_VELOCITY at most. */
typedef enum {
  MBG__LEVEL_TIME,
  MBG__LEVEL_POSITION,
  MBG__LEVEL_VELOCITY,
  MBG__LEVEL_ACCELERATION,
  MBG__LEVEL_REACTION
} mbg__level;

/* For signals of a pair: value and gradient on the relative motion (frames varied by w, twist, acceleration). */
typedef struct {
  const mbg__frame *G;
  const real *v, *vd; /* relative twist and its rate in B (6 each); vd NULL below acceleration level */
  const int *opt;
  const real *attr; /* own attributes, then gravity (3) if the type uses it */
} mbg__signal_in;

typedef struct {
  real y, y_w[6], y_v[6], y_vd[6];
  real y_a[8]; /* by attr as handed in */
} mbg__signal_out;

typedef struct {
  const char *key; /* "position" */
  const char *help;
  const char
      *unit[2]; /* "m"; [1]: of components 3 to 5, which turn. NULL: none, or that of the coordinate or control */
  mbg__signal_of of;
  bool
      /* OF_PAIR, but of a modal coordinate: "of" (a modal body), "mode"; opt[0] is the component of its carrier */
      modes;
  mbg__level level;
  const mbg__key *keys; /* e.g. "component", "in" */
  int nkey;
  bool gravity;                                                 /* attr ends with the gravity vector of the model */
  void (*eval)(const mbg__signal_in *in, mbg__signal_out *out); /* MBG__OF_PAIR only; out is cleared by the caller */
  int role; /* other kinds: the quantity that the signal layer computes (MBG__ROLE_...) */
} mbg__signal_type;

enum {
  MBG__ROLE_NONE,
  MBG__ROLE_COORD_VALUE,
  MBG__ROLE_COORD_RATE,
  MBG__ROLE_COORD_ACCELERATION,
  MBG__ROLE_REACTION,
  MBG__ROLE_AXIAL,
  MBG__ROLE_FORCE,
  MBG__ROLE_CONTACT,
  MBG__ROLE_KINETIC,
  MBG__ROLE_POTENTIAL,
  MBG__ROLE_ENERGY,
  MBG__ROLE_CONTROL,
  MBG__ROLE_VALUE,
  MBG__ROLE_STRAIN,
  MBG__ROLE_SECTION_FORCE,
  MBG__ROLE_STRESS,
  MBG__ROLE_STRAIN_ENERGY,
  MBG__ROLE_CURVE
};

/* ---------------------------------------------------------------------- bodies: body_*.c */

/* A body type gives the inertia of the body's frame. Bodies with coordinates of their own (modal) have none here:
   theirs couples the frame with the coordinates, and their markers are J and gamma of theory 0, section 2 (J =
   Ad(h^-1), gamma = 0 for a rigid body). */
typedef struct {
  const char *key; /* "rigid" */
  const char *help;
  bool modal; /* frame and modal coordinates: read by load/load_modal.c */
  const mbg__key *keys;
  int nkey;
  /* mass matrix (36, row-major) from the attributes and its derivatives (nattr x 36; NULL: not needed) */
  void (*inertia)(const real *attr, const int *opt, real *M, real *M_a);
} mbg__body_type;

#endif
