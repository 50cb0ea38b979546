#include "expr/builder.h"

#include <stdlib.h>
#include <string.h>

enum { LINES_MAX = 200000 };

static int append(mbg__builder *b, mbg__line line) {
  mbg__lexer *lexer = b->lexer;
  if (lexer->err < 0) {
    return 0;
  }
  if (b->n == LINES_MAX) {
    mbg__lexer_fail(lexer, line.at, "the expression has more than %d operations", LINES_MAX);
    return 0;
  }
  if (b->n == b->capacity) {
    const int capacity = b->capacity ? 2 * b->capacity : 32;
    mbg__line *code = mbg__resize(lexer->ctx, b->code, (size_t)capacity, sizeof(*code));
    if (!code) {
      mbg__lexer_stop(lexer, mbg__fail_memory(lexer->ctx));
      return 0;
    }
    b->code = code;
    b->capacity = capacity;
  }
  b->code[b->n] = line;
  return b->n++;
}

static bool is_constant(const mbg__builder *b, int i) { return i < b->n && b->code[i].op == OP_constant; }

bool mbg__build_is_constant(const mbg__builder *b, int i) { return is_constant(b, i) && !b->code[i].vector; }

int mbg__build_mark(mbg__builder *b, int line) {
  if (b->lexer->err == MBG_OK) {
    b->code[line].vector = true;
  }
  return line;
}

/* what vectors may stand in, and whether the result is one; false: refused */
static bool check_vectors(mbg__builder *b, mbg__line *line, bool binary) {
  const bool first = b->code[line->a].vector, second = binary && b->code[line->b].vector;
  const bool sum = line->op == OP_add || line->op == OP_subtract;
  line->vector = first || second;
  if (!line->vector || (line->op == OP_negate) || (sum && first && second)) {
    return true;
  }
  if (sum) {
    mbg__lexer_fail(b->lexer, line->at, "a vector and a number cannot be added");
  } else if (line->op == OP_multiply && first && second) {
    mbg__lexer_fail(b->lexer, line->at, "the product of two vectors is dot(a, b) or cross(a, b)");
  } else if (line->op == OP_multiply || (line->op == OP_divide && !second)) {
    return true;
  } else {
    mbg__lexer_fail(b->lexer, line->at, "'%s' takes numbers, not vectors", mbg__operations[line->op].name);
  }
  return false;
}

void mbg__build_cut(mbg__builder *b, int start) { b->n = start < b->n ? start : b->n; }

int mbg__build_collapse(mbg__builder *b, int start) {
  if (b->lexer->err < 0 || !is_constant(b, b->n - 1)) {
    return b->n - 1;
  }
  b->code[start] = b->code[b->n - 1];
  b->n = start + 1;
  return start;
}

int mbg__build_constant(mbg__builder *b, double value) {
  return append(b, (mbg__line){.op = OP_constant, .value = value});
}

int mbg__build_input(mbg__builder *b, int at, int input) {
  return append(b, (mbg__line){.op = OP_input, .active = true, .at = at, .c = input});
}

/* ---------------------------------------------------------------------- operations and folding */

/* drops operands that are the last lines (constants always are, unless something else uses them too) */
static void drop_operands(mbg__builder *b, const mbg__line *line, bool binary) {
  if (binary && line->a == b->n - 2 && line->b == b->n - 1) {
    b->n -= 2;
  } else if (!binary && line->a == b->n - 1) {
    b->n -= 1;
  }
}

/* a line with constant operands becomes a constant; one that cannot be computed is an error, or waits if lazy */
static int fold(mbg__builder *b, mbg__line line, bool binary) {
  const mbg__depth value_only = {0, false};
  const real x = b->code[line.a].value, y = b->code[line.b].value;
  real v = 0;
  const char *complaint = mbg__line_apply(&line, value_only, false, &x, &y, &v, NULL, NULL);
  if (complaint && b->lazy) {
    return append(b, line);
  }
  if (complaint) {
    mbg__lexer_stop(b->lexer, mbg__line_fail(b->lexer->ctx, b->lexer->where, &line, re(x), re(y), complaint));
    return 0;
  }
  drop_operands(b, &line, binary);
  return append(b, (mbg__line){.op = OP_constant, .vector = line.vector, .value = re(v)});
}

static int add_line(mbg__builder *b, mbg__line line) {
  if (b->lexer->err < 0) {
    return 0;
  }
  const mbg__kind kind = mbg__operations[line.op].kind;
  const bool binary = kind != KIND_unary && line.op != OP_not;
  if (!check_vectors(b, &line, binary)) {
    return 0;
  }
  line.active = kind != KIND_truth && (b->code[line.a].active || (binary && b->code[line.b].active));
  if (is_constant(b, line.a) && (!binary || is_constant(b, line.b))) {
    return fold(b, line, binary);
  }
  return append(b, line);
}

int mbg__build(mbg__builder *b, int at, int op, int operand_a, int operand_b) {
  return add_line(b, (mbg__line){.op = (unsigned char)op, .at = at, .a = operand_a, .b = operand_b});
}

int mbg__build_table(mbg__builder *b, int at, const mbg__table *table, const int *operands) {
  const bool two = mbg__table_arguments(table) == 2;
  const mbg__line line = {
      .op = two ? OP_grid : OP_table, .at = at, .a = operands[0], .b = two ? operands[1] : 0, .table = table};
  return add_line(b, line);
}

/* ---------------------------------------------------------------------- lazy parts */

int mbg__build_jump(mbg__builder *b, int op, int condition) {
  if (b->lexer->err == MBG_OK && op != OP_jump && b->code[condition].vector) {
    mbg__lexer_fail(b->lexer, b->code[condition].at, "a condition must be a number, not a vector");
  }
  return append(b, (mbg__line){.op = (unsigned char)op, .a = condition});
}

void mbg__build_land(mbg__builder *b, int jump) {
  if (b->lexer->err == MBG_OK) {
    b->code[jump].c = b->n;
  }
}

int mbg__build_choice(mbg__builder *b, int condition, int first, int second) {
  if (b->lexer->err < 0) {
    return 0;
  }
  if (b->code[first].vector || b->code[second].vector) {
    mbg__lexer_fail(b->lexer, b->code[first].at, "'if' takes numbers, not vectors");
    return 0;
  }
  const bool active = b->code[first].active || b->code[second].active;
  return append(b, (mbg__line){.op = OP_if, .active = active, .a = first, .b = second, .c = condition});
}

/* ---------------------------------------------------------------------- finishing */

static int compare(const void *a, const void *b) {
  const int i = *(const int *)a, j = *(const int *)b;
  return (i > j) - (i < j);
}

static void list_inputs(mbg__expr *e) {
  int count = 0;
  for (int i = 0; i < e->n; i++) {
    if (e->code[i].op == OP_input) {
      e->inputs[count++] = e->code[i].c;
    }
  }
  qsort(e->inputs, (size_t)count, sizeof(int), compare);
  for (int i = 0; i < count; i++) {
    if (i == 0 || e->inputs[i] != e->inputs[i - 1]) {
      e->inputs[e->nused++] = e->inputs[i];
    }
  }
  e->ninputs = e->nused ? e->inputs[e->nused - 1] + 1 : 0;
}

static int count_inputs(const mbg__builder *b) {
  int count = 0;
  for (int i = 0; i < b->n; i++) {
    count += b->code[i].op == OP_input;
  }
  return count;
}

int mbg__build_finish(mbg__builder *b, mbg__arena *arena, mbg__expr **out) {
  const mbg__where *where = b->lexer->where;
  const char *owner = where && where->owner ? where->owner : "";
  mbg__expr *e = MBG_TAKE(arena, mbg__expr, 1);
  mbg__line *code = MBG_TAKE(arena, mbg__line, b->n);
  int *inputs = MBG_TAKE(arena, int, count_inputs(b));
  char *name = mbg__arena_text(arena, owner, strlen(owner));
  if (mbg__arena_check(b->lexer->ctx, arena) < 0) {
    return MBG_ERROR_MEMORY;
  }
  memcpy(code, b->code, (size_t)b->n * sizeof(*code));
  *e = (mbg__expr){.code = code, .n = b->n, .inputs = inputs};
  if (where) {
    e->where = (mbg__where){where->file, where->line, where->column, where->owner ? name : NULL};
  }
  list_inputs(e);
  *out = e;
  return MBG_OK;
}
