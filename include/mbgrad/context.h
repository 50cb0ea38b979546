/* mbgrad: context, status codes and messages; the rules that hold for every function of the library.

   Names. mbg_X_create makes an object, mbg_X_destroy releases it and accepts NULL. mbg_X_set_THING changes an object,
   mbg_X_get_THING hands out a structure, a plain noun (mbg_run_formulation) is a getter of a number, a text or an
   array, and a verb (mbg_run_simulate) computes. Lists have a count: in the summary of their object, or
   mbg_X_THING_count.

   Memory. An object handed out through `type **out` is the caller's to destroy; so is a text handed out through
   `char **text` (mbg_text_destroy). Returned pointers are borrowed and live as long as their object, unless the comment
   names a shorter time. A function that fails sets *out and *text to NULL.

   Options. mbg_X_options_default(&options, sizeof(options)) fills in the defaults and the size of the structure, by
   which a program keeps working with a newer library whose structure has grown. Options may be NULL (all defaults).
   Texts and arrays in options are referenced: they must live as long as the object made with them. Result structures
   are handed out by pointer and grow at their end only.

   Wrong arguments. NULL for an argument that the comment does not allow to be NULL, or an index outside 0 .. count-1,
   never crashes: functions that return a status return MBG_ERROR_INPUT, getters return NULL, NAN, -1, 0 or false.
   Lengths of arrays cannot be checked. */
#ifndef MBGRAD_CONTEXT_H
#define MBGRAD_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef MBG_API
#if defined(__GNUC__)
#define MBG_API __attribute__((visibility("default")))
#else
#define MBG_API
#endif
#endif

/* ---------------------------------------------------------------------- status codes */

/* Every function that can fail returns MBG_OK or a negative code, and files a message in the context. */
typedef enum {
  MBG_OK = 0,
  MBG_ERROR_MEMORY = -1,      /* out of memory */
  MBG_ERROR_INPUT = -2,       /* a model, an option or an argument is wrong */
  MBG_ERROR_IO = -3,          /* a file could not be read or written */
  MBG_ERROR_SINGULAR = -4,    /* a system of equations is singular */
  MBG_ERROR_CONVERGENCE = -5, /* an iteration did not converge */
  MBG_ERROR_UNSUPPORTED = -6, /* the formulation or method does not support the request */
  MBG_ERROR_INTERRUPTED = -7  /* the interrupt callback stopped the computation */
} mbg_status;

/* One sentence for a status code; never NULL. */
MBG_API const char *mbg_status_text(int status);

/* ---------------------------------------------------------------------- context */

/* The allocator and the messages of the calls that used it. A context serves one thread at a time; a model may be
   shared by threads that have a context each. */
typedef struct mbg_context mbg_context;

typedef enum { MBG_NOTE, MBG_WARNING, MBG_ERROR } mbg_severity;

/* Memory functions of a context; every call passes `user` back. With options that ask for threads, several threads call
   them at the same time. This structure will not grow. */
typedef struct {
  void *(*resize)(void *user, void *block, size_t size); /* block NULL: a new one; returns NULL when out of memory */
  void (*release)(void *user, void *block);              /* block may be NULL */
  void *user;
} mbg_allocator;

/* Creates a context. allocator may be NULL (realloc and free); it is copied. */
MBG_API int mbg_context_create(const mbg_allocator *allocator, mbg_context **out);
MBG_API void mbg_context_destroy(mbg_context *ctx);

/* The first error since the last clear, "" without an error: one line that names the object and the remedy. The text
   lives until the next clear. */
MBG_API const char *mbg_context_error(const mbg_context *ctx);

/* All messages since the last clear, in the order of their filing. Texts live until the next clear; a message is "" and
   its severity MBG_NOTE when the index is out of range. */
MBG_API int mbg_context_message_count(const mbg_context *ctx);
MBG_API mbg_severity mbg_context_message_severity(const mbg_context *ctx, int index);
MBG_API const char *mbg_context_message(const mbg_context *ctx, int index);
MBG_API void mbg_context_clear(mbg_context *ctx);

/* Releases a text that a function handed out through `char **text`. text may be NULL. */
MBG_API void mbg_text_destroy(mbg_context *ctx, char *text);

#ifdef __cplusplus
}
#endif

#endif
