/* Expressions: values against C, messages with their columns, derivatives against complex step of the twin. */
#include "support/support.h"
#include "twin/twin_expr.h"

#include <stdio.h>

/* ---------------------------------------------------------------------- values */

static const double point[FIXTURE_INPUTS] = {0.7, -1.3, 2.1, 0.4, -0.6, 3, 0.25};

#define X0 0.7
#define X1 (-1.3)
#define X2 2.1
#define X3 0.4
#define X5 3.0
#define T 0.25
#define DEG (M_PI / 180)

typedef struct {
  const char *text;
  double value;
} value_case;

static const value_case values[] = {
    /* numbers */
    {"1", 1},
    {".5", 0.5},
    {"2.", 2},
    {"1e-3", 1e-3},
    {"1.5E+2", 150},
    {"0", 0},
    {"0.0e5", 0},
    {"00012.50", 12.5},
    {"0.1", 0.1},
    {"123456789012345678901234567890", 123456789012345678901234567890.0},
    {"2.2250738585072014e-308", 2.2250738585072014e-308},
    {"4.9406564584124654e-324", 4.9406564584124654e-324},
    {"1.7976931348623157e308", 1.7976931348623157e308},
    {"9007199254740993", 9007199254740992},
    {" \t1\n", 1},
    /* names */
    {"x0", X0},
    {"x[1]", X1},
    {"x[1+1]", X2},
    {"x[2^2-1]", X3},
    {"t", T},
    {"pi", M_PI},
    /* operators and their order */
    {"x0+x1-x2", X0 + X1 - X2},
    {"x0-x1-x2", X0 - X1 - X2},
    {"x0-(x1-x2)", X0 - (X1 - X2)},
    {"x0/x1/x2", X0 / X1 / X2},
    {"x0/x1*x2", X0 / X1 *X2},
    {"x0+x1*x2", X0 + X1 *X2},
    {"(x0+x1)*x2", (X0 + X1) * X2},
    {"-x2^2", -(X2 *X2)},
    {"(-x2)^2", X2 *X2},
    {"- -x0", X0},
    {"+x0", X0},
    {"x0*-x1", X0 * 1.3},
    {"x0--x1", X0 + X1},
    {"2^-1", 0.5},
    {"2^- -1", 2},
    {"2^+3", 8},
    {"2^3^2", 512},
    {"(2^3)^2", 64},
    {"-2^2", -4},
    {"x1^2", X1 *X1},
    {"x1^3", X1 *X1 *X1},
    {"x1^0", 1},
    {"x1^-1", 1 / X1},
    {"x1^7", -6.274851700000002},
    {"x1^x5", X1 *X1 *X1},
    {"0^0", 1},
    {"0^2", 0},
    {"x2^x0", 1.6809450101515975},
    /* degrees */
    {"30 deg", 30 * DEG},
    {"30deg", 30 * DEG},
    {"-30 deg", -30 * DEG},
    {"x0 deg", X0 *DEG},
    {"(x0+x1) deg", (X0 + X1) * DEG},
    {"2*30 deg", 2 * (30 * DEG)},
    {"1/2 deg", 1 / (2 * DEG)},
    {"x2^2 deg", X2 *X2 *DEG},
    {"(30 deg)^2", 30 * DEG *(30 * DEG)},
    {"sin(30 deg)", 0.5},
    /* comparison and logic */
    {"x0 < x2", 1},
    {"x0 > x2", 0},
    {"2 <= 2", 1},
    {"2 < 2", 0},
    {"2 >= 2", 1},
    {"2 > 2", 0},
    {"x0 == x0", 1},
    {"x0 != x0", 0},
    {"x0 == x1", 0},
    {"x0 != x1", 1},
    {"1+1 == 2", 1},
    {"not x0", 0},
    {"not 0", 1},
    {"not not x0", 1},
    {"not x0 == x1", 1},
    {"x0 and x1", 1},
    {"x0 and 0", 0},
    {"0 and x0", 0},
    {"1 and x0", 1},
    {"x0-x0 and x1", 0},
    {"0 or 0", 0},
    {"x0-x0 or x1", 1},
    {"0 or x1", 1},
    {"1 or x1", 1},
    {"x0 or 0", 1},
    {"1 or 0 and 0", 1},
    {"(1 or 0) and 0", 0},
    {"x0 or x1 and x0-x0", 1},
    {"x0 > 0 and x1 < 0 or x2 < 0", 1},
    {"not 0 and 0", 0},
    /* functions */
    {"sqrt(x2)", 1.449137674618944},
    {"sqrt(0)", 0},
    {"exp(x0)", 2.0137527074704766},
    {"log(x2)", 0.7419373447293773},
    {"sin(x0)", 0.644217687237691},
    {"cos(x0)", 0.7648421872844885},
    {"tan(x0)", 0.8422883804630794},
    {"asin(x0)", 0.775397496610753},
    {"acos(x0)", 0.7953988301841436},
    {"asin(1)", M_PI / 2},
    {"acos(-1)", M_PI},
    {"atan(x1)", -0.9151007005533605},
    {"atan2(x1, x0)", -1.0768549578753155},
    {"atan2(0, -1)", M_PI},
    {"atan2(-1, 0)", -M_PI / 2},
    {"sinh(x1)", -1.698382437292616},
    {"cosh(x1)", 1.9709142303266285},
    {"tanh(x1)", -0.8617231593133063},
    {"tanh(1000)", 1},
    {"abs(x1)", 1.3},
    {"abs(x0)", X0},
    {"sign(x1)", -1},
    {"sign(0)", 0},
    {"sign(x0)", 1},
    {"pow(x1, 2)", X1 *X1},
    {"pow(x2, x0)", 1.6809450101515975},
    {"min(x0, x1)", X1},
    {"min(x5, x2, x1, x0)", X1},
    {"max(x0, x1)", X0},
    {"max(x0, x1, x2, x3)", X2},
    {"min(3, 1, 2)", 1},
    {"max(1, x0, 2)", 2},
    {"smooth_min(x0, x1, x3)", -1.319803902718557},
    {"smooth_max(x0, x1, x3)", 0.7198039027185569},
    {"smooth_max(2, 2, 3)", 3.5},
    {"smooth_min(2, 2, 3)", 0.5},
    {"smooth_max(x0, x1, 0)", X0},
    {"smooth_min(1, 1e10, 1)", 1 - 2.5e-11},
    {"smooth_max(1, x2, 0)", X2},
    {"if(x0 > 0, x1, x2)", X1},
    {"if(x0 < 0, x1, x2)", X2},
    {"if(1, x1, x2)", X1},
    {"if(0, x1, x2) + 1", X2 + 1},
    {"if(x0, if(x1 > 0, 1, 2), 3)*10", 20},
    {"if (x0 > 0 , 1 , 2)", 1},
    {"lin(x0)", 1.35},
    {"lin(-3)", 2},
    {"cub(0.5)", 1.5},
    {"mon(0.5)", 1.5},
    {"norm([3, 4, 12])", 13},
    {"dot([1, 2, 3], [4, -5, 6])", 12},
    {"dot(cross([1, 0, 0], [0, 1, 0]), [0, 0, 7])", 7},
    {"norm(2*[1, 2, 2]/3 - [0, 0, 0])", 2},
    {"norm(-([1, 2, 2]))", 3},
    {"bicub(0.5, 0.25)", 1.25},
    {"bilin(0.5, 1.5)", 1},
    {"lin(-2)", 1},
    {"lin(2)", 2},
    /* what is not chosen is not evaluated */
    {"if(x0 > 0, x0, 1/0)", X0},
    {"if(x0 > 0, x0, log(x1))", X0},
    {"if(x0 < 0, sqrt(-1), 5)", 5},
    {"if(1, 2, 1/0)", 2},
    {"if(0, 1/0, 2)", 2},
    {"x0 < 0 and log(x1) > 0", 0},
    {"x0 > 0 or log(x1) > 0", 1},
    {"0 and 1/0", 0},
    {"1 or 1/0", 1},
    {"if(x0 > 0, if(x0 < 0, 1/0, 4), 1/0)", 4},
};

/* 4 roundings of the largest value; the references are C expressions or were computed with 50 digits */
static void test_values(void **state) {
  (void)state;
  for (int i = 0; i < MBG_COUNT(values); i++) {
    double f = NAN;
    if (fixture_expr(values[i].text, FIXTURE_VALUE, point, &f, NULL, NULL) < 0 ||
        !(fabs(f - values[i].value) <= 9e-16 * fabs(values[i].value))) {
      fail_msg("%s = %.17g, expected %.17g", values[i].text, f, values[i].value);
    }
  }
}

/* every function of the list stands in a test above, and is a reserved word */
static void test_list(void **state) {
  static const char *const names[] = {
#define MBG_FUNCTION(name, least, most, kind, description) #name,
#include "expr/functions.def"
#undef MBG_FUNCTION
  };
  (void)state;
  for (int k = 0; k < MBG_COUNT(names); k++) {
    bool found = false;
    for (int i = 0; i < MBG_COUNT(values); i++) {
      const char *at = strstr(values[i].text, names[k]);
      found = found || (at && (at == values[i].text || at[-1] == '(') && strchr("( ", at[strlen(names[k])]));
    }
    if (!found || !mbg__expr_reserved(names[k])) {
      fail_msg("function %s has no value test or is not reserved", names[k]);
    }
  }
  assert_true(mbg__expr_reserved("t") && mbg__expr_reserved("pi") && mbg__expr_reserved("deg"));
  assert_true(mbg__expr_reserved("and") && mbg__expr_reserved("or") && mbg__expr_reserved("not"));
  assert_false(mbg__expr_reserved("e") || mbg__expr_reserved("x0") || mbg__expr_reserved(""));
}

/* ---------------------------------------------------------------------- a workplace */

typedef struct {
  mbg_context *ctx;
  mbg__arena arena;
  mbg__table *tables[FIXTURE_TABLES];
  mbg__table *narrow; /* narrow(x) on [0, 1], an error outside */
  mbg__table *plate;  /* plate(x, y) on [0, 1] x [2, 3], an error outside */
  mbg__scope scope;
} bench;

static int bench_resolve(void *user, const char *name, int index, const char **hint) {
  bench *b = user;
  if (strcmp(name, "filed") == 0) {
    mbg__fail(b->ctx, MBG_ERROR_INPUT, "filed by the resolver");
    return MBG__NAME_FILED;
  }
  if (strcmp(name, "rho") == 0) {
    *hint = index < 0 ? "'rho' is a vector; write rho[i]" : "'rho' has 10 entries";
    return index >= 0 && index < 10 ? index : MBG__NAME_REFUSED;
  }
  if (strcmp(name, "FL.LCA.k") == 0) {
    return 3;
  }
  return fixture_resolve(user, name, index, hint);
}

static const mbg__table *bench_table(void *user, const char *name, const char **hint) {
  bench *b = user;
  return strcmp(name, "narrow") == 0  ? b->narrow
         : strcmp(name, "plate") == 0 ? b->plate
                                      : fixture_table(b->tables, name, hint);
}

static void bench_open(bench *b) {
  assert_int_equal(mbg_context_create(NULL, &b->ctx), MBG_OK);
  mbg__arena_init(&b->arena, mbg__context_allocator(b->ctx));
  assert_int_equal(fixture_tables(b->ctx, &b->arena, b->tables), MBG_OK);
  assert_int_equal(mbg__table_create(b->ctx, &b->arena, NULL, "narrow", 2, (double[]){0, 1}, (double[]){0, 1},
                                     MBG__LINEAR, MBG__OUTSIDE_ERROR, &b->narrow),
                   MBG_OK);
  assert_int_equal(mbg__table_create_grid(b->ctx, &b->arena, NULL, "plate", 2, (double[]){0, 1}, 2, (double[]){2, 3},
                                          (double[]){1, 2, 3, 5}, MBG__LINEAR, MBG__OUTSIDE_ERROR, &b->plate),
                   MBG_OK);
  b->scope = (mbg__scope){b, bench_resolve, bench_table, FIXTURE_TIME, fixture_length};
}

static void bench_close(bench *b) {
  mbg__arena_destroy(&b->arena);
  mbg_context_destroy(b->ctx);
}

static mbg__expr *bench_compile(bench *b, const char *text) {
  const mbg__where where = {"m.json", 3, 11, "owner"};
  mbg__expr *e = NULL;
  mbg_context_clear(b->ctx);
  if (mbg__expr_compile(b->ctx, &b->arena, text, &where, &b->scope, &e) < 0) {
    fail_msg("%s: %s", text, mbg_context_error(b->ctx));
  }
  return e;
}

/* ---------------------------------------------------------------------- messages of the compiler */

typedef struct {
  const char *text;
  int offset; /* of the character meant */
  const char *message;
} error_case;

static const error_case errors[] = {
    {"", 0, "the expression is empty"},
    {"  ", 0, "the expression is empty"},
    /* names */
    {"2*xx0", 2, "unknown name 'xx0'; did you mean 'x0'?"},
    {"velocity", 0, "unknown name 'velocity'"},
    {"1 + rho", 4, "'rho' is a vector; write rho[i]"},
    {"rho[10]", 0, "'rho' has 10 entries"},
    {"rho[x0]", 4, "the index of 'rho' must be a constant integer >= 0"},
    {"rho[1.5]", 4, "the index of 'rho' must be a constant integer >= 0"},
    {"rho[-1]", 4, "the index of 'rho' must be a constant integer >= 0"},
    {"rho[1e10]", 4, "the index of 'rho' must be a constant integer >= 0"},
    {"rho[]", 4, "expected a number, a name or '(' before ']'"},
    {"rho[1", 5, "missing ']' for the '[' at column 14"},
    {"rho[1)", 5, "unexpected ')'"},
    {"FL.", 3, "a name must continue after its '.'"},
    {"FL.1", 3, "a name must continue after its '.'"},
    {"FL . k", 3, "a number needs a digit before or after its decimal point"},
    {"sin + 1", 0, "'sin' is a function; write sin(...)"},
    /* functions */
    {"1 + sine(x0)", 4, "unknown function 'sine'; did you mean 'sin'?"},
    {"smoothmax(1,2,3)", 0, "unknown function 'smoothmax'; did you mean 'smooth_max'?"},
    {"curb(x0)", 0, "unknown function 'curb'; did you mean 'cub'?"},
    {"velocity(x0)", 0, "unknown function 'velocity'"},
    {"x0(1)", 0, "unknown function 'x0'"},
    {"sin()", 0, "function 'sin' takes 1 argument, not 0"},
    {"sin(1, 2)", 0, "function 'sin' takes 1 argument, not 2"},
    {"2*atan2(x0)", 2, "function 'atan2' takes 2 arguments, not 1"},
    {"pow(1, 2, 3, 4)", 0, "function 'pow' takes 2 arguments, not 4"},
    {"min(x0)", 0, "function 'min' takes at least 2 arguments, not 1"},
    {"max()", 0, "function 'max' takes at least 2 arguments, not 0"},
    {"smooth_min(1, 2)", 0, "function 'smooth_min' takes 3 arguments, not 2"},
    {"if()", 0, "function 'if' takes 3 arguments, not 0"},
    {"if(x0)", 0, "function 'if' takes 3 arguments, not 1"},
    {"if(x0, 1)", 0, "function 'if' takes 3 arguments, not 2"},
    {"if(1, 2)", 0, "function 'if' takes 3 arguments, not 2"},
    {"if(x0, 1, 2, 1/0)", 0, "function 'if' takes 3 arguments, not 4"},
    {"if(x0 1, 2)", 6, "missing operator before '1'"},
    {"if (x0, 1, 2", 12, "missing ')' for the '(' at column 14"},
    {"if (x0", 6, "missing ')' for the '(' at column 14"},
    {"lin(1, 2)", 0, "table 'lin' takes 1 argument, not 2"},
    {"lin()", 0, "table 'lin' takes 1 argument, not 0"},
    {"[1, 2, 3]", 0, "this is a vector, a number is needed; write norm(a) or dot(a, b)"},
    {"cross([1, 2, 3], [1, 2, 3])", 0, "this is a vector, a number is needed; write norm(a) or dot(a, b)"},
    {"norm(2)", 5, "function 'norm' takes vectors: a vector parameter, [x, y, z], or sums of these"},
    {"norm(x0)", 5, "function 'norm' takes vectors: a vector parameter, [x, y, z], or sums of these"},
    {"norm(x)", 5, "'x' has 6 entries; vectors in expressions have three"},
    {"norm([1, 2])", 5, "a vector has three entries: [x, y, z]"},
    {"norm([1, 2, 3, 4])", 5, "a vector has three entries: [x, y, z]"},
    {"norm([1, 2, 3)", 13, "unexpected ')'"},
    {"norm([[1, 2, 3], 2, 3])", 5, "the entries of a vector must be numbers"},
    {"dot([1, 2, 3])", 0, "function 'dot' takes 2 arguments, not 1"},
    {"dot([1, 2, 3], [1, 2, 3], 4)", 24, "unexpected ','"},
    {"norm([1, 2, 3] + 1)", 15, "a vector and a number cannot be added"},
    {"norm([1, 2, 3]*[1, 2, 3])", 14, "the product of two vectors is dot(a, b) or cross(a, b)"},
    {"norm(1/[1, 2, 3])", 6, "'/' takes numbers, not vectors"},
    {"norm(sin([1, 2, 3]))", 5, "'sin' takes numbers, not vectors"},
    {"norm([1, 2, 3]^2)", 14, "'^' takes numbers, not vectors"},
    {"norm(if(x0 > 0, [1, 2, 3], [1, 2, 4]))", 0, "'if' takes numbers, not vectors"},
    {"norm", 0, "'norm' is a function; write norm(...)"},
    {"cross(cross(cross(cross(cross([1,0,0],[1,0,0]),[1,0,0]),[1,0,0]),[1,0,0]),[1,0,0])", 24,
     "vector functions are nested deeper than 4 levels"},
    {"bicub(1)", 0, "table 'bicub' takes 2 arguments, not 1"},
    {"bilin(1, 2, 3)", 0, "table 'bilin' takes 2 arguments, not 3"},
    /* structure */
    {"(x0 + 1", 7, "missing ')' for the '(' at column 11"},
    {"sin(x0", 6, "missing ')' for the '(' at column 14"},
    {"(x0, 1)", 3, "unexpected ','"},
    {"x0)", 2, "unexpected ')'"},
    {"x0 x1", 3, "missing operator before 'x1'"},
    {"2x0", 1, "missing operator before 'x0'"},
    {"x0 2", 3, "missing operator before '2'"},
    {"x0 (x1)", 0, "unknown function 'x0'"},
    {"2 (x1)", 2, "missing operator before '('"},
    {"x0 not x1", 3, "missing operator before 'not'"},
    {"x0 +", 4, "the expression ends too early; expected a number, a name or '('"},
    {"x0 + * x1", 5, "expected a number, a name or '(' before '*'"},
    {"()", 1, "expected a number, a name or '(' before ')'"},
    {"deg", 0, "expected a number, a name or '(' before 'deg'"},
    {"30 deg deg", 7, "unexpected 'deg'"},
    {"30 deg^2", 6, "'^' cannot follow 'deg'; write (x deg)^n"},
    {"1 < x0 < 2", 7, "comparisons do not chain; write 'a < b and b < c'"},
    {"1 + not x0", 4, "expected a number, a name or '(' before 'not'"},
    {"x0 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 3,
     "missing operator before 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...'"},
    /* characters */
    {"x0 $ x1", 3, "unexpected character '$'"},
    {"x0 + \xce\xb1", 5, "unexpected character '\xce\xb1'"},
    {"x0 + \xff", 5, "unexpected byte 0xff"},
    {"\x01", 0, "unexpected byte 0x01"},
    {"x0 = 1", 3, "'=' is not an operator here; write '=='"},
    {"x0**2", 2, "'**' is not an operator here; write '^'"},
    {"x0 && x1", 3, "'&&' is not an operator here; write 'and'"},
    {"x0 || x1", 3, "'||' is not an operator here; write 'or'"},
    {"!x0", 0, "'!' is not an operator here; write 'not'"},
    /* numbers */
    {"1e", 1, "the exponent of this number has no digits"},
    {"1e+", 1, "the exponent of this number has no digits"},
    {"2*1e309", 2, "this number is too large (limit 1.8e308)"},
    {"1e99999999999999999999", 0, "this number is too large (limit 1.8e308)"},
    {"1e-400", 0, "this number is too small (limit 4.9e-324)"},
    {"1.2.3", 3, "a number can have only one decimal point"},
    {".", 0, "a number needs a digit before or after its decimal point"},
    {"0x10", 1, "missing operator before 'x10'"},
    {"1_000", 1, "missing operator before '_000'"},
    {"inf", 0, "unknown name 'inf'"},
    /* domain errors of constant parts */
    {"x0 + 1/0", 6, "1 / 0: division by zero"},
    {"log(0)", 0, "log(0): the argument must be positive"},
    {"log(-1)", 0, "log(-1): the argument must be positive"},
    {"2*sqrt(1-2)", 2, "sqrt(-1): the argument must not be negative"},
    {"asin(1.5)", 0, "asin(1.5): the argument must lie in [-1, 1]"},
    {"acos(-2)", 0, "acos(-2): the argument must lie in [-1, 1]"},
    {"(-2)^0.5", 4, "(-2) ^ 0.5: a negative base needs an integer exponent"},
    {"pow(-2, 0.5)", 0, "pow(-2, 0.5): a negative base needs an integer exponent"},
    {"0^-1", 1, "0 ^ (-1): zero cannot be raised to a negative power"},
    {"atan2(0, 0)", 0, "atan2(0, 0): the angle is undefined at the origin"},
    {"exp(1000)", 0, "exp(1000): the result is not a finite number"},
    {"1e300*1e300", 5, "1e+300 * 1e+300: the result is not a finite number"},
    {"plate(0.5, 4)", 0, "table 'plate' on [0, 1] x [2, 3] at (0.5, 4): the arguments lie outside the table"},
    {"plate(-1, 2)", 0, "table 'plate' on [0, 1] x [2, 3] at (-1, 2): the arguments lie outside the table"},
    {"narrow(2)", 0, "table 'narrow' on [0, 1] at 2: the argument lies outside the table"},
    {"if(1, 1/0, 2)", 7, "1 / 0: division by zero"},
    {"1 and 1/0", 7, "1 / 0: division by zero"},
};

static void check_error(bench *b, const char *text, int offset, const char *message) {
  const mbg__where where = {"m.json", 3, 11, "owner"};
  char expected[400];
  mbg__expr *e = NULL;
  snprintf(expected, sizeof(expected), "m.json:3:%d: owner: %s", 11 + offset, message);
  mbg_context_clear(b->ctx);
  const int err = mbg__expr_compile(b->ctx, &b->arena, text, &where, &b->scope, &e);
  assert_int_equal(err, MBG_ERROR_INPUT);
  assert_null(e);
  assert_string_equal(mbg_context_error(b->ctx), expected);
  assert_int_equal(mbg_context_message_count(b->ctx), 1);
}

static void test_errors(void **state) {
  bench b;
  (void)state;
  bench_open(&b);
  for (int i = 0; i < MBG_COUNT(errors); i++) {
    check_error(&b, errors[i].text, errors[i].offset, errors[i].message);
  }
  /* the resolver's own message, without a second one */
  mbg__expr *e = NULL;
  mbg_context_clear(b.ctx);
  assert_int_equal(mbg__expr_compile(b.ctx, &b.arena, "filed", NULL, &b.scope, &e), MBG_ERROR_INPUT);
  assert_string_equal(mbg_context_error(b.ctx), "filed by the resolver");
  assert_int_equal(mbg_context_message_count(b.ctx), 1);
  /* no time, no names, no place */
  b.scope.t_input = -1;
  check_error(&b, "2*t", 2, "time 't' is not allowed here");
  mbg_context_clear(b.ctx);
  assert_int_equal(mbg__expr_compile(b.ctx, &b.arena, "a", NULL, NULL, &e), MBG_ERROR_INPUT);
  assert_string_equal(mbg_context_error(b.ctx), "unknown name 'a'");
  bench_close(&b);
}

/* a text of `count` times `head`, "1", `count` times `tail` */
static char *nested(int count, const char *head, const char *tail) {
  char *text = malloc((size_t)count * (strlen(head) + strlen(tail)) + 2), *end = text;
  for (int i = 0; i < count; i++) {
    end = stpcpy(end, head);
  }
  end = stpcpy(end, "1");
  for (int i = 0; i < count; i++) {
    end = stpcpy(end, tail);
  }
  return text;
}

static void check_nesting(bench *b, int limit, const char *head, const char *tail) {
  char *good = nested(limit, head, tail), *bad = nested(limit + 1, head, tail), *awful = nested(9000, head, tail);
  const mbg__where where = {"f", 1, 1, NULL};
  mbg__expr *e = NULL;
  bench_compile(b, good);
  for (int i = 0; i < 2; i++) {
    mbg_context_clear(b->ctx);
    assert_int_equal(mbg__expr_compile(b->ctx, &b->arena, i ? awful : bad, &where, &b->scope, &e), MBG_ERROR_INPUT);
    assert_non_null(strstr(mbg_context_error(b->ctx), "the expression is nested deeper than 200 levels"));
  }
  free(good);
  free(bad);
  free(awful);
}

static void test_limits(void **state) {
  bench b;
  (void)state;
  bench_open(&b);
  check_nesting(&b, 200, "(", ")");
  check_nesting(&b, 200, "-", "");
  check_nesting(&b, 200, "not ", "");
  check_nesting(&b, 200, "1^", "");
  check_nesting(&b, 200, "abs(", ")");
  check_nesting(&b, 200, "if(x0, 1, ", ")");
  /* long, but not deep */
  char *text = nested(24999, "x0+", "");
  text[74998] = 0;
  mbg__expr *e = bench_compile(&b, text);
  assert_int_equal(mbg__expr_ninputs(e), 1);
  free(text);
  text = nested(100001, " ", "");
  check_error(&b, text, 0, "the expression has 100002 characters; at most 100000 are allowed");
  free(text);
  text = nested(256, "a", "");
  check_error(&b, text, 0, "this name has more than 255 characters");
  free(text);
  text = nested(401, "1", "");
  check_error(&b, text, 0, "this number has more than 400 digits");
  free(text);
  bench_close(&b);
}

/* ---------------------------------------------------------------------- errors of evaluation */

typedef struct {
  const char *text;
  fixture_what what; /* the lowest evaluation that fails */
  double x0, x1;
  int offset;
  const char *message; /* NULL: none fails */
} domain_case;

static const domain_case domains[] = {
    {"2*log(x0)", FIXTURE_VALUE, 0, 0, 2, "log(0): the argument must be positive"},
    {"2*log(x0)", FIXTURE_VALUE, -1, 0, 2, "log(-1): the argument must be positive"},
    {"1 + x0/x1", FIXTURE_VALUE, 1, 0, 6, "1 / 0: division by zero"},
    {"sqrt(x0)", FIXTURE_VALUE, -4, 0, 0, "sqrt(-4): the argument must not be negative"},
    {"sqrt(x0)", FIXTURE_GRADIENT, 0, 0, 0, "sqrt(0): the derivative is not finite"},
    {"x1*sqrt(x0)", FIXTURE_GRADIENT, 0, 1, 3, "sqrt(0): the derivative is not finite"},
    {"asin(x0)", FIXTURE_VALUE, 1.5, 0, 0, "asin(1.5): the argument must lie in [-1, 1]"},
    {"acos(x0)", FIXTURE_VALUE, -1.5, 0, 0, "acos(-1.5): the argument must lie in [-1, 1]"},
    {"asin(x0)", FIXTURE_GRADIENT, 1, 0, 0, "asin(1): the derivative is not finite"},
    {"acos(x0)", FIXTURE_GRADIENT, -1, 0, 0, "acos(-1): the derivative is not finite"},
    {"x0^x1", FIXTURE_VALUE, -2, 0.5, 2, "(-2) ^ 0.5: a negative base needs an integer exponent"},
    {"x0^x1", FIXTURE_VALUE, 0, -1, 2, "0 ^ (-1): zero cannot be raised to a negative power"},
    {"x0^x1", FIXTURE_GRADIENT, -2, 3, 2, "(-2) ^ 3: the derivative is not finite"},
    {"x0^0.5", FIXTURE_GRADIENT, 0, 0, 2, "0 ^ 0.5: the derivative is not finite"},
    {"x0^1.5", FIXTURE_HESSIAN, 0, 0, 2, "0 ^ 1.5: the derivative is not finite"},
    {"atan2(x0, x1)", FIXTURE_VALUE, 0, 0, 0, "atan2(0, 0): the angle is undefined at the origin"},
    {"exp(x0)", FIXTURE_VALUE, 710, 0, 0, "exp(710): the result is not a finite number"},
    {"x0*x1", FIXTURE_VALUE, 1e200, -1e200, 2, "1e+200 * (-1e+200): the result is not a finite number"},
    {"1 + x0", FIXTURE_VALUE, NAN, 0, 4, "the value of this name is not finite"},
    {"1 + x0", FIXTURE_VALUE, INFINITY, 0, 4, "the value of this name is not finite"},
    {"narrow(x0)", FIXTURE_VALUE, 1.5, 0, 0, "table 'narrow' on [0, 1] at 1.5: the argument lies outside the table"},
    {"smooth_max(x0, x1, 0)", FIXTURE_GRADIENT, 1, 1, 0,
     "smooth_max with difference 0 and width 0: the derivative is not finite"},
    {"if(x0 > 0, 1, log(x0))", FIXTURE_VALUE, -1, 0, 14, "log(-1): the argument must be positive"},
    {"if(x0 > 0, 1, log(x0 - x0))", FIXTURE_VALUE, -1, 0, 14, "log(0): the argument must be positive"},
    {"if(x0 > 0, 1, log(0))", FIXTURE_VALUE, -1, 0, 14, "log(0): the argument must be positive"},
    /* what looks dangerous and is not */
    {"if(x0 > 0, 1, log(0))", FIXTURE_JET, 1, 0, 0, NULL},
    {"x0^2", FIXTURE_JET, 0, 0, 0, NULL},
    {"x0^1", FIXTURE_JET, 0, 0, 0, NULL},
    {"x0^0", FIXTURE_JET, 0, 0, 0, NULL},
    {"x0^3", FIXTURE_JET, -2, 0, 0, NULL},
    {"x0^-3", FIXTURE_JET, -2, 0, 0, NULL},
    {"x0^4.5", FIXTURE_JET, 0, 0, 0, NULL},
    {"x1*sqrt(x0 - x0)", FIXTURE_VALUE, 1, 2, 3, NULL},
    {"smooth_max(x0, x1, 1)", FIXTURE_JET, 1, 1, 0, NULL},
    {"smooth_max(x0, x1, 0)", FIXTURE_JET, 1, 2, 0, NULL},
    {"tanh(x0)", FIXTURE_JET, 1e5, 0, 0, NULL},
    {"sqrt(0) + x0", FIXTURE_JET, 0, 0, 0, NULL},
};

static int run_domain(bench *b, const domain_case *c, fixture_what what) {
  double x[FIXTURE_INPUTS] = {c->x0, c->x1}, xj[3 * FIXTURE_INPUTS] = {c->x0, 1, 0.5, c->x1, 0, 0};
  double f[3], g[3 * FIXTURE_INPUTS], h[FIXTURE_INPUTS * FIXTURE_INPUTS];
  const mbg__expr *e = bench_compile(b, c->text);
  const int err = fixture_run(b->ctx, e, what, what == FIXTURE_JET ? xj : x, f, g, h);
  assert_int_equal(err, fixture_run(NULL, e, what, what == FIXTURE_JET ? xj : x, f, g, h));
  return err;
}

static void test_domains(void **state) {
  bench b;
  (void)state;
  bench_open(&b);
  for (int i = 0; i < MBG_COUNT(domains); i++) {
    const domain_case *c = &domains[i];
    char expected[300];
    snprintf(expected, sizeof(expected), "m.json:3:%d: owner: %s", 11 + c->offset, c->message ? c->message : "");
    const int last = c->message ? FIXTURE_JET : (int)c->what;
    for (int what = FIXTURE_VALUE; what <= last; what++) {
      const int err = run_domain(&b, c, (fixture_what)what);
      if (!c->message || what < (int)c->what) {
        assert_string_equal(mbg_context_error(b.ctx), "");
        assert_int_equal(err, MBG_OK);
      } else {
        assert_string_equal(mbg_context_error(b.ctx), expected);
        assert_int_equal(err, MBG_ERROR_INPUT);
      }
    }
  }
  bench_close(&b);
}

/* ---------------------------------------------------------------------- special derivatives */

typedef struct {
  const char *text;
  double x0, x1, g0, g1, h00, h01, h11;
} special_case;

static const special_case specials[] = {
    {"x0^2", 0, 0, 0, 0, 2, 0, 0},
    {"x0^2", -3, 0, -6, 0, 2, 0, 0},
    {"x0^3", -2, 0, 12, 0, -12, 0, 0},
    {"x0^1", 0, 0, 1, 0, 0, 0, 0},
    {"x0^0", 0, 0, 0, 0, 0, 0, 0},
    {"x0^-2", -2, 0, 0.25, 0, 0.375, 0, 0},
    {"x0^9", -1, 0, 9, 0, -72, 0, 0},
    {"x0^2.5", 0, 0, 0, 0, 0, 0, 0},
    {"x0*x0*x0", 0, 0, 0, 0, 0, 0, 0},
    {"abs(x0)", 0, 0, 1, 0, 0, 0, 0},
    {"abs(x0)", -1, 0, -1, 0, 0, 0, 0},
    {"x0*abs(x0)", -2, 0, 4, 0, -2, 0, 0},
    {"sign(x0)*x1", -2, 1, 0, -1, 0, 0, 0},
    {"min(x0, x1)", 1, 1, 1, 0, 0, 0, 0},
    {"max(x0, x1)", 1, 1, 1, 0, 0, 0, 0},
    {"max(x0^2, x1^3)", 1, 2, 0, 12, 0, 0, 12},
    {"if(x0 > 0, x0*x1, x1^2)", 1, 2, 2, 1, 0, 1, 0},
    {"if(x0 > 0, x0*x1, x1^2)", -1, 2, 0, 4, 0, 0, 2},
    {"(x0 > 0)*x1", 1, 2, 0, 1, 0, 0, 0},
    {"smooth_max(x0, x1, 2)", 1, 1, 0.5, 0.5, 0.25, -0.25, 0.25},
    {"smooth_min(x0, x1, 2)", 1, 1, 0.5, 0.5, -0.25, 0.25, -0.25},
    {"smooth_min(3, 3, x1)", 0, 2, 0, -0.5, 0, 0, 0},
    {"x1^2*sqrt(x0)", 4, 0, 0, 0, 0, 0, 4},
    {"lin(x0)", 0.5, 0, -0.75, 0, 0, 0, 0},
    {"atan2(x0, x1)", 0, -1, -1, 0, 0, -1, 0},
};

static void test_special(void **state) {
  (void)state;
  for (int i = 0; i < MBG_COUNT(specials); i++) {
    const special_case *c = &specials[i];
    const double x[FIXTURE_INPUTS] = {c->x0, c->x1};
    double f = 0, g[FIXTURE_INPUTS], h[FIXTURE_INPUTS * FIXTURE_INPUTS];
    assert_int_equal(fixture_expr(c->text, FIXTURE_HESSIAN, x, &f, g, h), MBG_OK);
    const double got[5] = {g[0], g[1], h[0], h[1], h[FIXTURE_INPUTS + 1]};
    const double expected[5] = {c->g0, c->g1, c->h00, c->h01, c->h11};
    for (int k = 0; k < 5; k++) {
      if (!(fabs(got[k] - expected[k]) <= 1e-15 * fabs(expected[k]))) {
        fail_msg("%s: derivative %d is %.17g, expected %.17g", c->text, k, got[k], expected[k]);
      }
    }
  }
}

/* at 0 an exponent does nothing, sqrt costs nothing where it is multiplied by 0 */
static void test_zero_weight(void **state) {
  const double x[FIXTURE_INPUTS] = {0, 2};
  double f = 0, g[FIXTURE_INPUTS];
  (void)state;
  assert_int_equal(fixture_expr("x0^x1", FIXTURE_GRADIENT, x, &f, g, NULL), MBG_OK);
  assert_true(f == 0 && g[0] == 0 && g[1] == 0);
  assert_int_equal(fixture_expr("x0^2*sqrt(x0)", FIXTURE_GRADIENT, x, &f, g, NULL), MBG_OK);
  assert_true(f == 0 && g[0] == 0);
}

/* jet of A sin(Om t) with its gradient by A, Om and t, in closed form; 8 roundings */
static void test_jet_sine(void **state) {
  const double A = 1.7, Om = 2.3, t = 0.4, s = sin(Om * t), c = cos(Om * t);
  const double xj[3 * FIXTURE_INPUTS] = {A, 0, 0, Om, 0, 0, [3 * FIXTURE_TIME] = t, 1, 0};
  const double jet[3] = {A * s, A * Om * c, -A * Om * Om * s};
  const double by_A[3] = {s, Om * c, -Om * Om * s};
  const double by_Om[3] = {A * t * c, A * c - A * t * Om * s, -2 * A * Om * s - A * t * Om * Om * c};
  double f[3], g[3 * FIXTURE_INPUTS];
  (void)state;
  assert_int_equal(fixture_expr("x0*sin(x1*t)", FIXTURE_JET, xj, f, g, NULL), MBG_OK);
  assert_close_array(f, jet, 3, 2e-15);
  assert_close_array(g, by_A, 3, 2e-15);
  assert_close_array(g + 3, by_Om, 3, 2e-15);
}

/* ---------------------------------------------------------------------- random expressions */

typedef struct {
  char text[4000];
  size_t length;
  support_rng rng;
} generator;

static void put(generator *w, const char *text) {
  const size_t room = sizeof(w->text) - w->length;
  const int n = snprintf(w->text + w->length, room, "%s", text);
  w->length += (size_t)n < room ? (size_t)n : room - 1;
}

/* forms with places: # another expression, @ a leaf. Arguments with limits are wrapped to stay within them mostly. */
static const char *const forms[] = {"(#+#)",
                                    "(#-#)",
                                    "#*#",
                                    "(#)/(2+@^2)",
                                    "(@+0.3)/@",
                                    "-#",
                                    "(#)^2",
                                    "(#)^3",
                                    "(@)^-1",
                                    "(1+(#)^2)^0.7",
                                    "abs(@)^@",
                                    "(1.1+sin(#))^(#)",
                                    "sqrt(1+(#)^2)",
                                    "exp(0.3*(#))",
                                    "log(1+(#)^2)",
                                    "log(abs(@))",
                                    "sin(#)",
                                    "cos(#)",
                                    "tan(0.4*@)",
                                    "asin(0.9*sin(#))",
                                    "acos(0.9*cos(#))",
                                    "atan(#)",
                                    "atan2(#, #)",
                                    "sinh(@)",
                                    "cosh(@)",
                                    "tanh(#)",
                                    "abs(#)",
                                    "sign(#)*#",
                                    "pow(2+sin(#), @)",
                                    "min(#, #)",
                                    "max(#, #, @)",
                                    "smooth_min(#, #, 0.5)",
                                    "smooth_max(#, @, @)",
                                    "if(# > @, #, #)",
                                    "if(@ < 0 and # >= @ or not @ == @, #, @)",
                                    "lin(#)",
                                    "cub(#)",
                                    "mon(#)",
                                    "norm([#, @, 2])",
                                    "dot(P, [#, #, @])",
                                    "norm(cross(P, [@, #, 1]) + 2*P - [0, 3, t])",
                                    "dot(cross(P, [#, @, t]), [1, -2, 3] - P/(2+@^2))",
                                    "dot(cross([#, 1, @], cross(P, [1, t, 2])), [1, 2, 3] deg)",
                                    "bilin(#, #)",
                                    "bicub(#, #)",
                                    "bicub(0.3*@, t)",
                                    "(@) deg",
                                    "(#)*(@ <= #)",
                                    "(# != @)*#"};

static void put_leaf(generator *w) {
  static const char *const leaves[] = {"x0", "x1", "x2", "x3", "x4", "x5", "t", "x[2]", "1.5", "0.25", "pi"};
  put(w, leaves[support_index(&w->rng, MBG_COUNT(leaves))]);
}

static void put_form(generator *w, const char *form, int depth) {
  for (const char *c = form; *c; c++) {
    if (*c == '#' && depth > 0) {
      put_form(w, forms[support_index(&w->rng, MBG_COUNT(forms))], depth - 1);
    } else if (*c == '#' || *c == '@') {
      put_leaf(w);
    } else {
      put(w, (const char[]){*c, 0});
    }
  }
}

/* expression number i: each form stands at the top in turn */
static generator generate(int i) {
  generator w = {.length = 0, .rng = support_rng_make((uint64_t)i + 1)};
  put_form(&w, forms[i % MBG_COUNT(forms)], support_index(&w.rng, 4));
  return w;
}

/* largest difference over largest entry of the reference, or of `scale` if that is larger */
static double error_of(int n, const double *a, const double *b, double scale) {
  double d = 0;
  for (int k = 0; k < n; k++) {
    d = isnan(a[k] - b[k]) ? INFINITY : fmax(d, fabs(a[k] - b[k]));
    scale = fmax(scale, fabs(b[k]));
  }
  return d == 0 ? 0 : d / scale;
}

static double largest(int n, const double *a) {
  double s = 0;
  for (int k = 0; k < n; k++) {
    s = fmax(s, fabs(a[k]));
  }
  return s;
}

typedef struct {
  double gradient, hessian, jet, jet_gradient;
} worst_errors;

static void take_worst(double *worst, double error, const char *text, double limit) {
  if (!(error <= limit)) {
    fail_msg("error %.3g in the derivatives of %s", error, text);
  }
  *worst = fmax(*worst, error);
}

enum { N = FIXTURE_INPUTS };

/* gradient against complex step of the value, Hessian against complex step of the gradient */
static void check_plain(const char *text, const double x[N], double scale, const double g[N], const double h[N * N],
                        worst_errors *worst) {
  double g_step[N], h_step[N * N];
  for (int j = 0; j < N; j++) {
    double _Complex z[N], f = 0, gz[N];
    for (int i = 0; i < N; i++) {
      z[i] = twin_step(x[i], i == j);
    }
    assert_int_equal(twin_expr(text, FIXTURE_GRADIENT, z, &f, gz, NULL), MBG_OK);
    g_step[j] = twin_derivative(f);
    for (int i = 0; i < N; i++) {
      h_step[N * i + j] = twin_derivative(gz[i]);
    }
  }
  take_worst(&worst->gradient, error_of(N, g, g_step, scale), text, 1e-12);
  take_worst(&worst->hessian, error_of(N * N, h, h_step, scale), text, 1e-12);
}

/* complex step of the whole jet along dx (3 for each input) */
static void step_jet(const char *text, const double xj[3 * N], const double dx[3 * N], double df[3]) {
  double _Complex z[3 * N], f[3];
  for (int k = 0; k < 3 * N; k++) {
    z[k] = twin_step(xj[k], dx[k]);
  }
  assert_int_equal(twin_expr(text, FIXTURE_JET, z, f, NULL, NULL), MBG_OK);
  for (int k = 0; k < 3; k++) {
    df[k] = twin_derivative(f[k]);
  }
}

/* f' and f'' against complex step in time, x' = (x', x'', 0); and f'' = x'^T H x' + g x'' */
static void check_jet(const char *text, const double xj[3 * N], double scale, const double f[3], const double g[N],
                      const double h[N * N], worst_errors *worst) {
  double dx[3 * N], df[3], expected[4], got[4] = {f[1], f[2], f[1], f[2]};
  for (int i = 0; i < N; i++) {
    dx[3 * i] = xj[3 * i + 1];
    dx[3 * i + 1] = xj[3 * i + 2];
    dx[3 * i + 2] = 0;
  }
  step_jet(text, xj, dx, df);
  expected[0] = df[0];
  expected[1] = df[1];
  expected[2] = expected[3] = 0;
  for (int i = 0; i < N; i++) {
    expected[2] += g[i] * xj[3 * i + 1];
    expected[3] += g[i] * xj[3 * i + 2];
    for (int j = 0; j < N; j++) {
      expected[3] += xj[3 * i + 1] * h[N * i + j] * xj[3 * j + 1];
    }
  }
  scale = fmax(scale, fmax(largest(N, g), largest(N * N, h)));
  take_worst(&worst->jet, error_of(4, got, expected, scale), text, 1e-12);
}

/* the table of derivatives in expr.h, column by column */
static void check_jet_gradient(const char *text, const double xj[3 * N], double scale, const double gj[3 * N],
                               worst_errors *worst) {
  double expected[3 * 3 * N], got[3 * 3 * N];
  for (int i = 0; i < N; i++) {
    const double *g = gj + 3 * i;
    const double columns[3][3] = {{g[0], g[1], g[2]}, {0, g[0], 2 * g[1]}, {0, 0, g[0]}};
    for (int k = 0; k < 3; k++) {
      double dx[3 * N] = {0};
      dx[3 * i + k] = 1;
      step_jet(text, xj, dx, expected + 9 * i + 3 * k);
      memcpy(got + 9 * i + 3 * k, columns[k], sizeof(columns[k]));
    }
  }
  take_worst(&worst->jet_gradient, error_of(3 * 3 * N, got, expected, scale), text, 1e-12);
}

/* One random expression at one random place; false when it is not defined there, or so steep that its rounding says
   nothing about its derivatives. */
static bool check_random(int number, worst_errors *worst) {
  generator w = generate(number);
  double x[N], xj[3 * N], f = 0, fj[3], g[N], h[N * N], gj[3 * N];
  for (int k = 0; k < 3 * N; k++) {
    xj[k] = support_uniform(&w.rng, 0.1, 1.5) * (support_index(&w.rng, 2) ? 1 : -1); /* 1/x stays moderate */
  }
  for (int i = 0; i < N; i++) {
    x[i] = xj[3 * i];
  }
  if (fixture_expr(w.text, FIXTURE_HESSIAN, x, &f, g, h) < 0 ||
      fixture_expr(w.text, FIXTURE_JET, xj, fj, gj, NULL) < 0 || largest(N, g) > 1e4 || largest(3 * N, gj) > 1e5) {
    return false;
  }
  const double scale = fmax(1e-3, fabs(f)); /* for derivatives that cancel, as those of x*x^-1 */
  assert_true(error_of(1, fj, &f, 0) <= 4e-16);
  check_plain(w.text, x, scale, g, h, worst);
  check_jet(w.text, xj, scale, fj, g, h, worst);
  check_jet_gradient(w.text, xj, scale, gj, worst);
  return true;
}

/* complex step, relative to the largest entry of the block or of the value; 1e-12: sums of large terms in a block */
static void test_random(void **state) {
  const int rounds = support_rounds(1200, 40000);
  worst_errors worst = {0};
  int done = 0, form_done[MBG_COUNT(forms)] = {0};
  (void)state;
  for (int i = 0; i < rounds; i++) {
    const bool checked = check_random(i, &worst);
    done += checked;
    form_done[i % MBG_COUNT(forms)] += checked;
  }
  print_message("%d expressions: worst error of gradient %.1e, Hessian %.1e, jet %.1e, its gradient %.1e\n", done,
                worst.gradient, worst.hessian, worst.jet, worst.jet_gradient);
  assert_true(done >= rounds / 2);
  for (int k = 0; k < MBG_COUNT(forms); k++) {
    if (form_done[k] < 5) {
      fail_msg("only %d expressions of the form %s", form_done[k], forms[k]);
    }
  }
}

/* ---------------------------------------------------------------------- what is used, what is kept */

static void test_inputs(void **state) {
  bench b;
  int count = 0;
  (void)state;
  bench_open(&b);
  mbg__expr *e = bench_compile(&b, "x4 + x1*x4 + rho[2]");
  const int *inputs = mbg__expr_inputs(e, &count);
  assert_int_equal(count, 3);
  assert_true(inputs[0] == 1 && inputs[1] == 2 && inputs[2] == 4);
  assert_int_equal(mbg__expr_ninputs(e), 5);
  assert_false(mbg__expr_is_constant(e));
  assert_string_equal(mbg__expr_where(e)->owner, "owner");
  assert_null(mbg__expr_rough_table(e));
  assert_int_equal(mbg__expr_ninputs(bench_compile(&b, "FL.LCA.k")), 4);
  assert_ptr_equal(mbg__expr_rough_table(bench_compile(&b, "cub(x0)*lin(x0)")), b.tables[0]);
  assert_ptr_equal(mbg__expr_rough_table(bench_compile(&b, "mon(x0)")), b.tables[2]);
  assert_ptr_equal(mbg__expr_rough_table(bench_compile(&b, "bicub(x0, x1) + bilin(x0, x1)")), b.tables[3]);
  e = bench_compile(&b, "bicub(x1, x0)*cub(x0)");
  assert_null(mbg__expr_rough_table(e));
  assert_int_equal(mbg__expr_knots_of(e, 0, 0)->n, FIXTURE_COLUMNS);
  assert_int_equal(mbg__expr_knots_of(e, 0, 1)->n, FIXTURE_KNOTS);
  assert_int_equal(mbg__expr_knots_of(e, 1, 0)->n, FIXTURE_KNOTS);
  assert_null(mbg__expr_knots_of(e, 0, 2));
  /* constants fold whole, and a decided choice forgets its other branch */
  static const char *const constants[] = {"2*sin(30 deg)+max(1,2)", "if(1, 2, x0)", "0 and x0", "smooth_max(1,2,3)",
                                          "lin(0.1)"};
  for (int i = 0; i < MBG_COUNT(constants); i++) {
    e = bench_compile(&b, constants[i]);
    assert_true(mbg__expr_is_constant(e));
    assert_int_equal(mbg__expr_ninputs(e), 0);
    double f = 0;
    assert_int_equal(fixture_run(b.ctx, e, FIXTURE_VALUE, NULL, &f, NULL, NULL), MBG_OK);
  }
  bench_close(&b);
}

/* evaluation asks for no memory */
static void test_no_allocation(void **state) {
  support_memory memory = {.fail_at = 0};
  const mbg_allocator allocator = support_allocator(&memory);
  const mbg__scope scope = {NULL, fixture_resolve, NULL, FIXTURE_TIME, NULL};
  mbg_context *ctx = NULL;
  mbg__arena arena;
  mbg__expr *e = NULL;
  double f[3], g[3 * N], h[N * N];
  (void)state;
  assert_int_equal(mbg_context_create(&allocator, &ctx), MBG_OK);
  mbg__arena_init(&arena, &allocator);
  assert_int_equal(mbg__expr_compile(ctx, &arena, "x0*sin(x1*t) + if(x2 > 0, x3, x4)", NULL, &scope, &e), MBG_OK);
  double *scratch = malloc(mbg__expr_scratch(e) * sizeof(double));
  const long before = memory.requests;
  const double xj[3 * N] = {1, 2, 3, 4};
  assert_int_equal(mbg__expr_value(ctx, e, point, scratch, f), MBG_OK);
  assert_int_equal(mbg__expr_gradient(ctx, e, point, scratch, f, g), MBG_OK);
  assert_int_equal(mbg__expr_hessian(ctx, e, point, scratch, f, g, h), MBG_OK);
  assert_int_equal(mbg__expr_jet(ctx, e, xj, scratch, f, g), MBG_OK);
  assert_int_equal(memory.requests, before);
  free(scratch);
  mbg__arena_destroy(&arena);
  mbg_context_destroy(ctx);
  assert_int_equal(memory.live, 0);
}

/* one compilation with a request for memory that fails; true when none was left to fail */
static bool compile_starved(long fail_at) {
  support_memory memory = {.fail_at = fail_at};
  const mbg_allocator allocator = support_allocator(&memory);
  mbg_context *ctx = NULL;
  mbg__arena arena;
  mbg__table *tables[FIXTURE_TABLES];
  const mbg__scope scope = {tables, fixture_resolve, fixture_table, FIXTURE_TIME, fixture_length};
  int err = mbg_context_create(&allocator, &ctx);
  if (err == MBG_OK) {
    char *text = nested(200, "x0*", "");
    mbg__expr *e = NULL;
    mbg__arena_init(&arena, &allocator);
    err = fixture_tables(ctx, &arena, tables);
    err = err < 0 ? err : mbg__expr_compile(ctx, &arena, text, NULL, &scope, &e);
    assert_int_equal(e != NULL, err == MBG_OK);
    mbg__arena_destroy(&arena);
    mbg_context_destroy(ctx);
    free(text);
  }
  assert_int_equal(memory.live, 0);
  assert_int_equal(err, memory.requests >= fail_at ? MBG_ERROR_MEMORY : MBG_OK);
  return memory.requests < fail_at;
}

static void test_memory(void **state) {
  (void)state;
  for (long n = 1; !compile_starved(n); n++) {
    assert_true(n < 100);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_values),      cmocka_unit_test(test_list),          cmocka_unit_test(test_errors),
      cmocka_unit_test(test_limits),      cmocka_unit_test(test_domains),       cmocka_unit_test(test_special),
      cmocka_unit_test(test_zero_weight), cmocka_unit_test(test_jet_sine),      cmocka_unit_test(test_random),
      cmocka_unit_test(test_inputs),      cmocka_unit_test(test_no_allocation), cmocka_unit_test(test_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
