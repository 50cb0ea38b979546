/* mbgrad: models. */
#ifndef MBGRAD_MODEL_H
#define MBGRAD_MODEL_H

#include "mbgrad/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------- loading */

/* A mechanism with its parameters, signals, criteria and run, as described by a model file (docs/model.md). It does
   not change after loading and may be shared by threads; every thread has its own context. A model keeps the allocator
   of the context that made it, not the context. */
typedef struct mbg_model mbg_model;

/* Reads a model file. path: the file, or a folder that holds model.json; data files and parts lie beside it.
   Returns 0 with a model in *out, to be destroyed by the caller; or a negative code with *out NULL and the messages in
   the context: MBG_ERROR_INPUT when the file is wrong (every error that could be found in one go, each with file, line,
   column and element), MBG_ERROR_IO when it cannot be read, MBG_ERROR_MEMORY. */
MBG_API int mbg_model_load(mbg_context *ctx, const char *path, mbg_model **out);

/* The same for one of the runs of the file ("runs"): its keys replace the keys of the run section, it sets parameters
   and constants, and it has criteria of its own. All runs of a file have the same parameters. run NULL: as
   mbg_model_load; MBG_ERROR_INPUT for an unknown run. */
MBG_API int mbg_model_load_run(mbg_context *ctx, const char *path, const char *run, mbg_model **out);

/* The same from memory. name: of the text, in messages; text: `length` bytes, copied; base: folder of data files and
   parts, NULL: the current one. */
MBG_API int mbg_model_parse(mbg_context *ctx, const char *name, const char *text, size_t length, const char *base,
                            mbg_model **out);

/* The model for one of its runs ("runs": load cases, experiments). A model keeps its text and the texts of its parts;
   data files (CSV, Matrix Market) are not kept: they are read again from the folder that the model was loaded or parsed
   with. run NULL: no run. Returns as mbg_model_load_run; the new model has the same parameters and does not refer to
   the old one. */
MBG_API int mbg_model_for_run(mbg_context *ctx, const mbg_model *model, const char *run, mbg_model **out);

/* Every object made from the model must be destroyed before it. */
MBG_API void mbg_model_destroy(mbg_model *model);

/* The JSON Schema (draft 2020-12) of model files, for editors and other tools. */
MBG_API int mbg_model_schema(mbg_context *ctx, char **text);

/* Would a file at this path be written over the model's own file, or over one that the model names: a part, data,
   matrices, of this or another run? For programs that write files. False for a path where no file is. */
MBG_API int mbg_model_reads(mbg_context *ctx, const mbg_model *model, const char *path, bool *own, bool *named);

/* ---------------------------------------------------------------------- the model */

/* Name: as given in the file, else the name of the file. Note: "" without one. File: the path as it was opened. */
MBG_API const char *mbg_model_name(const mbg_model *model);
MBG_API const char *mbg_model_note(const mbg_model *model);
MBG_API const char *mbg_model_file(const mbg_model *model);

/* ---------------------------------------------------------------------- parameters */

/* Number of scalar parameters; every entry of a vector counts. This is the length of every parameter vector. */
MBG_API int mbg_model_parameter_count(const mbg_model *model);

/* Name of a scalar parameter, "l" or "rho[3]", into buffer (size bytes, always terminated). */
MBG_API int mbg_model_parameter_name(const mbg_model *model, int index, char *buffer, size_t size);

/* Index of the scalar parameter of that name, or -1. */
MBG_API int mbg_model_parameter_find(const mbg_model *model, const char *name);

/* Nominal value and bounds (infinite when not given); NAN when the index is out of range. */
MBG_API double mbg_model_parameter_value(const mbg_model *model, int index);
MBG_API double mbg_model_parameter_min(const mbg_model *model, int index);
MBG_API double mbg_model_parameter_max(const mbg_model *model, int index);

/* True when optimizers vary the logarithm of the parameter ("scale": "log"). */
MBG_API bool mbg_model_parameter_log_scale(const mbg_model *model, int index);

/* How far it scatters about its value: the standard deviation ("deviation", 0 when not given; NAN when the index is out
   of range) and the kind of distribution. */
typedef enum { MBG_NORMAL, MBG_UNIFORM } mbg_distribution;
MBG_API double mbg_model_parameter_deviation(const mbg_model *model, int index);
MBG_API mbg_distribution mbg_model_parameter_distribution(const mbg_model *model, int index);

/* Unit and note, "" when not given. */
MBG_API const char *mbg_model_parameter_unit(const mbg_model *model, int index);
MBG_API const char *mbg_model_parameter_note(const mbg_model *model, int index);

/* Parameters as the file names them: scalars and whole vectors. count is 0 for a scalar, else the number of entries,
   which are the scalar parameters first .. first+count-1. Results may be NULL. */
MBG_API int mbg_model_parameter_group_count(const mbg_model *model);
MBG_API int mbg_model_parameter_group(const mbg_model *model, int group, const char **name, int *first, int *count);

/* True when the run that the model was loaded for sets the parameter. */
MBG_API bool mbg_model_parameter_is_set(const mbg_model *model, int index);

/* ---------------------------------------------------------------------- runs */

/* The runs of the file: their number, names and notes ("" without one), and the name of the run that the model was
   loaded for (NULL: none). */
MBG_API int mbg_model_run_count(const mbg_model *model);
MBG_API const char *mbg_model_run_name(const mbg_model *model, int index);
MBG_API const char *mbg_model_run_note(const mbg_model *model, int index);
MBG_API const char *mbg_model_active_run(const mbg_model *model);

/* ---------------------------------------------------------------------- elements */

/* Elements in the order of the file, then the elements of parts, whose names have a prefix: "FL.arm". Nodes of beams
   are bodies: "rod.3". Names and types are NULL when the index is out of range. */
MBG_API int mbg_model_body_count(const mbg_model *model);
MBG_API const char *mbg_model_body_name(const mbg_model *model, int index);

/* Modal coordinates of all modal bodies, and the body of each (-1: out of range). */
MBG_API int mbg_model_modal_count(const mbg_model *model);
MBG_API int mbg_model_modal_body(const mbg_model *model, int index);

/* Beams: their nodes are the bodies first .. first+count-1. Results may be NULL; MBG_ERROR_INPUT when the index is out
   of range. */
MBG_API int mbg_model_beam_count(const mbg_model *model);
MBG_API const char *mbg_model_beam_name(const mbg_model *model, int index);
MBG_API int mbg_model_beam_nodes(const mbg_model *model, int index, int *first, int *count);

MBG_API int mbg_model_joint_count(const mbg_model *model);
MBG_API const char *mbg_model_joint_name(const mbg_model *model, int index);
MBG_API const char *mbg_model_joint_type(const mbg_model *model, int index); /* "revolute" */

MBG_API int mbg_model_force_count(const mbg_model *model);
MBG_API const char *mbg_model_force_name(const mbg_model *model, int index);
MBG_API const char *mbg_model_force_type(const mbg_model *model, int index); /* "spring-damper" */

/* Signals are sorted: each refers to earlier ones only. The last ones may be without a name (NULL): they come from the
   expressions of criteria. */
MBG_API int mbg_model_signal_count(const mbg_model *model);
MBG_API const char *mbg_model_signal_name(const mbg_model *model, int index);
MBG_API const char *mbg_model_signal_type(const mbg_model *model, int index); /* "position" */
MBG_API const char *mbg_model_signal_unit(const mbg_model *model, int index); /* "m"; "" when not known */

/* Criteria are sorted: a combination comes after its terms. */
MBG_API int mbg_model_criterion_count(const mbg_model *model);
MBG_API const char *mbg_model_criterion_name(const mbg_model *model, int index);
/* "terminal", "integral", "least_squares", "smooth_maximum", "path" or "value", as in a model file. */
MBG_API const char *mbg_model_criterion_kind(const mbg_model *model, int index);

#ifdef __cplusplus
}
#endif

#endif
