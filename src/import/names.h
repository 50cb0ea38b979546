/* names: from a name to a number, for files with many links. */
#ifndef MBG_IMPORT_NAMES_H
#define MBG_IMPORT_NAMES_H

#include "base/base.h"

typedef struct {
  mbg_context *ctx;
  const char **key; /* open addressing; NULL: free */
  int *value;
  int count, capacity; /* a power of two, at least twice the count */
} mbg__names;

void mbg__names_init(mbg__names *names, mbg_context *ctx);
void mbg__names_destroy(mbg__names *names);
/* The number of a name, or -1. */
int mbg__names_find(const mbg__names *names, const char *name);
/* The name must live as long as the table, and must not be there yet. False when out of memory. */
bool mbg__names_add(mbg__names *names, const char *name, int value);

#endif
