/* picture: figures of a mechanism in world coordinates, which a camera turns into pixels. */
#ifndef MBG_VIEW_PICTURE_H
#define MBG_VIEW_PICTURE_H

#include "mbgrad/view.h"
#include "view/outline.h"
#include "view/scene.h"
#include "view/surface.h"

typedef struct {
  mbg_figure figure;
  double (*world)[3];  /* points                      (frames x points) */
  double size;         /* > 0: width or radius in m, else as in `figure` */
  bool ground;         /* stays behind where a mechanism travels */
  int behind;          /* everything else: 1, planes and roads; 2, shapes that do not hide what is inside */
  double depth;        /* mean distance towards the eye */
  const double *shift; /* pixels, for each point: figures of a fixed size; NULL: none    (points x 2) */
} mbg__drawing;

struct mbg_picture {
  mbg__arena arena;
  mbg__scene scene;
  const mbg_run *run;
  int n;       /* frames */
  int *node;   /* (n) */
  double *t;   /* (n) */
  double *eta; /* modal coordinates at all nodes, then their rates */
  int count, room;
  mbg__drawing *figures;
  mbg_figure *out; /* (count) */
  double right[3], up[3], eye[3];
  double width, height;
  bool travels; /* with body 0 */
  mbg__surfaces surfaces;
  mbg__outlines outlines;
};

/* Frame of a body at a frame of the picture; -1: the ground. */
const double *mbg__picture_frame(const mbg_picture *p, int body, int frame);
/* The point of a marker. */
void mbg__picture_marker(const mbg_picture *p, int marker, int frame, double at[3]);
/* One more figure; NULL when memory is short. */
mbg__drawing *mbg__picture_add(mbg_picture *p, mbg_figure_kind kind, int points, int body);

/* All figures of the scene (picture_figures.c). The camera must be there, as outlines of solids depend on it. */
void mbg__picture_fill(mbg_picture *p);
/* Planes and roads (picture_surfaces.c). */
void mbg__picture_surfaces(mbg_picture *p);
/* Curves, cams and other surfaces (picture_outlines.c). */
void mbg__picture_outlines(mbg_picture *p);

/* Tendons (picture_ropes.c). */
void mbg__picture_ropes(mbg_picture *p);

/* The colour of a body, and one between two colours. */
int mbg__picture_color(int body);
int mbg__picture_mix(int a, int b, double part);

#endif
