#include "event_proof.h"

#include "results.h"
#include "text.h"

#include <stdio.h>
#include <stdlib.h>

/* slope 2 over a decade and a half at least: near the change the remainder of an event that vanishes grows faster, so
   that three decades may not be left above rounding */
bool cli_proof_limited(const mbg_proof *q) {
  return q->sequence_event && q->taylor_decades >= 1.5 && q->taylor[q->taylor_first].eps < q->sequence_eps;
}

void cli_proof_print_events(const mbg_run *run, const mbg_proof *q) {
  static const char *const what[] = {
      [MBG_EVENT_GONE] = "is gone", [MBG_EVENT_NEW] = "is new", [MBG_EVENT_MOVED] = "changes its place in the order"};
  const int count = mbg_run_event_count(run);
  if (count == 0 && !q->sequence_event) {
    return;
  }
  char *text = !q->sequence_event
                   ? cli_format("The sequence of events (%d) is the same at every eps of the Taylor test.", count)
                   : cli_format("The sequence of events is the same for eps < %.1e. There event '%s' (t = %.6g) %s: a "
                                "kink or a jump of the criteria, beyond which the gradient says nothing.",
                                q->sequence_eps, q->sequence_event, q->sequence_time, what[q->sequence_change]);
  cli_heading("\nevents");
  cli_paragraph("  ", text);
  free(text);
}

void cli_proof_json_events(const mbg_proof *q) {
  if (!q->sequence_event) {
    return;
  }
  fputs(", \"sequence_eps\": ", stdout);
  cli_json_number(stdout, q->sequence_eps);
  fputs(", \"sequence_event\": ", stdout);
  cli_json_string(q->sequence_event);
  fputs(", \"sequence_time\": ", stdout);
  cli_json_number(stdout, q->sequence_time);
}
