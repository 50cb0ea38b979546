/* program: the compiled form of an expression, shared by compiler and evaluator (not for other modules). */
#ifndef MBG_EXPR_PROGRAM_H
#define MBG_EXPR_PROGRAM_H

#include "expr/expr.h"

/* ---------------------------------------------------------------------- operations */

typedef enum {
  OP_constant, /* value */
  OP_input,    /* input c */
  OP_table,    /* table(a) */
  OP_grid,     /* table(a, b) */
  OP_jump,     /* to c */
  OP_unless,   /* to c when a is 0 */
  OP_when,     /* to c when a is not 0 */
#define MBG_OPERATOR(code, symbol, kind) OP_##code,
#define MBG_FUNCTION(name, least, most, kind, description) OP_##name,
#include "expr/functions.def"
#undef MBG_OPERATOR
#undef MBG_FUNCTION
  OP_count
} mbg__opcode;

typedef enum {
  KIND_leaf,
  KIND_jump,
  KIND_unary,
  KIND_binary,
  KIND_folded,
  KIND_smooth,
  KIND_truth,
  KIND_choice,
  KIND_vector /* made of other lines (vectors.c); none of its own */
} mbg__kind;

/* How far an evaluation goes. */
typedef struct {
  int order;     /* of the Taylor arithmetic, 0..2: every quantity is (u, u', u'') cut after this order */
  bool partials; /* also the partial derivatives of each operation by its operands, as jets of the same order */
} mbg__depth;

/* What an operation provides. Both return NULL, or what is wrong with the arguments (then the results are void).
   A derivative that does not exist comes out as not finite; the sweeps complain when it matters. */
typedef struct {
  const char *name; /* as users write it */
  mbg__kind kind;
  /* d[0..order] = value and derivatives at x */
  const char *(*derive)(real x, int order, real *d);
  /* *v = value at (a[0], b[0]); with partials: jets pa, pb of its partial derivatives by a and b along the jets a, b.
     pb may be left not finite when b is passive (no input stands in it). */
  const char *(*partial)(mbg__depth depth, const real *a, const real *b, bool b_active, real *v, real *pa, real *pb);
} mbg__operation;

extern const mbg__operation mbg__operations[OP_count];

/* ---------------------------------------------------------------------- programs */

/* One line: it defines the quantity of its own number from quantities of smaller numbers. */
typedef struct {
  unsigned char op;
  bool active; /* depends on an input in a differentiable way */
  bool vector; /* a component of a vector; while compiling */
  int at;      /* offset in the text, for messages */
  int a, b;    /* operands */
  int c;       /* input, target of a jump, or condition of a choice */
  union {
    double value;
    const mbg__table *table;
  };
} mbg__line;

struct mbg__expr {
  mbg__line *code; /* the last line is the result            (n) */
  int n;
  int *inputs; /* inputs used, increasing                    (nused) */
  int nused;
  int ninputs; /* 1 + the largest of them */
  mbg__where where;
};

/* Value (and jets of partials) of one line that is neither leaf, jump nor choice, from the jets a and b of its
   operands. Returns NULL or what is wrong. v: order+1 coefficients. */
const char *mbg__line_apply(const mbg__line *line, mbg__depth depth, bool b_active, const real *a, const real *b,
                            real *v, real *pa, real *pb);

/* Files "PLACE: FUNCTION(ARGUMENTS): complaint", for operand values a and b. Returns MBG_ERROR_INPUT. */
int mbg__line_fail(mbg_context *ctx, const mbg__where *where, const mbg__line *line, double a, double b,
                   const char *complaint);

#endif
