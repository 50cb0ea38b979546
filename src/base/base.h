/* base: context internals, error reporting, arena. Everything above includes this. */
#ifndef MBG_BASE_BASE_H
#define MBG_BASE_BASE_H

#include "base/real.h"
#include "mbgrad/context.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* of memory in arenas */
#ifdef MBG_ENSEMBLE
#define MBG__ALIGNMENT ((size_t)32)
#else
#define MBG__ALIGNMENT _Alignof(max_align_t)
#endif

/* In C++ a goto may not pass declarations; one to a computed label may. */
#ifdef __cplusplus
#define MBG__TO(label) *&&label
#else
#define MBG__TO(label) label
#endif

/* Makes a call that returns a status; on failure goes to `done:`. The function declares `int err = MBG_OK`. */
#define MBG_TRY(call)                                                                                                  \
  do {                                                                                                                 \
    err = (call);                                                                                                      \
    if (err < 0) {                                                                                                     \
      goto MBG__TO(done);                                                                                              \
    }                                                                                                                  \
  } while (0)

#if defined(__GNUC__)
#define MBG_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define MBG_PRINTF(fmt, args)
#endif

/* First line of a public function: leaves with MBG_ERROR_INPUT when an argument is NULL that must not be. */
#define MBG_NEED(ctx, condition)                                                                                       \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      return mbg__fail_argument(ctx, __func__);                                                                        \
    }                                                                                                                  \
  } while (0)

#define MBG_COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* ---------------------------------------------------------------------- errors */

/* Files a message and returns `status`, for `return mbg__fail(ctx, MBG_ERROR_INPUT, "...")`. At most
   MBG__MESSAGE_MAX messages are kept; a last line counts the others. Works when out of memory. */
enum { MBG__MESSAGE_MAX = 100 };
int mbg__fail(mbg_context *ctx, int status, const char *format, ...) MBG_PRINTF(3, 4);
/* Out of memory: files the standard message, returns MBG_ERROR_MEMORY. */
int mbg__fail_memory(mbg_context *ctx);
/* A NULL argument of a public function: files a message (ctx may be NULL), returns MBG_ERROR_INPUT. */
int mbg__fail_argument(mbg_context *ctx, const char *function);
void mbg__note(mbg_context *ctx, mbg_severity severity, const char *format, ...) MBG_PRINTF(3, 4);
/* Number of errors filed since the last clear. */
int mbg__error_count(const mbg_context *ctx);
/* Withdraws the messages filed since a mark, for a failure from which the caller recovers. */
int mbg__message_mark(const mbg_context *ctx);
void mbg__message_rewind(mbg_context *ctx, int mark);

/* ---------------------------------------------------------------------- options of public functions */

/* Defaults (known bytes) into options of `size` bytes, perhaps of an older or newer header; the first member, a size_t,
   becomes `size`. */
void mbg__options_default(void *options, size_t size, const void *defaults, size_t known);
/* Copies given options (NULL: none) of their own size over the defaults in `options` (known bytes). what: "run". */
int mbg__options_take(mbg_context *ctx, const char *what, const void *given, void *options, size_t known);

/* ---------------------------------------------------------------------- memory */

/* Plain blocks from the context's allocator; NULL when out of memory (no message). */
void *mbg__alloc(mbg_context *ctx, size_t count, size_t size);      /* not cleared; overflow of count*size is NULL */
void *mbg__alloc_zero(mbg_context *ctx, size_t count, size_t size); /* cleared */
void *mbg__resize(mbg_context *ctx, void *block, size_t count, size_t size);
void mbg__free(mbg_context *ctx, void *block);

/* The allocator of a context, for objects that outlive it (they keep a copy). */
const mbg_allocator *mbg__context_allocator(const mbg_context *ctx);

/* Arena: blocks that live and die together. Grows by chunks; memory handed out never moves and is cleared. An arena
   remembers a failed allocation and hands out nothing afterwards, so that a sequence of takes is checked once, at its
   end. */
typedef struct mbg__arena {
  mbg_allocator allocator;
  struct mbg__chunk *head; /* newest chunk */
  size_t bytes;            /* total bytes taken from the allocator */
  bool failed;
} mbg__arena;

void mbg__arena_init(mbg__arena *arena, const mbg_allocator *allocator);
void mbg__arena_destroy(mbg__arena *arena);
void *mbg__arena_take(mbg__arena *arena, size_t count, size_t size); /* aligned for any type; NULL when out of memory */
char *mbg__arena_text(mbg__arena *arena, const char *text, size_t length); /* copy, terminated by 0 */
/* After a sequence of takes: MBG_OK, or MBG_ERROR_MEMORY with its message when one of them failed. */
int mbg__arena_check(mbg_context *ctx, const mbg__arena *arena);

/* Typed forms. */
#define MBG_TAKE(arena, type, count) ((type *)mbg__arena_take(arena, (size_t)(count), sizeof(type)))
/* Long vectors that are written before they are read: not cleared, so that the threads that write them first touch
   their pages. */
void *mbg__arena_take_raw(mbg__arena *arena, size_t count, size_t size);
#define MBG_TAKE_RAW(arena, type, count) ((type *)mbg__arena_take_raw(arena, (size_t)(count), sizeof(type)))

/* ---------------------------------------------------------------------- text */

/* Bounded formatting into a caller's buffer, always terminated. */
void mbg__format(char *buffer, size_t size, const char *format, ...) MBG_PRINTF(3, 4);

/* The candidate nearest to `word` by edit distance, or NULL when none is near (more than a third of its letters). */
const char *mbg__nearest(const char *word, const char *const *candidates, int count);

/* A time for messages: rounding at the beginning of a run, which starts at 0, is 0. */
double mbg__time_shown(double t);

/* Splits "a b c" in place: pointers to at most `most` words, their number is returned. */
int mbg__split(char *text, const char **word, int most);

/* The end of a message about an unknown word: "; did you mean 'a'? (known: a, b)", without the question when no
   candidate is near. */
void mbg__known(char *buffer, size_t size, const char *word, const char *const *candidates, int count);

/* ---------------------------------------------------------------------- sums */

/* A sum over bytes that tells texts and numbers apart (FNV-1a); begin with MBG__SUM_START. */
#define MBG__SUM_START UINT64_C(14695981039346656037)
uint64_t mbg__sum(uint64_t sum, const void *data, size_t size);

#endif
