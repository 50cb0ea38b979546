#include "base/base.h"
#include "base/clear.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  mbg_severity severity;
  char *text; /* owned, except for the line that counts dropped messages */
} message;

struct mbg_context {
  mbg_allocator allocator;
  message messages[MBG__MESSAGE_MAX + 1];
  int count;       /* messages kept */
  int dropped;     /* messages dropped for lack of space or memory */
  char more[64];   /* the line that counts dropped messages, without allocation */
  int errors;      /* errors filed, kept or not */
  char first[512]; /* the first error, without allocation */
};

static void *plain_resize(void *user, void *block, size_t size) {
  (void)user;
  return realloc(block, size);
}

static void plain_release(void *user, void *block) {
  (void)user;
  free(block);
}

void *mbg__allocator_clear(const mbg_allocator *a, size_t bytes) {
  if (a->resize == plain_resize) {
    return calloc(1, bytes);
  }
  void *block = a->resize(a->user, NULL, bytes);
  return block ? memset(block, 0, bytes) : NULL;
}

const char *mbg_status_text(int status) {
  static const char *const texts[] = {
      [MBG_OK] = "done",
      [-MBG_ERROR_MEMORY] = "out of memory",
      [-MBG_ERROR_INPUT] = "bad input: a model, an option or an argument is wrong",
      [-MBG_ERROR_IO] = "a file could not be read or written",
      [-MBG_ERROR_SINGULAR] = "a system of equations is singular",
      [-MBG_ERROR_CONVERGENCE] = "an iteration did not converge",
      [-MBG_ERROR_UNSUPPORTED] = "the formulation or method does not support the request",
      [-MBG_ERROR_INTERRUPTED] = "the interrupt callback stopped the computation",
  };
  return status <= 0 && status > -MBG_COUNT(texts) ? texts[-status] : "unknown status";
}

int mbg_context_create(const mbg_allocator *allocator, mbg_context **out) {
  const mbg_allocator plain = {plain_resize, plain_release, NULL};
  const mbg_allocator *use = allocator ? allocator : &plain;
  MBG_NEED(NULL, out);
  mbg_context *ctx = *out = use->resize(use->user, NULL, sizeof(*ctx));
  if (!ctx) {
    return MBG_ERROR_MEMORY;
  }
  memset(ctx, 0, sizeof(*ctx));
  ctx->allocator = *use;
  return MBG_OK;
}

void mbg_context_destroy(mbg_context *ctx) {
  if (!ctx) {
    return;
  }
  mbg_context_clear(ctx);
  const mbg_allocator allocator = ctx->allocator;
  allocator.release(allocator.user, ctx);
}

void mbg_context_clear(mbg_context *ctx) {
  if (!ctx) {
    return;
  }
  for (int i = 0; i < ctx->count; i++) {
    if (ctx->messages[i].text != ctx->more) {
      mbg__free(ctx, ctx->messages[i].text);
    }
  }
  ctx->count = ctx->dropped = ctx->errors = 0;
  ctx->first[0] = 0;
}

const char *mbg_context_error(const mbg_context *ctx) { return ctx ? ctx->first : ""; }

int mbg_context_message_count(const mbg_context *ctx) { return ctx ? ctx->count : 0; }

mbg_severity mbg_context_message_severity(const mbg_context *ctx, int index) {
  return index >= 0 && index < mbg_context_message_count(ctx) ? ctx->messages[index].severity : MBG_NOTE;
}

const char *mbg_context_message(const mbg_context *ctx, int index) {
  return index >= 0 && index < mbg_context_message_count(ctx) ? ctx->messages[index].text : "";
}

void mbg_text_destroy(mbg_context *ctx, char *text) {
  if (ctx) {
    mbg__free(ctx, text);
  }
}

const mbg_allocator *mbg__context_allocator(const mbg_context *ctx) { return &ctx->allocator; }

/* ---------------------------------------------------------------------- filing */

/* Once a message is dropped, all later ones are: the line that counts them stays the last. */
static void drop_message(mbg_context *ctx) {
  if (ctx->dropped++ == 0) {
    ctx->messages[ctx->count++] = (message){MBG_NOTE, ctx->more};
  }
  mbg__format(ctx->more, sizeof(ctx->more), "(%d more message%s)", ctx->dropped, ctx->dropped == 1 ? "" : "s");
}

static void file_message(mbg_context *ctx, mbg_severity severity, const char *text) {
  if (severity == MBG_ERROR) {
    if (ctx->errors++ == 0) {
      mbg__format(ctx->first, sizeof(ctx->first), "%s", text);
    }
  }
  const size_t size = strlen(text) + 1;
  char *copy = ctx->dropped > 0 || ctx->count == MBG__MESSAGE_MAX ? NULL : mbg__alloc(ctx, size, 1);
  if (!copy) {
    drop_message(ctx);
    return;
  }
  memcpy(copy, text, size);
  ctx->messages[ctx->count++] = (message){severity, copy};
}

/* The text with control characters as \\x1b: names and paths come from files, and messages go to terminals. Of UTF-8
   the characters U+0080 to U+009F as well. */
static void make_visible(const char *text, char *out, size_t size) {
  size_t n = 0;
  for (; *text && n + 5 < size; text++) {
    const unsigned char c = (unsigned char)*text, next = (unsigned char)text[1];
    const bool c1 = c == 0xc2 && next >= 0x80 && next < 0xa0;
    if (c < 0x20 || c == 0x7f || c1) {
      text += c1;
      mbg__format(out + n, size - n, "\\x%02x", c1 ? next : c);
      n += 4;
    } else {
      out[n++] = *text;
    }
  }
  out[n] = 0;
}

static void file_format(mbg_context *ctx, mbg_severity severity, const char *format, va_list args) {
  char text[2048], visible[sizeof(text)];
  vsnprintf(text, sizeof(text), format, args);
  make_visible(text, visible, sizeof(visible));
  file_message(ctx, severity, visible);
}

int mbg__fail(mbg_context *ctx, int status, const char *format, ...) {
  va_list args;
  va_start(args, format);
  file_format(ctx, MBG_ERROR, format, args);
  va_end(args);
  return status;
}

int mbg__fail_memory(mbg_context *ctx) { return mbg__fail(ctx, MBG_ERROR_MEMORY, "out of memory"); }

int mbg__fail_argument(mbg_context *ctx, const char *function) {
  return ctx ? mbg__fail(ctx, MBG_ERROR_INPUT, "%s: an argument is NULL that must not be", function) : MBG_ERROR_INPUT;
}

void mbg__note(mbg_context *ctx, mbg_severity severity, const char *format, ...) {
  va_list args;
  va_start(args, format);
  file_format(ctx, severity, format, args);
  va_end(args);
}

int mbg__error_count(const mbg_context *ctx) { return ctx->errors; }

int mbg__message_mark(const mbg_context *ctx) { return ctx->count; }

void mbg__message_rewind(mbg_context *ctx, int mark) {
  if (ctx->dropped > 0) {
    return; /* after a drop the messages since the mark are unknown */
  }
  while (ctx->count > mark) {
    message *m = &ctx->messages[--ctx->count];
    ctx->errors -= m->severity == MBG_ERROR;
    mbg__free(ctx, m->text);
  }
  if (ctx->errors == 0) {
    ctx->first[0] = 0;
  }
}
