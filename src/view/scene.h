/* scene: what of a model can be drawn, at the parameters of a run: shapes on bodies, given in the file or made from
   masses and markers. Lengths in m; frames are 12 numbers, rotation row-major, then position. */
#ifndef MBG_VIEW_SCENE_H
#define MBG_VIEW_SCENE_H

#include "model/design.h"

typedef enum { MBG__DRAW_BOX, MBG__DRAW_CYLINDER, MBG__DRAW_SPHERE, MBG__DRAW_CAPSULE, MBG__DRAW_KINDS } mbg__draw_kind;

/* A shape on a body, centred in its frame. size: edges of a box; radius and length along z of a cylinder or a capsule
   (between the centres of its ends); radius of a sphere. */
typedef struct {
  mbg__draw_kind kind;
  int body;
  double frame[12], size[3];
  bool glass; /* does not hide what is inside */
  bool wheel; /* a cylinder with spokes */
} mbg__draw;

typedef struct {
  mbg__arena arena;
  const mbg_model *m;
  const mbg__design *design;
  double size;  /* of the mechanism */
  double up[3]; /* against gravity, else z; y for planar models */
  bool planar;  /* all bodies move in the x-y plane */
  int nshape, capacity;
  mbg__draw *shapes;
  mbg__draw nowhere; /* written when memory is short, never read */
} mbg__scene;

/* "box", ... */
const char *mbg__draw_name(mbg__draw_kind kind);

/* design: referenced. Destroy it in either case. */
int mbg__scene_make(mbg_context *ctx, mbg__scene *scene, const mbg__design *design);
void mbg__scene_destroy(mbg__scene *scene);

/* 12 numbers of a frame. */
void mbg__scene_flatten(const mbg__frame *H, double frame[12]);

/* The rotation of a frame with z from point a to point b; left alone when they are the same. */
void mbg__scene_along(const double a[3], const double b[3], double frame[12]);

/* Half a thickness of lines that are drawn as rods. */
static inline double mbg__scene_radius(const mbg__scene *s) { return 0.012 * s->size; }

#endif
