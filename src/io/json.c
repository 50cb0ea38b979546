#include "io/json.h"

#include "io/number.h"
#include "io/utf8.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBERS_LOOK_LIKE "JSON numbers look like 0.5, -1 or 2.5e-3"

typedef struct {
  int line, column;
} position;

typedef struct {
  mbg_context *ctx;
  mbg__arena *arena;
  const char *file;
  const char *p, *end; /* next byte, and behind the last */
  int line;            /* of p */
  const char *mark;    /* a place on that line, not behind p, and its column: moves on with p, so that columns */
  int mark_column;     /* cost linear time even when the whole file is one line */
  int depth;
  const mbg__json *open; /* innermost array or object that is not closed yet, or NULL */
  const char *text;      /* all of it */
  char *room, *room_end; /* what is left of a block for short texts, which stand in it without gaps */
} parser;

static int parse_value(parser *s, mbg__json *node);

/* ---------------------------------------------------------------------- places and messages */

static position here(parser *s) {
  s->mark_column += mbg__utf8_count(s->mark, s->p);
  s->mark = s->p;
  return (position){s->line, s->mark_column};
}

MBG_PRINTF(3, 4) static int fail_at(parser *s, position at, const char *format, ...) {
  char text[512];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof(text), format, args);
  va_end(args);
  return mbg__fail(s->ctx, MBG_ERROR_INPUT, "%s:%d:%d: %s", s->file, at.line, at.column, text);
}

/* frequent mistakes between values; 0 when it is none of these */
static int fail_known(parser *s) {
  uint32_t code = 0;
  const position at = here(s);
  const char c = *s->p;
  const char c2 = s->end - s->p > 1 ? s->p[1] : ' ';
  if (mbg__utf8_decode(s->p, s->end, &code) == 0) {
    return fail_at(s, at, "invalid UTF-8 (byte 0x%02x); save the file as UTF-8", (unsigned)(unsigned char)c);
  }
  if (code == 0) {
    return fail_at(s, at, "NUL byte; is this a text file in UTF-8?");
  }
  if (c == '#' || (c == '/' && (c2 == '/' || c2 == '*'))) {
    return fail_at(s, at, "JSON has no comments; use a \"note\" key");
  }
  if (c == '\'' || (code >= 0x2018 && code <= 0x201f)) {
    return fail_at(s, at, "strings and keys need double quotes (\"), not %.*s", mbg__utf8_decode(s->p, s->end, NULL),
                   s->p);
  }
  return 0;
}

/* names what is expected at p and what was found */
static int fail_expected(parser *s, const char *what) {
  if (s->p == s->end) {
    const char *kind = s->open && s->open->kind == MBG__JSON_OBJECT ? "object" : "array";
    return s->open ? fail_at(s, here(s), "the file ends inside the %s that starts at line %d, column %d; expected %s",
                             kind, s->open->line, s->open->column, what)
                   : fail_at(s, here(s), "the file ends here; expected %s", what);
  }
  const int known = fail_known(s);
  return known < 0 ? known : fail_at(s, here(s), "expected %s", what);
}

static void skip_space(parser *s) {
  for (; s->p < s->end; s->p++) {
    if (*s->p == '\n') {
      s->line++;
      s->mark = s->p + 1;
      s->mark_column = 1;
    } else if (*s->p != ' ' && *s->p != '\t' && *s->p != '\r') {
      return;
    }
  }
}

static bool at_char(const parser *s, char c) { return s->p < s->end && *s->p == c; }

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/* ---------------------------------------------------------------------- strings */

/* bytes of text, not cleared; NULL: out of memory */
static char *take_text(parser *s, size_t bytes) {
  enum { SHORT = 256, BLOCK = 16384 };
  if (bytes > SHORT) {
    return mbg__arena_take(s->arena, bytes, 1);
  }
  if ((size_t)(s->room_end - s->room) < bytes) {
    s->room = mbg__arena_take(s->arena, BLOCK, 1);
    s->room_end = s->room ? s->room + BLOCK : NULL;
  }
  char *taken = s->room;
  s->room += taken ? bytes : 0;
  return taken;
}

/* the closing quote of the string whose first character is at p */
static int find_quote(parser *s, position start, const char **quote) {
  const char *q = s->p;
  while (q < s->end && *q != '"' && *q != '\n') {
    /* an escaped character does not close the string */
    q += *q == '\\' && s->end - q > 1 && q[1] != '\n' ? 2 : 1;
  }
  if (q == s->end) {
    return fail_at(s, start, "unterminated string: the closing '\"' is missing");
  }
  if (*q == '\n') {
    return fail_at(s, start,
                   "unterminated string: the closing '\"' is missing on this line (a line break is written "
                   "\\n)");
  }
  *quote = q;
  return MBG_OK;
}

/* four hexadecimal digits at p, or -1 */
static int32_t hex4(const char *p, const char *end) {
  int32_t code = 0;
  if (end - p < 4) {
    return -1;
  }
  for (int i = 0; i < 4; i++) {
    const char c = (char)(p[i] | 0x20);
    if (is_digit(p[i])) {
      code = 16 * code + (p[i] - '0');
    } else if (c >= 'a' && c <= 'f') {
      code = 16 * code + (c - 'a' + 10);
    } else {
      return -1;
    }
  }
  return code;
}

/* \uXXXX at p, or a pair of them for a code above U+FFFF */
static int decode_unicode(parser *s, const char *quote, char **out) {
  int32_t code = hex4(s->p + 2, quote);
  if (code < 0) {
    return fail_at(s, here(s), "\\u needs four hexadecimal digits");
  }
  const bool high = code >= 0xd800 && code < 0xdc00;
  const bool pair = high && quote - s->p >= 12 && s->p[6] == '\\' && s->p[7] == 'u';
  const int32_t low = pair ? hex4(s->p + 8, quote) : -1;
  if (high && low >= 0xdc00 && low < 0xe000) {
    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    s->p += 6;
  } else if (code >= 0xd800 && code < 0xe000) {
    return fail_at(s, here(s), "lone surrogate %.6s; codes above \\uffff need a pair such as \\ud83d\\ude00", s->p);
  }
  s->p += 6;
  *out += mbg__utf8_encode((uint32_t)code, *out);
  return MBG_OK;
}

static int decode_escape(parser *s, const char *quote, char **out) {
  static const char letters[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
  const char c = s->p[1];
  if (c == 'u') {
    return decode_unicode(s, quote, out);
  }
  const char *known = c ? strchr(letters, c) : NULL;
  if (!known) {
    const int n = mbg__utf8_decode(s->p + 1, quote, NULL);
    return fail_at(s, here(s), "unknown escape '\\%s'; JSON has \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\uXXXX",
                   mbg__excerpt_of(s->p + 1, (size_t)(n ? n : 1)).text);
  }
  *(*out)++ = values[known - letters];
  s->p += 2;
  return MBG_OK;
}

/* one character as it stands */
static int decode_plain(parser *s, const char *quote, char **out) {
  uint32_t code = 0;
  const int n = mbg__utf8_decode(s->p, quote, &code);
  if (n == 0) {
    return fail_at(s, here(s), "invalid UTF-8 in a string (byte 0x%02x); save the file as UTF-8",
                   (unsigned)(unsigned char)*s->p);
  }
  if (code < 0x20) {
    return fail_at(s, here(s), "control character in a string; write %s\\u%04x", code == '\t' ? "\\t or " : "",
                   (unsigned)code);
  }
  memcpy(*out, s->p, (size_t)n);
  *out += n;
  s->p += n;
  return MBG_OK;
}

/* at the opening quote; leaves p behind the closing one */
static int parse_string(parser *s, const char **text, unsigned *length) {
  int err = MBG_OK;
  const char *quote = NULL;
  const position start = here(s);
  s->p++;
  MBG_TRY(find_quote(s, start, &quote));
  /* decoding never makes a string longer */
  char *copy = take_text(s, (size_t)(quote - s->p) + 1);
  MBG_TRY(mbg__arena_check(s->ctx, s->arena));
  char *out = copy;
  while (s->p < quote) {
    MBG_TRY(*s->p == '\\' ? decode_escape(s, quote, &out) : decode_plain(s, quote, &out));
  }
  *out = 0;
  s->p = quote + 1;
  *text = copy;
  *length = (unsigned)(out - copy);
done:
  return err;
}

/* ---------------------------------------------------------------------- numbers and words */

static bool equal_word(const char *p, size_t n, const char *word) {
  for (size_t i = 0; i < n; i++) {
    if ((is_letter(p[i]) ? p[i] | 0x20 : p[i]) != word[i] || !word[i]) {
      return false;
    }
  }
  return word[n] == 0;
}

static bool is_nonfinite(const char *p, size_t n) {
  if (n > 0 && (*p == '-' || *p == '+')) {
    p++;
    n--;
  }
  return equal_word(p, n, "nan") || equal_word(p, n, "inf") || equal_word(p, n, "infinity");
}

/* behind everything that a number or a word could be meant to contain, so that messages show it whole */
static const char *token_end(const parser *s) {
  const char *q = s->p;
  while (q < s->end && (is_digit(*q) || is_letter(*q) || *q == '.' || *q == '+' || *q == '-' || *q == '_')) {
    q++;
  }
  return q;
}

static const char *skip_digits(const char *p, const char *end) {
  while (p < end && is_digit(*p)) {
    p++;
  }
  return p;
}

/* the violated rule of JSON numbers in [p, end), or NULL */
static const char *number_fault(const char *p, const char *end) {
  if (*p == '+') {
    return "a leading '+' is not allowed";
  }
  p += *p == '-';
  const char *q = skip_digits(p, end);
  if (q == p) {
    return p < end && *p == '.' ? "a digit must precede the '.'" : "a digit must follow the '-'";
  }
  if (q - p > 1 && *p == '0') {
    return "leading zeros are not allowed";
  }
  p = q;
  if (p < end && *p == '.') {
    q = skip_digits(p + 1, end);
    if (q == p + 1) {
      return "a digit must follow the '.'";
    }
    p = q;
  }
  if (p < end && (*p == 'e' || *p == 'E')) {
    p += end - p > 1 && (p[1] == '+' || p[1] == '-') ? 2 : 1;
    q = skip_digits(p, end);
    if (q == p) {
      return "digits must follow the 'e'";
    }
    p = q;
  }
  return p < end ? "only digits, one '.' and one 'e' are allowed" : NULL;
}

static int parse_number(parser *s, mbg__json *node) {
  const char *end = token_end(s);
  const size_t length = (size_t)(end - s->p);
  const mbg__excerpt shown = mbg__excerpt_of(s->p, length);
  if (is_nonfinite(s->p, length)) {
    return fail_at(s, here(s), "'%s' is not a JSON number; " NUMBERS_LOOK_LIKE, shown.text);
  }
  const char *fault = number_fault(s->p, end);
  if (fault) {
    return fail_at(s, here(s), "malformed number '%s': %s; " NUMBERS_LOOK_LIKE, shown.text, fault);
  }
  mbg__number_parse(s->p, length, &node->number);
  if (!isfinite(node->number)) {
    return fail_at(s, here(s), "number '%s' is out of range; the largest is about 1.8e308", shown.text);
  }
  node->kind = MBG__JSON_NUMBER;
  char *copy = take_text(s, length + 1);
  if (!copy) {
    return mbg__fail_memory(s->ctx);
  }
  memcpy(copy, s->p, length);
  copy[length] = 0;
  node->text = copy;
  node->length = (unsigned)length;
  s->p = end;
  return MBG_OK;
}

static int fail_word(parser *s, size_t length) {
  static const struct {
    const char *word, *right;
  } known[] = {{"true", "true"}, {"yes", "true"},  {"false", "false"}, {"no", "false"},
               {"null", "null"}, {"none", "null"}, {"nil", "null"},    {"undefined", "null"}};
  const mbg__excerpt shown = mbg__excerpt_of(s->p, length);
  for (int i = 0; i < MBG_COUNT(known); i++) {
    if (equal_word(s->p, length, known[i].word)) {
      return fail_at(s, here(s), "'%s' is not JSON; write %s", shown.text, known[i].right);
    }
  }
  return fail_at(s, here(s), "expected a value, found '%s'; strings need double quotes", shown.text);
}

static int parse_word(parser *s, mbg__json *node) {
  const char *end = token_end(s);
  const size_t length = (size_t)(end - s->p);
  if (length == 4 && memcmp(s->p, "null", 4) == 0) {
    node->kind = MBG__JSON_NULL;
  } else if ((length == 4 && memcmp(s->p, "true", 4) == 0) || (length == 5 && memcmp(s->p, "false", 5) == 0)) {
    node->kind = MBG__JSON_BOOL;
    node->boolean = length == 4;
  } else {
    return is_nonfinite(s->p, length) ? parse_number(s, node) : fail_word(s, length);
  }
  s->p = end;
  return MBG_OK;
}

/* ---------------------------------------------------------------------- arrays and objects */

/* by key, and equal ones in the order of the file */
static int compare_keys(const void *a, const void *b) {
  const mbg__json *x = *(mbg__json *const *)a, *y = *(mbg__json *const *)b;
  const int order = strcmp(x->key, y->key);
  if (order != 0) {
    return order;
  }
  return x->key_line != y->key_line ? x->key_line - y->key_line : x->key_column - y->key_column;
}

static bool stands_before(const mbg__json *a, const mbg__json *b) {
  return a->key_line < b->key_line || (a->key_line == b->key_line && a->key_column < b->key_column);
}

/* sorting finds the repeated keys in n log n; of several, the first in the file is reported */
static int check_unique_keys(parser *s, const mbg__json *object) {
  mbg__json **sorted = mbg__alloc(s->ctx, (size_t)object->count, sizeof(*sorted));
  if (!sorted) {
    return mbg__fail_memory(s->ctx);
  }
  int n = 0;
  for (mbg__json *m = object->child; m; m = m->next) {
    sorted[n++] = m;
  }
  qsort(sorted, (size_t)n, sizeof(mbg__json *), compare_keys);
  const mbg__json *again = NULL, *first = NULL;
  for (int i = 1; i < n; i++) {
    if (strcmp(sorted[i - 1]->key, sorted[i]->key) == 0 && (!again || stands_before(sorted[i], again))) {
      first = sorted[i - 1];
      again = sorted[i];
    }
  }
  mbg__free(s->ctx, sorted);
  return again
             ? fail_at(s, (position){again->key_line, again->key_column}, "duplicate key '%s', first given at line %d",
                       mbg__excerpt_of(again->key, strlen(again->key)).text, first->key_line)
             : MBG_OK;
}

/* "key" : */
static int parse_key(parser *s, mbg__json *member) {
  int err = MBG_OK;
  unsigned length = 0;
  if (!at_char(s, '"')) {
    return fail_expected(s, s->open->count == 0 ? "a key in double quotes or '}'" : "a key in double quotes");
  }
  const position at = here(s);
  MBG_TRY(parse_string(s, &member->key, &length));
  member->key_line = at.line;
  member->key_column = at.column;
  if (strlen(member->key) != length) {
    return fail_at(s, at, "a key cannot contain \\u0000");
  }
  skip_space(s);
  if (!at_char(s, ':')) {
    char what[sizeof(mbg__excerpt) + 32];
    mbg__format(what, sizeof(what), "':' after the key '%s'", mbg__excerpt_of(member->key, length).text);
    return fail_expected(s, what);
  }
  s->p++;
  skip_space(s);
done:
  return err;
}

static int fail_separator(parser *s, const mbg__json *item, char close) {
  char what[sizeof(mbg__excerpt) + 64];
  if (item->key) {
    mbg__format(what, sizeof(what), "',' or '%c' after the value of '%s'", close,
                mbg__excerpt_of(item->key, strlen(item->key)).text);
  } else {
    mbg__format(what, sizeof(what), "',' or '%c' after item %d of the array", close, s->open->count);
  }
  return fail_expected(s, what);
}

/* behind an item: takes the ',' or the closing bracket */
static int parse_separator(parser *s, const mbg__json *item, char close, bool *more) {
  skip_space(s);
  *more = at_char(s, ',');
  if (!*more && !at_char(s, close)) {
    return fail_separator(s, item, close);
  }
  const position comma = here(s);
  s->p++;
  if (*more) {
    skip_space(s);
    if (at_char(s, close)) {
      return fail_at(s, comma, "trailing ',' before '%c'", close);
    }
  }
  return MBG_OK;
}

static int parse_items(parser *s, mbg__json *node, char close) {
  int err = MBG_OK;
  mbg__json **tail = &node->child;
  skip_space(s);
  bool more = !at_char(s, close);
  s->p += !more;
  while (more) {
    mbg__json *item = MBG_TAKE(s->arena, mbg__json, 1);
    MBG_TRY(mbg__arena_check(s->ctx, s->arena));
    if (close == '}') {
      MBG_TRY(parse_key(s, item));
    }
    MBG_TRY(parse_value(s, item));
    *tail = item;
    tail = &item->next;
    node->count++;
    MBG_TRY(parse_separator(s, item, close, &more));
  }
done:
  return err;
}

static int parse_container(parser *s, mbg__json *node) {
  int err = MBG_OK;
  const bool object = *s->p == '{';
  const mbg__json *outer = s->open;
  if (s->depth == MBG__JSON_DEPTH_MAX) {
    return fail_at(s, here(s), "arrays and objects are nested deeper than %d levels", MBG__JSON_DEPTH_MAX);
  }
  node->kind = object ? MBG__JSON_OBJECT : MBG__JSON_ARRAY;
  s->depth++;
  s->open = node;
  s->p++;
  MBG_TRY(parse_items(s, node, object ? '}' : ']'));
  if (object && node->count > 1) {
    MBG_TRY(check_unique_keys(s, node));
  }
  s->open = outer;
  s->depth--;
done:
  return err;
}

static int parse_kind(parser *s, mbg__json *node) {
  const char c = s->p < s->end ? *s->p : 0;
  if (c == '{' || c == '[') {
    return parse_container(s, node);
  }
  if (c == '"') {
    node->kind = MBG__JSON_STRING;
    return parse_string(s, &node->text, &node->length);
  }
  if (is_digit(c) || c == '-' || c == '+' || c == '.') {
    return parse_number(s, node);
  }
  if (is_letter(c)) {
    return parse_word(s, node);
  }
  return fail_expected(s, "a value");
}

static int parse_value(parser *s, mbg__json *node) {
  const position at = here(s);
  node->line = at.line;
  node->column = at.column;
  node->begin = (unsigned)(s->p - s->text);
  const int err = parse_kind(s, node);
  node->end = (unsigned)(s->p - s->text);
  return err;
}

/* ---------------------------------------------------------------------- the whole text */

static int parse_text(parser *s, mbg__json *root) {
  int err = MBG_OK;
  skip_space(s);
  if (s->p == s->end) {
    return fail_at(s, (position){1, 1}, "the file is empty; expected a JSON value");
  }
  MBG_TRY(parse_value(s, root));
  skip_space(s);
  if (s->p < s->end) {
    const int known = fail_known(s);
    return known < 0 ? known : fail_at(s, here(s), "text after the end of the JSON value");
  }
done:
  return err;
}

int mbg__json_parse(mbg_context *ctx, mbg__arena *arena, const char *file, const char *text, size_t length,
                    mbg__json **out) {
  *out = NULL;
  if (length > MBG__JSON_BYTES_MAX) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "%s:1:1: the file is larger than %d MiB", file,
                     MBG__JSON_BYTES_MAX / 1024 / 1024);
  }
  const char *begin = length > 0 ? text + mbg__utf8_mark(text, length) : "";
  const char *end = length > 0 ? text + length : begin;
  parser s = {.ctx = ctx, .arena = arena, .file = file, .p = begin, .end = end, .line = 1, .text = text};
  s.mark = begin;
  s.mark_column = 1;
  mbg__json *root = MBG_TAKE(arena, mbg__json, 1);
  if (!root) {
    return mbg__fail_memory(ctx);
  }
  const int err = parse_text(&s, root);
  *out = err < 0 ? NULL : root;
  return err;
}

const mbg__json *mbg__json_member(const mbg__json *object, const char *key) {
  if (!object || object->kind != MBG__JSON_OBJECT) {
    return NULL;
  }
  const mbg__json *m = object->child;
  while (m && strcmp(m->key, key) != 0) {
    m = m->next;
  }
  return m;
}

const char *mbg__json_kind_name(mbg__json_kind kind) {
  static const char *const names[] = {"null", "a boolean", "a number", "a string", "an array", "an object"};
  return names[kind];
}
