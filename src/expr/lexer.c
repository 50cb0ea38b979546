#include "expr/lexer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS_MAX = 400 };

void mbg__lexer_stop(mbg__lexer *lexer, int status) {
  lexer->err = lexer->err < 0 ? lexer->err : status;
  lexer->token.kind = TOKEN_end;
}

void mbg__lexer_fail(mbg__lexer *lexer, int at, const char *format, ...) {
  if (lexer->err < 0) {
    return;
  }
  char message[600];
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof(message), format, args);
  va_end(args);
  mbg__lexer_stop(lexer, mbg__fail_at(lexer->ctx, MBG_ERROR_INPUT, lexer->where, at, "%s", message));
}

/* letters of the grammar, whatever the locale */
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/* ---------------------------------------------------------------------- numbers */

/* A number without its point, so that strtod reads it the same in every locale: "12.5e3" -> "125e2". */
typedef struct {
  char digits[DIGITS_MAX + 32];
  int count;    /* of digits, without leading zeros */
  int exponent; /* of ten */
  bool any;     /* there was a digit at all */
  bool too_long;
} decimal;

static int read_digits(const char *text, int i, decimal *d, int step) {
  for (; is_digit(text[i]); i++) {
    d->any = true;
    d->exponent -= step;
    if (text[i] == '0' && d->count == 0) {
      continue;
    }
    if (d->count == DIGITS_MAX) {
      d->too_long = true;
      continue;
    }
    d->digits[d->count++] = text[i];
  }
  return i;
}

static int read_exponent(mbg__lexer *lexer, int i, decimal *d) {
  const char *text = lexer->text;
  if (text[i] != 'e' && text[i] != 'E') {
    return i;
  }
  const int sign = text[i + 1] == '-' ? -1 : 1;
  int k = i + 1 + (text[i + 1] == '-' || text[i + 1] == '+');
  if (!is_digit(text[k])) {
    mbg__lexer_fail(lexer, i, "the exponent of this number has no digits");
    return k;
  }
  int exponent = 0;
  for (; is_digit(text[k]); k++) {
    exponent = exponent < 1000000 ? 10 * exponent + (text[k] - '0') : exponent;
  }
  d->exponent += sign * exponent;
  return k;
}

static void read_number(mbg__lexer *lexer) {
  const char *text = lexer->text;
  const int at = lexer->token.at;
  decimal d = {.count = 0};
  int i = read_digits(text, at, &d, 0);
  if (text[i] == '.') {
    i = read_digits(text, i + 1, &d, 1);
  }
  if (!d.any) {
    mbg__lexer_fail(lexer, at, "a number needs a digit before or after its decimal point");
    return;
  }
  i = read_exponent(lexer, i, &d);
  mbg__format(d.digits + d.count, sizeof(d.digits) - (size_t)d.count, "e%d", d.exponent);
  lexer->token.number = d.count ? strtod(d.digits, NULL) : 0;
  lexer->token.length = i - at;
  if (d.too_long) {
    mbg__lexer_fail(lexer, at, "this number has more than %d digits", DIGITS_MAX);
  } else if (!isfinite(lexer->token.number)) {
    mbg__lexer_fail(lexer, at, "this number is too large (limit 1.8e308)");
  } else if (lexer->token.number == 0 && d.count) {
    mbg__lexer_fail(lexer, at, "this number is too small (limit 4.9e-324)");
  } else if (text[i] == '.') {
    mbg__lexer_fail(lexer, i, "a number can have only one decimal point");
  }
}

/* ---------------------------------------------------------------------- words and signs */

typedef struct {
  const char *text;
  mbg__token_kind kind;
} spelling;

/* longer ones first */
static const spelling signs[] = {
    {"<=", TOKEN_less_equal}, {">=", TOKEN_greater_equal}, {"==", TOKEN_equal},        {"!=", TOKEN_not_equal},
    {"<", TOKEN_less},        {">", TOKEN_greater},        {"+", TOKEN_plus},          {"-", TOKEN_minus},
    {"*", TOKEN_times},       {"/", TOKEN_over},           {"^", TOKEN_hat},           {"(", TOKEN_open},
    {")", TOKEN_close},       {"[", TOKEN_open_bracket},   {"]", TOKEN_close_bracket}, {",", TOKEN_comma}};

static const spelling words[] = {{"and", TOKEN_and}, {"or", TOKEN_or}, {"not", TOKEN_not}, {"deg", TOKEN_deg}};

/* habits from other languages */
static const char *const mistaken[][2] = {{"**", "^"}, {"&&", "and"}, {"||", "or"}, {"&", "and"},
                                          {"|", "or"}, {"!", "not"},  {"=", "=="}};

static bool starts_with(const char *text, const char *head) { return strncmp(text, head, strlen(head)) == 0; }

static void read_name(mbg__lexer *lexer) {
  const char *text = lexer->text;
  mbg__token *token = &lexer->token;
  int i = token->at;
  for (;;) {
    if (!is_letter(text[i])) {
      mbg__lexer_fail(lexer, i, "a name must continue after its '.'");
      return;
    }
    while (is_letter(text[i]) || is_digit(text[i])) {
      i++;
    }
    if (text[i] != '.') {
      break;
    }
    i++;
  }
  token->kind = TOKEN_name;
  token->length = i - token->at;
  for (int k = 0; k < MBG_COUNT(words); k++) {
    if ((int)strlen(words[k].text) == token->length && starts_with(text + token->at, words[k].text)) {
      token->kind = words[k].kind;
    }
  }
}

/* number of bytes of the character that starts at text, 0 when it is not UTF-8 text */
static int character_length(const char *text) {
  const unsigned char c = (unsigned char)text[0];
  const int length = c < 0x20 || c == 0x7f ? 0
                     : c < 0x80            ? 1
                     : c < 0xc2            ? 0
                     : c < 0xe0            ? 2
                     : c < 0xf0            ? 3
                     : c < 0xf5            ? 4
                                           : 0;
  for (int k = 1; k < length; k++) {
    if (((unsigned char)text[k] & 0xc0) != 0x80) {
      return 0;
    }
  }
  return length;
}

static void fail_sign(mbg__lexer *lexer) {
  const char *text = lexer->text + lexer->token.at;
  for (int k = 0; k < MBG_COUNT(mistaken); k++) {
    if (starts_with(text, mistaken[k][0])) {
      mbg__lexer_fail(lexer, lexer->token.at, "'%s' is not an operator here; write '%s'", mistaken[k][0],
                      mistaken[k][1]);
      return;
    }
  }
  const int length = character_length(text);
  if (length > 0) {
    mbg__lexer_fail(lexer, lexer->token.at, "unexpected character '%.*s'", length, text);
  } else {
    mbg__lexer_fail(lexer, lexer->token.at, "unexpected byte 0x%02x", (unsigned char)text[0]);
  }
}

static void read_sign(mbg__lexer *lexer) {
  const char *text = lexer->text + lexer->token.at;
  for (int k = 0; k < MBG_COUNT(signs) && !starts_with(text, "**"); k++) {
    if (starts_with(text, signs[k].text)) {
      lexer->token.kind = signs[k].kind;
      lexer->token.length = (int)strlen(signs[k].text);
      return;
    }
  }
  fail_sign(lexer);
}

void mbg__lexer_next(mbg__lexer *lexer) {
  if (lexer->err < 0) {
    return;
  }
  const char *text = lexer->text;
  int i = lexer->token.at + lexer->token.length;
  while (is_space(text[i])) {
    i++;
  }
  lexer->token = (mbg__token){TOKEN_end, i, 0, 0};
  if (is_digit(text[i]) || text[i] == '.') {
    lexer->token.kind = TOKEN_number;
    read_number(lexer);
  } else if (is_letter(text[i])) {
    read_name(lexer);
  } else if (text[i]) {
    read_sign(lexer);
  }
}
