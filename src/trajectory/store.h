/* store: the nodes of a run in memory, all of them or checkpoints under a memory limit.

   A backward pass asks for one node after the other from the end. When all nodes fit the limit, they are kept.
   Otherwise half of the memory holds evenly spaced checkpoints, and the nodes between two checkpoints are recomputed
   into the other half: stretches that fit directly, longer ones by the same rule once more. Recomputed steps start from
   stored nodes and are bit-identical (theory 0, section 8: nothing but a node influences what follows). */
#ifndef MBG_TRAJECTORY_STORE_H
#define MBG_TRAJECTORY_STORE_H

#include "base/pool.h"
#include "trajectory/trajectory.h"

/* Node n from node n - 1, exactly as the run computed it. A node is a block of bytes without pointers into itself. */
typedef int (*mbg__store_recompute)(mbg_context *ctx, void *user, int n, const void *from, void *to);

typedef struct {
  mbg_allocator allocator;
  mbg__store_recompute recompute;
  void *user;
  mbg__pool *pool; /* threads for copies of large nodes, NULL: none; may be set after the creation */
  size_t bytes;    /* of a node, a multiple of 16 */
  double memory;   /* most bytes, 0: no limit */
  int count;       /* nodes of the run so far */
  int stride;      /* distance of the checkpoints */
  int limit;       /* most checkpoints, INT_MAX: no limit */
  int room, used;  /* places in memory, and those taken: a stack with ascending numbers of nodes */
  char *block;     /*                                            (room x bytes) */
  int *index;      /* number of the node in a place              (room) */
  char *spare[3];  /* for steps from the first to the second; the end of a restored step  (bytes each) */
  long recomputed; /* steps, since the run began */
} mbg__store;

int mbg__store_create(mbg_context *ctx, size_t bytes, double memory, mbg__store_recompute recompute, void *user,
                      mbg__store *s);
void mbg__store_destroy(mbg__store *s);

/* Begins a run of `nnode` nodes; 0: unknown. Then every second checkpoint goes whenever half of the memory is full. */
int mbg__store_begin(mbg_context *ctx, mbg__store *s, int nnode);
/* ... of which there may be about so many: room for them, as far as half of the memory goes. */
int mbg__store_expect(mbg_context *ctx, mbg__store *s, int nnode);
/* The next node of the run: it becomes a checkpoint when it is its turn. */
int mbg__store_checkpoint(mbg_context *ctx, mbg__store *s, const void *node);
/* Place i of the stack: node i when all nodes are in memory. */
static inline char *mbg__store_place(const mbg__store *s, int i) { return s->block + (size_t)i * s->bytes; }
/* Are all nodes in memory? */
bool mbg__store_complete(const mbg__store *s);
const void *mbg__store_first(const mbg__store *s);
/* Node n of the run, valid until the next call; cheap when n falls. Uses the spare nodes. */
int mbg__store_restore(mbg_context *ctx, mbg__store *s, int n, const void **node);
/* Nodes n - 1 and n, valid until the next call. */
int mbg__store_restore_step(mbg_context *ctx, mbg__store *s, int n, const void **from, const void **to);
/* Gives all places back but that of the first node, from which the others are recomputed when they are asked for. */
void mbg__store_forget(mbg__store *s);
/* Bytes of all places. */
double mbg__store_bytes(const mbg__store *s);
/* Another limit during or after a run: checkpoints go until they fit. */
int mbg__store_limit(mbg_context *ctx, mbg__store *s, double memory);

#endif
