/* Closes loops: after each step first the frames, then the rates are projected onto the constraints, orthogonally in
   the mass metric (theory 3, section 7),

     K (u, lambda) = (0, -phi) or (0, -phid)        E <- E exp(S d),  w <- w + d,  d = S^T Ad(hC^-1) (u - X u_p)

   with phi = 0 for the rows that the tree holds. One or two solves for the frames, one for the rates; each is
   differentiated as it was made. */
#ifndef MBG_FORMULATIONS_DCA_DCA_PROJECT_H
#define MBG_FORMULATIONS_DCA_DCA_PROJECT_H

#include "formulations/dca/dca_flow.h"

enum { MBG__DCA_ROUNDS = 3 }; /* limit of solves of frames */

typedef struct mbg__dca_project mbg__dca_project;

/* *out is NULL if the tree has no constraint rows. */
int mbg__dca_project_create(mbg_context *ctx, mbg__arena *arena, mbg__dca_flow *flow, mbg__dca_assembly *assembly,
                            const mbg__rank *rank, mbg__dca_project **out);

/* Projects (t, E, w) in place; angles count the whole turns that bring them next to q (ncoord). rounds: number of
   solves of frames; drift: violations of positions and rates before. */
int mbg__dca_project_apply(mbg_context *ctx, mbg__dca_project *p, real t, const real *q, mbg__frame *E, real *w,
                           int *rounds, double drift[2]);

/* Derivative at the (E, w) before the projection, with coordinates `near` it: e (6 per link), dw (n) of any number of
   columns in place. */
int mbg__dca_project_push(mbg_context *ctx, mbg__dca_project *p, double t, const real *near, const mbg__frame *E,
                          const real *w, int rounds, int ncol, real *const *e, real *const *dw,
                          const mbg__dca_attributes *attributes);
/* Transposed: ge, gw in place, gattr (na) added. */
int mbg__dca_project_pull(mbg_context *ctx, mbg__dca_project *p, double t, const real *near, const mbg__frame *E,
                          const real *w, int rounds, int ncol, real *const *ge, real *const *gw, real *const *gattr);

#endif
