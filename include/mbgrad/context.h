/* mbgrad: context, status codes and messages. */
#ifndef MBGRAD_CONTEXT_H
#define MBGRAD_CONTEXT_H

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

/* Every function that can fail returns 0 or a negative code; the message lies in the context. */
typedef enum {
#define MBG_STATUS(name, value, text) MBG_##name = value,
#include "mbgrad/status.def"
#undef MBG_STATUS
} mbg_status;

/* One sentence for a status code; never NULL. */
MBG_API const char *mbg_status_text(int status);

/* ---------------------------------------------------------------------- context */

/* Holds the allocator and the messages of the calls that used it. One context serves one thread at a time; models
   made with it may be shared by threads that each have their own context. */
typedef struct mbg_context mbg_context;

typedef enum { MBG_NOTE, MBG_WARNING, MBG_ERROR } mbg_severity;

/* Memory functions of a context; user is passed to every call. release accepts NULL. */
typedef struct {
  void *(*resize)(void *user, void *block, size_t size); /* block NULL: a new one; returns NULL when out of memory */
  void (*release)(void *user, void *block);
  void *user;
} mbg_allocator;

/* Creates a context. allocator may be NULL (realloc and free); it is copied. */
MBG_API int mbg_context_create(mbg_context **out, const mbg_allocator *allocator);
MBG_API void mbg_context_destroy(mbg_context *ctx);

/* The first error since the last clear, or "" without one. One line that names the object and the rule it violates. */
MBG_API const char *mbg_context_error(const mbg_context *ctx);

/* All messages since the last clear, in the order of their calls. */
MBG_API int mbg_context_message_count(const mbg_context *ctx);
MBG_API mbg_severity mbg_context_message_severity(const mbg_context *ctx, int index);
MBG_API const char *mbg_context_message(const mbg_context *ctx, int index);
MBG_API void mbg_context_clear(mbg_context *ctx);

#ifdef __cplusplus
}
#endif

#endif
