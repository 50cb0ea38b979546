/* sequence: the events of a run in their order. A criterion is smooth as long as they are the same; where they change
   it has a kink or jumps, and what an optimizer has learned of its curvature before is wrong behind it. Searches
   therefore compare the sequence where they end with the one where they began, and begin anew where it is another
   one. */
#ifndef MBG_PROBLEMS_SEQUENCE_H
#define MBG_PROBLEMS_SEQUENCE_H

#include "base/base.h"
#include "mbgrad/run.h"

#include <stdint.h>

/* How often a search begins anew because of it. */
enum { MBG__SEQUENCE_CHANGES = 4, MBG__SEQUENCE_TEXT = 240 };

/* A number for the sequence of a simulated run; 0 without events. */
uint64_t mbg__sequence_sum(const mbg_run *run);
/* "floor, floor, goal"; "none" without events. Long ones end with dots and their number. */
void mbg__sequence_text(const mbg_run *run, char text[MBG__SEQUENCE_TEXT]);
/* Files notes: the sequence of the run at the end of a search that began anew `changes` times. name: of its load case
   or experiment, NULL: there is one. Nothing for a model without events. */
void mbg__sequence_note(mbg_context *ctx, const mbg_run *run, const char *name, int changes);
/* Of these the number alone. */
void mbg__sequence_note_changes(mbg_context *ctx, int changes);

#endif
