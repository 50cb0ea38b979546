/* Option structures that carry their size as first member, so that they can grow. */
#include "base/base.h"
#include "mbgrad/version.h"

#include <string.h>

void mbg__options_default(void *options, size_t size, const void *defaults, size_t known) {
  if (!options || size < sizeof(size_t)) {
    return;
  }
  memset(options, 0, size);
  memcpy(options, defaults, size < known ? size : known);
  memcpy(options, &size, sizeof(size));
}

int mbg__options_take(mbg_context *ctx, const char *what, const void *given, void *options, size_t known) {
  size_t size = known;
  if (given) {
    memcpy(&size, given, sizeof(size));
  }
  if (size < sizeof(size_t)) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "%s options: the size is %zu; call mbg_%s_options_default first", what, size,
                     what);
  }
  if (size > known) {
    return mbg__fail(ctx, MBG_ERROR_INPUT,
                     "%s options have %zu bytes, but this library knows only %zu: the program was compiled for a newer "
                     "version than %s",
                     what, size, known, mbg_version());
  }
  if (given) {
    memcpy(options, given, size);
  }
  memcpy(options, &known, sizeof(known));
  return MBG_OK;
}
