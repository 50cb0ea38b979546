/* The matrix [[A, B^T], [B, 0]] over free velocities and kept rows (saddle.h), A with the pattern of K, of bodies that
   joints and forces join to a forest: factors by elimination from the leaves to the roots, without fill, in time and
   memory that grow linearly. */
#ifndef MBG_SYSTEM_FOREST_H
#define MBG_SYSTEM_FOREST_H

#include "system/system.h"

typedef struct mbg__forest mbg__forest;

/* *out: NULL when bodies are joined in another way. Memory in the arena. */
int mbg__forest_create(mbg_context *ctx, mbg__arena *arena, const mbg__system *sys, const bool *keep,
                       mbg__forest **out);

/* Factors of A = k K + c M with the rows B (values by the patterns of the system); K is not read where k is 0. false:
   the block of a body is singular, or nearly so, though the matrix may be regular. */
bool mbg__forest_factor(mbg__forest *f, double k, const real *K, double c, const real *M, const real *B);

/* x (nv + nrow) becomes the solution; rows that are not kept stay as they are. */
void mbg__forest_solve(const mbg__forest *f, real *x);

#endif
