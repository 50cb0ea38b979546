/* loads: forces and moments of joints and force elements, weights, and strains of beams, at the nodes of a motion. */
#ifndef MBG_VIEW_LOADS_H
#define MBG_VIEW_LOADS_H

#include "io/json_write.h"
#include "mbgrad/run.h"
#include "model/model.h"

/* "loads": scales of forces, moments, strains and curvatures; for each joint the components it has (bits of fx fy fz mx
   my mz, in the axes of the world, on B) and those that redundant rows leave open; for each force of the scene its
   components, or (a law) 1 for its tension; for each element of a beam those of its strains 1, 5, 6; weights of bodies
   (body, centre of mass, force). Then one channel (view/motion.h) for each component that is not 0 all the time.

   Simulates once more, because the run need not know its reactions. */
int mbg__loads_write(mbg_context *ctx, const mbg_run *run, int frames, mbg__json_writer *w, mbg__buffer *bytes);

#endif
