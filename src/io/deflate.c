#include "io/deflate.h"

#include <string.h>

enum {
  WINDOW = 32768,   /* bytes that a match may reach back */
  HASH_BITS = 15,   /* of three bytes */
  MATCH_MIN = 3,    /* bytes of a match */
  MATCH_MAX = 258,  /* ... */
  CHAIN_MAX = 48,   /* candidates that are looked at */
  TOKENS = 8192,    /* of a block */
  LITERALS = 286,   /* literals, end of block, lengths */
  DISTANCES = 30,   /* codes of distances */
  END = 256,        /* end of block */
  LENGTH_CODES = 19 /* codes of code lengths */
};

/* A literal (distance 0), or a match. */
typedef struct {
  uint16_t length, distance;
} token;

typedef struct {
  mbg__buffer *out;
  const unsigned char *data;
  size_t size;
  int32_t *head; /* last place of a hash, -1: none       (1 << HASH_BITS) */
  int32_t *prev; /* the place before, by place modulo    (WINDOW) */
  token *tokens; /*                                      (TOKENS) */
  int ntoken;
  uint32_t bits; /* not yet written */
  int nbit;
} deflater;

/* ---------------------------------------------------------------------- bits */

static void put(deflater *d, uint32_t value, int count) {
  d->bits |= value << d->nbit;
  d->nbit += count;
  while (d->nbit >= 8) {
    mbg__buffer_add(d->out, (const char[]){(char)(d->bits & 255)}, 1);
    d->bits >>= 8;
    d->nbit -= 8;
  }
}

/* ---------------------------------------------------------------------- Huffman codes */

typedef struct {
  uint32_t count[LITERALS];
  uint8_t length[LITERALS];
  uint16_t code[LITERALS]; /* with its first bit lowest */
} huffman;

/* depths of the leaves of the tree of least weight: join the two lightest nodes, again and again; the greatest depth */
static int tree_depths(const uint32_t *count, int n, uint8_t *length) {
  uint64_t weight[2 * LITERALS];
  int parent[2 * LITERALS], node[LITERALS], live = 0, next = n, deepest = 0;
  for (int i = 0; i < n; i++) {
    weight[i] = count[i];
    parent[i] = -1;
    if (count[i] > 0) {
      node[live++] = i;
    }
  }
  while (live > 1) {
    for (int k = 0; k < 2; k++) { /* the lightest to the end of the list */
      int least = 0;
      for (int i = 1; i < live - k; i++) {
        least = weight[node[i]] < weight[node[least]] ? i : least;
      }
      const int swap = node[live - 1 - k];
      node[live - 1 - k] = node[least];
      node[least] = swap;
    }
    weight[next] = weight[node[live - 1]] + weight[node[live - 2]];
    parent[next] = -1;
    parent[node[live - 1]] = parent[node[live - 2]] = next;
    live--;
    node[live - 1] = next++;
  }
  for (int i = 0; i < n; i++) {
    int depth = 0;
    for (int k = i; count[i] > 0 && parent[k] >= 0; k = parent[k]) {
      depth++;
    }
    length[i] = (uint8_t)(count[i] > 0 && depth == 0 ? 1 : depth); /* a single symbol has a bit, too */
    deepest = length[i] > deepest ? length[i] : deepest;
  }
  return deepest;
}

static uint16_t reversed(uint16_t code, int length) {
  uint16_t out = 0;
  for (int i = 0; i < length; i++) {
    out = (uint16_t)(out << 1 | (code >> i & 1));
  }
  return out;
}

/* lengths of at most `most` bits, then the codes in their standard order */
static void huffman_make(huffman *h, int n, int most) {
  uint32_t count[LITERALS];
  memcpy(count, h->count, (size_t)n * sizeof(*count));
  while (tree_depths(count, n, h->length) > most) {
    for (int i = 0; i < n; i++) { /* flatter */
      count[i] = count[i] > 0 ? count[i] / 2 + 1 : 0;
    }
  }
  uint16_t next = 0;
  for (int length = 1; length <= most; length++) {
    for (int i = 0; i < n; i++) {
      if (h->length[i] == length) {
        h->code[i] = reversed(next++, length);
      }
    }
    next = (uint16_t)(next << 1);
  }
}

static void put_symbol(deflater *d, const huffman *h, int symbol) { put(d, h->code[symbol], h->length[symbol]); }

/* ---------------------------------------------------------------------- codes of lengths and distances */

typedef struct {
  int code, extra, bits;
} coded;

/* 2 group codes without extra bits, then group codes for each number of bits */
static coded code_of(int value, int group) {
  int bits = 1, base = 2 * group, code = 2 * group;
  if (value < base) {
    return (coded){value, 0, 0};
  }
  while (value - base >= group << bits) {
    base += group << bits;
    code += group;
    bits++;
  }
  return (coded){code + ((value - base) >> bits), (value - base) & ((1 << bits) - 1), bits};
}

static coded length_code(int length) {
  if (length == MATCH_MAX) {
    return (coded){285, 0, 0};
  }
  coded c = code_of(length - MATCH_MIN, 4);
  c.code += END + 1;
  return c;
}

static coded distance_code(int distance) { return code_of(distance - 1, 2); }

/* ---------------------------------------------------------------------- blocks */

static void count_tokens(const deflater *d, huffman *literal, huffman *distance) {
  memset(literal, 0, sizeof(*literal));
  memset(distance, 0, sizeof(*distance));
  for (int i = 0; i < d->ntoken; i++) {
    const token *t = &d->tokens[i];
    if (t->distance == 0) {
      literal->count[t->length]++;
    } else {
      literal->count[length_code(t->length).code]++;
      distance->count[distance_code(t->distance).code]++;
    }
  }
  literal->count[END] = 1;
  distance->count[0] += distance->count[0] == 0; /* there must be one */
  huffman_make(literal, LITERALS, 15);
  huffman_make(distance, DISTANCES, 15);
}

/* code lengths of both codes as symbols: runs of zeros are 17 or 18, repetitions are 16 */
static int pack_lengths(const uint8_t *length, int n, uint8_t *symbol, uint8_t *extra) {
  int count = 0;
  for (int i = 0; i < n;) {
    int run = 1;
    while (i + run < n && length[i + run] == length[i] && run < (length[i] == 0 ? 138 : 7)) {
      run++;
    }
    if (length[i] == 0 && run >= 3) {
      symbol[count] = run < 11 ? 17 : 18;
      extra[count++] = (uint8_t)(run < 11 ? run - 3 : run - 11);
    } else if (run >= 4) {
      symbol[count] = length[i];
      extra[count++] = 0;
      symbol[count] = 16;
      extra[count++] = (uint8_t)(run - 1 - 3);
    } else {
      run = 1;
      symbol[count] = length[i];
      extra[count++] = 0;
    }
    i += run;
  }
  return count;
}

static void put_codes(deflater *d, const huffman *literal, const huffman *distance) {
  static const uint8_t order[LENGTH_CODES] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
  static const int bits[LENGTH_CODES] = {[16] = 2, [17] = 3, [18] = 7};
  uint8_t length[LITERALS + DISTANCES], symbol[LITERALS + DISTANCES], extra[LITERALS + DISTANCES];
  huffman code = {0};
  int nl = LITERALS, nd = DISTANCES, n = LENGTH_CODES;
  for (; nl > END + 1 && literal->length[nl - 1] == 0; nl--) {
  }
  for (; nd > 1 && distance->length[nd - 1] == 0; nd--) {
  }
  memcpy(length, literal->length, (size_t)nl);
  memcpy(length + nl, distance->length, (size_t)nd);
  const int count = pack_lengths(length, nl + nd, symbol, extra);
  for (int i = 0; i < count; i++) {
    code.count[symbol[i]]++;
  }
  huffman_make(&code, LENGTH_CODES, 7);
  for (; n > 4 && code.length[order[n - 1]] == 0; n--) {
  }
  put(d, (uint32_t)(nl - 257), 5);
  put(d, (uint32_t)(nd - 1), 5);
  put(d, (uint32_t)(n - 4), 4);
  for (int i = 0; i < n; i++) {
    put(d, code.length[order[i]], 3);
  }
  for (int i = 0; i < count; i++) {
    put_symbol(d, &code, symbol[i]);
    put(d, extra[i], bits[symbol[i]]);
  }
}

static void put_block(deflater *d, bool last) {
  huffman literal, distance;
  count_tokens(d, &literal, &distance);
  put(d, last, 1);
  put(d, 2, 2);
  put_codes(d, &literal, &distance);
  for (int i = 0; i < d->ntoken; i++) {
    const token *t = &d->tokens[i];
    if (t->distance == 0) {
      put_symbol(d, &literal, t->length);
      continue;
    }
    const coded l = length_code(t->length), back = distance_code(t->distance);
    put_symbol(d, &literal, l.code);
    put(d, (uint32_t)l.extra, l.bits);
    put_symbol(d, &distance, back.code);
    put(d, (uint32_t)back.extra, back.bits);
  }
  put_symbol(d, &literal, END);
  d->ntoken = 0;
}

/* ---------------------------------------------------------------------- matches */

static int hash(const unsigned char *p) {
  const uint32_t x = (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16;
  return (int)((x * 2654435761u) >> (32 - HASH_BITS));
}

static void remember(deflater *d, size_t at) {
  if (at + MATCH_MIN <= d->size) {
    const int h = hash(d->data + at);
    d->prev[at % WINDOW] = d->head[h];
    d->head[h] = (int32_t)at;
  }
}

static token longest(const deflater *d, size_t at) {
  token best = {0, 0};
  if (at + MATCH_MIN > d->size) {
    return best;
  }
  const size_t most = d->size - at < MATCH_MAX ? d->size - at : MATCH_MAX;
  int32_t from = d->head[hash(d->data + at)];
  for (int k = 0; k < CHAIN_MAX && from >= 0 && at - (size_t)from < WINDOW && best.length < most; k++) {
    const unsigned char *a = d->data + at, *b = d->data + from;
    if (a[best.length] == b[best.length]) {
      size_t n = 0;
      while (n < most && a[n] == b[n]) {
        n++;
      }
      if (n > best.length) {
        best = (token){(uint16_t)n, (uint16_t)(at - (size_t)from)};
      }
    }
    const int32_t before = d->prev[(size_t)from % WINDOW];
    from = before < from ? before : -1;
  }
  return best.length >= MATCH_MIN ? best : (token){0, 0};
}

static void compress(deflater *d) {
  for (size_t at = 0; at < d->size;) {
    token t = longest(d, at);
    if (t.length == 0) {
      t = (token){d->data[at], 0};
    }
    d->tokens[d->ntoken++] = t;
    for (const size_t end = at + (t.distance ? t.length : 1); at < end; at++) {
      remember(d, at);
    }
    if (d->ntoken == TOKENS) {
      put_block(d, false);
    }
  }
  put_block(d, true);
  put(d, 0, 7); /* the last byte */
}

int mbg__deflate(mbg_context *ctx, const void *data, size_t size, mbg__buffer *out) {
  deflater d = {.out = out, .data = data, .size = size};
  if (size > INT32_MAX) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "too many bytes to compress: %zu", size);
  }
  mbg__arena arena;
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  d.head = MBG_TAKE(&arena, int32_t, 1 << HASH_BITS);
  d.prev = MBG_TAKE(&arena, int32_t, WINDOW);
  d.tokens = MBG_TAKE(&arena, token, TOKENS);
  const int err = mbg__arena_check(ctx, &arena);
  for (int i = 0; err == MBG_OK && i < 1 << HASH_BITS; i++) {
    d.head[i] = -1;
  }
  if (err == MBG_OK) {
    compress(&d);
  }
  mbg__arena_destroy(&arena);
  return err < 0 ? err : out->failed ? mbg__fail_memory(ctx) : MBG_OK;
}

/* ---------------------------------------------------------------------- base64 */

void mbg__base64(const void *data, size_t size, mbg__buffer *out) {
  static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const unsigned char *p = data;
  for (size_t i = 0; i < size; i += 3) {
    const size_t n = size - i < 3 ? size - i : 3;
    const uint32_t x = (uint32_t)p[i] << 16 | (n > 1 ? (uint32_t)p[i + 1] << 8 : 0) | (n > 2 ? p[i + 2] : 0);
    const char text[4] = {digit[x >> 18], digit[x >> 12 & 63], n > 1 ? digit[x >> 6 & 63] : '=',
                          n > 2 ? digit[x & 63] : '='};
    mbg__buffer_add(out, text, sizeof(text));
  }
}
