/* Vectors of three in expressions: [a, b, c], names of vector parameters, sums, products with numbers, cross(a, b), and
   the numbers norm(a) and dot(a, b).

   A vector is compiled one component at a time: the parser reads the same text for each component that is needed, and a
   line that holds a component of a vector is marked. So programs stay scalar, and their derivatives as they are. */
#include "expr/parser.h"

enum { NESTED_MAX = 4 }; /* vector functions inside each other, each of which reads its text two or three times */

/* one more vector function around; false: too many */
static bool enter(mbg__parser *p, int at) {
  if (++p->nested > NESTED_MAX) {
    mbg__lexer_fail(&p->lexer, at, "vector functions are nested deeper than %d levels", NESTED_MAX);
  }
  return !mbg__parser_failed(p);
}

/* argument `a` as component k of a vector; its line, no longer marked */
static int component(mbg__parser *p, const char *name, int k) {
  const int outer = p->component, at = p->lexer.token.at;
  p->component = k;
  const int line = mbg__parse_expression(p);
  p->component = outer;
  if (mbg__parser_failed(p)) {
    return 0;
  }
  if (!p->builder.code[line].vector) {
    mbg__lexer_fail(&p->lexer, at, "function '%s' takes vectors: a vector parameter, [x, y, z], or sums of these",
                    name);
    return 0;
  }
  p->builder.code[line].vector = false;
  return line;
}

/* "(a, b)" with component i of a and j of b: their product; the lexer stands behind it */
static int product(mbg__parser *p, const char *name, int at, int i, int j) {
  const int open = p->lexer.token.at;
  mbg__lexer_next(&p->lexer);
  const int a = component(p, name, i);
  if (!mbg__parser_failed(p) && !mbg__parser_accept(p, TOKEN_comma)) {
    mbg__lexer_fail(&p->lexer, at, "function '%s' takes 2 arguments, not 1", name);
  }
  const int b = component(p, name, j);
  mbg__parse_close(p, TOKEN_close, open);
  return mbg__build(&p->builder, at, OP_multiply, a, b);
}

/* "(a)" or "(a, b)": the sum over the components of their squares or products; its line */
static int sum_of(mbg__parser *p, int at, int (*term)(mbg__parser *p, int at, int k)) {
  const mbg__lexer before = p->lexer;
  int sum = 0;
  for (int k = 0; k < 3 && !mbg__parser_failed(p); k++) {
    p->lexer = before;
    const int line = term(p, at, k);
    sum = k == 0 ? line : mbg__build(&p->builder, at, OP_add, sum, line);
  }
  p->nested--;
  return sum;
}

static int dot_term(mbg__parser *p, int at, int k) { return product(p, "dot", at, k, k); }

int mbg__parse_dot(mbg__parser *p, int at) {
  const int start = p->builder.n;
  if (!enter(p, at)) {
    return 0;
  }
  (void)sum_of(p, at, dot_term);
  return mbg__build_collapse(&p->builder, start);
}

/* square of component k of "(a)" */
static int square(mbg__parser *p, int at, int k) {
  const int open = p->lexer.token.at;
  mbg__lexer_next(&p->lexer);
  const int a = component(p, "norm", k);
  mbg__parse_close(p, TOKEN_close, open);
  return mbg__build(&p->builder, at, OP_multiply, a, a);
}

int mbg__parse_norm(mbg__parser *p, int at) {
  const int start = p->builder.n;
  if (!enter(p, at)) {
    return 0;
  }
  mbg__build(&p->builder, at, OP_sqrt, sum_of(p, at, square), 0);
  return mbg__build_collapse(&p->builder, start);
}

/* component k: a_{k+1} b_{k+2} - a_{k+2} b_{k+1} */
int mbg__parse_cross(mbg__parser *p, int at) {
  const mbg__lexer before = p->lexer;
  const int start = p->builder.n, k = p->component < 0 ? 0 : p->component;
  if (!enter(p, at)) {
    return 0;
  }
  const int first = product(p, "cross", at, (k + 1) % 3, (k + 2) % 3);
  if (!mbg__parser_failed(p)) {
    p->lexer = before;
  }
  const int second = product(p, "cross", at, (k + 2) % 3, (k + 1) % 3);
  p->nested--;
  mbg__build(&p->builder, at, OP_subtract, first, second);
  const int line = mbg__build_collapse(&p->builder, start);
  return mbg__build_mark(&p->builder, line);
}

/* [a, b, c]: the entry of the component that is compiled; the others are read and dropped */
int mbg__parse_literal(mbg__parser *p) {
  const int open = p->lexer.token.at, wanted = p->component < 0 ? 0 : p->component, outer = p->component;
  int line = 0, kept = 0;
  p->component = -1;
  for (int k = 0; k < 3 && !mbg__parser_failed(p); k++) {
    const int before = p->builder.n;
    if (k > 0 && mbg__parser_peek(p) != TOKEN_comma) {
      mbg__lexer_fail(&p->lexer, open, "a vector has three entries: [x, y, z]");
      break;
    }
    mbg__lexer_next(&p->lexer);
    line = mbg__parse_expression(p);
    if (!mbg__parser_failed(p) && p->builder.code[line].vector) {
      mbg__lexer_fail(&p->lexer, open, "the entries of a vector must be numbers");
    }
    if (k == wanted) {
      kept = line;
    } else {
      mbg__build_cut(&p->builder, before);
    }
  }
  p->component = outer;
  if (mbg__parser_peek(p) == TOKEN_comma) {
    mbg__lexer_fail(&p->lexer, open, "a vector has three entries: [x, y, z]");
  }
  mbg__parse_close(p, TOKEN_close_bracket, open);
  return mbg__build_mark(&p->builder, kept);
}
