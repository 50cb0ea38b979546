/* mbgrad merge: the table of all results in a folder of records */
#include "cli.h"
#include "files.h"
#include "points.h"
#include "results.h"
#include "text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---------------------------------------------------------------------- what is there */

/* "3, 7-9, 20 and 5 more" */
static char *missing_points(const mbg_records *r) {
  enum { RANGES = 8 };
  const int n = mbg_records_get_plan(r)->point_count;
  char *text = cli_copy("");
  int ranges = 0, told = 0, missing = mbg_records_get_summary(r)->missing;
  for (int k = 0; k < n && ranges < RANGES; k++) {
    int end = k;
    while (end < n && mbg_records_status(r, end) == 0) {
      end++;
    }
    if (end > k) {
      char *longer = end == k + 1 ? cli_format("%s%s%d", text, ranges ? ", " : "", k)
                                  : cli_format("%s%s%d-%d", text, ranges ? ", " : "", k, end - 1);
      free(text);
      text = longer;
      told += end - k;
      ranges++;
      k = end;
    }
  }
  if (told < missing) {
    char *longer = cli_format("%s and %d more", text, missing - told);
    free(text);
    text = longer;
  }
  return text;
}

static int say_missing(const mbg_records *r, bool partial) {
  const mbg_records_summary *s = mbg_records_get_summary(r);
  if (s->missing == 0) {
    return CLI_DONE;
  }
  char *which = missing_points(r);
  const int n = mbg_records_get_plan(r)->point_count;
  int status = CLI_DONE;
  if (partial) {
    fprintf(stderr, "mbgrad: warning: %d of %d points are missing: %s\n", s->missing, n, which);
  } else {
    status = cli_failed("%d of %d points are missing: %s; mbgrad %s with --records and --resume computes them, "
                        "--partial writes the others",
                        s->missing, n, which, mbg_records_get_plan(r)->kind);
  }
  free(which);
  return status;
}

static void put_summary(const mbg_records *r) {
  const mbg_records_summary *s = mbg_records_get_summary(r);
  printf("%s of model '%s': %d points in %d files\n", mbg_records_get_plan(r)->kind, mbg_records_get_plan(r)->model,
         mbg_records_get_plan(r)->point_count, s->files);
  printf("  done       %d\n  failed     %d\n  missing    %d\n", s->done, s->failed, s->missing);
  printf("  duplicate  %d\n  damaged    %d\n  foreign    %d files\n", s->duplicate, s->damaged, s->foreign);
}

/* ---------------------------------------------------------------------- the table */

static int write_table(const mbg_records *r, const char *path) {
  const mbg_records_plan *p = mbg_records_get_plan(r);
  cli_point_table t = {.model = p->model,
                       .kind = p->kind,
                       .points = p->point_count,
                       .ninput = p->input_count,
                       .noutput = p->output_count,
                       .inputs = p->inputs,
                       .outputs = p->outputs};
  const size_t width = cli_point_table_width(&t), n = (size_t)t.points * width;
  t.rows = cli_resize(NULL, n, sizeof(double));
  for (size_t i = 0; i < n; i++) {
    t.rows[i] = i % width == 0 ? CLI_POINT_NOT_RUN : NAN;
  }
  cli_record_rows(r, &t);
  const int status = cli_point_table_write(&t, path), failed = mbg_records_get_summary(r)->failed;
  if (status == CLI_DONE && failed > 0) {
    cli_warning("%d of %d points could not be simulated: rows \"failed\"", failed, t.points);
  }
  free(t.rows);
  return status;
}

static int merge(const cli_args *args) {
  cli_session s = {0};
  mbg_records *r = NULL;
  const char *path = cli_value(args, "out", 0) ? cli_value(args, "out", 0) : "-";
  if (mbg_context_create(NULL, &s.ctx) < 0) {
    return cli_failed("out of memory");
  }
  int status = cli_files_check(args, s.ctx, NULL);
  status = status == CLI_DONE ? cli_session_status(&s, mbg_records_create(s.ctx, args->argument[0], NULL, &r)) : status;
  if (status == CLI_DONE && cli_flag(args, "status")) {
    put_summary(r);
  } else if (status == CLI_DONE) {
    status = say_missing(r, cli_flag(args, "partial"));
    status = status == CLI_DONE ? write_table(r, path) : status;
  }
  mbg_records_destroy(r);
  mbg_context_destroy(s.ctx);
  return status;
}

static const cli_option options[] = {
    {"out", "FILE", CLI_FILE_OUT, "write the table: .csv, .h5 or .hdf5; default: CSV to standard output"},
    {"partial", NULL, false, "write the table even if points are missing: rows \"not run\""},
    {"status", NULL, false, "count points and records; write no table"},
};

extern const cli_command cli_cmd_merge;

const cli_command cli_cmd_merge = {
    .name = "merge",
    .arguments = "FOLDER",
    .summary = "one table of the results that sweeps and others have recorded",
    .details = "Reads the records of a folder (--records), written by any number of programs, names records that are\n"
               "damaged, contradict each other or belong elsewhere, and writes the table of all points. Exit status:\n"
               "0 the table is complete, 1 points are missing, 2 it is no folder of records.\n",
    .least = 1,
    .most = 1,
    .options = options,
    .noption = (int)(sizeof(options) / sizeof(options[0])),
    .run = merge,
};
