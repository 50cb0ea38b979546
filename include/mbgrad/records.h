/* mbgrad: records: results of many points in a folder, to which any number of processes and machines write.

   A folder holds a plan, plan.json (which points there are, of which model), and files of records, one for each process
   that wrote. A record is a line with the number of the point, its inputs and its outputs, bit by bit, and a sum. It is
   written by one call of the system: a process that is killed leaves whole records, and at most one at the end that is
   not whole and does not count. The same point twice is one result. */
#ifndef MBGRAD_RECORDS_H
#define MBGRAD_RECORDS_H

#include "mbgrad/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------- plans */

/* What the points of a folder are. */
typedef struct {
  const char *kind;     /* "sweep": a word */
  const char *model;    /* its name */
  const char *identity; /* mbg_records_identity */
  int point_count, input_count, output_count;
  const char *const *inputs;  /* names: columns of a table          (input_count) */
  const char *const *outputs; /*                                    (output_count) */
} mbg_records_plan;

/* A sum over all that results depend on: the version of the library, the model with the files that it names, options of
   the run (NULL: none), and numbers of the caller (count), such as parameters and points. Where files lie does not
   matter. identity: 16 hexadecimal digits and a 0. */
enum { MBG_RECORDS_IDENTITY_SIZE = 17 };
MBG_API int mbg_records_identity(mbg_context *ctx, const mbg_model *model, const mbg_run_options *run, size_t count,
                                 const double *numbers, char *identity);

/* ---------------------------------------------------------------------- folders */

typedef struct mbg_records mbg_records;

/* What was found in a folder. Records that are damaged, and files that belong to another plan, are named by warnings
   and do not count. */
typedef struct {
  int files;
  int done;      /* points with outputs */
  int failed;    /* points whose simulation failed: a result as well */
  int missing;   /* points without a record */
  int duplicate; /* records of points that were there already, with the same numbers */
  int damaged;   /* records */
  int foreign;   /* files */
} mbg_records_summary;

/* Reads a folder. With a plan the folder is made when it is missing, and the plan is written when there is none; a
   folder with another plan is MBG_ERROR_INPUT. plan NULL: the plan of the folder. MBG_ERROR_INPUT as well when two
   records give different numbers for one point: both are named. */
MBG_API int mbg_records_create(mbg_context *ctx, const char *folder, const mbg_records_plan *plan, mbg_records **out);
MBG_API void mbg_records_destroy(mbg_records *records);

MBG_API const mbg_records_plan *mbg_records_get_plan(const mbg_records *records);
MBG_API const mbg_records_summary *mbg_records_get_summary(const mbg_records *records);

/* Status of a point: 0 there is no record, > 0 done, < 0 its error. */
MBG_API int mbg_records_status(const mbg_records *records, int point);
/* Inputs, then outputs (NAN when it failed) of a point; NULL: there is no record. */
MBG_API const double *mbg_records_row(const mbg_records *records, int point);

/* Appends a result to a file of this process, which is made by the first call; the records of others are not touched.
   row: inputs, then outputs, which are not read when status < 0. A lack of memory, a file that cannot be written and an
   interruption are no results of a point: they are not recorded. MBG_ERROR_IO when the record cannot be written; those
   before it stay. Calls are not made by two threads at once. */
MBG_API int mbg_records_add(mbg_context *ctx, mbg_records *records, int point, int status, const double *row);
/* Forces what was added to the disk; mbg_records_destroy does not. */
MBG_API int mbg_records_sync(mbg_context *ctx, mbg_records *records);

#ifdef __cplusplus
}
#endif

#endif
