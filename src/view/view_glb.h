/* view_glb: a glTF file while it is made. */
#ifndef MBG_VIEW_VIEW_GLB_H
#define MBG_VIEW_VIEW_GLB_H

#include "mbgrad/run.h"
#include "view/outline.h"
#include "view/scene.h"
#include "view/solids.h"

enum { MBG__GLB_BOX, MBG__GLB_CYLINDER, MBG__GLB_SPHERE, MBG__GLB_CONE, MBG__GLB_SOLIDS };

/* A colour with its opacity, and a solid in such a material. */
typedef struct {
  int color;
  double opacity;
} mbg__glb_material;
typedef struct {
  int solid, material;
} mbg__glb_mesh;

typedef struct {
  mbg__scene scene;
  mbg__glb glb;
  mbg__json_writer w;
  const mbg_run *run;
  int n;                        /* pictures */
  int *node;                    /* of the run                                    (all nodes) */
  int bodies;                   /* nodes 0 .. bodies-1 of the file; the root is node `bodies` */
  int times;                    /* accessor */
  int *motion;                  /* accessors: position and quaternion of each body (2 x bodies) */
  int *weights;                 /* accessor: coordinates of each modal body         (nmodal) */
  int *solid;                   /* first accessors of the solids in use, then of the meshes of the scene */
  int nmesh;                    /* meshes of shapes */
  mbg__glb_mesh *meshes;        /*                                                  (2 nshape) */
  int nmaterial;                /* */
  mbg__glb_material *materials; /*                                     (nshape + nbeam + nmodal + outlines) */
  int *beams, *modals;          /* first accessors of their meshes */
  int *shapes;                  /* first node of each shape                         (nshape + 1) */
  mbg__outlines outlines;       /* nodes behind those of the shapes, meshes behind those of modal bodies */
  int *outline;                 /* first accessors of their meshes */
  float *scratch;               /*                                                  (4 n) */
} mbg__glb_file;

/* The frame of a body at picture i. */
static inline const double *mbg__glb_frame(const mbg__glb_file *f, int body, int i) {
  return mbg_run_value_array(f->run) + (size_t)f->node[i] * (size_t)mbg_run_value_width(f->run) +
         mbg_run_frame_column(f->run, body);
}

/* view_glb_flexible.c: numbers of the mesh of a beam (positions, normals, triangles, joints, weights, inverse frames)
   and of a modal body (positions, normals, triangles, displacements by each mode). */
int mbg__glb_beam(mbg_context *ctx, mbg__glb_file *f, const mbg__beam *beam);
int mbg__glb_modal(mbg_context *ctx, mbg__glb_file *f, const mbg__modal *body);

/* view_glb_outlines.c: of all curves, cams and surfaces: positions, normals (not of grids), triangles or lines. */
int mbg__glb_outlines(mbg_context *ctx, mbg__glb_file *f);

#endif
