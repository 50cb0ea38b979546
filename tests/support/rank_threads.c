#include "support/rank_threads.h"

#include "support/support.h"

#include <pthread.h>
#include <string.h>

enum { MOST = 16 };

struct rank_meeting {
  pthread_barrier_t barrier;
  void *data;
};

static int share(void *user, int from, size_t bytes, void *data) {
  const rank_seat *seat = user;
  if (seat->own == from) {
    seat->place->data = data;
  }
  pthread_barrier_wait(&seat->place->barrier);
  if (seat->own != from) {
    memcpy(data, seat->place->data, bytes);
  }
  pthread_barrier_wait(&seat->place->barrier);
  return 0;
}

mbg_ranks rank_seen_from(rank_seat *seat) {
  return (mbg_ranks){.own = seat->own, .count = seat->count, .share = share, .user = seat};
}

void rank_threads_run(int count, void *ranks, size_t size, void *(*run)(void *rank)) {
  rank_meeting place;
  pthread_t threads[MOST];
  assert_in_range(count, 1, MOST);
  pthread_barrier_init(&place.barrier, NULL, (unsigned)count);
  for (int k = 0; k < count; k++) {
    rank_seat *seat = (rank_seat *)((char *)ranks + (size_t)k * size);
    *seat = (rank_seat){.place = &place, .own = k, .count = count};
    assert_int_equal(pthread_create(&threads[k], NULL, run, seat), 0);
  }
  for (int k = 0; k < count; k++) {
    pthread_join(threads[k], NULL);
  }
  pthread_barrier_destroy(&place.barrier);
}
