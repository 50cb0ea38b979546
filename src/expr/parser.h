/* parser: the state of the grammar (compile.c), shared with vector expressions (vectors.c). */
#ifndef MBG_EXPR_PARSER_H
#define MBG_EXPR_PARSER_H

#include "expr/builder.h"

typedef struct {
  mbg__lexer lexer;
  mbg__builder builder;
  const mbg__scope *scope;
  int depth;
  int component; /* of a vector expression, 0 .. 2: the text is compiled once for each; -1: a number is wanted */
  int nested;    /* vector functions around this place */
} mbg__parser;

/* The current token for a message, shortened. */
typedef struct {
  char text[48];
} mbg__shown;
mbg__shown mbg__parse_show(const mbg__parser *p);
/* A token that cannot follow what came before. */
void mbg__parse_fail_token(mbg__parser *p);

/* An expression; its line. */
int mbg__parse_expression(mbg__parser *p);
/* Takes the closing parenthesis or bracket of the one at `open`. */
void mbg__parse_close(mbg__parser *p, mbg__token_kind kind, int open);

/* Has the scope said why it refuses a name? Its answer becomes the error. */
bool mbg__parse_answered(mbg__parser *p, int input, const char *hint, int at);

/* rate.c: rate(x) of a state. Is a function of this name meant? Unless a table has it. */
bool mbg__parse_is_rate(const mbg__parser *p, const char *name);
int mbg__parse_rate(mbg__parser *p, int at);

/* vectors.c. The current token is the opening parenthesis or bracket. */
int mbg__parse_norm(mbg__parser *p, int at);
int mbg__parse_dot(mbg__parser *p, int at);
int mbg__parse_cross(mbg__parser *p, int at);
int mbg__parse_literal(mbg__parser *p);

static inline mbg__token_kind mbg__parser_peek(const mbg__parser *p) { return p->lexer.token.kind; }

static inline bool mbg__parser_failed(const mbg__parser *p) { return p->lexer.err < 0; }

static inline bool mbg__parser_accept(mbg__parser *p, mbg__token_kind kind) {
  if (mbg__parser_peek(p) != kind) {
    return false;
  }
  mbg__lexer_next(&p->lexer);
  return true;
}

#endif
