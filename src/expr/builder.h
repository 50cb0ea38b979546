/* builder: writes the lines of a program, folding constants on the way. */
#ifndef MBG_EXPR_BUILDER_H
#define MBG_EXPR_BUILDER_H

#include "expr/lexer.h"
#include "expr/program.h"

/* Every function that adds lines returns the number of the line that holds the result; it is the last line. After an
   error (kept in the lexer) nothing is added and 0 is returned. */
typedef struct {
  mbg__lexer *lexer; /* takes the errors */
  mbg__line *code;   /* grows                            (capacity) */
  int n, capacity;
  int lazy; /* > 0 inside a branch that may not be taken: its domain errors wait for the evaluation */
} mbg__builder;

int mbg__build_constant(mbg__builder *b, double value);
int mbg__build_input(mbg__builder *b, int at, int input);
int mbg__build_table(mbg__builder *b, int at, const mbg__table *table, const int *operands); /* one or two */
int mbg__build(mbg__builder *b, int at, int op, int operand_a, int operand_b); /* operand_b 0 for one operand */

/* Lazy parts: jump returns its line, land lets it jump to what comes next. */
int mbg__build_jump(mbg__builder *b, int op, int condition);
void mbg__build_land(mbg__builder *b, int jump);
int mbg__build_choice(mbg__builder *b, int condition, int first, int second);

/* Marks a line as a component of a vector. */
int mbg__build_mark(mbg__builder *b, int line);
/* True when line i is a constant number. */
bool mbg__build_is_constant(const mbg__builder *b, int i);
/* Drops the lines from `start` on. */
void mbg__build_cut(mbg__builder *b, int start);
/* Drops the lines from `start` up to the result when that is constant; returns the result's new place. */
int mbg__build_collapse(mbg__builder *b, int start);

/* The finished expression, in the arena. */
int mbg__build_finish(mbg__builder *b, mbg__arena *arena, mbg__expr **out);

#endif
