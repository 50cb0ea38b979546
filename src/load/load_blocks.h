/* load_blocks: controllers, filters and actuators that the loader writes out as constants, signals, states and forces.
   Private to src/load. A new block is one entry of the tables in blocks.c. */
#ifndef MBG_LOAD_LOAD_BLOCKS_H
#define MBG_LOAD_LOAD_BLOCKS_H

#include "load/load.h"

/* What a piece of a block becomes. */
typedef enum {
  MBG__PIECE_SIGNAL,   /* expression */
  MBG__PIECE_STATE,    /* rate */
  MBG__PIECE_RATE,     /* signal: rate of the joint of the block */
  MBG__PIECE_DISTANCE, /* signals: distance of its two markers, and its rate */
  MBG__PIECE_DISTANCE_RATE,
  MBG__PIECE_JOINT_FORCE,    /* force along the coordinate of its joint */
  MBG__PIECE_DISTANCE_FORCE, /* force along the line through its two markers */
} mbg__piece_kind;

/* In texts $ stands for the name of the block. */
typedef struct {
  mbg__piece_kind kind;
  const char *name;    /* "$" or "$_sum" */
  const char *value;   /* of an expression, a rate or a force */
  const char *initial; /* STATE: key of the block that gives it */
  const char *absent;  /* ... the initial value without this key; "steady", or a guess after it: "steady $_supply/2" */
  const char *with;    /* key without which the piece is left out; NULL: never */
  const char *without; /* key with which it is left out; NULL: never */
} mbg__block_piece;

typedef struct {
  const char *key; /* "pid" */
  const char *help;
  mbg__file_object own[2]; /* the keys that are no numbers */
  const mbg__key *keys;    /* numbers, which become constants NAME_key, and functions, which become signals */
  int nkey;
  const char *const *presets; /* of the keys: an expression, NULL: without the key there is no such constant   (nkey) */
  const mbg__block_piece *pieces;
  int npiece;
  int (*check)(mbg__item *item); /* of keys that go together; may be NULL */
} mbg__block_type;

const mbg__block_type *mbg__block_types(int *n);
/* The pieces of a delay of that order, in temporary memory: a state NAME_z with a rate for each entry. */
int mbg__delay_rates(mbg__loader *L, const char *name, int order, char **rates, char **output);

#endif
