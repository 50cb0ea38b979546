/* solids: triangles of unit shapes and of tubes, for files of meshes. */
#ifndef MBG_VIEW_SOLIDS_H
#define MBG_VIEW_SOLIDS_H

#include "io/mesh.h"
#include "view/glb.h"

/* Each appends positions, normals and triangles, three accessors, and returns the first. A box of edge 1, a cylinder of
   radius 1 and length 1 along z, a sphere of radius 1, a cone of radius 1 and length 1 with its tip at z = 1/2. */
int mbg__solid_box(mbg__glb *glb);
int mbg__solid_cylinder(mbg__glb *glb);
int mbg__solid_sphere(mbg__glb *glb);
int mbg__solid_cone(mbg__glb *glb);

/* The mesh of a file: positions and triangles, two accessors; viewers make its normals, which are flat then. */
int mbg__solid_mesh(mbg__glb *glb, const mbg__mesh *mesh);

/* A section of a tube: centre, and two axes from there to the surface. */
typedef struct {
  double at[3], y[3], z[3];
} mbg__section_place;

enum { MBG__TUBE_RING = 12 }; /* vertices of a section */

/* A tube of n sections with an elliptic section, without ends: positions, normals, triangles. */
int mbg__solid_tube(mbg__glb *glb, int n, const mbg__section_place *sections);
/* A plate: a polygon in the x-y plane, counterclockwise, with its triangles, from z = -half to half. */
int mbg__solid_plate(mbg__glb *glb, int n, const double (*at)[3], int ntriangle, const int (*corners)[3], double half);
/* Cosine and sine of vertex k. */
void mbg__tube_vertex(int k, double *c, double *s);

#endif
