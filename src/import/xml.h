/* xml: a file read by expat into a tree that keeps the place of every element. Declarations of entities are refused,
   so that a small file cannot grow without bound and no other file is read. */
#ifndef MBG_IMPORT_XML_H
#define MBG_IMPORT_XML_H

#include "base/base.h"

/* Limits: a deeper or larger file is refused with a message. */
enum { MBG__XML_DEPTH_MAX = 200, MBG__XML_ELEMENTS_MAX = 2000000 };

typedef struct mbg__xml_attribute {
  const char *key, *value;
  struct mbg__xml_attribute *next;
} mbg__xml_attribute;

typedef struct mbg__xml {
  const char *name;          /* with its prefix, as written: "drake:joint" */
  const char *text;          /* the characters between its children, blanks at both ends cut off; "" without any */
  const char *file;          /* for messages */
  int line, column;          /* of its '<' */
  size_t begin, inside, end; /* bytes of the file: from its '<', behind its first tag, behind its last one */
  mbg__xml_attribute *attributes;
  struct mbg__xml *parent, *child, *next;
} mbg__xml;

/* Reads the file into a tree that lives in the arena. Returns 0, MBG_ERROR_IO, or MBG_ERROR_INPUT with
   "file:line:column: message". */
int mbg__xml_read(mbg_context *ctx, mbg__arena *arena, const char *path, mbg__xml **root);
/* The same for a file that another one names: a pipe or a device is refused. */
int mbg__xml_read_data(mbg_context *ctx, mbg__arena *arena, const char *path, mbg__xml **root);

/* First child of that name, or NULL; also where element is NULL. */
const mbg__xml *mbg__xml_child(const mbg__xml *element, const char *name);
/* The next sibling of the same name. */
const mbg__xml *mbg__xml_next(const mbg__xml *element);
/* Value of an attribute, or NULL. */
const char *mbg__xml_value(const mbg__xml *element, const char *key);

/* Files an error or a note "file:line:column: <name>: message" at an element. */
int mbg__xml_fail(mbg_context *ctx, const mbg__xml *at, const char *format, ...) MBG_PRINTF(3, 4);

/* Reads exactly n numbers, or at least `least` of them, from a text; a message names the element and `what`. NULL text:
   the numbers stay. Returns 0 with the count in *found (which may be NULL). */
int mbg__xml_numbers(mbg_context *ctx, const mbg__xml *at, const char *what, const char *text, int least, int n,
                     double *out, int *found);
/* A single number of an attribute; the preset where it is absent. */
int mbg__xml_number(mbg_context *ctx, const mbg__xml *at, const char *key, double *out);
/* n numbers of an attribute. */
int mbg__xml_vector(mbg_context *ctx, const mbg__xml *at, const char *key, int n, double *out);

#endif
