/* state_space: the linear model of a system at a state, in minimal coordinates (theory 6, section 6).

     x = (dq, dqd, dz)      x' = A x + B du      dy = C x + D du

   q are f independent coordinates, z the first-order states of the model. With the lift [B; J] from changes of
   coordinates to those of frames and twists,

     [B; J] w  = (-phi_p dp; dq - q_p dp)        [B; J] dv = (-phid_H w - phid_p dp; dqd - qd_H w - qd_p dp)
     [M B^T; B 0] (dvd, dlambda) = -(r_H w + r_v dv + r_p dp; phidd_H w + phidd_v dv + phidd_p dp)

   a column of A is the change of (q', qd', z') along (w, dv, dvd), a column of C that of the signals. A state z is a
   rate without a coordinate: it takes part in the lift of dv and in the equations of motion, as mbg__user_state
   says. Rows on rates leave fewer rates than coordinates: the lift of w has the rows of positions and all coordinates,
   that of dv all rows and the independent rates, and x = (dq, independent dqd, dz) (theory 8, section 7). */
#ifndef MBG_SYSTEM_STATE_SPACE_H
#define MBG_SYSTEM_STATE_SPACE_H

#include "system/system.h"

/* A coordinate. JOINT: three signals from `signal` on are its value, rate and acceleration. SHIFT: the origin of a body
   along a world axis. OWN: component `axis` (0 to 5) of the motion of a body in its own axes, of which only the rate is
   a number: q' = qd - (ad(v) w)_k; on a body with an axle, axes that do not spin with it. STATE: its
   rate, `scale` times component `axis` of the velocity of a carrier, is a state of the model, and the place of the
   carrier is left out. */
typedef enum { MBG__Q_JOINT, MBG__Q_SHIFT, MBG__Q_OWN, MBG__Q_STATE } mbg__q_kind;
typedef struct {
  mbg__q_kind kind;
  int signal;
  int body, axis;
  double scale; /* STATE */
  int axle;     /* OWN: 1 + marker whose z axis is that of a body of revolution; 0: none */
  bool ball;    /* ... about the marker's origin the body is the same in all directions */
} mbg__q;

/* What is linearized. An input is the value of a control (all samples move alike), or an entry of p. */
typedef struct {
  int control, parameter; /* one of them is -1 */
} mbg__linear_input;
typedef struct {
  int nq, nstate;  /* coordinates; the last nstate of them are of the kind STATE */
  const mbg__q *q; /* (nq) */
  int nrate;       /* independent rates of coordinates */
  const int *rate; /* coordinates that have them, ascending (nrate); NULL: all */
  int ninput;
  const mbg__linear_input *inputs; /* (ninput) */
  int noutput;
  const int *outputs; /* signals (noutput) */
  const bool *keep;   /* independent rows (nrow) */
  bool rest;          /* an equilibrium: v = vd = 0, drivers hold still */
} mbg__linear_spec;

/* Coordinates without states; independent rates; entries of x; the coordinate of rate j, states after them. */
static inline int mbg__linear_places(const mbg__linear_spec *s) { return s->nq - s->nstate; }
static inline int mbg__linear_rates(const mbg__linear_spec *s) { return s->rate ? s->nrate : s->nq - s->nstate; }
static inline int mbg__linear_states(const mbg__linear_spec *s) { return s->nq + mbg__linear_rates(s); }
static inline int mbg__linear_rate(const mbg__linear_spec *s, int j) {
  const int n = mbg__linear_rates(s);
  return j >= n ? s->nq - s->nstate + j - n : s->rate ? s->rate[j] : j;
}

/* The result, row-major. */
typedef struct {
  int n, ninput, noutput; /* n = mbg__linear_states */
  real *A, *B, *C, *D;    /* (n x n, n x ninput, noutput x n, noutput x ninput) */
  real *q, *qd, *qdd;     /* the coordinates at the state; OWN: 0, component of the twist, of its rate;
                          STATE: 0, the state, its rate (nq) */
  real *y;                /* the outputs (noutput) */
  real *vd, *spin;        /* accelerations at the state; spins s of bodies with an axle whose own motions are
                          coordinates, v' = -ad(s) v, else 0 (nw) */
  real *w, *dv;           /* lifts: frames and twists along each state, then each input (nw x (n + ninput)) */
  bool *moves;            /* inputs that move the constraints: columns hold for a constant input (ninput) */
} mbg__linear;

/* Takes the memory for a result. */
int mbg__linear_make(mbg_context *ctx, mbg__arena *arena, const mbg_model *m, const mbg__linear_spec *spec,
                     mbg__linear *out);

/* Fills it at a state (t, H, v, turns); accelerations and multipliers follow. MBG_ERROR_SINGULAR when a freedom has no
   inertia, or when the coordinates do not determine the frames. */
int mbg__linear_model(mbg_context *ctx, mbg__system *sys, const mbg__linear_spec *spec, const mbg__state *state,
                      mbg__linear *out);

/* Row J of a coordinate over the velocities (nw), at the state of the last update and linearization of signals. */
void mbg__q_row(mbg__system *sys, const mbg__q *q, real *J);

/* Cotangents of a coordinate, or of its rate: gw, gv (nw), ga (na) += its derivatives by frames, twists and attributes,
   at the state of the last update and linearization of signals. */
void mbg__q_pull(mbg__system *sys, const mbg__q *q, bool rate, real *gw, real *gv, real *ga);

/* What brings a state back to the rows with coordinates and rates as they are: w (nw; NULL: not wanted), the motion of
   the frames to first order; v (nw), twists that satisfy the rows at the frames of the state. */
int mbg__linear_settle(mbg_context *ctx, mbg__system *sys, const mbg__linear_spec *spec, const mbg__state *state,
                       real *w, real *v);

/* The attributes along an input: da (na). dp: scratch of zeros (np). */
void mbg__linear_input_push(const mbg__design *design, const mbg__linear_input *input, real *dp, real *da);

/* w (nw) along da of frames that vary outside the motions of their bodies, as the guess of the start does; else 0. */
void mbg__linear_outside(const mbg__design *design, const mbg__frame *H, const real *da, real *w);

#endif
