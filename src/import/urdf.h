/* urdf: what the files of this reader share. */
#ifndef MBG_IMPORT_URDF_H
#define MBG_IMPORT_URDF_H

#include "import/robot.h"

/* xyz and rpy of an element, which may be NULL */
int mbg__urdf_origin(mbg__robot *robot, const mbg__xml *origin, mbg__frame *out);
/* the link that an attribute names */
int mbg__urdf_find_link(mbg__robot *robot, const mbg__xml *at, const char *key, int *out);

/* urdf_extensions.c: what drake.h knows; <transmission> as an actuator of its joint */
int mbg__urdf_read_drake(mbg__robot *robot, const mbg__xml *at, int *number);
int mbg__urdf_read_transmission(mbg__robot *robot, const mbg__xml *at);

#endif
