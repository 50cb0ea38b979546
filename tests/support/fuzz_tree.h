/* JSON for fuzz programs: trees that are changed where their structure lies, and text from them. Trees are those of
   io/json.h; a number is written as its literal says, so that words which are no numbers can stand for one. */
#ifndef SUPPORT_FUZZ_TREE_H
#define SUPPORT_FUZZ_TREE_H

#include "io/json.h"
#include "support/fuzz.h"

/* Values by their key, from which others are taken: what stands under "joints" in one file is tried under "joints" in
   another. The trees must live as long. */
typedef struct {
  const mbg__json **at;
  int count, room;
} fuzz_donors;

void fuzz_donors_add(fuzz_donors *donors, const mbg__json *tree); /* every member in it */
void fuzz_donors_sort(fuzz_donors *donors);                       /* after the last one, before the first use */
void fuzz_donors_free(fuzz_donors *donors);

typedef enum {
  FUZZ_NUMBERS, /* numbers become other numbers: most inputs are still read */
  FUZZ_GENTLE,  /* values of the same kind: numbers, names, types, whole elements of other files */
  FUZZ_ROUGH,   /* anything that is JSON, and words that are none */
} fuzz_force;

/* One change of the tree; new nodes are taken from the arena. */
void fuzz_tree_change(support_rng *rng, mbg__arena *arena, mbg__json **tree, const fuzz_donors *donors,
                      fuzz_force force);

/* Parses a text that must be JSON. */
mbg__json *fuzz_tree_parse(mbg_context *ctx, mbg__arena *arena, const char *name, const char *text, size_t length);
void fuzz_tree_put(fuzz_text *out, const mbg__json *tree);

#endif
