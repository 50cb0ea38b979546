#include "io/utf8.h"

#include <string.h>

static bool is_continuation(char c) { return ((unsigned char)c & 0xc0) == 0x80; }

/* bytes announced by the first one, and the bits of the code it carries; 0 when no character starts so */
static int lead(unsigned char c, uint32_t *bits) {
  if (c < 0x80) {
    *bits = c;
    return 1;
  }
  if (c >= 0xc2 && c < 0xe0) {
    *bits = c & 0x1f;
    return 2;
  }
  if (c >= 0xe0 && c < 0xf0) {
    *bits = c & 0x0f;
    return 3;
  }
  if (c >= 0xf0 && c < 0xf5) {
    *bits = c & 0x07;
    return 4;
  }
  return 0;
}

int mbg__utf8_decode(const char *p, const char *end, uint32_t *code) {
  static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
  uint32_t c = 0;
  const int n = p < end ? lead((unsigned char)*p, &c) : 0;
  if (n == 0 || end - p < n) {
    return 0;
  }
  for (int i = 1; i < n; i++) {
    if (!is_continuation(p[i])) {
      return 0;
    }
    c = c << 6 | ((unsigned char)p[i] & 0x3f);
  }
  const bool surrogate = c >= 0xd800 && c < 0xe000;
  if (c < least[n] || surrogate || c > 0x10ffff) {
    return 0;
  }
  if (code) {
    *code = c;
  }
  return n;
}

int mbg__utf8_encode(uint32_t code, char *out) {
  if (code < 0x80) {
    out[0] = (char)code;
    return 1;
  }
  const int n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  static const unsigned char first[5] = {0, 0, 0xc0, 0xe0, 0xf0};
  for (int i = n - 1; i > 0; i--) {
    out[i] = (char)(0x80 | (code & 0x3f));
    code >>= 6;
  }
  out[0] = (char)(first[n] | code);
  return n;
}

int mbg__utf8_count(const char *p, const char *end) {
  int count = 0;
  while (p < end) {
    const int n = mbg__utf8_decode(p, end, NULL);
    p += n ? n : 1;
    count++;
  }
  return count;
}

size_t mbg__utf8_mark(const char *text, size_t length) {
  return length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

mbg__excerpt mbg__excerpt_of(const char *text, size_t length) {
  mbg__excerpt e;
  const char *p = text, *end = text + length;
  char *out = e.text;
  for (int i = 0; i < 40 && p < end; i++) {
    const int n = mbg__utf8_decode(p, end, NULL);
    const unsigned char c = (unsigned char)*p;
    if (n == 0 || c < 0x20 || c == 0x7f) {
      *out++ = '?';
      p++;
      continue;
    }
    memcpy(out, p, (size_t)n);
    out += n;
    p += n;
  }
  strcpy(out, p < end ? "..." : "");
  return e;
}
