/* motion: poses, modal coordinates and signals of a run at chosen nodes, as bytes that compress well.

   Each channel is a row of whole numbers x_i = round((y_i - offset)/scale). A byte says which differences of it are
   the smallest, 1: x_i - x_{i-1} (x before the first: 0), 2: the differences of these, and so on up to 6. They are
   wrapped to 32 bits, made positive (2 d, or -2 d - 1) and stored as four planes of bytes, lowest first. Channels: the
   time; per body position (3) and quaternion (x, y, z, w); modal coordinates; signals, which are sparse (below). */
#ifndef MBG_VIEW_MOTION_H
#define MBG_VIEW_MOTION_H

#include "io/json_write.h"
#include "mbgrad/run.h"
#include "model/model.h"

/* Writes members of an open object (number of frames, offsets, scales, names of the signals) and the bytes. frames:
   limit. Needs a simulated run with poses. */
int mbg__motion_write(mbg_context *ctx, const mbg_run *run, int frames, mbg__json_writer *w, mbg__buffer *bytes);

/* What a channel of n numbers needs while it is written: x (n), planes (4 n), kept (n), at (n); NULL when memory is
   short. */
typedef struct {
  uint32_t *x;
  unsigned char *planes;
  double *kept, *at;
} mbg__channel_room;

mbg__channel_room mbg__motion_room(mbg__arena *arena, int n);

/* Adds one channel of n numbers. */
void mbg__motion_channel(mbg__buffer *bytes, int n, const double *y, double offset, double scale,
                         mbg__channel_room *room);

/* Adds a channel of which only every k-th number is kept, and the last one. The others lie on polynomials in time
   through six of them, to one unit of the scale. t: times (n). Returns k; 1: all are kept, in steps of two units. */
int mbg__motion_sparse(mbg__buffer *bytes, int n, const double *t, const double *y, double offset, double scale,
                       mbg__channel_room *room);

/* The nodes that are shown: at most `frames` of them, with the first and the last; returns their number. node: room
   for all nodes of the run. */
int mbg__motion_nodes(const mbg_run *run, int frames, int *node);

/* Quaternion (x, y, z, w) of a rotation, of the sign that is nearest to the quaternion before. */
void mbg__motion_quaternion(const double R[9], const double before[4], double q[4]);

#endif
