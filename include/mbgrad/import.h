/* mbgrad: models from files of other programs: URDF, SDF and MJCF. */
#ifndef MBGRAD_IMPORT_H
#define MBGRAD_IMPORT_H

#include "mbgrad/context.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  size_t size;            /* of this structure: set by mbg_import_options_default */
  const char *parameters; /* numbers that become parameters: words of "mass com inertia damping friction stiffness",
                             separated by commas or blanks; NULL: none */
  const char *without;    /* what is left out: words of "limits damping friction armature"; NULL: nothing */
  bool free_base;         /* the root moves freely; otherwise it is fixed to the ground */
  bool keep_fixed;        /* links that are fixed to another stay bodies of their own, held by fixed joints */
  const char *start;      /* MJCF: the keyframe at which the model starts; NULL: all joints at zero */
  bool contacts;          /* MJCF: spheres, capsules and boxes touch the planes of the world */
} mbg_import_options;

MBG_API void mbg_import_options_default(mbg_import_options *options, size_t size);

/* Reads a robot (options may be NULL). *model is the text of a model file; *report says, one line each, what was left
   out, approximated or renamed. Both are the caller's to free with mbg_text_destroy and
   NULL on failure. Errors name file, line and column. */
MBG_API int mbg_import_file(mbg_context *ctx, const char *path, const mbg_import_options *options, char **model,
                            char **report);

#ifdef __cplusplus
}
#endif

#endif
