/* scene: what of a model can be drawn, at the parameters of a run: shapes on bodies, given in the file or made from
   masses and markers. Lengths in m; frames are 12 numbers, rotation row-major, then position. */
#ifndef MBG_VIEW_SCENE_H
#define MBG_VIEW_SCENE_H

#include "io/mesh.h"
#include "mbgrad/run.h"
#include "model/design.h"

typedef enum {
  MBG__DRAW_BOX,
  MBG__DRAW_CYLINDER,
  MBG__DRAW_SPHERE,
  MBG__DRAW_CAPSULE,
  MBG__DRAW_CONE,
  MBG__DRAW_MESH,
  MBG__DRAW_KINDS
} mbg__draw_kind;

/* A shape on a body or (-1) the ground, centred in its frame. size: edges of a box; radius and length along z of a
   cylinder, a cone (its tip above) or a capsule (between the centres of its ends); radius of a sphere; factors of the
   coordinates of a mesh. */
typedef struct {
  mbg__draw_kind kind;
  int body;
  double frame[12], size[3];
  bool glass; /* does not hide what is inside */
  bool wheel; /* a cylinder with spokes, a ball with dots: shows that it turns */
  int color;  /* 0xrrggbb, -1: by the body */
  double opacity;
  int mesh;   /* MESH: in the scene */
  int marker; /* that it moves with, on a modal body; -1: the body's frame */
} mbg__draw;

typedef struct {
  const char *file;
  mbg__mesh mesh;
  double low[3], high[3]; /* of its vertices */
  uint32_t *scratch;      /* (the larger of nvertex, 3 ntriangle) */
} mbg__scene_mesh;

typedef struct {
  mbg__arena arena;
  const mbg_model *m;
  const mbg__design *design;
  double size;  /* of the mechanism */
  double part;  /* at most size: by it the thickness of rods and joints is chosen */
  double up[3]; /* against gravity, else z; y for planar models */
  bool planar;  /* all bodies move in the x-y plane */
  int nshape, capacity;
  mbg__draw *shapes;
  int nmesh;
  mbg__scene_mesh *meshes;
  mbg__draw nowhere; /* written when memory is short, never read */
} mbg__scene;

/* "box", ... */
const char *mbg__draw_name(mbg__draw_kind kind);

/* design: referenced. The run has poses; its way tells how large a scene of one point is. Destroy it in either case. */
int mbg__scene_make(mbg_context *ctx, mbg__scene *scene, const mbg__design *design, const mbg_run *run);
void mbg__scene_destroy(mbg__scene *scene);

/* A force between bodies, not the rate of a state. */
bool mbg__scene_shows(const mbg_model *m, int force);

/* One more shape, of size 0. */
mbg__draw *mbg__scene_add(mbg__scene *scene, mbg__draw_kind kind, int body, const double at[3]);

/* Centre of mass in the frame of the body; its mass is returned. */
double mbg__scene_com(const mbg__scene *scene, int body, double com[3]);

/* 12 numbers of a frame. */
void mbg__scene_flatten(const mbg__frame *H, double frame[12]);

/* The frame of a marker at a node of a run, without the shift by modes. */
void mbg__scene_marker(const mbg__scene *scene, const mbg_run *run, int node, int marker, double out[12]);
/* Two markers of one body have the same frame. */
bool mbg__scene_same(const mbg__scene *scene, int a, int b);

/* The rotation of a frame with z from point a to point b; left alone when they are the same. */
void mbg__scene_along(const double a[3], const double b[3], double frame[12]);

/* Half a thickness of lines that are drawn as rods. */
static inline double mbg__scene_radius(const mbg__scene *s) { return 0.012 * s->part; }

#endif
