/* identify_starts: an identification from several starts, each in a process of its own. */
#ifndef CLI_IDENTIFY_STARTS_H
#define CLI_IDENTIFY_STARTS_H

#include "mbgrad/identify.h"
#include "starts.h"

typedef struct {
  mbg_identify_start *known; /* what they have found                  (starts) */
  char *file;                /* evaluations of the best one */
  bool part;                 /* only a part of them was to be done: there is no best one */
  int ended;                 /* those that were not interrupted */
  cli_start_rows rows;
} cli_fits;

/* Fits from all o->starts starts, at most `jobs` at a time, or from those of a part whose results are not in the folder
   of `record`, where they are recorded. Afterwards *o replays the best one and knows the others: its result is that of
   one program. Of a part, a message has said what was done. Exit status; end it in either case. */
int cli_identify_starts(cli_session *session, mbg_identify_options *o, int jobs, const cli_record_options *record,
                        cli_fits *fits);
void cli_identify_starts_end(cli_fits *fits);

#endif
