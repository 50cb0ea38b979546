#include "event_proof.h"

#include "results.h"
#include "text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { PER_DECADE = 3 };

/* slope 2 over a decade and a half at least: near the change the remainder of an event that vanishes grows faster, so
   that three decades may not be left above rounding */
bool cli_proof_limited(const mbg_proof *q) {
  return q->sequence_event && q->taylor_decades >= 1.5 && q->taylor[q->taylor_first].eps < q->sequence_eps;
}

bool cli_proof_linear(const mbg_proof *q) {
  for (int i = 0; i + 3 * PER_DECADE < MBG_TAYLOR_POINTS; i++) {
    if (isfinite(q->taylor[i].remainder) && q->taylor[i].eps < q->sequence_eps) {
      return q->taylor[i].remainder <= 1e-12 * fmax(fabs(q->value), fabs(q->taylor[i].difference));
    }
  }
  return false;
}

const char *cli_proof_event_change(const mbg_proof *q) {
  static const char *const what[] = {
      [MBG_EVENT_GONE] = "is gone", [MBG_EVENT_NEW] = "is new", [MBG_EVENT_MOVED] = "changes its place in the order"};
  return what[q->sequence_change];
}

void cli_proof_print_events(const mbg_run *run, const mbg_proof *q) {
  const int count = mbg_run_event_count(run);
  if (count == 0 && !q->sequence_event) {
    return;
  }
  char *text = !q->sequence_event
                   ? cli_format("The sequence of events (%d) is the same at every eps of the Taylor test.", count)
                   : cli_format("The sequence of events is the same for eps < %.1e. There event '%s' (t = %.6g) %s: a "
                                "kink or a jump of the criteria, beyond which the gradient says nothing.",
                                q->sequence_eps, q->sequence_event, q->sequence_time, cli_proof_event_change(q));
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
