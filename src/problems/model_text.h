/* model_text: the source of a model with some values replaced; everything else stays as it is. */
#ifndef MBG_PROBLEMS_MODEL_TEXT_H
#define MBG_PROBLEMS_MODEL_TEXT_H

#include "io/json.h"
#include "io/json_write.h"
#include "model/model.h"

typedef struct {
  mbg__arena arena;
  mbg__json *root;        /* of the source */
  const char *text;       /* the source */
  const char *next, *end; /* the part of it that is not copied yet */
  mbg__buffer out;
} mbg__model_edit;

/* Parses the source of the model, which is referenced. Close it in either case. */
int mbg__model_edit_open(mbg_context *ctx, const mbg_model *m, mbg__model_edit *edit);
/* Copies the source up to the value and leaves the value out; the caller writes another one into `out`. Values are
   replaced in their order. */
void mbg__model_edit_skip(mbg__model_edit *edit, const mbg__json *value);
void mbg__model_edit_copy_rest(mbg__model_edit *edit);
void mbg__model_edit_close(mbg__model_edit *edit);

/* The source with n scalar parameters at other values. *text is the caller's: mbg_text_destroy. */
typedef struct {
  int index;
  double value;
} mbg__varied;
int mbg__model_text(mbg_context *ctx, const mbg_model *m, int n, const mbg__varied *values, char **text);

#endif
