/* Functions of the file: expressions whose inputs are time, arguments, attributes, controls and signals. Every name of
   a parameter or constant becomes an attribute of the element, and so does a function that is one number. */
#include "load/load.h"

#include <string.h>

typedef struct {
  mbg__loader *L;
  mbg__item *item;
  const mbg__function_rule *rule;
  const mbg__json *json;
  int nact, nsignal;
} function_scope;

/* index of `name` among the words of `args`, or -1 */
static int argument_of(const char *args, const char *name) {
  const size_t length = strlen(name);
  for (int i = 0; args && *args; i++) {
    const size_t n = strcspn(args, " ");
    if (n == length && strncmp(args, name, n) == 0) {
      return i;
    }
    args += n + (args[n] == ' ');
  }
  return -1;
}

static int add_input(function_scope *f, mbg__input_role role, int index, int source) {
  for (int k = 0; k < f->L->fn_input.count; k++) {
    const mbg__input *in = &f->L->fn_input.at[k];
    if (in->role == role && (role == MBG__ROLE_ATTR ? f->L->fn_source.at[k] == source : in->index == index)) {
      return k;
    }
  }
  if (MBG__ADD(f->L, f->L->fn_input, (mbg__input){role, index}) < 0 || MBG__ADD(f->L, f->L->fn_source, source) < 0) {
    return MBG__NAME_FILED;
  }
  return f->L->fn_input.count - 1;
}

/* the attribute "law: k1" whose formula is that name */
static int name_attribute(function_scope *f, const char *name, int vector, int source) {
  mbg__loader *L = f->item->L;
  const int known = add_input(f, MBG__ROLE_ATTR, -1, source);
  if (known < 0 || f->L->fn_input.at[known].index >= 0) {
    return known;
  }
  char key[MBG__EXPR_NAME_MAX + 64];
  mbg__format(key, sizeof(key), vector >= 0 ? "%s: %s[%d]" : "%s: %s", f->rule->key, name, vector);
  int *input = MBG_TAKE(L->arena, int, 1);
  if (!input) {
    L->no_memory = true;
    return MBG__NAME_FILED;
  }
  *input = source;
  const mbg__formula formula = {.expr = L->identity, .input = input};
  const mbg__where where = mbg__item_where(f->item, f->json);
  if (mbg__attribute_add(f->item, &formula, key, "", &where, &f->L->fn_input.at[known].index) < 0) {
    L->no_memory = true;
    return MBG__NAME_FILED;
  }
  f->nact++;
  return known;
}

static int control_input(function_scope *f, const char *name, int control, const char **hint) {
  mbg__loader *L = f->item->L;
  const bool cubic = L->controls.at[control].spline->interpolation == MBG__CUBIC;
  if (f->rule->smooth && !cubic) {
    char text[MBG__EXPR_NAME_MAX + 128];
    mbg__format(text, sizeof(text),
                "control '%s' is linear and has no second derivative; use \"interpolation\": \"cubic\"", name);
    *hint = mbg__arena_text(&L->temp, text, strlen(text));
    L->no_memory = L->no_memory || !*hint;
    return *hint ? MBG__NAME_REFUSED : MBG__NAME_FILED;
  }
  const int before = f->L->fn_input.count, k = add_input(f, MBG__ROLE_CTRL, control, -1);
  f->nact += f->L->fn_input.count > before ? (cubic ? 4 : 2) : 0;
  return k;
}

/* a mode: the attribute that events set */
static int mode_input(function_scope *f, int mode) {
  const int before = f->L->fn_input.count, source = -2 - mode;
  const int k = add_input(f, MBG__ROLE_ATTR, f->L->modes.at[mode].attr, source);
  f->nact += f->L->fn_input.count > before;
  return k;
}

static int function_resolve(void *user, const char *name, int index, const char **hint) {
  function_scope *f = user;
  mbg__loader *L = f->item->L;
  const int arg = index < 0 ? argument_of(f->rule->args, name) : -1;
  if (arg >= 0) {
    return add_input(f, MBG__ROLE_ARG, arg, -1);
  }
  const unsigned also = (f->rule->uses & MBG__USES_CONTROLS ? 1u << MBG__NAME_CONTROL : 0) |
                        (f->rule->uses & MBG__USES_SIGNALS ? 1u << MBG__NAME_SIGNAL : 0) |
                        (f->rule->uses & MBG__USES_CRITERIA ? 1u << MBG__NAME_CRITERION : 1u << MBG__NAME_MODE);
  mbg__symbol *symbol;
  const int s = mbg__name_input(L, f->item->source, name, index, also, &symbol, hint);
  if (s < 0) {
    return s;
  }
  if (symbol->kind == MBG__NAME_MODE) {
    return mode_input(f, symbol->index);
  }
  if (symbol->kind == MBG__NAME_CONTROL) {
    return control_input(f, name, symbol->index, hint);
  }
  if (symbol->kind == MBG__NAME_SIGNAL || symbol->kind == MBG__NAME_CRITERION) {
    const int before = f->L->fn_input.count, k = add_input(f, MBG__ROLE_SIGNAL, symbol->index, -1);
    f->nsignal += f->L->fn_input.count > before;
    return k;
  }
  return name_attribute(f, name, index, s);
}

static const mbg__table *function_table(void *user, const char *name, const char **hint) {
  function_scope *f = user;
  return mbg__name_table(f->item->L, f->item->source, name, hint);
}

static int function_length(void *user, const char *name) {
  function_scope *f = user;
  return argument_of(f->rule->args, name) >= 0 ? 0 : mbg__name_length(f->item->L, f->item->source, name);
}

/* ---------------------------------------------------------------------- compiling */

static int compile(function_scope *f, const mbg__expr **out) {
  mbg__item *item = f->item;
  mbg__loader *L = item->L;
  mbg__scope scope = {
      .user = f, .resolve = function_resolve, .table = function_table, .t_input = -1, .length = function_length};
  if (f->rule->uses & MBG__USES_TIME) {
    scope.t_input = add_input(f, MBG__ROLE_T, 0, -1);
    if (scope.t_input < 0) {
      return mbg__fail_memory(L->ctx);
    }
  }
  char owner[MBG__HINT_SIZE];
  mbg__where where = mbg__item_where(item, f->json);
  mbg__format(owner, sizeof(owner), "%s %s", item->owner, f->rule->key);
  where.owner = owner;
  const char *text = f->json->text;
  if (f->rule->sign < 0) {
    const size_t size = strlen(text) + 4;
    char *negative = mbg__arena_take(&L->temp, size, 1);
    if (!negative) {
      return mbg__fail_memory(L->ctx);
    }
    mbg__format(negative, size, "-(%s)", text);
    text = negative;
    where.column -= 2;
  }
  mbg__expr *expr = NULL;
  const int status = mbg__expr_compile_component(L->ctx, L->arena, text, &where, &scope, L->component, &expr);
  *out = expr;
  return status < 0 ? mbg__item_filed(item, status) : MBG_OK;
}

static int keep(function_scope *f, const mbg__expr *expr, const char *text, mbg__fn *out) {
  mbg__loader *L = f->item->L;
  mbg__input *input = MBG_TAKE(L->arena, mbg__input, f->L->fn_input.count);
  const char *copy = mbg__arena_text(L->arena, text, strlen(text));
  if (mbg__arena_check(L->ctx, L->arena) < 0) {
    return MBG_ERROR_MEMORY;
  }
  if (f->L->fn_input.count > 0) {
    memcpy(input, f->L->fn_input.at, (size_t)f->L->fn_input.count * sizeof(*input));
  }
  *out = (mbg__fn){.expr = expr,
                   .ninput = mbg__expr_ninputs(expr),
                   .input = input,
                   .nact = f->nact + (L->model->clock >= 0),
                   .nsignal = f->nsignal,
                   .text = copy};
  return MBG_OK;
}

/* a number: an attribute that the function returns */
static int constant_function(function_scope *f, const mbg__formula *formula, const char *text, mbg__fn *out) {
  mbg__item *item = f->item;
  int index;
  const mbg__where where = f->json ? mbg__item_where(item, f->json) : mbg__item_where_key(item, item->json);
  const int err = mbg__attribute_add(item, formula, f->rule->key, f->rule->unit, &where, &index);
  if (err < 0) {
    return err;
  }
  f->L->fn_input.count = f->L->fn_source.count = 0;
  f->nact = 1;
  f->nsignal = 0;
  if (add_input(f, MBG__ROLE_ATTR, index, -1) < 0) {
    return mbg__fail_memory(item->L->ctx);
  }
  return keep(f, item->L->identity, text, out);
}

static int check_smooth(function_scope *f, const mbg__expr *expr) {
  const mbg__table *rough = f->rule->smooth ? mbg__expr_rough_table(expr) : NULL;
  if (!rough) {
    return MBG_OK;
  }
  return mbg__item_bad(f->item, f->json, "%s: table '%s' is %s; use \"interpolation\": \"cubic\"", f->rule->key,
                       mbg__table_name(rough),
                       mbg__table_interpolation(rough) == MBG__LINEAR ? "linear and has no second derivative"
                                                                      : "monotone and its second derivative jumps");
}

int mbg__item_function_make(mbg__item *item, const mbg__json *json, const mbg__function_rule *rule, mbg__fn *out) {
  int err = MBG_OK;
  function_scope f = {.L = item->L, .item = item, .rule = rule, .json = json};
  const char *text = NULL;
  bool unit_given;
  const mbg__expr *expr = NULL;
  *out = (mbg__fn){0};
  item->L->fn_input.count = item->L->fn_source.count = 0;
  if (!json || json->kind == MBG__JSON_NUMBER) {
    const mbg__formula formula = {.number = rule->sign * (json ? json->number : rule->preset)};
    return constant_function(&f, &formula, json ? json->text : "", out);
  }
  if (json->kind != MBG__JSON_STRING) {
    return mbg__item_wrong(item, json, rule->key, "a number or an expression");
  }
  MBG_TRY(mbg__item_text(item, json, rule->key, &text));
  MBG_TRY(mbg__item_unit(item, json, rule->key, rule->unit, &unit_given));
  if (!text || unit_given) {
    return MBG_OK;
  }
  MBG_TRY(compile(&f, &expr));
  if (!expr) {
    return MBG_OK;
  }
  MBG_TRY(check_smooth(&f, expr));
  if (mbg__expr_is_constant(expr)) {
    const mbg__formula constant = {.expr = expr};
    real both[2];
    MBG_TRY(mbg__load_evaluate(item, &constant, both));
    const mbg__formula formula = {.number = re(both[0])};
    return constant_function(&f, &formula, text, out);
  }
  return keep(&f, expr, text, out);
done:
  return err;
}

int mbg__item_function(mbg__item *item, const mbg__json *json, const mbg__function_rule *rule, int *fn) {
  mbg__fn made;
  *fn = -1;
  int err = mbg__item_function_make(item, json, rule, &made);
  if (err < 0 || !made.expr) {
    return err;
  }
  err = MBG__ADD(item->L, item->L->fns, made);
  *fn = item->L->fns.count - 1;
  return err;
}
