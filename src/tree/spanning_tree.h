/* spanning_tree: a spanning tree of the mechanism from the ground. Joints with most rows come first, then hints
   ("cut"), then the smallest depth, then their names: the order of the file does not matter (theory 0, section 9).
   The other joints close loops. The base of what does not hang on the ground is the body with most joints. */
#ifndef MBG_TREE_SPANNING_TREE_H
#define MBG_TREE_SPANNING_TREE_H

#include "model/model.h"

typedef struct {
  int *parent;  /* of each body: body, -1 the ground (or none: by < 0)      (nbody) */
  int *by;      /* joint to it, -1: none, the body is free                   (nbody) */
  int *depth;   /* 1 for bodies on the ground and free ones                  (nbody) */
  bool *closes; /* joints that are not in the tree                           (njoint) */
} mbg__spanning_tree;

/* usable: whether the joint may carry the body at its end `side` (0 A, 1 B) on the
   other body; NULL: all may. Memory in the arena. */
int mbg__spanning_tree_create(mbg_context *ctx, mbg__arena *arena, const mbg_model *m,
                              bool (*usable)(const mbg_model *m, int joint, int side), mbg__spanning_tree *out);

/* Body of end `side` of a joint, -1: the ground. */
static inline int mbg__joint_body(const mbg_model *m, int joint, int side) {
  const mbg__pair *p = &m->pairs[m->joints[joint].pair];
  return m->markers[side ? p->B : p->A].body;
}

#endif
