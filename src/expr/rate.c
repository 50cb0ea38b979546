/* rate(x), rate(x[i]): the rate of a state in an expression, an input whose name is this text without blanks. */
#include "expr/parser.h"

#include <limits.h>
#include <string.h>

bool mbg__parse_is_rate(const mbg__parser *p, const char *name) {
  const mbg__scope *s = p->scope;
  const char *hint = NULL;
  return strcmp(name, "rate") == 0 && s && s->resolve && !(s->table && s->table(s->user, name, &hint));
}

/* "[i]" after the name of a vector of states; -1 when there is none */
static int parse_entry(mbg__parser *p, const char *state) {
  const int open = p->lexer.token.at;
  if (!mbg__parser_accept(p, TOKEN_open_bracket)) {
    return -1;
  }
  const mbg__token token = p->lexer.token;
  const double i = token.kind == TOKEN_number ? token.number : -1;
  if (!(i >= 0 && i < INT_MAX && i == floor(i))) {
    mbg__lexer_fail(&p->lexer, token.at, "the index of '%s' must be a constant integer >= 0", state);
    return -1;
  }
  mbg__lexer_next(&p->lexer);
  mbg__parse_close(p, TOKEN_close_bracket, open);
  return (int)i;
}

int mbg__parse_rate(mbg__parser *p, int at) {
  const int open = p->lexer.token.at;
  char state[MBG__EXPR_NAME_MAX + 1], name[MBG__EXPR_NAME_MAX + 32];
  const char *hint = NULL;
  mbg__lexer_next(&p->lexer);
  const mbg__token token = p->lexer.token;
  if (token.kind != TOKEN_name || token.length > MBG__EXPR_NAME_MAX) {
    mbg__lexer_fail(&p->lexer, token.at, "rate(...) takes the name of a state");
    return 0;
  }
  mbg__format(state, sizeof(state), "%.*s", token.length, p->lexer.text + token.at);
  mbg__lexer_next(&p->lexer);
  const int entry = parse_entry(p, state);
  mbg__parse_close(p, TOKEN_close, open);
  if (mbg__parser_failed(p)) {
    return 0;
  }
  if (entry >= 0) {
    mbg__format(name, sizeof(name), "rate(%s[%d])", state, entry);
  } else {
    mbg__format(name, sizeof(name), "rate(%s)", state);
  }
  const int input = p->scope->resolve(p->scope->user, name, -1, &hint);
  if (input >= 0) {
    return mbg__build_input(&p->builder, at, input);
  }
  if (!mbg__parse_answered(p, input, hint, at)) {
    mbg__lexer_fail(&p->lexer, token.at,
                    "'%s' is not a state: rate(...) takes a state, or an entry of a vector of them", state);
  }
  return 0;
}
