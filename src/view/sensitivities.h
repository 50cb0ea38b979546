/* sensitivities: what the numbers of a model do to its motion and its criteria: derivatives of the poses by chosen
   parameters, as channels of bytes (view/motion.h), and the numbers of the model, ranked by effect. */
#ifndef MBG_VIEW_SENSITIVITIES_H
#define MBG_VIEW_SENSITIVITIES_H

#include "io/json_write.h"
#include "mbgrad/view.h"
#include "model/model.h"

/* The parameters with the largest effect |p dpsi/dp| on a criterion, relative to the largest one on it; of a model
   without criteria the first ones. gradient: criteria x parameters, p: parameters; chosen: room for `most`; returns
   their number. */
int mbg__effects_choose(const mbg_model *m, const double *p, const double *gradient, int most, int *chosen);

/* "ghosts": for each parameter its index and the scales of displacements, rotations and modal coordinates, and the
   steps of the channels, which are sparse: per body (6), then modal coordinates, at the nodes of the motion. */
int mbg__ghosts_write(mbg_context *ctx, mbg_run *run, int frames, int count, const int *parameters, mbg__json_writer *w,
                      mbg__buffer *bytes);

/* "effects": for each criterion the `most` numbers of the largest |number x derivative|, and the largest of each
   element. */
int mbg__effects_write(mbg_context *ctx, mbg_run *run, int most, mbg__json_writer *w);

#endif
