/* alpha: the generalized-alpha stepper on frames, index 3 or 2, with its exact tangent and adjoint. `lie` and `dae` are
   presets of it (theory 0, section 8; theory 4, sections 4-7; theory 2, sections 3-6): their agreement proves nothing.

     (1-am) al_{n+1} + am al_n = (1-af) vd_{n+1} + af vd_n
     Dx = h v_n + (1/2-beta) h^2 al_n + beta h^2 al_{n+1}        H_{n+1} = H_n exp(Dx)
     v_{n+1} = v_n + (1-gamma) h al_n + gamma h al_{n+1}         r_{n+1} = 0, phi_{n+1} = 0

   When the step changes from h_old to h, al_n is replaced by vd_n + (h/h_old) (al_n - vd_n). */
#ifndef MBG_FORMULATIONS_ALPHA_ALPHA_WORK_H
#define MBG_FORMULATIONS_ALPHA_ALPHA_WORK_H

#include "formulations/formulation.h"
#include "start/rank.h"
#include "system/saddle.h"
#include "trajectory/march.h"

/* ---------------------------------------------------------------------- workspace */

typedef struct {
  double am, af, beta, gamma;
} mbg__alpha_coefs;

/* A node, seen in its block of memory: everything that influences what follows, and the increment that led to it. */
typedef struct {
  real *t, *h;       /* h: step that led here, 0 at the start, -1 after an event */
  mbg__frame *H;     /* frames                       (nbody) */
  real *v, *vd, *al; /* twists, rates, auxiliary     (nw) */
  real *Dx;          /* increment that led here      (nw) */
  real *lambda;      /* multipliers                  (nrow) */
  real *eta, *E;     /* index 2: multipliers of the increment, rows of the node before   (nrow, nnz B); else NULL */
  int *turns;        /* turn counters                (nturn) */
  int *guessed;      /* 1: the step that led here needed one matrix, at its guess, with the pivots of the run */
} mbg__alpha_node;

typedef struct mbg__alpha_index2 mbg__alpha_index2;
typedef struct mbg__alpha_guard mbg__alpha_guard;

/* Factors of Newton's matrix of the last run, step by step (alpha_kept.c). */
typedef struct {
  bool pending;    /* a run has begun, and has not made a step */
  int wanted;      /* steps whose adjoint uses them, kept or made again */
  int count, room; /* steps made, steps that are kept */
  size_t bytes;    /* of a step */
  char *block;     /*                               (room x bytes) */
} mbg__alpha_kept;

/* A body that spins about its axle: v, vd, al and Dx of its nodes are in world axes (alpha_rotor.c). */
typedef struct {
  int body, off;
  int marker;       /* of a joint on the axle, -1: none */
  int via, weld[2]; /* else: the rotor that a fixed joint holds it to, -1: none; its markers, own last */
  bool off_origin;  /* c is not 0 */
  real c[3];        /* point of the axle, in body axes: place of the marker */
  real W[3], Wd[3]; /* in body axes, at the node of the last mbg__rotors_linearize */
  real Gi[36];      /* G^-1 */
  real G[36], Hv[36], Hd[36], Fd[36]; /* at the node of the last mbg__rotors_linearize */
} mbg__rotor;

typedef struct mbg__formulation_work {
  mbg__arena arena;
  const mbg_model *m;
  mbg__system *sys;
  mbg__start_work *start;
  const mbg__rank *rank; /* kept rows */
  int nused;
  const int *used;
  mbg__march *march;
  struct mbg__events *events; /* of the plan, NULL: none */
  const real *dt;             /* direct differentiation with events: variation of the time of the node (columns) */
  mbg__work_counts *counts;   /* of the march */
  mbg__alpha_index2 *index2;  /* NULL: index 3 */
  mbg__alpha_guard *guard;
  mbg__alpha_coefs c;
  double rho_inf; /* NAN: HHT (`dae`) */
  int nrotor;
  mbg__rotor *rotors;  /*                                              (nrotor) */
  int *rotor_of;       /* of a body, -1: none                          (nbody) */
  real *v, *vd;        /* with rotors: twists and rates in body axes   (nw) */
  mbg__saddle saddle;  /* [[beta h^2 (bp M + gp C + K T), B^T], [B T, 0]]: rows and multipliers scaled by beta h^2 */
  mbg__saddle initial; /* [[M, B^T], [B, 0]] */
  mbg__klu *klu;       /* of the step: of the saddle, or of index 2 */
  mbg__alpha_kept kept;
  int n, atD, atL, atE;          /* its unknowns: number, places of Dx, lambda and eta (-1) after X at 0 */
  real *K, *C, *M, *B, *KT, *BT; /* values by the patterns of the system */
  real *late;                    /* late rates by multipliers                  (nlate x nrow) */
  bool *rates;                   /* rows at velocity level, NULL: none         (nrow) */
  real *Z, *BG;         /* index 2 or rates, else NULL: rows of velocities by the frames and velocities of nodes */
  real *ZT;             /* rates, else NULL: Z T */
  real *T;              /* T(Dx) of each body                         (nbody x 36) */
  real *x;              /* right-hand side and solution               (nv + nrow) */
  real *r, *phi, *phid; /* residuals; phid: as Z                      (nw, nrow, nrow) */
  real *al0;            /* auxiliary acceleration at the start of the step, rescaled  (nw) */
  bool (*solved)(const void *repeated, double t, double *x); /* of the plan */
  const void *repeated;
  double *known;     /* its numbers                                (nw + nrow) */
  double h_before;   /* step that led to the first node, of a run that goes on; 0: none */
  real *q;           /* coordinates at the start of a step         (ncoord) */
  real *q_end;       /* ... at the end of the last one             (ncoord) */
  double t_q, t_end; /* times of the nodes whose coordinates they are, NAN: of none */
  double ended;      /* time of the node at which the step just made has left the system, NAN: none */
  int *turns;        /* scratch                                    (nturn) */
  double error;      /* estimate of the local error of the last step, relative to the model's size */
} mbg__alpha;

/* Coefficients of a step: bp = (1-am)/(h^2 beta (1-af)), gp = gamma/(h beta). */
static inline real alpha_bp(const mbg__alpha *a, real h) { return (1 - a->c.am) / (h * h * a->c.beta * (1 - a->c.af)); }
static inline real alpha_gp(const mbg__alpha *a, real h) { return a->c.gamma / (h * a->c.beta); }

/* Coefficients of `lie` for a spectral radius that is rho_max at most. */
mbg__alpha_coefs mbg__alpha_damped(const mbg__alpha *a, double rho_max);

/* Factor of al - vd when a step of length h follows one of length h_old; 1 at the start and after an event. */
static inline real alpha_rescale(real h_old, real h) { return re(h_old) > 0 ? h / h_old : 1; }

/* ---------------------------------------------------------------------- alpha_forward.c */

enum { MBG__ALPHA_NEWTON_MAX = 15 };

size_t mbg__alpha_node_bytes(const mbg__alpha *a);
mbg__alpha_node mbg__alpha_view(const mbg__alpha *a, const void *block);

/* vd and lambda of [M B^T; B 0](vd, lambda) = -(r, gamma) at the frames of a node and twists v in body axes, al = vd;
   factored: `initial` has the factors at these frames */
int mbg__alpha_accelerate(mbg_context *ctx, mbg__alpha *a, const mbg__alpha_node *n, const real *v, bool factored);
/* First node from a consistent start: vd and lambda of [M B^T; B 0](vd, lambda) = -(r, gamma), al = vd. */
int mbg__alpha_begin(mbg_context *ctx, mbg__alpha *a, const mbg__alpha_node *node);
/* One step of length h from `from` to `to`; the iteration has 15 steps at most. */
int mbg__alpha_step(mbg_context *ctx, mbg__alpha *a, const mbg__alpha_node *from, real h, const mbg__alpha_node *to);
/* `to` is the end of the step made last, from this node: it becomes that of a shorter one, to rounding. */
int mbg__alpha_shorten(mbg_context *ctx, mbg__alpha *a, const mbg__alpha_node *from, real h, const mbg__alpha_node *to);
/* What a restart needs of a node: step, vd and al in body axes, lambda. memory may be NULL; returns the count. */
int mbg__alpha_memory(const mbg__alpha *a, const mbg__alpha_node *node, real *memory);
/* Columns of right-hand sides of a step's tangent or adjoint become solutions. */
void mbg__alpha_solve(mbg__alpha *a, bool transposed, real *x, int count);
/* Matrices and factors of the step that led to a node, at the node's state (the system is updated and linearized). */
int mbg__alpha_factor_at(mbg_context *ctx, mbg__alpha *a, const mbg__alpha_node *node);
/* The same in two parts: the system at the node, with (make) or without the matrix; its factors (made: it is there). */
int mbg__alpha_linearize_at(mbg_context *ctx, mbg__alpha *a, const mbg__alpha_node *node, bool make);
int mbg__alpha_factor(mbg_context *ctx, mbg__alpha *a, const mbg__alpha_node *node, bool made);
/* Factors of Newton's matrix at the guess of a step, as the step itself made them; `to` is scratch. */
int mbg__alpha_factor_guess(mbg_context *ctx, mbg__alpha *a, const mbg__alpha_node *from, real h,
                            const mbg__alpha_node *to);
/* ... of the initial accelerations at the first node; slopes: K and C are assembled, too. */
int mbg__alpha_factor_start(mbg_context *ctx, mbg__alpha *a, const mbg__alpha_node *node, bool slopes);

/* ---------------------------------------------------------------------- alpha_march.c */

/* Functions of the march; `user` is the formulation. */
extern const mbg__march_method mbg__alpha_method;

/* ---------------------------------------------------------------------- alpha_events.c */

/* Functions of the march for events. */
mbg__state mbg__alpha_state_for_events(mbg_context *ctx, void *user, const void *block);
/* The system at a node without a step, and the factors of its accelerations: those of the impact that led there. The
   firing is -1 at the start. */
int mbg__alpha_factors_of(mbg_context *ctx, mbg__alpha *a, int firing, const mbg__alpha_node *node);
int mbg__alpha_restart(mbg_context *ctx, void *user, const void *from_block, const real *v, void *to_block);
void mbg__alpha_inside(void *user, const void *from_block, const void *to_block, double length, void *block);

/* ---------------------------------------------------------------------- alpha_kept.c */

/* A run begins; a step, or an event, has led to this node. */
void mbg__alpha_kept_begin(mbg__alpha *a);
void mbg__alpha_kept_add(mbg__alpha *a, const mbg__alpha_node *node);
void mbg__alpha_kept_clear(mbg__alpha *a);
/* Is the transposed system of step i, to this node, solved by the factors of its guess? They become those of the
   stepper; false: they are not kept. */
bool mbg__alpha_kept_serves(const mbg__alpha *a, int i, const mbg__alpha_node *node);
bool mbg__alpha_kept_recall(mbg__alpha *a, int i);
/* Solutions with these factors for nc columns, and that of a guard; *out NULL: factors at the nodes cost less, or the
   run has no others. */
typedef struct {
  mbg__alpha *a;
  bool matrix;                         /* residuals by the matrix at the node, else by pulls of ... */
  struct mbg__lanes_block *block;      /* ... columns side by side */
  void *here, *again;                  /* copy of a node, guess of the step that led to it */
  real *x, *d;                         /* solutions; residuals and increments                     (n x nc) */
  real *mu, *nu, *w, *v, *vd, *lambda; /* of pulls              (nw), (nrow), (nw), (nw), (nw), (nrow x nc) */
} mbg__alpha_near;
int mbg__alpha_near_create(mbg_context *ctx, mbg__arena *arena, mbg__alpha *a, int nc, struct mbg__lanes_block *block,
                           mbg__alpha_near **out);
/* The system at a node, and factors of step i that led to it: of its matrix, or (near) of that at the guess. These are
   kept, or made again from the node before: `node` is a copy then. s may be NULL. */
int mbg__alpha_near_factors(mbg_context *ctx, mbg__alpha *a, mbg__alpha_near *s, int i, mbg__alpha_node *node,
                            bool *near);
/* S^T X = X (n x count) there; s NULL: by factors of the matrix. */
int mbg__alpha_near_solve_T(mbg_context *ctx, mbg__alpha *a, const mbg__alpha_near *s, const mbg__alpha_node *node,
                            real *X, int count);

/* ---------------------------------------------------------------------- alpha_rotor_find.c */

/* Finds the rotors, for the whole run; detect false: only bodies with "axes": "world". */
int mbg__rotors_find(mbg_context *ctx, mbg__alpha *a, bool detect);

/* ---------------------------------------------------------------------- alpha_rotor.c */

/* c of all rotors at the present parameters; its variations dc (3 per rotor) by attributes; transposed: ga += ... */
void mbg__rotors_place(mbg__alpha *a);
void mbg__rotors_push_point(const mbg__alpha *a, const real *da, real *dc);
void mbg__rotors_pull_point(const mbg__alpha *a, const real *bc, real *ga);
/* Variations of v and vd (nw, of rotors only) by c at a node; cotangents of c from such of v and vd: bc += s ... */
void mbg__rotors_push_twist(const mbg__alpha *a, const real *dc, real *dv, real *dvd);
void mbg__rotors_pull_twist(const mbg__alpha *a, double s, const real *v, const real *vd, real *bc);

/* A node as the system sees it, twists and rates in body axes; valid until the next call. A view with these. */
mbg__state mbg__alpha_state(const mbg__alpha *a, const mbg__alpha_node *n);
mbg__alpha_node mbg__alpha_body_view(const mbg__alpha *a, const void *block);
/* v and vd of a node from body axes to those that it keeps. */
void mbg__rotors_keep(const mbg__alpha *a, const mbg__alpha_node *n);
/* al of a node in body axes (nw). */
void mbg__rotors_auxiliary(const mbg__alpha *a, const mbg__alpha_node *n, real *al);

/* Body b: its frame after the increment X; T of w+ = A w + T X' at the end of a step; A from its start. */
void mbg__alpha_move(const mbg__alpha *a, int b, const mbg__frame *from, const real *X, mbg__frame *to);
void mbg__alpha_increment(const mbg__alpha *a, int b, const mbg__alpha_node *to, real T[36]);
void mbg__alpha_transport(const mbg__alpha *a, int b, const mbg__frame *from, const real *X, real A[36]);
void mbg__alpha_transport_T(const mbg__alpha *a, int b, const mbg__frame *from, const real *X, const real xi[6],
                            real out[6]);

/* G, Hv, Hd, Fd at a node; then M, C, K by the variables that nodes keep: M G, M Hd + C G, M Fd + C Hv + K. */
void mbg__rotors_linearize(mbg__alpha *a, const mbg__alpha_node *n);
void mbg__rotors_columns(mbg__alpha *a);
/* BG (pattern of B) = rows of velocities by the variables of nodes, B G; Z += B Hv, may be NULL. */
void mbg__rotors_rows(const mbg__alpha *a, const real *B, real *BG, real *Z);
/* F = G^T f, f (nw) a wrench in body axes: dF from df and w; z from the cotangent Z of F, and w += its part. */
void mbg__rotors_push_wrench(const mbg__alpha *a, const mbg__alpha_node *n, const real *f, const real *w,
                             const real *dc, real *df);
void mbg__rotors_pull_wrench(const mbg__alpha *a, const mbg__alpha_node *n, const real *f, real *z, real *w, real *bc);
/* w+ by c in a step: (R+^T R - 1) dc added to the origins' part of w (nw); bc += s times its transpose. */
void mbg__rotors_push_step(const mbg__alpha *a, const mbg__alpha_node *from, const real *Dx, const real *dc, real *w);
void mbg__rotors_pull_step(const mbg__alpha *a, const mbg__alpha_node *from, const real *Dx, double s, const real *xi,
                           real *bc);
/* Cotangents (nw each) of w, v, vd from body axes to the variables of nodes, and back at the first node. */
void mbg__rotors_pull(const mbg__alpha *a, real *w, real *v, real *vd);
/* Cotangents of rotors in w, v, vd (nw each) are in the variables of nodes: kept in rest (nrotor x 18), and 0, while
   others are added in those of the system. Then these are changed to the former, with bc of points, and summed. */
void mbg__rotors_put_aside(const mbg__alpha *a, real *w, real *v, real *vd, real *rest);
void mbg__rotors_take_back(const mbg__alpha *a, real *w, real *v, real *vd, const real *rest, real *bc);
void mbg__rotors_pull_start(const mbg__alpha *a, real *w, real *V, real *D);
/* Variations at the first node, from body axes; subtract those by c before. */
void mbg__rotors_push_start(const mbg__alpha *a, const real *w, real *v, real *vd);

/* ---------------------------------------------------------------------- alpha_guard.c */

/* Watches the multipliers of a run, node after node; an error when they alternate and grow. */
int mbg__alpha_guard_create(mbg_context *ctx, mbg__alpha *a);
int mbg__alpha_guard_step(mbg_context *ctx, mbg__alpha *a, const mbg__alpha_node *n);

/* ---------------------------------------------------------------------- alpha_rates.c */

/* Finds the rows at velocity level: a->rates, Z, BG, ZT and phid, NULL without such rows. */
int mbg__alpha_rates_create(mbg_context *ctx, mbg__alpha *a);
real mbg__alpha_decay(const mbg__alpha *a, int row);
/* Their rows of the matrix of a step, in BT; their right sides x (nrow). */
void mbg__alpha_rates_matrix(mbg__alpha *a, real h);
void mbg__alpha_rates_residual(const mbg__alpha *a, real h, real *x);
/* dphid (nrow) += decay_a da phi; kappa of phid and nu of phi from the multipliers nu of the scaled rows (nrow each),
   and the part of the decay in ga. */
void mbg__alpha_rates_push(const mbg__alpha *a, const real *da, real *dphid);
void mbg__alpha_rates_pull(const mbg__alpha *a, real h, real *nu, real *kappa, real *ga);
/* mbg__rank_check after a step; phi of rows on rates is then their phid. */
int mbg__alpha_rates_check(mbg_context *ctx, mbg__alpha *a, double t);

/* ---------------------------------------------------------------------- alpha_index2.c */

/* The stabilized index-2 variant of the step (theory 4, section 4): positions and velocities both satisfy their
   constraints. Creation sets klu, n, atD, atL, atE, Z and phid of the stepper. */
int mbg__alpha_index2_create(mbg_context *ctx, mbg__alpha *a, mbg__alpha_index2 **out);
void mbg__alpha_index2_destroy(mbg__alpha_index2 *s);
/* Begins a step after its guess, with the system updated at `from`: E, eta = 0, X = Dx. */
int mbg__alpha_index2_enter(mbg_context *ctx, mbg__alpha_index2 *s, const mbg__alpha_node *from,
                            const mbg__alpha_node *to);
/* Factors of the step that led to a node, from K, C, M, B, Z, KT, BT and T of the stepper. */
int mbg__alpha_index2_factor(mbg_context *ctx, mbg__alpha_index2 *s, const mbg__alpha_node *to);
/* Solutions with these factors and their transposes, columns (n x count) of the stepper's unknowns, refined once. */
void mbg__alpha_index2_solve(mbg__alpha_index2 *s, bool transposed, real *x, int count);
/* One correction of X, Dx, lambda and eta; returns X. */
const real *mbg__alpha_index2_correct(mbg__alpha_index2 *s, const mbg__alpha_node *to, double *change);
/* The wrenches f = B^T eta at a node, returned in body axes; until the next update they are the system's r. */
int mbg__alpha_index2_wrenches(mbg_context *ctx, mbg__alpha_index2 *s, const mbg__alpha_node *node, const real *eta,
                               const real **f);

/* ---------------------------------------------------------------------- gradients */

/* Tangent and adjoint of the stepper: derivatives of exactly what it does (theory 4, sections 5 and 7). */
int mbg__alpha_tangent(mbg_context *ctx, mbg__alpha *a, int (*take)(void *user, int node, const real *dy), void *user);
int mbg__alpha_adjoint(mbg_context *ctx, mbg__alpha *a, int ncrit, const mbg__criterion_seeds *seeds, real *psi_a);
/* Continuous adjoint in index-1 form on the nodes of a run (theory 2, section 7.2): converges to the discrete one with
   second order; for cross-checks and for data with noise. */
int mbg__alpha_continuous(mbg_context *ctx, mbg__alpha *a, int ncrit, const mbg__criterion_seeds *seeds, real *psi_a);
/* The paper's continuous adjoint of `dae`: first order, index 3, BDF, with consistent end conditions (theory 2, section
   7.3); integrals and end values only. That of `lie`: second order, by the generalized-alpha scheme (theory 4, section
   8). Both for the study of the papers. */
int mbg__alpha_paper(mbg_context *ctx, mbg__alpha *a, int ncrit, const mbg__criterion_seeds *seeds, real *psi_a);
int mbg__alpha_second(mbg_context *ctx, mbg__alpha *a, int ncrit, const mbg__criterion_seeds *seeds, real *psi_a);

#endif
