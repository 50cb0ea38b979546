/* json: a small strict reader (RFC 8259) that keeps the place of every value and every key in the file, so that
   later errors (an unknown joint type, a negative mass) are reported with line and column. */
#ifndef MBG_IO_JSON_H
#define MBG_IO_JSON_H

#include "base/base.h"

/* Limits: a deeper or larger file is refused with a message. */
enum { MBG__JSON_DEPTH_MAX = 100, MBG__JSON_BYTES_MAX = 256 * 1024 * 1024 };

typedef enum {
  MBG__JSON_NULL,
  MBG__JSON_BOOL,
  MBG__JSON_NUMBER,
  MBG__JSON_STRING,
  MBG__JSON_ARRAY,
  MBG__JSON_OBJECT
} mbg__json_kind;

/* A value and, when it is a member of an object, its key. Lines and columns count from 1, columns in code points. Large
   models have many: members are ordered by size. */
typedef struct mbg__json {
  double number;    /* NUMBER: the nearest double, always finite */
  const char *text; /* STRING: decoded UTF-8; NUMBER: the literal as written; both terminated by 0; else NULL */
  const char *key;  /* decoded, terminated by 0; NULL when not a member; holds no \u0000 */

  struct mbg__json *child; /* ARRAY, OBJECT: first item or member, in the order of the file */
  struct mbg__json *next;  /* next one of the same array or object */

  mbg__json_kind kind : 8;
  bool boolean : 1;         /* BOOL */
  int count;                /* ARRAY, OBJECT: how many */
  unsigned length;          /* bytes in text; larger than strlen(text) for a string that contains \u0000 */
  unsigned begin, end;      /* of the value as written, in the text that was read */
  int line, column;         /* of the value's first character; for strings: of the opening quote */
  int key_line, key_column; /* of the opening quote of the key */
} mbg__json;

/* Reads `length` bytes of text (which need not end with 0) into a tree that lives in the arena and does not refer to
   the text. `file` is the name for messages. Returns 0, or
   MBG_ERROR_INPUT with one message "file:line:column: message", or MBG_ERROR_MEMORY; *out is then NULL, and the partial
   tree stays in the arena until it is destroyed. */
int mbg__json_parse(mbg_context *ctx, mbg__arena *arena, const char *file, const char *text, size_t length,
                    mbg__json **out);

/* Member of that name, or NULL; also NULL when `object` is NULL or not an object. Walks the members in file order:
   to visit all members of a large object, follow child and next instead. */
const mbg__json *mbg__json_member(const mbg__json *object, const char *key);

/* "null", "a boolean", "a number", "a string", "an array", "an object": for messages. */
const char *mbg__json_kind_name(mbg__json_kind kind);

#endif
