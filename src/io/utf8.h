/* utf8: characters, for readers and writers. */
#ifndef MBG_IO_UTF8_H
#define MBG_IO_UTF8_H

#include "base/base.h"

/* Bytes of the character at p (1 to 4) and its code point, or 0 when there is no valid UTF-8 (overlong forms,
   surrogates and codes above U+10FFFF included) or p == end. code may be NULL. */
int mbg__utf8_decode(const char *p, const char *end, uint32_t *code);

/* Writes a code point below U+110000 that is no surrogate; returns the bytes written, 1 to 4. */
int mbg__utf8_encode(uint32_t code, char *out);

/* How many code points start in [p, end); bytes that are no UTF-8 count like characters of their own. */
int mbg__utf8_count(const char *p, const char *end);

/* Bytes of the byte order mark at the start of a text: 3 or 0. */
size_t mbg__utf8_mark(const char *text, size_t length);

/* A piece of a file for a message: one line, at most 40 characters, then "..."; unprintable characters become '?'. */
typedef struct {
  char text[40 * 4 + 4];
} mbg__excerpt;
mbg__excerpt mbg__excerpt_of(const char *text, size_t length);

#endif
