/* where: a place in a file, and messages that point at it. */
#ifndef MBG_BASE_WHERE_H
#define MBG_BASE_WHERE_H

#include "base/base.h"

typedef struct {
  const char *file;  /* name of the file, or NULL: the message then has no "file:line:column: " */
  int line, column;  /* from 1; of the first character of the text, for a string: after its quote */
  const char *owner; /* owner of the text, e.g. "force 'spring' stiffness"; may be NULL */
} mbg__where;

/* Files the error "file:line:column: owner: message", with `offset` characters added to the column, and returns
   `status`. ctx may be NULL: nothing is filed. where may be NULL: the message alone. */
int mbg__fail_at(mbg_context *ctx, int status, const mbg__where *where, int offset, const char *format, ...)
    MBG_PRINTF(5, 6);

#endif
