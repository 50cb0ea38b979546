#include "problems/sequence.h"

#include "problems/record.h"
#include "run/run_internal.h"

#include <string.h>

uint64_t mbg__sequence_sum(const mbg_run *run) {
  uint64_t sum = 0;
  for (int i = 0; i < mbg_run_event_count(run); i++) {
    mbg_run_event e;
    if (mbg_run_event_at(run, i, &e) == MBG_OK) {
      sum = mbg__sum(i == 0 ? MBG__SUM_START : sum, e.name, strlen(e.name) + 1);
    }
  }
  return sum;
}

void mbg__sequence_text(const mbg_run *run, char text[MBG__SEQUENCE_TEXT]) {
  const int count = mbg_run_event_count(run);
  size_t n = 0;
  mbg__format(text, MBG__SEQUENCE_TEXT, "none");
  for (int i = 0; i < count; i++) {
    mbg_run_event e;
    (void)mbg_run_event_at(run, i, &e);
    if (n + strlen(e.name) + 32 > MBG__SEQUENCE_TEXT) {
      mbg__format(text + n, MBG__SEQUENCE_TEXT - n, ", ... (%d)", count);
      return;
    }
    mbg__format(text + n, MBG__SEQUENCE_TEXT - n, "%s%s", i ? ", " : "", e.name);
    n = strlen(text);
  }
}

void mbg__sequence_note(mbg_context *ctx, const mbg_run *run, const char *name, int changes) {
  char text[MBG__SEQUENCE_TEXT];
  if (run->m->nevent == 0) {
    return;
  }
  mbg__sequence_text(run, text);
  mbg__note(ctx, MBG_NOTE, "%s%s%sevents: %s", name ? "run '" : "", name ? name : "", name ? "': " : "", text);
  mbg__sequence_note_changes(ctx, changes);
}

void mbg__sequence_note_changes(mbg_context *ctx, int changes) {
  if (changes >= MBG__SEQUENCE_CHANGES) {
    mbg__note(ctx, MBG_WARNING,
              "the sequence of events changed in each of %d searches: the result lies at such a change, where the "
              "criterion has a kink or jumps",
              changes);
  } else if (changes > 0) {
    mbg__note(ctx, MBG_NOTE, "the sequence of events changed %d time%s on the way; the search began anew there",
              changes, changes > 1 ? "s" : "");
  }
}
