/* design: the model at one set of parameters: attribute values a = A(p), marker frames, mass matrices, and the exact
   derivatives of all of them. Recomputed when parameters change, constant during a run. */
#ifndef MBG_MODEL_DESIGN_H
#define MBG_MODEL_DESIGN_H

#include "model/model.h"

/* A frame and its dependence on attributes: (h^-1 dh)^vee = sum_k omega[k] da[dep[k]]. dep NULL: the frame alone. */
typedef struct {
  mbg__frame h;
  int ndep;
  int *dep;
  real (*omega)[6];
} mbg__placed;

/* Reference shape at these parameters, shared by all elements of a beam; elements of a curve have their own. */
enum { MBG__SHAPE_DEPS = 30 };
typedef struct {
  real d0[6], L;
  int ndep; /* (d d0) = sum_k d0_a[k] da[dep[k]]; an attribute may stand there twice */
  int dep[MBG__SHAPE_DEPS];
  real d0_a[MBG__SHAPE_DEPS][6];
  real N[3][144], N_d[6][3][144]; /* M = sum_j mu_j N_j, see model/beam_mass.h */
} mbg__beam_shape;

/* One of its elements. */
typedef struct {
  real c[MBG__BEAM_COEFS], c_z[MBG__BEAM_COEFS][MBG__BEAM_NUMBERS]; /* see model/section.h */
  real M[144];                                                      /* mass matrix */
} mbg__beam_data;

/* A modal body at these parameters: the flat array of model/modal.h and its dependence on attributes. */
typedef struct {
  int n;
  real *D;
  mbg__modal_map map;
  double lowest;                                   /* frequency of the modes alone, rad/s */
  real (*c)[MBG__BEAM_COEFS];                      /* generated beams: coefficients of each element */
  real (*c_z)[MBG__BEAM_COEFS][MBG__BEAM_NUMBERS]; /* and their derivatives */
} mbg__modal_data;

/* The modal columns (phit_j, phir_j) of a marker; n = 0 on other bodies. */
typedef struct {
  int n;
  real *P; /* (6 n) */
  mbg__modal_map map;
} mbg__modal_handle;

/* Directions of direct differentiation instead of one for each parameter. */
typedef struct {
  int n;
  const real *da; /* (n x na) */
} mbg__directions;

typedef struct mbg__design {
  const mbg_model *model;
  real *p;         /* parameters                                         (np)   */
  real *constants; /* values                                             (nconstant) */
  real *attr;      /* attribute values                                   (na)   */
  /* da/dp, compressed by attribute: entries col[start[i]] ..; curvatures of cubic controls have no entries, they
     follow from the samples (mbg__design_curvatures) */
  int *start;                 /*                                                    (na + 1) */
  int *col;                   /* parameter                                          (nnz)  */
  real *val;                  /* derivative                                         (nnz)  */
  mbg__placed *poses;         /*                                                 (npose) */
  mbg__placed **markers;      /* pose of each marker, one of `poses`             (nmarker) */
  real *M;                    /* mass matrices, 36 per body                         (nbody x 36) */
  real **M_a;                 /* by the body's own attributes, nattr x 36 each      (nbody) */
  mbg__beam_shape *shapes;    /* references of beams                         (nreference) */
  mbg__beam_data *elements;   /*                                             (nelement) */
  mbg__modal_data *modals;    /*                                             (nmodal) */
  mbg__modal_handle *handles; /*                                           (nmarker) */
  real *guess_v;              /* guessed twists in body axes                        (nw) */
  /* internal scratch follows in design.c */
  struct mbg__design_work *work;
  const mbg__directions *directions; /* of direct differentiation now; NULL: the parameters */
} mbg__design;

/* Allocates in the arena; call mbg__design_update before use. */
int mbg__design_create(mbg_context *ctx, mbg__arena *arena, const mbg_model *model, mbg__design **out);
/* ... without derivatives of poses and masses by attributes, for a caller that only looks: a third of the memory. */
int mbg__design_create_plain(mbg_context *ctx, mbg__arena *arena, const mbg_model *model, mbg__design **out);

/* Evaluates everything at p (np). Reports non-physical values at p (mass < 0, non-finite ...) as MBG_ERROR_INPUT. */
int mbg__design_update(mbg_context *ctx, mbg__design *design, const real *p);
/* Re-evaluates poses, markers, masses and guesses after a change of design->attr; dA/dp stays unchanged. */
int mbg__design_refresh(mbg_context *ctx, mbg__design *design);

/* Curvatures of all cubic controls in a vector of attributes (na), from the samples in the same vector. */
void mbg__design_curvatures(const mbg__design *design, real *a);

/* design_beams.c: beams and their elements at the attributes of the design. */
int mbg__design_check_beams(mbg_context *ctx, const mbg__design *design);
void mbg__design_update_beams(mbg__design *design);
/* design_modal.c: modal bodies and the markers on them. */
int mbg__design_create_modals(mbg_context *ctx, mbg__arena *arena, mbg__design *design);
int mbg__design_check_modals(mbg_context *ctx, const mbg__design *design);
void mbg__design_update_modals(mbg__design *design);
/* The lever of a body whose velocity is given at another point: U += W x rho; see design_beams.c. */
void mbg__design_lever(const mbg__design *design, const mbg__body *body, real rho[3]);
void mbg__design_lever_push(const mbg__design *design, const mbg__body *body, const real *da, const real w[6],
                            const real v[6], real dv[6]);
void mbg__design_lever_pull(const mbg__design *design, const mbg__body *body, const real v[6], real gv[6], real gw[6],
                            real *ga);

/* da = A_p dp (na from np) and g_p += A_p^T g_a. */
void mbg__design_push(const mbg__design *design, const real *dp, real *da);
void mbg__design_pull(const mbg__design *design, const real *ga, real *gp);
/* Transposed: moves the entries of ga for curvatures to the samples that determine them. */
void mbg__design_fold(const mbg__design *design, real *ga);

/* Guessed frame and twist of a body and their derivatives in direction da; or transposed, adding to ga. */
void mbg__design_guess_push(const mbg__design *design, int body, const real *da, real w[6], real dv[6]);
void mbg__design_guess_pull(const mbg__design *design, int body, const real gw[6], const real gv[6], real *ga);

#endif
