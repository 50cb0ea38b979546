/* poses: frames, twists and modal coordinates over time, and their CSV file. */
#ifndef CLI_POSES_H
#define CLI_POSES_H

#include "results.h"

typedef struct cli_poses {
  int rows, bodies, modes;
  double *time;          /*                                                           (rows) */
  double *frames;        /* rotation row by row, then position             (rows x bodies x 12) */
  double *twists;        /* velocity, then angular velocity, in body axes   (rows x bodies x 6) */
  double *modal, *rates; /* modal coordinates                                     (rows x modes) */
} cli_poses;

/* Poses of a run that keeps them, at the times of the columns. Between nodes positions, twists and modal coordinates
   lie on straight lines, rotations on the shortest turn. */
void cli_poses_make(cli_poses *poses, const mbg_model *model, const mbg_run *run, const cli_series *times);
void cli_poses_destroy(cli_poses *poses);

/* CSV: t, then of each body BODY.x, .y, .z and the quaternion .qw, .qx, .qy, .qz, then modal coordinates BODY.eta1,
   ...; "-": standard output. Exit status. */
int cli_poses_write(const cli_poses *poses, const mbg_model *model, const char *path);

#endif
