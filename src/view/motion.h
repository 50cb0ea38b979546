/* motion: poses, modal coordinates and signals of a run at chosen nodes, as bytes that compress well.

   Each channel is a row of whole numbers x_i = round((y_i - offset)/scale); its second differences d_i = x_i - 2
   x_{i-1} + x_{i-2} (x before the first: 0), wrapped to 32 bits, are made positive (2 d, or -2 d - 1) and stored as
   four planes of bytes, lowest first. Channels: the time; per body position (3) and quaternion (x, y, z, w); modal
   coordinates; signals. */
#ifndef MBG_VIEW_MOTION_H
#define MBG_VIEW_MOTION_H

#include "io/json_write.h"
#include "mbgrad/run.h"
#include "model/model.h"

/* Writes members of an open object (number of frames, offsets, scales, names of the signals) and the bytes. frames:
   limit. Needs a simulated run with poses. */
int mbg__motion_write(mbg_context *ctx, const mbg_run *run, int frames, mbg__json_writer *w, mbg__buffer *bytes);

/* Adds one channel of n numbers. planes: room for 4 n. */
void mbg__motion_channel(mbg__buffer *bytes, int n, const double *y, double offset, double scale,
                         unsigned char *planes);

/* The nodes that are shown: at most `frames` of them, with the first and the last; returns their number. node: room
   for all nodes of the run. */
int mbg__motion_nodes(const mbg_run *run, int frames, int *node);

/* Quaternion (x, y, z, w) of a rotation, of the sign that is nearest to the quaternion before. */
void mbg__motion_quaternion(const double R[9], const double before[4], double q[4]);

#endif
