/* rolling: wheels and balls of rolling joints become shapes of the scene, as large as they roll. */
#ifndef MBG_VIEW_ROLLING_H
#define MBG_VIEW_ROLLING_H

#include "view/scene.h"

typedef struct {
  bool wheel;    /* else a ball */
  double radius; /* from the centre to the plane, of an upright wheel */
  double width;  /* of a wheel */
} mbg__rolling_view;

/* False: the joint is no rolling one. */
bool mbg__rolling_of(const mbg__scene *scene, int joint, mbg__rolling_view *out);

/* The body is a wheel or ball that rolls about its centre of mass, and nothing else. */
bool mbg__rolling_draws(const mbg__scene *scene, int body);

void mbg__rolling_add(mbg__scene *scene);

#endif
