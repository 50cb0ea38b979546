/* warnings: the list of warnings of a result. */
#ifndef MBG_PROBLEMS_WARNINGS_H
#define MBG_PROBLEMS_WARNINGS_H

#include "base/base.h"

typedef struct {
  mbg__arena *arena; /* of the texts */
  int *count;        /* in the public summary */
  int room;
  const char **text; /* (count) */
} mbg__warnings;

/* Files a warning in the context and in the list. */
int mbg__warn(mbg_context *ctx, mbg__warnings *list, const char *format, ...) MBG_PRINTF(3, 4);

/* The warning at an index; NULL: out of range. */
const char *mbg__warning(const mbg__warnings *list, int index);

/* A text in an arena, printed. */
const char *mbg__arena_format(mbg__arena *arena, const char *format, ...) MBG_PRINTF(2, 3);

#endif
