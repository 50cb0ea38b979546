/* Compression: every input comes back through a decoder written from the RFC; sizes; base64. */
#include "io/deflate.h"
#include "support/support.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------- a decoder */

typedef struct {
  const unsigned char *in;
  size_t size, bit;
  unsigned char *out;
  size_t length, room;
} inflater;

typedef struct {
  int count[16], symbol[288];
} code;

static int bits(inflater *s, int n) {
  int value = 0;
  for (int i = 0; i < n; i++, s->bit++) {
    assert_true(s->bit / 8 < s->size);
    value |= (s->in[s->bit / 8] >> (s->bit % 8) & 1) << i;
  }
  return value;
}

static void make_code(code *h, const unsigned char *length, int n) {
  int at[16] = {0}, left = 1;
  memset(h, 0, sizeof(*h));
  for (int i = 0; i < n; i++) {
    h->count[length[i]]++;
  }
  h->count[0] = 0;
  for (int k = 1; k < 16; k++) {
    left = 2 * left - h->count[k];
    assert_true(left >= 0); /* not more codes than there can be */
    at[k] = at[k - 1] + h->count[k - 1];
  }
  for (int i = 0; i < n; i++) {
    if (length[i]) {
      h->symbol[at[length[i]]++] = i;
    }
  }
}

static int symbol(inflater *s, const code *h) {
  int value = 0, first = 0, index = 0;
  for (int k = 1; k < 16; k++) {
    value |= bits(s, 1);
    if (value - h->count[k] < first) {
      return h->symbol[index + value - first];
    }
    index += h->count[k];
    first = (first + h->count[k]) << 1;
    value <<= 1;
  }
  fail();
  return -1;
}

static void read_codes(inflater *s, code *literal, code *distance) {
  static const int order[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
  const int nl = bits(s, 5) + 257, nd = bits(s, 5) + 1, n = bits(s, 4) + 4;
  unsigned char length[320] = {0};
  code h;
  for (int i = 0; i < n; i++) {
    length[order[i]] = (unsigned char)bits(s, 3);
  }
  make_code(&h, length, 19);
  for (int i = 0; i < nl + nd;) {
    const int k = symbol(s, &h);
    const int run = k < 16 ? 1 : k == 16 ? 3 + bits(s, 2) : k == 17 ? 3 + bits(s, 3) : 11 + bits(s, 7);
    const unsigned char value = (unsigned char)(k < 16 ? k : k == 16 ? length[i - 1] : 0);
    assert_true(i + run <= nl + nd);
    for (int r = 0; r < run; r++) {
      length[i++] = value;
    }
  }
  make_code(literal, length, nl);
  make_code(distance, length + nl, nd);
}

static void copy(inflater *s, int k, const code *distance) {
  static const int base[29] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                               31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
  static const int extra[29] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
  const int length = base[k - 257] + bits(s, extra[k - 257]), d = symbol(s, distance);
  const int more = d < 4 ? 0 : d / 2 - 1, from = d < 4 ? d + 1 : 1 + ((2 + d % 2) << more) + bits(s, more);
  assert_true((size_t)from <= s->length && s->length + (size_t)length <= s->room);
  for (int i = 0; i < length; i++, s->length++) {
    s->out[s->length] = s->out[s->length - (size_t)from];
  }
}

static void inflate(inflater *s) {
  for (int last = 0; !last;) {
    code literal, distance;
    last = bits(s, 1);
    assert_int_equal(bits(s, 2), 2);
    read_codes(s, &literal, &distance);
    for (int k; (k = symbol(s, &literal)) != 256;) {
      if (k < 256) {
        assert_true(s->length < s->room);
        s->out[s->length++] = (unsigned char)k;
      } else {
        copy(s, k, &distance);
      }
    }
  }
  assert_int_equal((s->bit + 7) / 8, s->size);
}

/* ---------------------------------------------------------------------- tests */

/* there and back; the size in between */
static size_t round_trip(const unsigned char *data, size_t size) {
  mbg_context *ctx;
  mbg__buffer out;
  const char *packed;
  inflater s = {.room = size};
  assert_int_equal(mbg_context_create(NULL, &ctx), MBG_OK);
  mbg__buffer_init(&out, ctx);
  assert_int_equal(mbg__deflate(ctx, data, size, &out), MBG_OK);
  assert_int_equal(mbg__buffer_finish(&out, &packed, &s.size), MBG_OK);
  s.in = (const unsigned char *)packed;
  s.out = malloc(size + 1);
  assert_non_null(s.out);
  inflate(&s);
  assert_int_equal(s.length, size);
  assert_true(size == 0 || !memcmp(s.out, data, size));
  const size_t length = s.size;
  free(s.out);
  mbg__buffer_destroy(&out);
  mbg_context_destroy(ctx);
  return length;
}

static uint32_t next(uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return *seed >> 8;
}

static void test_special(void **state) {
  (void)state;
  static unsigned char data[300000];
  round_trip(data, 0);
  for (size_t n = 1; n < 600; n++) {
    data[n - 1] = (unsigned char)(n % 7 ? 'a' : n);
    round_trip(data, n);
  }
  memset(data, 7, sizeof(data));
  assert_true(round_trip(data, sizeof(data)) < 1000); /* matches of 258 bytes */
  for (size_t i = 0; i < sizeof(data); i++) {
    data[i] = (unsigned char)(i * i >> 11); /* farther than the window */
  }
  assert_true(round_trip(data, sizeof(data)) < sizeof(data) + 2000);
}

/* bytes of few and of many kinds, and counts so different that codes must be shortened to 15 bits */
static void test_random(void **state) {
  (void)state;
  static unsigned char data[120000];
  uint32_t seed = 1;
  for (int kind = 0; kind < 24; kind++) {
    const size_t size = 1 + next(&seed) % sizeof(data);
    for (size_t i = 0; i < size; i++) {
      const uint32_t r = next(&seed);
      int zeros = 0;
      for (uint32_t x = next(&seed); zeros < 23 && !(x >> zeros & 1); zeros++) {
      }
      data[i] = (unsigned char)(kind % 3 == 0 ? r : kind % 3 == 1 ? r % (unsigned)(kind + 2) : (uint32_t)zeros);
    }
    const size_t packed = round_trip(data, size);
    assert_true(packed < size + size / 50 + 200);
  }
}

static void test_base64(void **state) {
  (void)state;
  static const char *const pairs[][2] = {
      {"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"fooba", "Zm9vYmE="}};
  mbg_context *ctx;
  assert_int_equal(mbg_context_create(NULL, &ctx), MBG_OK);
  for (int i = 0; i < MBG_COUNT(pairs); i++) {
    mbg__buffer out;
    const char *text;
    mbg__buffer_init(&out, ctx);
    mbg__base64(pairs[i][0], strlen(pairs[i][0]), &out);
    assert_int_equal(mbg__buffer_finish(&out, &text, NULL), MBG_OK);
    assert_string_equal(text, pairs[i][1]);
    mbg__buffer_destroy(&out);
  }
  mbg_context_destroy(ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_special), cmocka_unit_test(test_random),
                                     cmocka_unit_test(test_base64)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
