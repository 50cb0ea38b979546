/* check: what src/problems/check*.c share. */
#ifndef MBG_PROBLEMS_CHECK_H
#define MBG_PROBLEMS_CHECK_H

#include "mbgrad/check.h"
#include "start/start.h"

struct mbg_check {
  mbg__arena arena;
  const mbg_model *model;
  mbg_check_summary summary;
  mbg_check_body *bodies;          /* (nbody) */
  mbg_check_joint *joints;         /* (njoint) */
  mbg_check_driver *drivers;       /* (ndriver) */
  mbg_check_force *forces;         /* (nforce) */
  mbg_check_parameter *parameters; /* (nparameter) */
  mbg_check_signal *signals;       /* named ones */
  mbg_check_criterion *criteria;   /* (ncriterion) */
  mbg_check_link *links;
  const char **redundant;
  const char **warnings;
  int warning_room;
};

/* Spanning tree of the mechanism into links, closes_loop and connected. Joints are taken by most kept rows, then hints,
   then smallest depth, then order of the file (theory 0, section 9). */
int mbg__check_tree(mbg_context *ctx, mbg_check *check, const mbg__rank *rank);

/* Name of the body of an end of a pair: side 0 is A, 1 is B. */
const char *mbg__check_end(const mbg_model *model, int pair, int side);

#endif
