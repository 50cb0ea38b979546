#include "problems/warnings.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int mbg__warn(mbg_context *ctx, mbg__warnings *list, const char *format, ...) {
  char text[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof(text), format, args);
  va_end(args);
  if (*list->count == list->room) {
    const int room = 2 * list->room + 8;
    const char **more = MBG_TAKE(list->arena, const char *, room);
    if (more && list->text) {
      memcpy(more, list->text, (size_t)*list->count * sizeof(*more));
    }
    list->text = more ? more : list->text;
    list->room = more ? room : list->room;
  }
  const char *copy = mbg__arena_text(list->arena, text, strlen(text));
  if (list->arena->failed) {
    return mbg__fail_memory(ctx);
  }
  list->text[(*list->count)++] = copy;
  mbg__note(ctx, MBG_WARNING, "%s", copy);
  return MBG_OK;
}

const char *mbg__warning(const mbg__warnings *list, int index) {
  return index >= 0 && list->count && index < *list->count ? list->text[index] : NULL;
}

const char *mbg__arena_format(mbg__arena *arena, const char *format, ...) {
  char text[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof(text), format, args);
  va_end(args);
  return mbg__arena_text(arena, text, strlen(text));
}
