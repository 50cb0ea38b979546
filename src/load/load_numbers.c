/* Formulas of parameters and constants, and the constants themselves. */
#include "load/load.h"
#include "load/load_map.h"

#include <string.h>

/* ---------------------------------------------------------------------- names in expressions */

static bool is_constant(const mbg__symbol *s) {
  return s->kind == MBG__NAME_CONSTANT || (s->kind == MBG__NAME_PARAMETER && s->set);
}

/* a message for MBG__NAME_REFUSED */
static int refuse(mbg__loader *L, const char **hint, const char *format, const char *name, const char *more, int n) {
  char text[512];
  mbg__format(text, sizeof(text), format, name, more, n);
  *hint = mbg__arena_text(&L->temp, text, strlen(text));
  L->no_memory = L->no_memory || !*hint;
  return *hint ? MBG__NAME_REFUSED : MBG__NAME_FILED;
}

static int vector_entry(mbg__loader *L, const mbg__symbol *s, const char *name, int index, const char **hint) {
  const mbg__parameter *p = &L->parameters.at[s->index];
  if (!p->vector && index >= 0) {
    return refuse(L, hint, "'%s' is not a vector%s", name, "", 0);
  }
  if (p->vector && index < 0 && L->element >= 0) {
    L->element_used = true;
    return p->count == L->nelement
               ? p->first + L->element
               : refuse(L, hint, "the vector '%s' must have one entry per element of the beam%s: %d", name, "",
                        L->nelement);
  }
  if (p->vector && index < 0) {
    return refuse(L, hint, "'%s' is a vector: write %s[i]", name, name, 0);
  }
  if (p->vector && index >= p->count) {
    return refuse(L, hint, "'%s' has no such entry%s; entries are numbered 0 to %d", name, "", p->count - 1);
  }
  return p->first + (index > 0 ? index : 0);
}

/* the entry of a vector of states */
static int state_entry(mbg__loader *L, mbg__symbol **symbol, const char *name, int index, const char **hint) {
  char entry[MBG__EXPR_NAME_MAX + 32];
  if (index < 0) {
    return refuse(L, hint, "'%s' is a vector: write %s[i]", name, name, 0);
  }
  if (index >= (*symbol)->entries) {
    return refuse(L, hint, "'%s' has no such entry%s; entries are numbered 0 to %d", name, "", (*symbol)->entries - 1);
  }
  mbg__format(entry, sizeof(entry), "%s[%d]", name, index);
  *symbol = mbg__name_find(L, (*symbol)->source, MBG__NAME_SIGNAL, entry);
  return *symbol && !(*symbol)->bad ? 0 : MBG__NAME_FILED;
}

int mbg__name_input(mbg__loader *L, const mbg__source *source, const char *name, int index, unsigned also,
                    mbg__symbol **symbol, const char **hint) {
  const unsigned numbers = 1u << MBG__NAME_PARAMETER | 1u << MBG__NAME_CONSTANT;
  mbg__symbol *s = mbg__name_find(L, source, MBG__NAME_PARAMETER, name);
  *symbol = s;
  if (!s && mbg__name_lost(L, source, name)) {
    return MBG__NAME_FILED;
  }
  if (!s) {
    *hint = mbg__name_nearest(L, source, numbers | also, name);
    return MBG__NAME_UNKNOWN;
  }
  if (s->bad) {
    return MBG__NAME_FILED;
  }
  if (s->kind == MBG__NAME_TABLE) {
    return refuse(L, hint, "'%s' is a table: write %s(x)", name, name, 0);
  }
  if (!((numbers | also) >> s->kind & 1)) {
    const bool state = s->state >= 0 || s->entries > 0;
    if (s->kind == MBG__NAME_MODE) {
      return refuse(L, hint,
                    "'%s' is a mode, which events change: signals, guards and forces given by expressions may use it%s",
                    name, "", 0);
    }
    return refuse(L, hint,
                  state ? "'%s' is a state, which changes in time: forces, rates, signals and criteria may use it%s"
                        : "'%s' is a %s and cannot be used here",
                  name, state ? "" : mbg__name_noun(s->kind), 0);
  }
  if (s->kind == MBG__NAME_PARAMETER && !s->set) {
    return vector_entry(L, s, name, index, hint);
  }
  if (s->entries > 0) {
    return state_entry(L, symbol, name, index, hint);
  }
  if (index >= 0) {
    return refuse(L, hint, "'%s' is a %s, not a vector", name, s->state >= 0 ? "state" : mbg__name_noun(s->kind), 0);
  }
  return is_constant(s) ? L->p.count + s->index : 0;
}

const mbg__table *mbg__name_table(mbg__loader *L, const mbg__source *source, const char *name, const char **hint) {
  const mbg__symbol *s = mbg__name_find(L, source, MBG__NAME_TABLE, name);
  if (s && s->kind == MBG__NAME_TABLE && !s->bad) {
    return L->tables.at[s->index];
  }
  if (s && s->kind == MBG__NAME_TABLE) {
    *hint = name; /* bad, with its own message */
    return NULL;
  }
  *hint = mbg__name_nearest(L, source, 1u << MBG__NAME_TABLE, name);
  return NULL;
}

int mbg__name_length(mbg__loader *L, const mbg__source *source, const char *name) {
  const mbg__symbol *s = mbg__name_find(L, source, MBG__NAME_PARAMETER, name);
  const bool vector = s && s->kind == MBG__NAME_PARAMETER && !s->bad && !s->set && L->parameters.at[s->index].vector;
  return vector ? L->parameters.at[s->index].count : 0;
}

/* ---------------------------------------------------------------------- formulas */

static int formula_resolve(void *user, const char *name, int index, const char **hint) {
  mbg__item *item = user;
  mbg__loader *L = item->L;
  mbg__symbol *symbol;
  const int s = mbg__name_input(L, item->source, name, index, 0, &symbol, hint);
  if (s < 0) {
    return s;
  }
  for (int k = 0; k < L->formula_input.count; k++) {
    if (L->formula_input.at[k] == s) {
      return k;
    }
  }
  return MBG__ADD(L, L->formula_input, s) < 0 ? MBG__NAME_FILED : L->formula_input.count - 1;
}

static const mbg__table *formula_table(void *user, const char *name, const char **hint) {
  mbg__item *item = user;
  return mbg__name_table(item->L, item->source, name, hint);
}

static int formula_length(void *user, const char *name) {
  mbg__item *item = user;
  return mbg__name_length(item->L, item->source, name);
}

/* the text, or -(text) */
static const char *signed_text(mbg__loader *L, const char *text, double sign) {
  if (sign > 0) {
    return text;
  }
  const size_t size = strlen(text) + 4;
  char *negative = mbg__arena_take(&L->temp, size, 1);
  if (negative) {
    mbg__format(negative, size, "-(%s)", text);
  }
  return negative;
}

static int compile_formula(mbg__item *item, const mbg__json *json, const char *label, double sign, mbg__formula *out) {
  mbg__loader *L = item->L;
  const mbg__scope scope = {
      .user = item, .resolve = formula_resolve, .table = formula_table, .t_input = -1, .length = formula_length};
  char owner[MBG__HINT_SIZE];
  mbg__where where = mbg__item_where(item, json);
  mbg__format(owner, sizeof(owner), label[0] ? "%s %s" : "%s", item->owner, label);
  where.owner = owner;
  where.column -= sign < 0 ? 2 : 0;
  const char *text = signed_text(L, json->text, sign);
  if (!text) {
    return mbg__fail_memory(L->ctx);
  }
  mbg__expr *expr = NULL;
  L->formula_input.count = 0;
  const int err = mbg__expr_compile_component(L->ctx, L->arena, text, &where, &scope, L->component, &expr);
  if (err < 0) {
    return mbg__item_filed(item, err);
  }
  int *input = MBG_TAKE(L->arena, int, L->formula_input.count);
  if (!input) {
    return mbg__fail_memory(L->ctx);
  }
  out->expr = expr;
  if (L->formula_input.count > 0) {
    memcpy(input, L->formula_input.at, (size_t)L->formula_input.count * sizeof(int));
  }
  out->input = input;
  return MBG_OK;
}

/* room for the inputs and the scratch of an expression */
static int reserve(mbg__loader *L, const mbg__expr *expr) {
  const int n = mbg__expr_ninputs(expr);
  const size_t scratch = mbg__expr_scratch(expr);
  if (n > L->x_room) {
    L->x_room = 2 * n;
    L->x = MBG_TAKE(&L->temp, real, L->x_room);
  }
  if (scratch > L->scratch_room) {
    L->scratch_room = 2 * scratch;
    L->scratch = MBG_TAKE(&L->temp, real, L->scratch_room);
  }
  return mbg__arena_check(L->ctx, &L->temp);
}

int mbg__load_evaluate(mbg__item *item, const mbg__formula *formula, real value[2]) {
  mbg__loader *L = item->L;
  const int ninput = mbg__formula_inputs(formula);
  if (!formula->expr) {
    value[0] = value[1] = formula->number;
    return MBG_OK;
  }
  int err = reserve(L, formula->expr);
  for (int set = 0; err == MBG_OK && set < 2; set++) {
    bool known = true;
    for (int k = 0; k < ninput; k++) {
      L->x[k] = L->s[set][formula->input[k]];
      known = known && !isnan(re(L->x[k]));
    }
    value[set] = NAN;
    if (!known) {
      item->bad = item->bad || set == 0;
      continue;
    }
    const int status = mbg__expr_value(set == 0 ? L->ctx : NULL, formula->expr, L->x, L->scratch, &value[set]);
    if (status < 0) {
      value[set] = NAN;
      err = set == 0 ? mbg__item_filed(item, status) : MBG_OK;
    }
  }
  return err;
}

/* Equal texts of one file mean the same, except inside a beam, whose elements take their own entries of vectors. A
   formula that fails later fails where it stands first. */
static const mbg__shared_formula *find_shared(const mbg__item *item, const char *text, double sign, long long *key) {
  const mbg__loader *L = item->L;
  uint64_t sum = mbg__sum(MBG__SUM_START, text, strlen(text));
  sum = mbg__sum(sum, &item->source, sizeof(item->source));
  *key = (long long)(mbg__sum(sum, &sign, sizeof(sign)) >> 1);
  const int i = L->element < 0 && L->component < 0 ? mbg__map_find(L->formula_map, *key) : -1;
  const mbg__shared_formula *f = i < 0 ? NULL : &L->formulas.at[i];
  return f && f->source == item->source && f->sign == sign && strcmp(f->text, text) == 0 ? f : NULL;
}

/* comparisons have places of their own, for warnings */
static int share(mbg__item *item, long long key, const mbg__shared_formula *f) {
  mbg__loader *L = item->L;
  if (item->bad || L->element >= 0 || L->component >= 0 || !f->formula.expr || mbg__expr_has_switch(f->formula.expr)) {
    return MBG_OK;
  }
  const int err = MBG__ADD(L, L->formulas, *f);
  return err < 0 ? err : mbg__map_set(L, &L->formula_map, key, L->formulas.count - 1);
}

int mbg__item_formula(mbg__item *item, const mbg__json *json, const char *label, double sign, mbg__formula *out,
                      double *value) {
  int err = MBG_OK;
  real both[2];
  *out = (mbg__formula){.number = NAN};
  *value = NAN;
  if (json->kind == MBG__JSON_NUMBER) {
    *value = out->number = sign * json->number;
    return MBG_OK;
  }
  if (json->kind != MBG__JSON_STRING) {
    return mbg__item_wrong(item, json, label[0] ? label : "value", "a number or an expression");
  }
  const char *text = NULL;
  bool unit_given;
  MBG_TRY(mbg__item_text(item, json, label, &text));
  MBG_TRY(mbg__item_unit(item, json, label, NULL, &unit_given));
  if (!text || unit_given) {
    return MBG_OK;
  }
  long long key;
  const mbg__shared_formula *shared = find_shared(item, text, sign, &key);
  if (shared) {
    *out = shared->formula;
    *value = shared->value;
    return MBG_OK;
  }
  MBG_TRY(compile_formula(item, json, label, sign, out));
  if (!out->expr || !item->L->s[0]) {
    return MBG_OK;
  }
  MBG_TRY(mbg__load_evaluate(item, out, both));
  *value = re(both[0]);
  if (mbg__expr_is_constant(out->expr)) {
    *out = (mbg__formula){.number = *value};
  }
  if (isinf(*value)) {
    MBG_TRY(mbg__item_bad(item, json, "%s is not finite", label));
  }
  MBG_TRY(share(item, key, &(mbg__shared_formula){item->source, text, sign, *value, *out}));
done:
  return err;
}

int mbg__item_fixed(mbg__item *item, const mbg__json *json, const char *label, double *value, bool *varies) {
  mbg__formula formula;
  const int err = mbg__item_formula(item, json, label, 1, &formula, value);
  const int ninput = mbg__formula_inputs(&formula);
  bool found = false;
  for (int k = 0; k < ninput; k++) {
    found = found || item->L->s_varies[formula.input[k]];
  }
  if (varies) {
    *varies = found;
  }
  return err;
}

/* ---------------------------------------------------------------------- constants */

typedef struct {
  mbg__symbol *symbol;
  mbg__item item; /* of the file whose text it is */
  const mbg__json *json;
} constant_item;

/* constants, and the parameters of parts that the outer file sets */
static int list_constants(mbg__loader *L, constant_item **out) {
  int err = MBG_OK;
  MBG__LIST_OF(constant_item) list = {0};
  for (int kind = MBG__NAME_PARAMETER; kind <= MBG__NAME_CONSTANT; kind++) {
    for (int i = 0; i < L->names[kind].count; i++) {
      mbg__symbol *s = L->names[kind].at[i];
      if (!is_constant(s) || s->bad) {
        continue;
      }
      constant_item *c = MBG__PUSH(L, list);
      mbg__constant *constant = MBG__PUSH(L, L->constants);
      if (!c || !constant) {
        return mbg__fail_memory(L->ctx);
      }
      s->index = L->constants.count - 1;
      c->symbol = s;
      c->json = s->set ? s->set : s->json;
      MBG_TRY(mbg__item_open(L, s, &c->item));
      c->item.source = s->set ? s->source->outer : s->source;
      c->item.json = c->json;
      *constant = (mbg__constant){.name = s->name, .where = mbg__item_where(&c->item, c->json)};
    }
  }
  *out = list.at;
done:
  return err;
}

static int constant_dependences(const mbg__loader *L, int i, int *list) {
  const mbg__formula *f = &L->constants.at[i].formula;
  const int ninput = mbg__formula_inputs(f);
  int count = 0;
  for (int j = 0; j < ninput; j++) {
    if (f->input[j] < L->p.count) {
      continue;
    }
    if (list) {
      list[count] = f->input[j] - L->p.count;
    }
    count++;
  }
  return count;
}

static int order_constants(mbg__loader *L, constant_item *list, int **order) {
  int err = MBG_OK;
  const int n = L->constants.count;
  mbg__symbol **symbols = MBG_TAKE(&L->temp, mbg__symbol *, n);
  MBG_TRY(mbg__arena_check(L->ctx, &L->temp));
  for (int i = 0; i < n; i++) {
    symbols[i] = list[i].symbol;
    symbols[i]->bad = list[i].item.bad;
  }
  MBG_TRY(mbg__load_order(L, symbols, n, constant_dependences, "constants", order));
  for (int i = 0; i < n; i++) {
    list[i].item.bad = symbols[i]->bad;
  }
done:
  return err;
}

/* puts the constants into the order, in the lists and in the formulas */
static int permute_constants(mbg__loader *L, constant_item *list, const int *order) {
  const int n = L->constants.count, np = L->p.count;
  int *place = MBG_TAKE(&L->temp, int, n);
  mbg__constant *sorted = MBG_TAKE(&L->temp, mbg__constant, n);
  constant_item *items = MBG_TAKE(&L->temp, constant_item, n);
  if (mbg__arena_check(L->ctx, &L->temp) < 0) {
    return MBG_ERROR_MEMORY;
  }
  for (int k = 0; k < n; k++) {
    place[order[k]] = k;
    sorted[k] = L->constants.at[order[k]];
    items[k] = list[order[k]];
    items[k].symbol->index = k;
  }
  for (int k = 0; k < n; k++) {
    mbg__formula *f = &sorted[k].formula;
    const int ninput = mbg__formula_inputs(f);
    int *input = MBG_TAKE(L->arena, int, ninput);
    if (!input) {
      return mbg__fail_memory(L->ctx);
    }
    for (int j = 0; j < ninput; j++) {
      input[j] = f->input[j] < np ? f->input[j] : np + place[f->input[j] - np];
    }
    if (f->expr) {
      f->input = input;
    }
    list[k] = items[k];
    L->constants.at[k] = sorted[k];
  }
  return MBG_OK;
}

/* (p, constants): nominal, and at parameters nearby */
static int prepare_values(mbg__loader *L) {
  const int n = L->p.count + L->constants.count;
  L->s_varies = MBG_TAKE(&L->temp, bool, n + 1);
  real *s[2] = {MBG_TAKE(&L->temp, real, n + 1), MBG_TAKE(&L->temp, real, n + 1)};
  if (mbg__arena_check(L->ctx, &L->temp) < 0) {
    return MBG_ERROR_MEMORY;
  }
  for (int i = 0; i < L->p.count; i++) {
    /* multiples of the golden ratio: no two parameters change alike */
    const double r = fmod(0.6180339887498949 * (i + 1), 1) - 0.5;
    s[0][i] = L->p.at[i];
    s[1][i] = L->p.at[i] + 1e-3 * (r < 0 ? r - 0.5 : r + 0.5) * (L->p.at[i] != 0 ? fabs(L->p.at[i]) : 1);
    L->s_varies[i] = true;
  }
  for (int i = L->p.count; i < n; i++) {
    s[0][i] = s[1][i] = NAN;
  }
  L->s[0] = s[0];
  L->s[1] = s[1];
  return MBG_OK;
}

static int evaluate_constants(mbg__loader *L, constant_item *list) {
  int err = MBG_OK;
  MBG_TRY(prepare_values(L));
  for (int i = 0; i < L->constants.count; i++) {
    const mbg__formula *f = &L->constants.at[i].formula;
    real value[2] = {NAN, NAN};
    if (!list[i].item.bad) {
      MBG_TRY(mbg__load_evaluate(&list[i].item, f, value));
    }
    if (isinf(re(value[0]))) {
      MBG_TRY(mbg__item_bad(&list[i].item, list[i].json, "the value is not finite"));
    }
    const int ninput = mbg__formula_inputs(f);
    for (int k = 0; k < ninput; k++) {
      L->s_varies[L->p.count + i] = L->s_varies[L->p.count + i] || L->s_varies[f->input[k]];
    }
    L->s[0][L->p.count + i] = value[0];
    L->s[1][L->p.count + i] = value[1];
    list[i].symbol->bad = list[i].item.bad;
  }
done:
  return err;
}

int mbg__load_constants(mbg__loader *L) {
  int err = MBG_OK, *order;
  constant_item *list = NULL;
  double value;
  MBG_TRY(list_constants(L, &list));
  for (int i = 0; i < L->constants.count; i++) {
    MBG_TRY(mbg__item_formula(&list[i].item, list[i].json, "", 1, &L->constants.at[i].formula, &value));
  }
  MBG_TRY(order_constants(L, list, &order));
  MBG_TRY(permute_constants(L, list, order));
  MBG_TRY(evaluate_constants(L, list));
done:
  return err;
}
