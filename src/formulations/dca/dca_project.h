/* Loops stay closed: after each step the frames and then the rates are moved onto the constraints, orthogonally in the mass metric
   (theory 3, section 7),

     K (u, lambda) = (0, -phi) or (0, -phid)        E <- E exp(S d),  w <- w + d,  d = S^T Ad(hC^-1) (u - X u_p)

   with 0 in place of phi for the rows that the tree holds. One or two solves for the frames, one for the rates; each is differentiated as
   it is made. */
#ifndef MBG_FORMULATIONS_DCA_DCA_PROJECT_H
#define MBG_FORMULATIONS_DCA_DCA_PROJECT_H

#include "formulations/dca/dca_flow.h"

enum { MBG__DCA_ROUNDS = 3 }; /* most solves of frames */

typedef struct mbg__dca_project mbg__dca_project;

/* NULL when there is nothing to hold. */
int mbg__dca_project_create(mbg_context *ctx, mbg__arena *arena, mbg__dca_flow *flow, mbg__dca_assembly *assembly,
                            mbg__dca_project **out);

/* (t, E, w) in place; *rounds: solves of frames, as many as are needed when it is 0, else as many as it says. Violations before and
   after, of positions and rates, in drift (4). */
int mbg__dca_project_apply(mbg_context *ctx, mbg__dca_project *p, double t, const int *turns, mbg__frame *E, real *w,
                           int *rounds, double drift[4]);

/* Derivative at the (E, w) before: e (6 per link), dw (n) of any number of columns in place. */
int mbg__dca_project_push(mbg_context *ctx, mbg__dca_project *p, double t, const int *turns, const mbg__frame *E,
                          const real *w, int rounds, int ncol, real *const *e, real *const *dw,
                          const mbg__dca_attributes *attributes);
/* Transposed: ge, gw in place, gattr (na) added. */
int mbg__dca_project_pull(mbg_context *ctx, mbg__dca_project *p, double t, const int *turns, const mbg__frame *E,
                          const real *w, int rounds, int ncol, real *const *ge, real *const *gw, real *const *gattr);

#endif
