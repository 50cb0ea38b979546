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
  bool loads; /* forces and moments of joints and forces, and stresses of beams, of the first run: simulates again */
} mbg_view_options;

MBG_API void mbg_view_options_default(mbg_view_options *options, size_t size);

/* A page with the motion of a simulated run that keeps poses (mbg_run_options: keep_poses; all_signals shows all
   signals): one HTML file without references to others. *page is the caller's to free (mbg_text_destroy). */
MBG_API int mbg_view_page(mbg_context *ctx, mbg_run *run, const mbg_view_options *options, char **page);

/* The motion as binary glTF 2.0 (.glb), for other viewers: bodies with their shapes and animation, beams as skins of
   their nodes, modal bodies as morph targets whose weights are the modal coordinates. *data: *length bytes, the
   caller's to free (mbg_text_destroy). */
MBG_API int mbg_view_glb(mbg_context *ctx, mbg_run *run, const mbg_view_options *options, char **data, size_t *length);

/* ---------------------------------------------------------------------- pictures */

/* The mechanism as flat figures, at one time or at several: for files of pictures without a browser. */
typedef struct mbg_picture mbg_picture;

typedef struct {
  size_t size;               /* of this structure: set by mbg_picture_options_default */
  int frames;                /* 1: at `time`; more: evenly from the start to the end of the run; 1 */
  double time;               /* s, of one frame; NAN: the start */
  double width, height;      /* in pixels; 480; height NAN: as the mechanism needs it */
  double azimuth, elevation; /* of the eye, in degrees about the upward direction and above the ground; NAN: a motion in
                                a plane is looked at from its side, others from above */
} mbg_picture_options;

typedef enum {
  MBG_FIGURE_AREA,  /* a polygon, filled and outlined */
  MBG_FIGURE_LINE,  /* an open line with round ends */
  MBG_FIGURE_CIRCLE /* filled and outlined */
} mbg_figure_kind;

/* One figure, drawn over those before it. Points in pixels from the upper left corner, for each frame as many. */
typedef struct {
  mbg_figure_kind kind;
  int points;
  const double *at; /* frames x points x 2 */
  double radius;    /* of a circle */
  double width;     /* of the line or outline */
  int fill, stroke; /* colours 0xrrggbb; -1: none */
} mbg_figure;

MBG_API void mbg_picture_options_default(mbg_picture_options *options, size_t size);
/* Of a simulated run that keeps poses. */
MBG_API int mbg_picture_create(mbg_context *ctx, mbg_run *run, const mbg_picture_options *options, mbg_picture **out);
MBG_API void mbg_picture_destroy(mbg_picture *picture);

MBG_API double mbg_picture_width(const mbg_picture *picture);
MBG_API double mbg_picture_height(const mbg_picture *picture);
MBG_API int mbg_picture_frame_count(const mbg_picture *picture);
MBG_API double mbg_picture_frame_time(const mbg_picture *picture, int frame);
MBG_API int mbg_picture_figure_count(const mbg_picture *picture);
/* NULL when the index is out of range. */
MBG_API const mbg_figure *mbg_picture_figure(const mbg_picture *picture, int index);

#ifdef __cplusplus
}
#endif

#endif
