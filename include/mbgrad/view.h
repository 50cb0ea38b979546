/* mbgrad: motion to look at: a page for browsers, and glTF for other viewers. */
#ifndef MBGRAD_VIEW_H
#define MBGRAD_VIEW_H

#include "mbgrad/run.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  size_t size;   /* of this structure: set by mbg_view_options_default */
  int frames;    /* limit: of more nodes so many are taken, evenly in time; 1000 */
  bool gradient; /* gradients of the criteria by the parameters, too, and what follows */
  int ghosts; /* parameters whose derivative of the motion is shown: those with the largest effect on the criteria; 6 */
  const int *ghost;          /* not NULL: these parameters instead (ghosts) */
  int numbers;               /* numbers of the model that are shown for each criterion, ranked by effect; 40 */
  int nother;                /* runs that the page lays over the first one, of the same model or another; 0 */
  mbg_run *const *others;    /* simulated, with poses (nother) */
  const char *label;         /* of the first run beside others; NULL: the name of the model */
  const char *const *labels; /* their names on the page (nother); may be NULL */
} mbg_view_options;

MBG_API void mbg_view_options_default(mbg_view_options *options, size_t size);

/* A page with the motion of a simulated run that keeps poses (mbg_run_options: keep_poses; all_signals shows all
   signals): one HTML file without references to others. *page is the caller's to free (mbg_text_destroy). */
MBG_API int mbg_view_page(mbg_context *ctx, mbg_run *run, const mbg_view_options *options, char **page);

/* The motion as binary glTF 2.0 (.glb), for other viewers: bodies with their shapes and animation, beams as skins of
   their nodes, modal bodies as morph targets whose weights are the modal coordinates. *data: *length bytes, the
   caller's to free (mbg_text_destroy). */
MBG_API int mbg_view_glb(mbg_context *ctx, mbg_run *run, const mbg_view_options *options, char **data, size_t *length);

#ifdef __cplusplus
}
#endif

#endif
