/* lexer: the words of an expression. */
#ifndef MBG_EXPR_LEXER_H
#define MBG_EXPR_LEXER_H

#include "base/where.h"

typedef enum {
  TOKEN_end,
  TOKEN_number,
  TOKEN_name,
  TOKEN_and,
  TOKEN_or,
  TOKEN_not,
  TOKEN_deg,
  TOKEN_plus,
  TOKEN_minus,
  TOKEN_times,
  TOKEN_over,
  TOKEN_hat,
  TOKEN_open,
  TOKEN_close,
  TOKEN_open_bracket,
  TOKEN_close_bracket,
  TOKEN_comma,
  TOKEN_less_equal,
  TOKEN_less,
  TOKEN_greater_equal,
  TOKEN_greater,
  TOKEN_equal,
  TOKEN_not_equal
} mbg__token_kind;

typedef struct {
  mbg__token_kind kind;
  int at, length; /* in the text */
  double number;
} mbg__token;

/* The lexer stops at the first error: from then on every token is the end. */
typedef struct {
  mbg_context *ctx;
  const mbg__where *where;
  const char *text;
  int err;
  mbg__token token; /* the current one */
} mbg__lexer;

/* Goes to the next token. */
void mbg__lexer_next(mbg__lexer *lexer);

/* Files the first error of the text, at an offset in it. */
void mbg__lexer_fail(mbg__lexer *lexer, int at, const char *format, ...) MBG_PRINTF(3, 4);
/* Stops with a status whose message has been filed. */
void mbg__lexer_stop(mbg__lexer *lexer, int status);

#endif
