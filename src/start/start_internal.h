/* The workspace of the start. Unknowns of the KKT systems: free velocities (nv), a multiplier per row (nrow; 0 for
   dropped rows), a multiplier per equation of the pins. */
#ifndef MBG_START_START_INTERNAL_H
#define MBG_START_START_INTERNAL_H

#include "math/dense.h"
#include "start/start.h"
#include "system/saddle.h"
#include "system/system_internal.h"

/* One equation of a pin. */
typedef struct {
  int pin;
  int target; /* attribute: the value asked for */
  int pair;
  int signal; /* signal of velocity level (linear in the twist), or -1: the term or its rate */
  mbg__term term;
  bool active;  /* false: depends on other equations (and agrees with them) */
  bool related; /* is such an equation, or one that it depends on */
} mbg__equation;

/* A guess with smaller residuals is the solution as it is; a brief start leaves more to rounding. */
#define MBG__GUESS_FITS 1e-15
#define MBG__BRIEF_FITS 1e-14

/* A saddle system with the equations of pins as further rows; its pattern is made when it is first factorized. */
typedef struct {
  mbg__arena arena;
  mbg__saddle saddle;
  int n, npin;
  int *pair;      /* of the equations of pins                              (npin) */
  bool guess;     /* the solution is the guess ... */
  bool due;       /* ... and factors are made when derivatives ask for them */
  real *x;        /* right-hand side and solution                     (n) */
  real *diagonal; /* scratch                                          (nrow) */
  bool *keep;     /* scratch, NULL: the model has no rows on rates    (nrow) */
} mbg__kkt;

/* start_late.c: what steady states with late rates need. */
typedef struct mbg__steady_late mbg__steady_late;

/* The states that start steady. */
typedef struct {
  int n;
  int *state;             /*                                                (n) */
  int *dof;               /* their velocities in full vectors               (n) */
  int *place;             /* of a free velocity among them, or -1           (nv) */
  real *C;                /* by the pattern of the system */
  mbg__lu lu;             /* of their block of C                            (n x n) */
  real *x;                /*                                                (n) */
  real *gw, *gv;          /* cotangents of the other parts of the start     (nw) */
  bool told;              /* that they are unstable */
  mbg__steady_late *late; /* NULL: no steady state has a late rate */
  /* equilibrium */
  real *still;     /* twists: 0, but states have their values        (nw) */
  real *rest;      /* accelerations 0, NULL: no rate is late         (nw) */
  real *by_lambda; /* late rates by multipliers, NULL: none      (late rates x nrow) */
  real *y;         /* steady states, their variations, cotangents    (n) */
} mbg__steady;

struct mbg__start_work {
  mbg__arena arena;   /* the result, a given state */
  mbg__arena scratch; /* all else */
  mbg__arena rank_arena;
  bool brief; /* see mbg__start_brief */
  mbg__system *sys;
  const mbg_model *m;
  mbg__start_result result;
  bool has_rank;
  bool rank_stands; /* the last fresh decision was the one before it */

  bool indifferent; /* equilibria that are not isolated */

  /* a given state */
  bool given;
  bool follows, followed; /* a given state is brought to the constraints; the first time is over */
  double given_t;
  mbg__frame *given_H;
  real *given_v;
  int *given_turns;

  int nvalue, nrate;
  mbg__equation *values, *rates;
  mbg__kkt position, rate;
  real *K, *B;                        /* values by the patterns of the system */
  real *k;                            /* multipliers of rows, positions              (nrow) */
  real *kp;                           /* ... of pins                                 (nvalue) */
  real *kv, *kvp;                     /* ... of the rates                            (nrow, nrate) */
  real *phi;                          /*                                             (nrow) */
  real *pin;                          /* residuals of the equations of pins          (max(nvalue, nrate)) */
  vec6 *gradient;                     /* of these on the relative variation          (npin) */
  vec6 *d;                            /* log(Hbar^-1 H)                              (nbody) */
  mat6 *metric;                       /* derivative of the metric's gradient by d: D2(d, W d) + T^-T(d) W   (nbody) */
  mat6 *block;                        /* ... times T^-1(d): by w                     (nbody) */
  real *full, *full2, *full3, *full4; /* scratch                       (nw) */
  real *row, *row2;                   /* scratch                                     (nrow) */
  mbg__frame *trial, *before;         /*                                             (nbody) */
  mbg__frame *feasible;               /* where stage 3 begins                        (nbody) */
  real *angles, *angles_before;       /* coordinates of the last state of the search (ncoord) */
  bool angles_known;
  double *W;                           /* metric of each component                  (nw) */
  bool *moves;                         /* attributes that may move the start, NULL: all, or not known yet (na) */
  bool followed_known, guess_followed; /* see mbg__start_follows_guess; of the present solution */
  mbg__steady steady;
  const real *change_w, *change_v; /* see mbg__start_change */
  real *keep_w, *keep_v;           /* see mbg__start_keep; their next row */
};

/* start_kkt.c */
int mbg__kkt_create(mbg_context *ctx, mbg__start_work *w, mbg__kkt *kkt, const mbg__equation *eq, int neq);
void mbg__kkt_destroy(mbg__kkt *kkt);
/* Fills from K (NULL: 0) plus block-diagonal `body` (nbody x 36, may be NULL) and the metric times `diagonal`, B and
   the gradients of the equations; rows not kept (keep NULL: all kept) and inactive equations become x = 0. */
typedef struct {
  const real *K;
  mat6 *body;
  double diagonal;
  const real *B;
  const real *late; /* derivatives of late rates by multipliers, may be NULL */
  const bool *keep;
  double delta; /* relative to the square of a row's length in the metric */
  const mbg__equation *eq;
  vec6 *gradient; /* of each equation on its pair's relative variation */
} mbg__kkt_fill;
int mbg__kkt_factor(mbg_context *ctx, mbg__start_work *w, mbg__kkt *kkt, const mbg__kkt_fill *fill, const char *what);

/* A row or (from nrow on) an equation of pins, for messages. */
void mbg__start_label(const mbg__start_work *w, const mbg__equation *eq, int worst, char *buffer, size_t size);

/* Scaled residuals: of an assembled mechanism, of "start": "exact". */
#define MBG__FEASIBLE 1e-9
#define MBG__EXACT 1e-8

/* start_assembly.c: the constraints alone at a state of the start. */
int mbg__start_bare(mbg_context *ctx, mbg__start_work *w, const mbg__frame *H, const real *v, const real *lambda);
/* Has a trial failed because elements have no value there (a roller at a bend as sharp as itself)? Then its messages
   since the mark are withdrawn. */
bool mbg__start_beyond(mbg_context *ctx, int mark, int err);

/* The largest of the rows and (pins) equations at H, and its number. Each is scaled to the displacement in the metric
   that would undo it, relative to the model's size. */
int mbg__start_residuals(mbg_context *ctx, mbg__start_work *w, const mbg__frame *H, bool pins, double *largest,
                         int *worst);
/* Turn counters of pinned angles: nearest to the value asked for. */
void mbg__start_nearest_turns(mbg__start_work *w);
/* Largest motion of a body in a step x (nv), in units of the model's size and radians. */
double mbg__start_step_length(const mbg__start_work *w, const real *x);
/* Right-hand sides -phi of the rows and of the equations. */
void mbg__start_right_side(mbg__start_work *w, mbg__kkt *kkt, const bool *keep, const mbg__equation *eq);
/* Factor of a step x (nv) that shortens it to half a radian: rotations are what makes the rows nonlinear. */
double mbg__start_step_factor(const mbg__start_work *w, const real *x);
/* Steps of least motion until the rows and (pins) the active equations hold: the largest residual left, its number. */
int mbg__start_restore(mbg_context *ctx, mbg__start_work *w, bool pins, double *largest, int *worst);
/* Stage 1: the same with all equations active, or none. */
int mbg__start_feasible(mbg_context *ctx, mbg__start_work *w, bool pins, double *largest, int *worst);

/* start_nearest.c: the solution of `position` times step, added to frames and multipliers of the result. */
void mbg__start_take_step(mbg__start_work *w, double step);
/* Stage 3. */
int mbg__start_nearest(mbg_context *ctx, mbg__start_work *w);
/* The factors at the solution, for derivatives, when they are due. */
int mbg__start_position_factors(mbg_context *ctx, mbg__start_work *w);

/* start_rank.c: stage 2, unless the rank is known and not `fresh`. */
int mbg__start_rank(mbg_context *ctx, mbg__start_work *w, bool fresh);

/* start_equilibrium.c, stage 4: frames and multipliers k of the static equilibrium near result.H, and its factors in
   `position`. */
int mbg__start_equilibrium(mbg_context *ctx, mbg__start_work *w);

/* start_rates.c, stage 5. */
int mbg__start_rates(mbg_context *ctx, mbg__start_work *w);
int mbg__start_rate_factors(mbg_context *ctx, mbg__start_work *w);

/* start_derivative.c: the system at the solution of the positions (with the multipliers of stage 3 or 4) or of the
   rates; factors that the solution did not need; right sides for direction da at these states, in `x` of position and
   rate. w0 has the components outside the motions afterwards. */
int mbg__start_state(mbg_context *ctx, mbg__start_work *w, bool rate);
int mbg__start_factors(mbg_context *ctx, mbg__start_work *w);
int mbg__start_right_positions(mbg_context *ctx, mbg__start_work *w, const real *da, real *w0);
void mbg__start_right_rates(mbg__start_work *w, const real *da, const real *w0);
bool mbg__start_any(size_t n, const real *x); /* is one of them not 0? */

/* start_columns.c: finds out which attributes may move the start. Then: does direction da leave the solution as it
   is? */
int mbg__start_note_moving(mbg_context *ctx, mbg__start_work *w);
bool mbg__start_stays(const mbg__start_work *w, const real *da);
/* ... does every attribute that pulls are asked for? */
bool mbg__start_stays_for_all(const mbg__start_work *w);
/* ... or do all parameters move it with the guess, so that derivatives by parameters (not those by single attributes)
   are those of the guess? Then their transpose: ga (na) += (dwbar/da)^T gw + (dvbar/da)^T gv. */
int mbg__start_follows_guess(mbg_context *ctx, mbg__start_work *w, bool *yes);
void mbg__start_pull_guess(const mbg__start_work *w, const real *gw, const real *gv, real *ga);

/* start_increments.c: column p of the changes of the start is added, those of the states or all others; the cotangents
   of a pull are kept, those of states apart. */
void mbg__start_add_change(const mbg__start_work *w, int p, bool states, real *w0, real *v0);
void mbg__start_keep_cotangents(mbg__start_work *w, const real *gw, const real *gv, const real *states);
/* A given state that follows its constraints: the nearest one on them, and its derivatives. */
int mbg__start_follow(mbg_context *ctx, mbg__start_work *w);
int mbg__start_follow_push(mbg_context *ctx, mbg__start_work *w, const real *da, real *w0, real *v0);
int mbg__start_follow_pull(mbg_context *ctx, mbg__start_work *w, const real *gw, const real *gv, real *ga);

/* start_steady.c, stage 6. The derivatives come after those of frames and rates: push replaces entries of v0; pull adds
   to ga and replaces gw and gv, before the others are pulled. */
int mbg__steady_create(mbg_context *ctx, mbg__start_work *w);
int mbg__start_steady(mbg_context *ctx, mbg__start_work *w);
int mbg__steady_push(mbg_context *ctx, mbg__start_work *w, const real *da, const real *w0, real *v0);
int mbg__steady_pull(mbg_context *ctx, mbg__start_work *w, const real **gw, const real **gv, real *ga);

/* start_late.c. Update and linearization with the accelerations and multipliers that belong to the states; derivatives
   of residuals that include those of accelerations and multipliers. */
int mbg__steady_late_create(mbg_context *ctx, mbg__start_work *w, mbg__steady_late **out);
void mbg__steady_late_destroy(mbg__steady_late *late);
int mbg__steady_late_update(mbg_context *ctx, mbg__start_work *w, mbg__steady_late *late);
void mbg__steady_late_push(mbg__start_work *w, mbg__steady_late *late, const mbg__direction *d, real *dr);
void mbg__steady_late_pull(mbg__start_work *w, mbg__steady_late *late, const real *g, real *gw, real *gv, real *ga);

/* Equilibrium. During the search, the place of a carrier stands for the value of its state. `begin`: all places at the
   values of given states and the guesses of steady ones. `twists`: of the state at these places, NULL without states.
   `stiffness`: columns of r_v are added to K, given states held, in r too. `end`: takes the values and sets the places
   back. */
void mbg__steady_begin(mbg__start_work *w);
const real *mbg__steady_twists(mbg__start_work *w);
void mbg__steady_stiffness(mbg__start_work *w, real *r);
void mbg__steady_end(mbg__start_work *w);
/* Push: the direction of given states (NULL without states); r without their rows; w0 without states, which are kept.
   Pull: the cotangents of steady states, in g; where a pull adds its part by twists, which then goes to the guesses. */
const real *mbg__steady_direction(mbg__start_work *w, const real *da);
void mbg__steady_residual(mbg__start_work *w, real *r);
void mbg__steady_solution(mbg__start_work *w, real *w0);
void mbg__steady_right_side(mbg__start_work *w, real *g);
real *mbg__steady_cotangent(mbg__start_work *w);
void mbg__steady_given_pull(const mbg__start_work *w, real *guess);

/* start_pins.c: the equations `values` and `rates` of the model's pins. */
int mbg__pins_create(mbg_context *ctx, mbg__start_work *w);
/* Residual of an equation (rate: of its time derivative) and its gradient on the relative variation of its pair;
   gradient on variation and twist. */
void mbg__equation_value(const mbg__start_work *w, const mbg__equation *e, bool rate, real *value, vec6 gradient);
void mbg__equation_gradient(const mbg__start_work *w, const mbg__equation *e, bool rate, vec6 gw, vec6 gv);
/* Adds the wrenches of the active equations with multipliers k (n) to their pairs, as rows do. After linearize. */
void mbg__pins_inject(mbg__start_work *w, const mbg__equation *eq, int n, const real *k);
/* Number of independent equations, or a negative status: dependent ones become inactive. */
int mbg__pins_rank(mbg_context *ctx, mbg__start_work *w, mbg__kkt *kkt, mbg__equation *eq);
/* Names of the pins whose equations depend on each other; the error that names them. */
void mbg__pins_list(const mbg__start_work *w, const mbg__equation *eq, int n, char *buffer, size_t size);
int mbg__pins_contradict(mbg_context *ctx, const mbg__start_work *w, const mbg__equation *eq, int n, double residual,
                         const char *what);

#endif
