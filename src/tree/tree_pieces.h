/* tree_pieces: a large tree cut into connected pieces, which threads share. A piece hangs on its base, a link outside,
   by its first link; other pieces hang on one of its links at most, the exit. The cuts depend on the model alone.
   Carriers of modal coordinates belong to no piece. */
#ifndef MBG_TREE_TREE_PIECES_H
#define MBG_TREE_TREE_PIECES_H

#include "tree/tree.h"

typedef struct {
  int first, count; /* links in `list`, parents first */
  int path, npath;  /* in `path`: from the first link to the exit; 0: no exit */
  int base;         /* piece that it hangs on, -1: the ground */
} mbg__tree_piece;

/* Pieces are ordered parents first. */
typedef struct {
  int n;
  mbg__tree_piece *pieces;
  int *list, *path; /* links by piece */
} mbg__tree_pieces;

/* Bodies of a piece, for a tree of that many. */
int mbg__tree_piece_size(int bodies, int least);

/* Pieces of up to `size` links (nbody of the model). Memory in the arena. */
int mbg__tree_pieces_create(mbg_context *ctx, mbg__arena *arena, const mbg_model *m, const mbg__link *links, int size,
                            mbg__tree_pieces *out);

#endif
