/* record: evaluations of an optimizer in a file. Each is appended, and forced to the disk, when it is done; replayed
   in the same order they lead a deterministic optimizer the way it went, to the last bit. */
#ifndef MBG_PROBLEMS_RECORD_H
#define MBG_PROBLEMS_RECORD_H

#include "base/base.h"

typedef struct mbg__record mbg__record;

/* Opens the file for appending. head: one line that identifies the problem of the evaluations; its words before the
   first digit identify records of this kind ("mbgrad optimize "). resume: lines that are there are replayed first,
   except a last one that was cut off; a file that is not there yet, or without a whole first line, is begun. Otherwise
   a record that is there is kept as FILE~. MBG_ERROR_INPUT when the file is no record of this kind, which is never
   touched, when it has another head, or a line that was changed. path is referenced. */
int mbg__record_open(mbg_context *ctx, const char *path, const char *head, bool resume, mbg__record **out);
void mbg__record_close(mbg__record *r); /* accepts NULL */

/* The next recorded evaluation, which must be of that kind and at x (n): *found, with its status and, when that is
   MBG_OK, its values (count). r NULL: none. MBG_ERROR_INPUT when it is another one. */
int mbg__record_next(mbg_context *ctx, mbg__record *r, char kind, int n, const double *x, int count, double *values,
                     int *status, bool *found);
/* MBG_ERROR_INPUT for what the line that was replayed last says. */
int mbg__record_refuse(mbg_context *ctx, const mbg__record *r, const char *what);
int mbg__record_add(mbg_context *ctx, mbg__record *r, char kind, int n, const double *x, int count,
                    const double *values, int status);

/* The kind of the next recorded line, of which at least one must be left. */
char mbg__record_kind(const mbg__record *r);
/* The next recorded line, of which at least one must be left, whatever it is: the first numbers of it, at most `most`;
   none of an evaluation that failed. */
int mbg__record_any(mbg_context *ctx, mbg__record *r, char *kind, int most, double *out, int *count);

/* A file that is there becomes FILE~. */
int mbg__record_keep(mbg_context *ctx, const char *path);

/* Are there recorded evaluations that were not replayed yet? */
bool mbg__record_left(const mbg__record *r);

/* Evaluations that were replayed. */
int mbg__record_replayed(const mbg__record *r);

#endif
