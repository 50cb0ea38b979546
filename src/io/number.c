#include "io/number.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* no double and no midpoint of two doubles has more significant digits; what follows only breaks a tie */
enum { DIGITS_MAX = 800, EXPONENT_MAX = 5000 };

/* the number as an integer times a power of ten */
typedef struct {
  bool negative;
  char digits[DIGITS_MAX + 2]; /* without leading zeros */
  int ndigits;
  bool cut;           /* digits other than 0 did not fit */
  long long exponent; /* of ten */
} decimal;

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static void push_digit(decimal *d, char c, bool after_point) {
  if (d->ndigits == 0 && c == '0') {
    d->exponent -= after_point;
    return;
  }
  if (d->ndigits < DIGITS_MAX) {
    d->digits[d->ndigits++] = c;
    d->exponent -= after_point;
    return;
  }
  d->cut = d->cut || c != '0';
  d->exponent += !after_point;
}

/* digits with at most one point; NULL when there is no digit */
static const char *read_mantissa(const char *p, const char *end, decimal *d) {
  bool point = false;
  int seen = 0;
  for (; p < end && (is_digit(*p) || (*p == '.' && !point)); p++) {
    if (*p == '.') {
      point = true;
      continue;
    }
    push_digit(d, *p, point);
    seen = 1;
  }
  return seen ? p : NULL;
}

static const char *read_exponent(const char *p, const char *end, decimal *d) {
  const bool negative = p < end && *p == '-';
  if (p < end && (*p == '-' || *p == '+')) {
    p++;
  }
  if (p == end || !is_digit(*p)) {
    return NULL;
  }
  long long e = 0;
  for (; p < end && is_digit(*p); p++) {
    /* far outside anything that many digits could bring back */
    if (e < 1000000000000) {
      e = 10 * e + (*p - '0');
    }
  }
  d->exponent += negative ? -e : e;
  return p;
}

static bool read_decimal(const char *p, const char *end, decimal *d) {
  if (p < end && (*p == '-' || *p == '+')) {
    d->negative = *p++ == '-';
  }
  p = read_mantissa(p, end, d);
  if (p && p < end && (*p == 'e' || *p == 'E')) {
    p = read_exponent(p + 1, end, d);
  }
  return p == end;
}

/* small integers times or over a power of ten that is exact: one rounding, so the result is the nearest double */
static bool convert_small(const decimal *d, double *value) {
  static const double ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                               1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  if (FLT_EVAL_METHOD != 0 || d->ndigits > 15 || d->exponent < -22 || d->exponent > 22) {
    return false;
  }
  double m = 0;
  for (int i = 0; i < d->ndigits; i++) {
    m = 10 * m + (d->digits[i] - '0');
  }
  *value = d->exponent < 0 ? m / ten[-d->exponent] : m * ten[d->exponent];
  return true;
}

/* strtod rounds correctly; given no decimal point it does not depend on the locale */
static double convert_any(const decimal *d) {
  char text[DIGITS_MAX + 32];
  long long exponent = d->exponent - d->cut;
  exponent = exponent < -EXPONENT_MAX ? -EXPONENT_MAX : exponent;
  exponent = exponent > EXPONENT_MAX ? EXPONENT_MAX : exponent;
  snprintf(text, sizeof(text), "%.*s%se%lld", d->ndigits, d->digits, d->cut ? "1" : "", exponent);
  return strtod(text, NULL);
}

bool mbg__number_parse(const char *text, size_t length, double *value) {
  decimal d;
  d.negative = d.cut = false;
  d.ndigits = 0;
  d.exponent = 0;
  if (!read_decimal(text, text + length, &d)) {
    return false;
  }
  double v = 0;
  if (d.ndigits > 0 && !convert_small(&d, &v)) {
    v = convert_any(&d);
  }
  *value = d.negative ? -v : v;
  return true;
}

/* the locale's decimal point, which may be several bytes, becomes '.' */
static int normalize_point(char *text) {
  char *out = text;
  for (const char *p = text; *p; p++) {
    if (is_digit(*p) || *p == '-' || *p == '+' || *p == 'e') {
      *out++ = *p;
    } else if (out == text || out[-1] != '.') {
      *out++ = '.';
    }
  }
  *out = 0;
  return (int)(out - text);
}

int mbg__number_format(char buffer[MBG__NUMBER_SIZE], double value) {
  if (!isfinite(value)) {
    strcpy(buffer, isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
    return (int)strlen(buffer);
  }
  int length = 0;
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(buffer, MBG__NUMBER_SIZE, "%.*g", digits, value);
    length = normalize_point(buffer);
    double back = 0;
    if (mbg__number_parse(buffer, (size_t)length, &back) && back == value) {
      break;
    }
  }
  return length;
}
