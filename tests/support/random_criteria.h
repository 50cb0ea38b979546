/* Random models with criteria of every kind on signals of every level. */
#ifndef SUPPORT_RANDOM_CRITERIA_H
#define SUPPORT_RANDOM_CRITERIA_H

#include "support/random_model.h"

/* The text of random_model(seed, options) with other criteria, for a run from 0 to `end` with the step given; criteria
   of a special model leave reactions out when redundant rows make them ambiguous. Free with free(). */
char *random_model_with_criteria(uint64_t seed, const random_model_options *options, double end, double step);

#endif
