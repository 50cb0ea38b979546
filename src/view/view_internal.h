/* view: functions that the files of a motion share. */
#ifndef MBG_VIEW_VIEW_INTERNAL_H
#define MBG_VIEW_VIEW_INTERNAL_H

#include "mbgrad/view.h"
#include "view/scene.h"

/* The run can be shown, with these options; else a message says why. */
int mbg__view_check(mbg_context *ctx, const mbg_run *run, const mbg_view_options *options);

/* Edges or diameters of the section of a beam, along its axes y and z. */
void mbg__scene_section(const mbg__scene *scene, const mbg__beam_rule *rule, const int *attr, double out[2]);

/* The axis of a modal body: the point xi (0 .. 1) of a generated beam. r (3), columns P (6 per mode). */
void mbg__scene_station(const mbg__scene *scene, const mbg__modal *body, double xi, double r[3], double *P);

#endif
