/* alpha: the generalized-alpha stepper on frames, index 3, with its exact tangent and adjoint. `lie` and `dae` are
   presets of it (theory 0, section 8; theory 4, sections 4-7; theory 2, sections 3-6).

     (1-am) al_{n+1} + am al_n = (1-af) vd_{n+1} + af vd_n
     Dx = h v_n + (1/2-beta) h^2 al_n + beta h^2 al_{n+1}        H_{n+1} = H_n exp(Dx)
     v_{n+1} = v_n + (1-gamma) h al_n + gamma h al_{n+1}         r_{n+1} = 0, phi_{n+1} = 0

   When the step changes from h_old to h, al_n is replaced by vd_n + (h/h_old) (al_n - vd_n). */
#ifndef MBG_FORMULATIONS_ALPHA_ALPHA_H
#define MBG_FORMULATIONS_ALPHA_ALPHA_H

#include "start/rank.h"
#include "start/start.h"
#include "system/saddle.h"
#include "system/system.h"

typedef struct {
  double am, af, beta, gamma;
} mbg__alpha_coefs;

/* am = (2 rho - 1)/(rho + 1), af = rho/(rho + 1) */
mbg__alpha_coefs mbg__alpha_from_rho(double rho_inf);
/* am = 0 */
mbg__alpha_coefs mbg__alpha_from_hht(double af);

/* A node of the trajectory: everything that influences what follows, and the increment that led to it. */
typedef struct {
  double t, h;       /* h: step that led here, 0 at the start */
  mbg__frame *H;     /* frames                       (nbody) */
  real *v, *vd, *al; /* twists, rates, auxiliary     (nw) */
  real *Dx;          /* increment that led here      (nw) */
  real *lambda;      /* multipliers                  (nrow) */
  int *turns;        /* turn counters                (nturn) */
} mbg__node;

/* Bytes of a node's arrays, and a node laid into such a block. */
size_t mbg__node_bytes(const mbg_model *model);
void mbg__node_place(const mbg_model *model, void *block, mbg__node *node);
void mbg__node_copy(const mbg_model *model, const mbg__node *from, mbg__node *to);

typedef struct mbg__alpha mbg__alpha;

/* rank: kept rows, referenced. The system is referenced and used as scratch. */
int mbg__alpha_create(mbg_context *ctx, mbg__system *sys, const mbg__rank *rank, mbg__alpha_coefs coefs,
                      mbg__alpha **out);
void mbg__alpha_destroy(mbg__alpha *a);

/* First node from a consistent start: vd and lambda of [M B^T; B 0](vd, lambda) = -(r, gamma), al = vd. */
int mbg__alpha_begin(mbg_context *ctx, mbg__alpha *a, const mbg__start_result *start, mbg__node *node);

/* One step of length h from `from` to `to`; 15 Newton iterations at most. */
int mbg__alpha_step(mbg_context *ctx, mbg__alpha *a, const mbg__node *from, double h, mbg__node *to);

/* Estimate of the local error of the last step, relative to the model's size. */
double mbg__alpha_error(const mbg__alpha *a);

/* Largest scaled violation of dropped rows at the last node: grows when a redundant row becomes independent. */
int mbg__alpha_check_dropped(mbg_context *ctx, const mbg__alpha *a, const mbg__node *node);

typedef struct {
  long newton_iterations, factorizations, assemblies, solves;
} mbg__alpha_work;
const mbg__alpha_work *mbg__alpha_counts(const mbg__alpha *a);

#endif
