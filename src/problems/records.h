/* records: the parts of a folder of records (mbgrad/records.h). */
#ifndef MBG_PROBLEMS_RECORDS_H
#define MBG_PROBLEMS_RECORDS_H

#include "base/base.h"
#include "mbgrad/records.h"

/* Ends of the names of files. */
#define MBG__RECORDS_END ".records"
#define MBG__RECORDS_PLAN "plan.json"

struct mbg_records {
  mbg__arena arena;
  const char *folder;
  mbg_records_plan plan;
  mbg_records_summary found;
  char head[128]; /* first line of a file of this plan */
  size_t width;   /* numbers of a row */
  int *status;    /* of each point                                        (points) */
  double *rows;   /* inputs, outputs                                      (points x width) */
  int *file;      /* of the record of each point, and its line            (points) */
  int *line;
  int name_count;
  char **names; /* of files that were read, in their order              (name_count) */
  int out;      /* file of this process, -1: none yet */
  char *path;   /* of it */
  size_t size;  /* bytes in it */
};

/* Writes the plan, or compares it with the plan of the folder; reads it when records->plan.kind is NULL. */
int mbg__records_plan_agree(mbg_context *ctx, mbg_records *records);
/* Reads all files of the folder. */
int mbg__records_read(mbg_context *ctx, mbg_records *records);
/* Takes a result; false: the point has other numbers already. */
bool mbg__records_take(mbg_records *records, int point, int status, const double *row);

#endif
