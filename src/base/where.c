#include "base/where.h"

#include <stdarg.h>
#include <stdio.h>

int mbg__fail_at(mbg_context *ctx, int status, const mbg__where *where, int offset, const char *format, ...) {
  if (!ctx) {
    return status;
  }
  char place[1024] = "", text[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof(text), format, args);
  va_end(args);
  if (where && where->file) {
    mbg__format(place, sizeof(place), "%s:%d:%d: ", where->file, where->line, where->column + offset);
  }
  const char *owner = where && where->owner ? where->owner : "";
  return mbg__fail(ctx, status, "%s%s%s%s", place, owner, owner[0] ? ": " : "", text);
}
