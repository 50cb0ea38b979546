/* compile: the grammar, by recursive descent.

     or         := and { "or" and }
     and        := not { "and" not }
     not        := "not" not | comparison
     comparison := sum [ ("<" | "<=" | ">" | ">=" | "==" | "!=") sum ]
     sum        := product { ("+" | "-") product }
     product    := factor { ("*" | "/") factor }
     factor     := ("-" | "+") factor | power [ "deg" ]
     power      := primary [ "^" exponent ]
     exponent   := ("-" | "+") exponent | power
     primary    := number | "(" or ")" | "pi" | name | name "[" or "]" | name "(" or { "," or } ")" | vector | rate
     vector     := "[" or "," or "," or "]"
     rate       := "rate" "(" name [ "[" number "]" ] ")"
   An error stops the lexer: every token is then the end, so all loops run out, and the builder adds nothing. */
#include "expr/parser.h"

#include <limits.h>
#include <string.h>

typedef mbg__parser parser;

typedef struct function {
  const char *name;
  int least, most; /* arguments; most 0: any number */
  int op;
  int (*parse)(parser *p, const struct function *f, int at);
} function;

static int parse_or(parser *p);
static int parse_factor(parser *p);
static int parse_power(parser *p);

/* ---------------------------------------------------------------------- words */

static mbg__token_kind peek(const parser *p) { return mbg__parser_peek(p); }

static bool failed(const parser *p) { return mbg__parser_failed(p); }

static bool accept(parser *p, mbg__token_kind kind) { return mbg__parser_accept(p, kind); }

static bool enter(parser *p) {
  if (++p->depth > MBG__EXPR_DEPTH_MAX) {
    mbg__lexer_fail(&p->lexer, p->lexer.token.at, "the expression is nested deeper than %d levels",
                    MBG__EXPR_DEPTH_MAX);
  }
  return !failed(p);
}

static int leave(parser *p, int line) {
  p->depth--;
  return line;
}

/* ---------------------------------------------------------------------- function calls */

static void fail_count(parser *p, const char *what, const char *name, int least, int most, int at, int count) {
  const char *plural = least == 1 ? "" : "s";
  mbg__lexer_fail(&p->lexer, at, "%s '%s' takes %s%d argument%s, not %d", what, name, most ? "" : "at least ", least,
                  plural, count);
}

/* Parses "(a, b, ...)"; keeps the first three lines in args, hands each further pair to `folded` (an op, or 0).
   Returns the number of arguments. */
static int parse_arguments(parser *p, int at, int folded, int args[3]) {
  const int open = p->lexer.token.at;
  int count = 0;
  mbg__lexer_next(&p->lexer);
  if (accept(p, TOKEN_close)) {
    return 0;
  }
  do {
    const int line = parse_or(p);
    if (count < 3) {
      args[count] = line;
    }
    if (folded && count > 0) {
      args[0] = mbg__build(&p->builder, at, folded, args[0], line);
    }
    count++;
  } while (accept(p, TOKEN_comma));
  mbg__parse_close(p, TOKEN_close, open);
  return count;
}

static bool check_count(parser *p, const function *f, int at, int count) {
  if (count < f->least || (f->most && count > f->most)) {
    fail_count(p, "function", f->name, f->least, f->most, at, count);
  }
  return !failed(p);
}

static int parse_unary(parser *p, const function *f, int at) {
  int args[3] = {0};
  const int count = parse_arguments(p, at, 0, args);
  return check_count(p, f, at, count) ? mbg__build(&p->builder, at, f->op, args[0], 0) : 0;
}

static int parse_binary(parser *p, const function *f, int at) {
  int args[3] = {0};
  const int count = parse_arguments(p, at, 0, args);
  return check_count(p, f, at, count) ? mbg__build(&p->builder, at, f->op, args[0], args[1]) : 0;
}

static int parse_folded(parser *p, const function *f, int at) {
  int args[3] = {0};
  const int count = parse_arguments(p, at, f->op, args);
  return check_count(p, f, at, count) ? args[0] : 0;
}

/* smooth_max(a, b, w) = max(a, b) + 1/2 corner(a - b, w),   smooth_min(a, b, w) = min(a, b) - 1/2 corner(b - a, w)
   with corner(d, w) = sqrt(d^2 + w^2) - |d|: the documented formula without its cancellation */
static int parse_smooth(parser *p, const function *f, int at) {
  mbg__builder *b = &p->builder;
  const bool max = f->op == OP_smooth_max;
  const int start = b->n;
  int args[3] = {0};
  const int count = parse_arguments(p, at, 0, args);
  if (!check_count(p, f, at, count)) {
    return 0;
  }
  const int d = mbg__build(b, at, OP_subtract, args[max ? 0 : 1], args[max ? 1 : 0]);
  const int corner = mbg__build(b, at, f->op, d, args[2]);
  const int half = mbg__build(b, at, OP_multiply, mbg__build_constant(b, 0.5), corner);
  const int sharp = mbg__build(b, at, max ? OP_max : OP_min, args[0], args[1]);
  mbg__build(b, at, max ? OP_add : OP_subtract, sharp, half);
  return mbg__build_collapse(b, start);
}

/* a choice being parsed: its name stands at `at`, its parenthesis at `open` */
typedef struct {
  const function *f;
  int at, open;
} call;

/* parses the arguments that are left over, for the message */
static void fail_choice(parser *p, const call *c, int count) {
  p->builder.lazy++;
  while (accept(p, TOKEN_comma)) {
    parse_or(p);
    count++;
  }
  p->builder.lazy--;
  if (peek(p) != TOKEN_close) {
    mbg__parse_close(p, TOKEN_close, c->open);
  }
  fail_count(p, "function", c->f->name, c->f->least, c->f->most, c->at, count);
}

/* the branch of a choice, ", a", after `count` arguments; lazy when it may not be taken */
static int parse_branch(parser *p, const call *c, int count, bool lazy) {
  if (!accept(p, TOKEN_comma)) {
    fail_choice(p, c, count);
    return 0;
  }
  p->builder.lazy += lazy;
  const int line = parse_or(p);
  p->builder.lazy -= lazy;
  return line;
}

/* a condition that is a constant leaves only the branch that it chooses */
static int parse_decided(parser *p, const call *c) {
  mbg__builder *b = &p->builder;
  const int start = b->n - 1;
  const bool take_first = b->code[start].value != 0;
  mbg__build_cut(b, start);
  const int first = parse_branch(p, c, 1, !take_first);
  if (!take_first) {
    mbg__build_cut(b, start);
  }
  const int middle = b->n;
  const int second = parse_branch(p, c, 2, take_first);
  if (take_first) {
    mbg__build_cut(b, middle);
  }
  return take_first ? first : second;
}

/* condition; unless condition -> second; first; jump -> end; second: ...; end: choice */
static int parse_undecided(parser *p, const call *c, int condition) {
  mbg__builder *b = &p->builder;
  const int to_second = mbg__build_jump(b, OP_unless, condition);
  const int first = parse_branch(p, c, 1, true);
  const int to_end = mbg__build_jump(b, OP_jump, 0);
  mbg__build_land(b, to_second);
  const int second = parse_branch(p, c, 2, true);
  mbg__build_land(b, to_end);
  return mbg__build_choice(b, condition, first, second);
}

static int parse_choice(parser *p, const function *f, int at) {
  const call c = {f, at, p->lexer.token.at};
  mbg__lexer_next(&p->lexer);
  if (peek(p) == TOKEN_close) {
    fail_choice(p, &c, 0);
    return 0;
  }
  const int condition = parse_or(p);
  if (failed(p)) {
    return 0;
  }
  const bool decided = mbg__build_is_constant(&p->builder, condition);
  const int line = decided ? parse_decided(p, &c) : parse_undecided(p, &c, condition);
  if (peek(p) == TOKEN_comma) {
    fail_choice(p, &c, 3);
  }
  mbg__parse_close(p, TOKEN_close, c.open);
  return line;
}

static int parse_vector(parser *p, const function *f, int at) {
  return f->op == OP_norm ? mbg__parse_norm(p, at) : f->op == OP_dot ? mbg__parse_dot(p, at) : mbg__parse_cross(p, at);
}

/* ---------------------------------------------------------------------- names */

static const function functions[] = {
#define MBG_FUNCTION(name, least, most, kind, description) {#name, least, most, OP_##name, parse_##kind},
#include "expr/functions.def"
#undef MBG_FUNCTION
};

static const char *const function_names[] = {
#define MBG_FUNCTION(name, least, most, kind, description) #name,
#include "expr/functions.def"
#undef MBG_FUNCTION
};

static const function *find_function(const char *name) {
  for (int i = 0; i < MBG_COUNT(functions); i++) {
    if (strcmp(functions[i].name, name) == 0) {
      return &functions[i];
    }
  }
  return NULL;
}

bool mbg__expr_reserved(const char *name) {
  static const char *const words[] = {"t", "pi", "deg", "and", "or", "not"};
  for (int i = 0; i < MBG_COUNT(words); i++) {
    if (strcmp(words[i], name) == 0) {
      return true;
    }
  }
  return find_function(name) != NULL;
}

static void fail_unknown(parser *p, const char *what, const char *name, const char *hint, int at) {
  if (hint == name) { /* its error is filed */
    mbg__lexer_stop(&p->lexer, MBG_ERROR_INPUT);
    return;
  }
  mbg__lexer_fail(&p->lexer, at, "unknown %s '%s'%s%s%s", what, name, hint ? "; did you mean '" : "", hint ? hint : "",
                  hint ? "'?" : "");
}

static int parse_table(parser *p, const char *name, int at) {
  const char *hint = NULL;
  const mbg__scope *scope = p->scope;
  const mbg__table *table = scope && scope->table ? scope->table(scope->user, name, &hint) : NULL;
  if (!table) {
    const char *near = mbg__nearest(name, function_names, MBG_COUNT(function_names));
    fail_unknown(p, "function", name, near && hint != name ? near : hint, at);
    return 0;
  }
  int args[3] = {0};
  const int count = parse_arguments(p, at, 0, args), needed = mbg__table_arguments(table);
  if (count != needed) {
    fail_count(p, "table", name, needed, needed, at, count);
  }
  return failed(p) ? 0 : mbg__build_table(&p->builder, at, table, args);
}

/* "[i]" after a name: a constant, non-negative integer; -1 when there is none */
static int parse_index(parser *p, const char *name) {
  const int open = p->lexer.token.at, start = p->builder.n;
  if (!accept(p, TOKEN_open_bracket)) {
    return -1;
  }
  const int at = p->lexer.token.at;
  const int line = parse_or(p);
  mbg__parse_close(p, TOKEN_close_bracket, open);
  if (failed(p)) {
    return -1;
  }
  const double value = mbg__build_is_constant(&p->builder, line) ? p->builder.code[line].value : -1;
  if (!(value >= 0 && value < INT_MAX && value == floor(value))) {
    mbg__lexer_fail(&p->lexer, at, "the index of '%s' must be a constant integer >= 0", name);
    return -1;
  }
  mbg__build_cut(&p->builder, start);
  return (int)value;
}

static int parse_input(parser *p, const char *name, int at) {
  const int index = parse_index(p, name);
  const mbg__scope *scope = p->scope;
  const char *hint = NULL;
  if (failed(p)) {
    return 0;
  }
  const int entries = p->component >= 0 && index < 0 && scope && scope->length ? scope->length(scope->user, name) : 0;
  if (entries != 0 && entries != 3) {
    mbg__lexer_fail(&p->lexer, at, "'%s' has %d entries; vectors in expressions have three", name, entries);
    return 0;
  }
  const int entry = entries == 3 ? p->component : index;
  const int input = scope && scope->resolve ? scope->resolve(scope->user, name, entry, &hint) : MBG__NAME_UNKNOWN;
  if (input >= 0) {
    const int line = mbg__build_input(&p->builder, at, input);
    return entries == 3 ? mbg__build_mark(&p->builder, line) : line;
  }
  if (!mbg__parse_answered(p, input, hint, at)) {
    fail_unknown(p, "name", name, hint, at);
  }
  return 0;
}

static int parse_time(parser *p, int at) {
  if (!p->scope || p->scope->t_input < 0) {
    mbg__lexer_fail(&p->lexer, at, "time 't' is not allowed here");
    return 0;
  }
  return mbg__build_input(&p->builder, at, p->scope->t_input);
}

static int parse_name(parser *p) {
  const mbg__token token = p->lexer.token;
  char name[MBG__EXPR_NAME_MAX + 1];
  if (token.length > MBG__EXPR_NAME_MAX) {
    mbg__lexer_fail(&p->lexer, token.at, "this name has more than %d characters", MBG__EXPR_NAME_MAX);
    return 0;
  }
  mbg__format(name, sizeof(name), "%.*s", token.length, p->lexer.text + token.at);
  mbg__lexer_next(&p->lexer);
  const function *f = find_function(name);
  if (f && peek(p) == TOKEN_open) {
    return f->parse(p, f, token.at);
  }
  if (f) {
    mbg__lexer_fail(&p->lexer, token.at, "'%s' is a function; write %s(...)", name, name);
    return 0;
  }
  if (peek(p) == TOKEN_open) {
    return mbg__parse_is_rate(p, name) ? mbg__parse_rate(p, token.at) : parse_table(p, name, token.at);
  }
  if (strcmp(name, "pi") == 0) {
    return mbg__build_constant(&p->builder, M_PI);
  }
  return strcmp(name, "t") == 0 ? parse_time(p, token.at) : parse_input(p, name, token.at);
}

/* ---------------------------------------------------------------------- operators */

static int parse_primary(parser *p) {
  const mbg__token token = p->lexer.token;
  if (token.kind == TOKEN_name) {
    return parse_name(p);
  }
  if (accept(p, TOKEN_number)) {
    return mbg__build_constant(&p->builder, token.number);
  }
  if (accept(p, TOKEN_open)) {
    const int line = parse_or(p);
    mbg__parse_close(p, TOKEN_close, token.at);
    return line;
  }
  if (token.kind == TOKEN_open_bracket) {
    return mbg__parse_literal(p);
  }
  if (token.kind == TOKEN_end) {
    mbg__lexer_fail(&p->lexer, token.at, "the expression ends too early; expected a number, a name or '('");
  } else {
    const mbg__shown s = mbg__parse_show(p);
    mbg__lexer_fail(&p->lexer, token.at, "expected a number, a name or '(' before '%s'", s.text);
  }
  return 0;
}

static int parse_exponent(parser *p) {
  const int at = p->lexer.token.at;
  int line = 0;
  if (!enter(p)) {
    return leave(p, 0);
  }
  if (accept(p, TOKEN_minus)) {
    line = mbg__build(&p->builder, at, OP_negate, parse_exponent(p), 0);
  } else if (accept(p, TOKEN_plus)) {
    line = parse_exponent(p);
  } else {
    line = parse_power(p);
  }
  return leave(p, line);
}

static int parse_power(parser *p) {
  const int base = parse_primary(p), at = p->lexer.token.at;
  return accept(p, TOKEN_hat) ? mbg__build(&p->builder, at, OP_power, base, parse_exponent(p)) : base;
}

/* signs: -x^2 = -(x^2), -30 deg = -(30 deg) */
static int parse_signed(parser *p, bool minus) {
  const int at = p->lexer.token.at;
  if (!enter(p)) {
    return leave(p, 0);
  }
  mbg__lexer_next(&p->lexer);
  const int line = parse_factor(p);
  return leave(p, minus ? mbg__build(&p->builder, at, OP_negate, line, 0) : line);
}

static int parse_factor(parser *p) {
  if (peek(p) == TOKEN_minus || peek(p) == TOKEN_plus) {
    return parse_signed(p, peek(p) == TOKEN_minus);
  }
  const int line = parse_power(p), at = p->lexer.token.at;
  if (!accept(p, TOKEN_deg)) {
    return line;
  }
  return mbg__build(&p->builder, at, OP_multiply, line, mbg__build_constant(&p->builder, M_PI / 180));
}

/* operand {(+|-) operand}, of two operators that group from the left */
static int parse_left(parser *p, int (*operand)(parser *), const mbg__token_kind token[2], const int op[2]) {
  int line = operand(p);
  for (;;) {
    const int at = p->lexer.token.at, k = accept(p, token[0]) ? 0 : accept(p, token[1]) ? 1 : -1;
    if (k < 0) {
      return line;
    }
    line = mbg__build(&p->builder, at, op[k], line, operand(p));
  }
}

static int parse_product(parser *p) {
  static const mbg__token_kind tokens[] = {TOKEN_times, TOKEN_over};
  static const int ops[] = {OP_multiply, OP_divide};
  return parse_left(p, parse_factor, tokens, ops);
}

static int parse_sum(parser *p) {
  static const mbg__token_kind tokens[] = {TOKEN_plus, TOKEN_minus};
  static const int ops[] = {OP_add, OP_subtract};
  return parse_left(p, parse_product, tokens, ops);
}

static int parse_comparison(parser *p) {
  static const int ops[] = {[TOKEN_less] = OP_less,       [TOKEN_less_equal] = OP_less_equal,
                            [TOKEN_greater] = OP_greater, [TOKEN_greater_equal] = OP_greater_equal,
                            [TOKEN_equal] = OP_equal,     [TOKEN_not_equal] = OP_not_equal};
  const int line = parse_sum(p);
  const mbg__token token = p->lexer.token;
  if (token.kind < TOKEN_less_equal) {
    return line;
  }
  mbg__lexer_next(&p->lexer);
  return mbg__build(&p->builder, token.at, ops[token.kind], line, parse_sum(p));
}

static int parse_not(parser *p) {
  const int at = p->lexer.token.at;
  if (peek(p) != TOKEN_not) {
    return parse_comparison(p);
  }
  if (!enter(p)) {
    return leave(p, 0);
  }
  mbg__lexer_next(&p->lexer);
  return leave(p, mbg__build(&p->builder, at, OP_not, parse_not(p), 0));
}

/* The right side of `and`/`or`, evaluated only when the left one does not decide. A constant left side that decides
   leaves nothing of the right one. */
static int parse_right(parser *p, int at, int op, int left, int (*operand)(parser *)) {
  mbg__builder *b = &p->builder;
  if (failed(p)) {
    return 0;
  }
  const bool constant = mbg__build_is_constant(b, left);
  const bool decided = constant && (b->code[left].value != 0) == (op == OP_or);
  const int jump = constant ? 0 : mbg__build_jump(b, op == OP_or ? OP_when : OP_unless, left);
  b->lazy += !constant || decided;
  const int right = operand(p);
  b->lazy -= !constant || decided;
  if (decided) {
    mbg__build_cut(b, left);
    return mbg__build_constant(b, op == OP_or);
  }
  if (!constant) {
    mbg__build_land(b, jump);
  }
  return mbg__build(b, at, op, left, right);
}

static int parse_and(parser *p) {
  int line = parse_not(p);
  for (int at = p->lexer.token.at; accept(p, TOKEN_and); at = p->lexer.token.at) {
    line = parse_right(p, at, OP_and, line, parse_not);
  }
  return line;
}

static int parse_or(parser *p) {
  if (!enter(p)) {
    return leave(p, 0);
  }
  int line = parse_and(p);
  for (int at = p->lexer.token.at; accept(p, TOKEN_or); at = p->lexer.token.at) {
    line = parse_right(p, at, OP_or, line, parse_and);
  }
  return leave(p, line);
}

int mbg__parse_expression(mbg__parser *p) { return parse_or(p); }

/* ---------------------------------------------------------------------- the whole text */

static void check_result(parser *p) {
  const bool vector = p->builder.code[p->builder.n - 1].vector;
  if (vector && p->component < 0) {
    mbg__lexer_fail(&p->lexer, 0, "this is a vector, a number is needed; write norm(a) or dot(a, b)");
  } else if (!vector && p->component >= 0) {
    mbg__lexer_fail(&p->lexer, 0, "this is a number, a vector is needed; write [x, y, z]");
  }
}

static void parse_text(parser *p) {
  const size_t length = strlen(p->lexer.text);
  if (length > MBG__EXPR_LENGTH_MAX) {
    mbg__lexer_fail(&p->lexer, 0, "the expression has %zu characters; at most %d are allowed", length,
                    MBG__EXPR_LENGTH_MAX);
    return;
  }
  mbg__lexer_next(&p->lexer);
  if (!failed(p) && peek(p) == TOKEN_end) {
    mbg__lexer_fail(&p->lexer, 0, "the expression is empty");
    return;
  }
  parse_or(p);
  if (!failed(p) && peek(p) != TOKEN_end) {
    mbg__parse_fail_token(p);
  }
  if (!failed(p)) {
    check_result(p);
  }
}

int mbg__expr_compile(mbg_context *ctx, mbg__arena *arena, const char *text, const mbg__where *where,
                      const mbg__scope *scope, mbg__expr **out) {
  return mbg__expr_compile_component(ctx, arena, text, where, scope, -1, out);
}

int mbg__expr_compile_component(mbg_context *ctx, mbg__arena *arena, const char *text, const mbg__where *where,
                                const mbg__scope *scope, int k, mbg__expr **out) {
  parser p = {.lexer = {.ctx = ctx, .where = where, .text = text}, .scope = scope, .depth = -1, .component = k};
  p.builder.lexer = &p.lexer;
  int err = MBG_OK;
  *out = NULL;
  parse_text(&p);
  MBG_TRY(p.lexer.err);
  MBG_TRY(mbg__build_finish(&p.builder, arena, out));
done:
  mbg__free(ctx, p.builder.code);
  return err;
}
