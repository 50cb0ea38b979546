/* surface: planes and roads that spheres and wheels touch, as strips that reach as far as the motion does. */
#ifndef MBG_VIEW_SURFACE_H
#define MBG_VIEW_SURFACE_H

#include "io/json_write.h"
#include "mbgrad/run.h"
#include "view/motion.h"
#include "view/scene.h"

/* Stations along a strip, each with a left and a right point in the axes of marker A. */
typedef struct {
  int force, joint;     /* in the model, one of them -1; several spheres and wheels may share a plane */
  int marker;           /* A */
  int up;               /* axis of A: normal of a plane, vertical of a road */
  bool plane;           /* two stations: the ends of a rectangle */
  int n;                /* stations */
  double (*edge)[2][3]; /*                                                    (n) */
  double *height;       /* NULL, or a road that moves: heights along `up`     (frames x n) */
  double *foot;         /* the station, with its fraction, below the sphere   (frames) */
} mbg__surface;

typedef struct {
  int count;
  mbg__surface *at;
} mbg__surfaces;

/* What forces and rolling joints touch, over n nodes of a run. A road that depends on time moves if its wheel
   stays in place; else its height is the one at the time the wheel is there. */
int mbg__surfaces_find(mbg_context *ctx, mbg__arena *arena, const mbg__scene *scene, const mbg_run *run, int n,
                       const int *node, mbg__surfaces *out);

/* Member "surfaces" of an open object, and a channel (view/motion.h) for each station of those that move. frames:
   limit, as of the motion. */
int mbg__surfaces_write(mbg_context *ctx, const mbg__scene *scene, const mbg_run *run, int frames, mbg__json_writer *w,
                        mbg__buffer *bytes);

/* Spheres, sockets and holes of contacts become shapes of the scene, transparent. */
void mbg__contacts_add(mbg__scene *scene);

/* The body has a socket or hole. */
bool mbg__contact_inside(const mbg_model *m, int body);

/* Shape of a contact ("sphere-plane", ...), its radii and axis; false: the force is none. */
typedef struct {
  const char *shape;
  double radius, radius_a;
  int up;
} mbg__contact_view;
bool mbg__contact_of(const mbg__scene *scene, int force, mbg__contact_view *out);

#endif
