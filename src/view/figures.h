/* figures: the shapes that a model file gives to its bodies and markers, at the parameters of a run. */
#ifndef MBG_VIEW_FIGURES_H
#define MBG_VIEW_FIGURES_H

#include "io/json_write.h"
#include "view/scene.h"

/* Adds the figures of the model and reads their meshes. A number that is no size at these parameters and a mesh that
   cannot be read are errors, at their place in the file. */
int mbg__figures_add(mbg_context *ctx, mbg__scene *scene);

/* Member "meshes" of an open object, and its bytes: of each mesh the coordinates x of all vertices, then y, then z, as
   differences to the vertex before in two planes of bytes; then the corners of the triangles, as differences to the
   corner before, made positive (2 d, or -2 d - 1), in four planes. Coordinates are low + step k with k from 0 to
   65535. */
void mbg__figures_write(mbg__json_writer *w, const mbg__scene *scene, mbg__buffer *bytes);

#endif
