/* Criteria of a random model: every kind of criterion, every level of signal. */
#ifndef SUPPORT_RANDOM_CRITERIA_H
#define SUPPORT_RANDOM_CRITERIA_H

#include "model/model.h"

#include <stdint.h>

/* The text of a random model with other criteria, for a run from 0 to `end`; m: the model that was made of the text.
   Free with free(). */
char *random_criteria(const char *text, const mbg_model *m, uint64_t seed, double end);

#endif
