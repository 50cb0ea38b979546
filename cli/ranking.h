/* ranking: the numbers of a model by their effect. */
#ifndef CLI_RANKING_H
#define CLI_RANKING_H

#include "mbgrad/run.h"

typedef struct {
  int index; /* attribute of the run */
  double value, effect;
} cli_ranked;

/* All numbers by falling effect scale |d psi/da|, for a gradient by all of them (mbg_run_attribute_count); to be
   freed. */
cli_ranked *cli_rank(const mbg_run *run, const double *gradient);

#endif
