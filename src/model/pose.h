/* pose: frames built from attributes, with their derivatives. */
#ifndef MBG_MODEL_POSE_H
#define MBG_MODEL_POSE_H

#include "model/design.h"

/* Evaluates the operations of a pose at the attribute values. `placed` are the poses it may refer to (evaluated
   before); out has room for the dependences. Returns false when a direction has no length or z and x are parallel;
   *where is then the operation. */
bool mbg__pose_eval(const mbg__pose_op *ops, int count, const real *attr, const mbg__placed *placed, mbg__placed *out,
                    int *where);

/* Number of attributes a pose depends on, including those of the poses it refers to. */
int mbg__pose_deps(const mbg__pose_op *ops, int count, const mbg__pose *poses);

/* The frame of one operation alone (not one that refers to a pose) and its dependences, room for MBG__FACTOR_DEPS.
   Returns false as above. */
enum { MBG__FACTOR_DEPS = 15 };
bool mbg__pose_factor(const mbg__pose_op *op, const real *attr, mbg__placed *out);

/* Branch of the rule of MBG__POSE_ALIGN for a direction (see pose.c). */
int mbg__pose_align_branch(const double z[3]);

#endif
