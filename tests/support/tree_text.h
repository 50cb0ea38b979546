/* Trees with long paths: bodies on each other, branches, joints of all kinds that a tree takes, springs between
   neighbours and to the ground. No rows are left, so ali3p eliminates their systems along the tree. */
#ifndef SUPPORT_TREE_TEXT_H
#define SUPPORT_TREE_TEXT_H

#include <stdbool.h>

/* The text of a model with 0.2 s in steps of 0.01 s; closed: a distance to the last body, which leaves a row. Free with
   free(). */
char *tree_text(int bodies, bool planar, bool closed);

#endif
