/* A model whose control samples are parameters: numbers that depend on the count of parameters and attributes are made
   anew, all others are shared. */
#include "model/sampled.h"

#include "mbgrad/model.h"

#include <string.h>

typedef struct {
  mbg_context *ctx;
  const mbg_model *from;
  mbg_model *m;
  int added;           /* parameters more than before */
  mbg__expr *identity; /* of its only input */
} maker;

/* p of s = (p, constants) is longer now: constants move up */
static int move_inputs(maker *k, mbg__formula *f) {
  const int ninput = mbg__formula_inputs(f);
  if (ninput == 0) {
    return MBG_OK;
  }
  int *input = MBG_TAKE(&k->m->arena, int, ninput);
  if (!input) {
    return mbg__fail_memory(k->ctx);
  }
  for (int i = 0; i < ninput; i++) {
    input[i] = f->input[i] < k->from->np ? f->input[i] : f->input[i] + k->added;
  }
  f->input = input;
  return MBG_OK;
}

static int copy(maker *k, const void *from, int count, int more, size_t size, void *out) {
  void *to = mbg__arena_take(&k->m->arena, (size_t)count + (size_t)more, size);
  if (!to) {
    return mbg__fail_memory(k->ctx);
  }
  if (count > 0) {
    memcpy(to, from, (size_t)count * size);
  }
  memcpy(out, &to, sizeof(to));
  return MBG_OK;
}

static int resolve(void *user, const char *name, int index, const char **hint) {
  (void)user, (void)name, (void)index, (void)hint;
  return 0;
}

static int copy_arrays(maker *k, int nsamples, int nattr, int count) {
  const mbg_model *from = k->from;
  mbg_model *m = k->m;
  const mbg__scope scope = {.resolve = resolve, .t_input = -1};
  int err = MBG_OK;
  MBG_TRY(mbg__expr_compile(k->ctx, &m->arena, "x", NULL, &scope, &k->identity));
  MBG_TRY(copy(k, from->p, from->np, nsamples, sizeof(*m->p), &m->p));
  MBG_TRY(copy(k, from->parameters, from->nparameter, count, sizeof(*m->parameters), &m->parameters));
  MBG_TRY(copy(k, from->constants, from->nconstant, 0, sizeof(*m->constants), &m->constants));
  MBG_TRY(copy(k, from->attributes, from->na, nattr, sizeof(*m->attributes), &m->attributes));
  MBG_TRY(copy(k, from->controls, from->ncontrol, 0, sizeof(*m->controls), &m->controls));
  MBG_TRY(copy(k, from->fns, from->nfn, 0, sizeof(*m->fns), &m->fns));
  MBG_TRY(copy(k, from->forces, from->nforce, 0, sizeof(*m->forces), &m->forces));
  MBG_TRY(copy(k, from->figures.numbers, from->figures.nnumber, 0, sizeof(*m->figures.numbers), &m->figures.numbers));
  for (int i = 0; i < from->nconstant; i++) {
    MBG_TRY(move_inputs(k, &m->constants[i].formula));
  }
  for (int i = 0; i < from->na; i++) {
    MBG_TRY(move_inputs(k, &m->attributes[i].formula));
  }
  for (int i = 0; i < from->figures.nnumber; i++) {
    MBG_TRY(move_inputs(k, &m->figures.numbers[i].formula));
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- one control */

/* one more attribute of the control; its key is "name[i]" */
static mbg__attribute *add_attribute(maker *k, const mbg__control *c, const char *owner, const char *name, int i) {
  char key[64];
  mbg__format(key, sizeof(key), "%s[%d]", name, i);
  mbg__attribute *a = &k->m->attributes[k->m->na++];
  mbg__label *label = MBG_TAKE(&k->m->arena, mbg__label, 1);
  if (!label) {
    return NULL;
  }
  *label = (mbg__label){mbg__arena_text(&k->m->arena, key, strlen(key)), "", c->where.file};
  *a =
      (mbg__attribute){.label = label, .owner = owner, .line = c->where.line, .column = c->where.column, .control = -1};
  return label->key ? a : NULL;
}

static int add_attributes(maker *k, const mbg__samples *s, int first, const char *owner) {
  mbg_model *m = k->m;
  const mbg__control *c = &m->controls[s->control];
  int *input = MBG_TAKE(&m->arena, int, s->n);
  for (int i = 0; input && i < s->n; i++) {
    mbg__attribute *a = add_attribute(k, c, owner, "values", i);
    if (!a) {
      return mbg__fail_memory(k->ctx);
    }
    input[i] = first + i;
    a->formula = (mbg__formula){.expr = k->identity, .input = &input[i]};
  }
  for (int i = 0; input && s->interpolation == MBG__CUBIC && i < s->n; i++) {
    mbg__attribute *a = add_attribute(k, c, owner, "curvature", i);
    if (!a) {
      return mbg__fail_memory(k->ctx);
    }
    a->control = s->control;
  }
  return input ? MBG_OK : mbg__fail_memory(k->ctx);
}

static int add_control(maker *k, const mbg__samples *s, int *first) {
  mbg_model *m = k->m;
  mbg__control *c = &m->controls[s->control];
  mbg__spline *spline;
  char text[300];
  mbg__format(text, sizeof(text), "control '%s'", c->name);
  const char *owner = mbg__arena_text(&m->arena, text, strlen(text));
  if (!owner) {
    return mbg__fail_memory(k->ctx);
  }
  const int err = mbg__spline_create(k->ctx, &m->arena, &c->where, "times", s->n, s->t, s->interpolation,
                                     MBG__OUTSIDE_HOLD, &spline);
  if (err < 0) {
    return err;
  }
  *first = m->np;
  m->parameters[m->nparameter++] = (mbg__parameter){.name = c->name,
                                                    .first = m->np,
                                                    .count = s->n,
                                                    .vector = true,
                                                    .min = s->min,
                                                    .max = s->max,
                                                    .unit = "",
                                                    .note = "",
                                                    .where = c->where};
  memcpy(m->p + m->np, s->value, (size_t)s->n * sizeof(double));
  m->np += s->n;
  c->spline = spline;
  c->attr = m->na;
  return add_attributes(k, s, *first, owner);
}

/* most active attributes: a control that is cubic now has four instead of two */
static void count_active(maker *k) {
  const mbg_model *from = k->from;
  mbg_model *m = k->m;
  for (int i = 0; i < m->nfn; i++) {
    for (int j = 0; j < m->fns[i].ninput; j++) {
      const mbg__input *in = &m->fns[i].input[j];
      if (in->role == MBG__ROLE_CTRL) {
        const bool was = from->controls[in->index].spline->interpolation == MBG__CUBIC;
        const bool is = m->controls[in->index].spline->interpolation == MBG__CUBIC;
        m->fns[i].nact += is && !was ? 2 : 0;
      }
    }
  }
  for (int i = 0; i < m->nforce; i++) {
    for (int j = 0; j < m->forces[i].nfn; j++) {
      const int fn = m->forces[i].fn + j;
      m->forces[i].nact += m->fns[fn].nact - from->fns[fn].nact;
    }
  }
}

int mbg__model_sampled(mbg_context *ctx, const mbg_model *model, int count, const mbg__samples *samples, int *first,
                       mbg_model **out) {
  int err = MBG_OK, nsamples = 0, nattr = 0;
  mbg_model *m = mbg__alloc_zero(ctx, 1, sizeof(*m));
  maker k = {.ctx = ctx, .from = model, .m = m};
  *out = NULL;
  if (!m) {
    return mbg__fail_memory(ctx);
  }
  *m = *model;
  mbg__arena_init(&m->arena, mbg__context_allocator(ctx));
  for (int i = 0; i < count; i++) {
    nsamples += samples[i].n;
    nattr += samples[i].interpolation == MBG__CUBIC ? 2 * samples[i].n : samples[i].n;
  }
  k.added = nsamples;
  MBG_TRY(copy_arrays(&k, nsamples, nattr, count));
  for (int i = 0; i < count; i++) {
    MBG_TRY(add_control(&k, &samples[i], &first[i]));
  }
  count_active(&k);
done:
  if (err < 0) {
    mbg_model_destroy(m);
    m = NULL;
  }
  *out = m;
  return err;
}
