/* drake: elements of Drake that URDF and SDF share: URDF gives their values as attributes, SDF as text. */
#ifndef MBG_IMPORT_DRAKE_H
#define MBG_IMPORT_DRAKE_H

#include "import/robot.h"

typedef struct {
  mbg__robot *robot;
  const char *prefix; /* of the names of what is read */
  /* the link, or the ground, and the frame in it that a name means; an error at `at` without one */
  int (*find)(const void *of, const mbg__xml *at, const char *name, int *link, mbg__frame *H);
  const void *of;
} mbg__drake;

/* <drake:ball_constraint>, <drake:linear_bushing_rpy>, <drake:linear_spring_damper> */
bool mbg__drake_knows(const char *tag);
/* Reads one of them; number: how many were read before, counted on. */
int mbg__drake_read(const mbg__drake *d, const mbg__xml *at, int *number);

#endif
