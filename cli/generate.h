/* generate: model files of families of any size: a chain, a binary tree, a ladder with loops. */
#ifndef CLI_GENERATE_H
#define CLI_GENERATE_H

#include <stdbool.h>
#include <stdio.h>

typedef struct {
  int bodies;
  int flexible;   /* number of modal bodies, the first ones */
  int parameters; /* entries of the vector of masses, shared out to the bodies in turn */
} cli_family_size;

bool cli_is_family(const char *name);
/* Writes the model of a family; returns how many bodies it has (a ladder has whole cells). */
int cli_generate(const char *name, const cli_family_size *size, FILE *out);

#endif
