/* parser: tokens that cannot stand where they do. */
#include "expr/parser.h"

mbg__shown mbg__parse_show(const mbg__parser *p) {
  const mbg__token *token = &p->lexer.token;
  mbg__shown s;
  const int keep = token->length <= 40 ? token->length : 37;
  mbg__format(s.text, sizeof(s.text), "%.*s%s", keep, p->lexer.text + token->at, keep < token->length ? "..." : "");
  return s;
}

void mbg__parse_fail_token(mbg__parser *p) {
  const mbg__token token = p->lexer.token;
  const mbg__shown s = mbg__parse_show(p);
  switch (token.kind) {
  case TOKEN_number:
  case TOKEN_name:
  case TOKEN_not:
  case TOKEN_open:
    mbg__lexer_fail(&p->lexer, token.at, "missing operator before '%s'", s.text);
    break;
  case TOKEN_less:
  case TOKEN_less_equal:
  case TOKEN_greater:
  case TOKEN_greater_equal:
  case TOKEN_equal:
  case TOKEN_not_equal:
    mbg__lexer_fail(&p->lexer, token.at, "comparisons do not chain; write 'a < b and b < c'");
    break;
  case TOKEN_hat:
    mbg__lexer_fail(&p->lexer, token.at, "'^' cannot follow 'deg'; write (x deg)^n");
    break;
  default:
    mbg__lexer_fail(&p->lexer, token.at, "unexpected '%s'", s.text);
  }
}

void mbg__parse_close(mbg__parser *p, mbg__token_kind kind, int open) {
  const char *pair = kind == TOKEN_close ? "()" : "[]";
  if (mbg__parser_accept(p, kind)) {
    return;
  }
  if (mbg__parser_peek(p) == TOKEN_end) {
    const int column = p->lexer.where ? p->lexer.where->column : 1;
    mbg__lexer_fail(&p->lexer, p->lexer.token.at, "missing '%c' for the '%c' at column %d", pair[1], pair[0],
                    column + open);
  } else {
    mbg__parse_fail_token(p);
  }
}

bool mbg__parse_answered(mbg__parser *p, int input, const char *hint, int at) {
  if (input == MBG__NAME_FILED) {
    mbg__lexer_stop(&p->lexer, MBG_ERROR_INPUT);
  } else if (input == MBG__NAME_REFUSED && hint) {
    mbg__lexer_fail(&p->lexer, at, "%s", hint);
  }
  return input == MBG__NAME_FILED || (input == MBG__NAME_REFUSED && hint);
}
