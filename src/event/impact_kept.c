/* Impacts of a run, kept for the pass back over it: what solving them gave, and the factors. Those without a place are
   solved again, with the same bits. */
#include "event/event_internal.h"

#include <string.h>

static const double MOST = 8e6; /* bytes */

/* before every copy: whether there is one */
enum { HEAD = 16, NUMBERS = 9 };

static int count_of(const mbg_model *m) { return 4 * m->nw + m->nrow + NUMBERS; }

static char *slot(const mbg__events *ev, int k) {
  return ev->kept && k < ev->kept_room ? ev->kept + (size_t)k * ev->kept_bytes : NULL;
}

/* all that is kept, to (or from) one place after the other */
static void copy(mbg__events *ev, real *at, bool out) {
  const mbg_model *m = ev->m;
  real *arrays[] = {ev->N, ev->D, ev->T, ev->vp, ev->L};
  real *numbers[NUMBERS] = {&ev->P, &ev->e, &ev->gap_t, &ev->rate, &ev->mu, &ev->th, &ev->th1, &ev->slip, &ev->vs};
  for (int i = 0; i < MBG_COUNT(arrays); i++) {
    const int n = arrays[i] == ev->L ? m->nrow : m->nw;
    vn_copy(n, out ? at : arrays[i], out ? arrays[i] : at);
    at += n;
  }
  for (int i = 0; i < NUMBERS; i++) {
    *(out ? &at[i] : numbers[i]) = *(out ? numbers[i] : &at[i]);
  }
}

void mbg__impacts_forget(mbg__events *ev) {
  ev->arena.allocator.release(ev->arena.allocator.user, ev->kept);
  ev->kept = NULL;
  ev->kept_room = 0;
}

static char *factors(const mbg__events *ev, int k) {
  return slot(ev, k) + HEAD + (size_t)count_of(ev->m) * sizeof(real);
}

/* as many places as firings have; the pivots of the run are known */
static void take_room(mbg__events *ev) {
  const size_t numbers = (size_t)count_of(ev->m) * sizeof(real);
  const size_t bytes = HEAD + (numbers + mbg__klu_bytes(ev->saddle->klu) + 15) / 16 * 16;
  const mbg_allocator *of = &ev->arena.allocator;
  const bool same = bytes == ev->kept_bytes;
  const int room = (double)bytes * ev->room <= MOST ? ev->room : (int)(MOST / (double)bytes);
  if (!same) {
    mbg__impacts_forget(ev);
    ev->kept_bytes = bytes;
  }
  if (room > ev->kept_room) {
    char *more = of->resize(of->user, ev->kept, (size_t)room * bytes);
    const int before = ev->kept_room;
    ev->kept = more ? more : ev->kept;
    ev->kept_room = more ? room : before;
    for (int k = before; k < ev->kept_room; k++) {
      *(bool *)slot(ev, k) = false;
    }
  }
}

void mbg__impact_keep(mbg__events *ev, int k) {
  take_room(ev);
  char *at = slot(ev, k);
  if (at) {
    copy(ev, (real *)(void *)(at + HEAD), true);
    *(bool *)at = mbg__klu_keep(ev->saddle->klu, factors(ev, k));
  }
}

static bool is_kept(const mbg__events *ev, int k) {
  const char *at = slot(ev, k);
  return at && ev->m->events[ev->firings[k].event].impact && *(const bool *)at;
}

bool mbg__events_recall_factors(mbg__events *ev, int k) {
  const bool shared = ev->saddle != &ev->own && is_kept(ev, k);
  if (shared) {
    mbg__klu_recall(ev->saddle->klu, factors(ev, k));
  }
  return shared;
}

bool mbg__impact_recall(mbg__events *ev, int k) {
  if (!is_kept(ev, k)) {
    return false;
  }
  copy(ev, (real *)(void *)(slot(ev, k) + HEAD), false);
  if (!ev->given) {
    mbg__klu_recall(ev->saddle->klu, factors(ev, k));
  }
  ev->given = false;
  return true;
}
