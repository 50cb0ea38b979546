/* The state vector. A body's frame is H = H0 g with its frame H0 at the start, so that the numbers do not depend on the
   place of the model in the world; g moves in the body's subgroup:

     spatial        x, q      position and quaternion, R from q/|q|        7 components
     planar         x, y, theta                                            3
     point          x, y, z                                                3
     planar point   x, y                                                   2

   z = (components of all bodies, free velocities v). Variations stay trivialized: w with dH = H w~ (theory 1, section
   4). */
#ifndef MBG_FORMULATIONS_QR_QR_STATE_H
#define MBG_FORMULATIONS_QR_QR_STATE_H

#include "system/system.h"

typedef struct {
  real angle, c, s; /* with its cosine and sine */
} mbg__qr_turn;

typedef struct {
  const mbg_model *m;
  int nplace; /* components of all frames */
  int n;      /* nplace + nv */
  int *first; /* of each body                      (nbody) */
  mbg__frame *H0;
  bool flat;          /* all bodies are planar, and began in the plane */
  mbg__qr_turn *turn; /* of each planar body, when it was read last  (nbody) */
} mbg__qr_state;

int mbg__qr_state_create(mbg_context *ctx, mbg__arena *arena, const mbg_model *m, mbg__qr_state *s);

/* z (n) of the start; H0 = H. */
void mbg__qr_state_begin(mbg__qr_state *s, const mbg__frame *H, const real *v, real *z);

/* Frames (nbody) and twists (nw) of a state. */
void mbg__qr_state_read(const mbg__qr_state *s, const real *z, mbg__frame *H, real *v);

/* The frames alone, if the state is flat: cos, sin, x and y of each body (4 nbody). */
void mbg__qr_state_read_frames(const mbg__qr_state *s, const real *z, real *frames);
void mbg__qr_state_read_frame(const mbg__qr_state *s, int body, const real *z, real frame[4]);

/* z' from H' = H v*~ and v' = a (nw each). */
void mbg__qr_state_rates(const mbg__qr_state *s, const real *z, const real *v_star, const real *a, real *zd);

/* Variation (w, dv: nw each) of a change dz, and the change of z' when in addition v* and a change by dv_star, da. */
void mbg__qr_state_variation(const mbg__qr_state *s, const real *z, const real *dz, real *w, real *dv);
/* w (nw) += that of a variation w0 (nw) of the frames H0. */
void mbg__qr_state_start_push(const mbg__qr_state *s, const real *z, const real *w0, real *w);
void mbg__qr_state_rates_push(const mbg__qr_state *s, const real *z, const real *dz, const real *v_star,
                              const real *dv_star, const real *da, real *dzd);

/* Transposes. The gradient b (n) by z' adds to the gradient by z at fixed v* and a (gz), and gives those by v* and a
   (mu, rho: nw); the gradient by frames and twists (gw, gv: nw) adds to those by z (gz) and by the frames H0 of the
   start (g0: nw). */
void mbg__qr_state_rates_pull(const mbg__qr_state *s, const real *z, const real *v_star, const real *b, real *gz,
                              real *mu, real *rho);
void mbg__qr_state_read_pull(const mbg__qr_state *s, const real *z, const real *gw, const real *gv, real *gz, real *g0);

/* The same of a flat state, whose v* has nw numbers: mu, gw and gv over free velocities (nv). */
void mbg__qr_state_flat_rates_pull(const mbg__qr_state *s, const real *z, const real *v_star, const real *b, real *gz,
                                   real *mu);
void mbg__qr_state_flat_read_pull(const mbg__qr_state *s, const real *z, const real *gw, const real *gv, real *gz,
                                  real *g0);

/* Name of the body and kind of component ("position of body 'bob'") of component i. */
void mbg__qr_state_label(const mbg__qr_state *s, int i, char *buffer, size_t size);

#endif
