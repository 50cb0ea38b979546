/* base: loops shared by a few threads that sleep while there is nothing to do.

   The calling thread always works itself and waits for no thread that has not begun, so that a busy machine costs
   little. Each loop is timed: threads are used as long as they are faster than the caller alone, and what they may lose
   is bounded (pool.c). A loop gives the same bits with any number of threads if its pieces write to different places
   and read nothing that another piece writes. */
#ifndef MBG_BASE_POOL_H
#define MBG_BASE_POOL_H

#include "base/base.h"
#include "base/real.h"

typedef struct mbg__pool mbg__pool;

/* Items first <= i < end, by thread number `thread` (0: the caller). */
typedef void mbg__pool_work(void *user, int thread, int first, int end);

/* loops with a statistic of their own, and the first one of each room that has some */
enum { MBG__POOL_LOOPS = 272 };
enum {
  MBG__LOOPS_DCA = 0,
  MBG__LOOPS_SYSTEM = 144,
  MBG__LOOPS_TREE = 208,
  MBG__LOOPS_RK = 248,
  MBG__LOOPS_STORE = 268
};

/* `threads` counts the caller. Where the system grants fewer, fewer work. */
int mbg__pool_create(mbg_context *ctx, int threads, mbg__pool **out);
void mbg__pool_destroy(mbg__pool *pool);
/* Most threads that take part: numbers below it are handed to work functions. pool may be NULL: 1. */
int mbg__pool_threads(const mbg__pool *pool);
/* All items 0 <= i < n in pieces of at most `piece`, by at most one thread a piece; returns when they are done. `loop`
   names the loop in the source for the statistic (0 <= loop < MBG__POOL_LOOPS, larger ones share the last). Inside a
   piece, and with pool NULL, the caller does everything. */
void mbg__pool_for(mbg__pool *pool, int loop, int n, int piece, mbg__pool_work *work, void *user);

/* The same for items that need no thread number, in pieces of a good size; few items: the caller alone. */
typedef void mbg__pool_item(void *user, int i);
void mbg__pool_each(mbg__pool *pool, int loop, int n, mbg__pool_item *item, void *user);
/* For items of many microseconds: two of them are enough. */
void mbg__pool_heavy(mbg__pool *pool, int loop, int n, mbg__pool_item *item, void *user);

/* Bytes from one place to another; the pool may be NULL. */
void mbg__pool_copy(mbg__pool *pool, int loop, size_t bytes, void *to, const void *from);
/* x (n) <- 0. */
void mbg__pool_zero(mbg__pool *pool, int loop, size_t n, real *x);

#endif
