/* sampled: a model with other samples of some of its controls, which are parameters of their own.

   The copy shares everything else with the model that it was made from, which must outlive it. Its parameters are those
   of the model, then one vector for each control, called as the control: u[0], u[1], ... */
#ifndef MBG_MODEL_SAMPLED_H
#define MBG_MODEL_SAMPLED_H

#include "model/model.h"

typedef struct {
  int control;
  mbg__interpolation interpolation; /* as in the model, or cubic instead of linear */
  int n;
  const double *t, *value; /* (n); copied */
  double min, max;
} mbg__samples;

/* first (count): place of each control's first sample in the parameter vector. To be destroyed with
   mbg_model_destroy. */
int mbg__model_sampled(mbg_context *ctx, const mbg_model *model, int count, const mbg__samples *samples, int *first,
                       mbg_model **out);

#endif
