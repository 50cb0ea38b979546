/* check: the result of a check and its workspace, shared by src/problems/check*.c. */
#ifndef MBG_PROBLEMS_CHECK_H
#define MBG_PROBLEMS_CHECK_H

#include "mbgrad/check.h"
#include "problems/warnings.h"
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
  mbg__warnings warnings;
};

/* What a check works with, and throws away. */
typedef struct {
  mbg_context *ctx;
  const mbg_model *m;
  mbg_check *check;
  mbg__arena arena;
  mbg__design *design;
  mbg__system *sys;
  mbg__start_work *start_work;
  const mbg__start_result *start;
  real *vd, *lambda;
  bool accelerations;
  bool *determined;             /* signals (nsignal) */
  int *coord_of, *coord_next;   /* coordinates of a pair: first, next; -1 ends    (npair, ncoord) */
  int *driver_of, *driver_next; /* drivers of a joint                             (njoint, ndriver) */
} mbg__check_work;

/* Fills the lists, besides links and redundant rows. */
int mbg__check_lists(mbg__check_work *w);

/* Mass of an element of a beam at each of its nodes. */
double mbg__check_half_mass(const mbg__check_work *w, int element);

/* "" for NULL. */
const char *mbg__check_text(const char *text);

/* Spanning tree of the mechanism into links, closes_loop and connected. Joints are taken by most rows, then hints,
   then smallest depth, then names (theory 0, section 9). */
int mbg__check_tree(mbg_context *ctx, mbg_check *check);

/* Warns of hinges and slides that lock each other. */
int mbg__check_locks(mbg__check_work *w);

/* at[i] = a place where parameter i decides a comparison or a sign, NULL: none; zero at entry (nparameter). */
int mbg__check_switches(mbg_context *ctx, mbg__arena *arena, const mbg_model *m, const mbg__where **at);

/* Name of the body of an end of a pair: side 0 is A, 1 is B. */
const char *mbg__check_end(const mbg_model *model, int pair, int side);

#endif
