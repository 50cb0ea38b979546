/* outline: what joints on curves and surfaces touch. Curves become lines (slots, wires) or plates (cams, followers),
   the flat face of a follower a plate, surfaces grids of lines; each in the axes of a marker, with which it moves. */
#ifndef MBG_VIEW_OUTLINE_H
#define MBG_VIEW_OUTLINE_H

#include "io/json_write.h"
#include "mbgrad/run.h"
#include "view/scene.h"

typedef enum { MBG__OUTLINE_LINE, MBG__OUTLINE_PLATE, MBG__OUTLINE_GRID } mbg__outline_kind;

typedef struct {
  mbg__outline_kind kind;
  int joint, marker;
  int curve;         /* in the model, -1: none */
  bool closed;       /* a line that returns to its first point, which is not repeated */
  double thick;      /* radius of a line; half a plate, along z */
  int n;             /* points */
  double (*at)[3];   /* a plate: counterclockwise, z = 0              (n) */
  int ntriangle;     /* of a plate */
  int (*corners)[3]; /*                                               (ntriangle) */
  int nline;         /* of a grid */
  int *count;        /* points of each                                (nline) */
} mbg__outline;

typedef struct {
  int count;
  mbg__outline *at;
} mbg__outlines;

/* The joint is one on a curve or surface: its marker A is no place where the ground holds the mechanism. */
bool mbg__outline_joint(const mbg__joint *joint);

/* The largest curve on each body and, behind them, on the ground.    (frames + 1) */
int mbg__outlines_reach(mbg_context *ctx, const mbg__scene *scene, double *reach);

/* Rollers on curves become shapes of the scene. */
void mbg__rollers_add(mbg__scene *scene);

/* Over n nodes of a run, as far as faces and surfaces reach. fine: how far lines may be off, in parts of their
   extent. */
int mbg__outlines_find(mbg_context *ctx, mbg__arena *arena, const mbg__scene *scene, const mbg_run *run, int n,
                       const int *node, double fine, mbg__outlines *out);

/* Member "curves" of an open object. frames: limit, as of the motion. */
int mbg__outlines_write(mbg_context *ctx, const mbg__scene *scene, const mbg_run *run, int frames, mbg__json_writer *w);

/* Point i of a closed line again behind the last. */
static inline const double *mbg__outline_point(const mbg__outline *o, int i) { return o->at[i % o->n]; }

/* outline_polygon.c: leaves out points that lie nearer than `off` to the line of their neighbours; the number of those
   that stay. */
int mbg__outline_thin(int n, double (*at)[3], bool closed, double off);
/* Area of a polygon in the x-y plane, positive counterclockwise; whether a point lies inside. */
double mbg__polygon_area(int n, const double (*at)[3]);
bool mbg__polygon_has(int n, const double (*at)[3], const double p[2]);
/* Triangles of a polygon that runs counterclockwise: n - 2 of them, fewer where it crosses itself. next: scratch
   (n). */
int mbg__polygon_triangles(int n, const double (*at)[3], int *next, int (*corners)[3]);

/* outline_surface.c: where f = 0 in a box, as lines in planes x, y or z = const. f gives NaN where it is not defined;
   normal: axis along which the surface is a height, or -1. */
typedef double (*mbg__space_fn)(void *user, const double x[3]);
int mbg__outline_surface(mbg_context *ctx, mbg__arena *arena, mbg__space_fn f, void *user, const double low[3],
                         const double high[3], int normal, double off, mbg__outline *out);

#endif
