/* mbgrad: models as files of other programs: URDF and MJCF. */
#ifndef MBGRAD_EXPORT_H
#define MBGRAD_EXPORT_H

#include "mbgrad/model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  size_t size;        /* of this structure: set by mbg_export_options_default */
  const char *format; /* "urdf" (trees) or "mjcf"; NULL: "urdf". Not used with `into` */
  const char *into;   /* a file that the model was imported from: it is written again with the masses, damping, friction
                         and stiffness of the model, and without any other change; NULL: a new file */
} mbg_export_options;

MBG_API void mbg_export_options_default(mbg_export_options *options, size_t size);

/* The model at parameters p (NULL: those of its file). *text is the file; *report says, one line each, what was left
   out or approximated. Both are the caller's to free with mbg_text_destroy and NULL on failure. A mechanism that the
   format does not have is MBG_ERROR_UNSUPPORTED, with its name. Options may be NULL. */
MBG_API int mbg_export_text(mbg_context *ctx, const mbg_model *model, const double *p,
                            const mbg_export_options *options, char **text, char **report);

#ifdef __cplusplus
}
#endif

#endif
