/* model_text: the file of a model with other values of its parameters. */
#ifndef MBG_PROBLEMS_MODEL_TEXT_H
#define MBG_PROBLEMS_MODEL_TEXT_H

#include "model/model.h"

/* p (np): the values; NaN at the first entry of a parameter: it stays as it is. *text is the caller's: mbg_text_destroy. */
int mbg__model_text(mbg_context *ctx, const mbg_model *m, const double *p, char **text);

#endif
