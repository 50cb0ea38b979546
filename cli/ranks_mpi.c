/* Ranks by MPI. The queue is one integer on rank 0, from which every rank takes the next number by a one-sided
   fetch-and-add: no rank waits for another one, and none hands out work. */
#include "ranks.h"

#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int own, count = 1;
static MPI_Win window;
static int *counter;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* threads call MPI one at a time */

void cli_ranks_init(int *argc, char ***argv) {
  int provided;
  MPI_Init_thread(argc, argv, MPI_THREAD_SERIALIZED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &own);
  MPI_Comm_size(MPI_COMM_WORLD, &count);
  if (provided < MPI_THREAD_SERIALIZED) {
    fputs("mbgrad: error: this MPI does not serve threads\n", stderr);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
}

void cli_ranks_end(void) { MPI_Finalize(); }

void cli_ranks_abort(int status) {
  if (count > 1) {
    fflush(NULL);
    MPI_Abort(MPI_COMM_WORLD, status);
  }
}

int cli_ranks_own(void) { return own; }

int cli_ranks_count(void) { return count; }

void cli_ranks_wait(void) { MPI_Barrier(MPI_COMM_WORLD); }

int cli_ranks_worst(int status) {
  int worst;
  MPI_Allreduce(&status, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return worst;
}

int cli_ranks_share(void *user, int from, size_t bytes, void *data) {
  enum { PIECE = 1 << 30 }; /* MPI counts by int */
  (void)user;
  for (size_t at = 0; at < bytes; at += PIECE) {
    const size_t left = bytes - at;
    if (MPI_Bcast((char *)data + at, (int)(left < PIECE ? left : PIECE), MPI_BYTE, from, MPI_COMM_WORLD)) {
      return -1;
    }
  }
  return 0;
}

void cli_queue_begin(void) {
  MPI_Win_allocate(own == 0 ? sizeof(int) : 0, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &counter, &window);
  if (own == 0) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    *counter = 0;
    MPI_Win_unlock(0, window);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, window);
}

int cli_queue_next(void) {
  const int one = 1;
  int next;
  pthread_mutex_lock(&lock);
  MPI_Fetch_and_op(&one, &next, MPI_INT, 0, 0, MPI_SUM, window);
  MPI_Win_flush(0, window);
  pthread_mutex_unlock(&lock);
  return next;
}

void cli_queue_end(void) {
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
}
