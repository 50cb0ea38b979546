/* The program alone: one rank. */
#include "ranks.h"

#include <stdatomic.h>

static atomic_int next;

void cli_ranks_init(int *argc, char ***argv) {
  (void)argc;
  (void)argv;
}

void cli_ranks_end(void) {}

void cli_ranks_abort(int status) { (void)status; }

int cli_ranks_own(void) { return 0; }

int cli_ranks_count(void) { return 1; }

void cli_ranks_wait(void) {}

int cli_ranks_worst(int status) { return status; }

int cli_ranks_share(void *user, int from, size_t bytes, void *data) {
  (void)user;
  (void)from;
  (void)bytes;
  (void)data;
  return 0;
}

void cli_queue_begin(void) { atomic_store(&next, 0); }

void cli_queue_end(void) {}

int cli_queue_next(void) { return atomic_fetch_add(&next, 1); }
