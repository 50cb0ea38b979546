/* Options of commands whose results are recorded in a folder. */
#include "points.h"
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int take_shard(const char *text, cli_record_options *o) {
  char *end;
  enum { PARTS_MAX = 10000000 };
  const long part = strtol(text, &end, 10);
  const long parts = *end == '/' ? strtol(end + 1, &end, 10) : 0;
  if (*end || part < 1 || parts < part || parts > PARTS_MAX) {
    return cli_bad_input("--shard: '%s' is not I/N with 1 <= I <= N, as in 2/4", text);
  }
  o->part = (int)part;
  o->parts = (int)parts;
  return CLI_DONE;
}

int cli_record_take(const cli_args *args, cli_record_options *o) {
  const char *shard = cli_value(args, "shard", 0);
  const bool out = cli_takes(args, "out") && cli_value(args, "out", 0);
  *o = (cli_record_options){cli_value(args, "records", 0), 1, 1, cli_flag(args, "resume"), false};
  /* a search may resume from its restart file instead */
  if (!o->folder && (shard || (o->resume && !cli_takes(args, "restart")))) {
    return cli_bad_input("--%s needs --records FOLDER, where results are recorded", shard ? "shard" : "resume");
  }
  if (shard && (out || (cli_takes(args, "plot") && cli_value(args, "plot", 0)))) {
    return cli_bad_input("--shard computes a part of the table: mbgrad merge FOLDER --out FILE writes all of it");
  }
  return shard ? take_shard(shard, o) : CLI_DONE;
}

bool cli_record_own(const cli_record_options *o, int point) { return o->parts <= 1 || point % o->parts == o->part - 1; }

int cli_record_open(cli_session *session, const cli_record_options *o, const mbg_records_plan *plan,
                    mbg_records **out) {
  const int result = mbg_records_create(session->ctx, o->folder, plan, out);
  if (result == MBG_OK && o->quiet) {
    mbg_context_clear(session->ctx);
  }
  const int status = cli_session_written(session, result);
  int there = 0;
  for (int k = 0; *out && k < plan->point_count; k++) {
    there += cli_record_own(o, k) && mbg_records_status(*out, k) != 0;
  }
  return there > 0 && !o->resume
             ? cli_bad_input("'%s' has results of %d of these points: --resume computes the others", o->folder, there)
             : status;
}

void cli_record_rows(const mbg_records *r, const cli_point_table *t) {
  const size_t width = cli_point_table_width(t) - 1;
  for (int k = 0; k < t->points; k++) {
    const double *found = mbg_records_row(r, k);
    double *row = cli_point_table_row(t, k);
    if (found) {
      row[0] = mbg_records_status(r, k);
      memcpy(row + 1, found, width * sizeof(double));
    }
  }
}
