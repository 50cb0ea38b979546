/* The public getters of a model. */
#include "mbgrad/model.h"
#include "model/model.h"

#include <string.h>

/* a model that has an entry of this index */
#define HAS(model, index, count) ((model) && (index) >= 0 && (index) < (model)->count)

const char *mbg_model_name(const mbg_model *model) { return model ? model->name : 0; }
const char *mbg_model_note(const mbg_model *model) { return model ? model->note : 0; }
const char *mbg_model_file(const mbg_model *model) { return model ? model->file : NULL; }

/* ---------------------------------------------------------------------- parameters */

int mbg_model_parameter_count(const mbg_model *model) { return model ? model->np : 0; }
int mbg_model_parameter_group_count(const mbg_model *model) { return model ? model->nparameter : 0; }

/* the group of an entry of p: groups follow each other, so that it is found by bisection */
static const mbg__parameter *group_of(const mbg_model *model, int index) {
  int low = 0, high = model->nparameter;
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    if (model->parameters[middle].first <= index) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return &model->parameters[low];
}

int mbg_model_parameter_name(const mbg_model *model, int index, char *buffer, size_t size) {
  if (!HAS(model, index, np) || !buffer) {
    return MBG_ERROR_INPUT;
  }
  const mbg__parameter *p = group_of(model, index);
  if (p->vector) {
    mbg__format(buffer, size, "%s[%d]", p->name, index - p->first);
  } else {
    mbg__format(buffer, size, "%s", p->name);
  }
  return MBG_OK;
}

int mbg_model_parameter_find(const mbg_model *model, const char *name) {
  char own[512];
  for (int i = 0; model && name && i < model->nparameter; i++) {
    const mbg__parameter *p = &model->parameters[i];
    size_t n = 0;
    while (p->name[n] && p->name[n] == name[n]) {
      n++;
    }
    if (p->name[n]) {
      continue;
    }
    if (!p->vector && !name[n]) {
      return p->first;
    }
    /* the index is compared as it would be written, so that "rho[03]" is no name */
    int k = 0;
    for (const char *c = name + n + 1; p->vector && name[n] == '[' && *c >= '0' && *c <= '9' && k < p->count; c++) {
      k = 10 * k + (*c - '0');
    }
    mbg__format(own, sizeof(own), "[%d]", k);
    size_t m = 0;
    while (own[m] && own[m] == name[n + m]) {
      m++;
    }
    if (p->vector && k < p->count && !own[m] && !name[n + m]) {
      return p->first + k;
    }
  }
  return -1;
}

double mbg_model_parameter_value(const mbg_model *model, int index) {
  return HAS(model, index, np) ? model->p[index] : NAN;
}

double mbg_model_parameter_min(const mbg_model *model, int index) {
  return HAS(model, index, np) ? group_of(model, index)->min : NAN;
}

double mbg_model_parameter_max(const mbg_model *model, int index) {
  return HAS(model, index, np) ? group_of(model, index)->max : NAN;
}

bool mbg_model_parameter_log_scale(const mbg_model *model, int index) {
  return HAS(model, index, np) && group_of(model, index)->log_scale;
}

double mbg_model_parameter_deviation(const mbg_model *model, int index) {
  return HAS(model, index, np) ? group_of(model, index)->deviation : NAN;
}

mbg_distribution mbg_model_parameter_distribution(const mbg_model *model, int index) {
  return HAS(model, index, np) ? (mbg_distribution)group_of(model, index)->distribution : MBG_NORMAL;
}

const char *mbg_model_parameter_unit(const mbg_model *model, int index) {
  return HAS(model, index, np) ? group_of(model, index)->unit : "";
}

const char *mbg_model_parameter_note(const mbg_model *model, int index) {
  return HAS(model, index, np) ? group_of(model, index)->note : "";
}

int mbg_model_parameter_group(const mbg_model *model, int group, const char **name, int *first, int *count) {
  if (!HAS(model, group, nparameter)) {
    return MBG_ERROR_INPUT;
  }
  const mbg__parameter *p = &model->parameters[group];
  if (name) {
    *name = p->name;
  }
  if (first) {
    *first = p->first;
  }
  if (count) {
    *count = p->vector ? p->count : 0;
  }
  return MBG_OK;
}

bool mbg_model_parameter_is_set(const mbg_model *model, int index) {
  return HAS(model, index, np) && group_of(model, index)->set;
}

/* ---------------------------------------------------------------------- runs */

int mbg_model_run_count(const mbg_model *model) { return model ? model->nrun : 0; }
const char *mbg_model_run_name(const mbg_model *model, int index) {
  return HAS(model, index, nrun) ? model->runs[index].name : NULL;
}
const char *mbg_model_run_note(const mbg_model *model, int index) {
  return HAS(model, index, nrun) ? model->runs[index].note : NULL;
}
const char *mbg_model_active_run(const mbg_model *model) {
  return model ? mbg_model_run_name(model, model->chosen) : NULL;
}

/* ---------------------------------------------------------------------- elements */

int mbg_model_body_count(const mbg_model *model) { return model ? mbg__frames(model) : 0; }
const char *mbg_model_body_name(const mbg_model *model, int index) {
  return index >= 0 && index < mbg_model_body_count(model) ? model->bodies[index].name : NULL;
}

int mbg_model_modal_count(const mbg_model *model) {
  int n = 0;
  for (int i = 0; model && i < model->nmodal; i++) {
    n += model->modals[i].n;
  }
  return n;
}
int mbg_model_modal_body(const mbg_model *model, int index) {
  for (int i = 0; model && index >= 0 && i < model->nmodal; i++) {
    if (index < model->modals[i].n) {
      return model->modals[i].body;
    }
    index -= model->modals[i].n;
  }
  return -1;
}

int mbg_model_beam_count(const mbg_model *model) { return model ? model->nbeam : 0; }
const char *mbg_model_beam_name(const mbg_model *model, int index) {
  return HAS(model, index, nbeam) ? model->beams[index].name : NULL;
}
int mbg_model_beam_nodes(const mbg_model *model, int index, int *first, int *count) {
  MBG_NEED(NULL, HAS(model, index, nbeam));
  if (first) {
    *first = model->beams[index].body;
  }
  if (count) {
    *count = model->beams[index].count + 1;
  }
  return MBG_OK;
}

int mbg_model_joint_count(const mbg_model *model) { return model ? model->njoint : 0; }
const char *mbg_model_joint_name(const mbg_model *model, int index) {
  return HAS(model, index, njoint) ? model->joints[index].name : NULL;
}
const char *mbg_model_joint_type(const mbg_model *model, int index) {
  return HAS(model, index, njoint) ? model->joints[index].type->key : NULL;
}

int mbg_model_force_count(const mbg_model *model) { return model ? mbg__forces(model) : 0; }
const char *mbg_model_force_name(const mbg_model *model, int index) {
  return index < mbg_model_force_count(model) && HAS(model, index, nforce) ? model->forces[index].name : NULL;
}
const char *mbg_model_force_type(const mbg_model *model, int index) {
  if (index >= mbg_model_force_count(model) || !HAS(model, index, nforce)) {
    return NULL;
  }
  return model->forces[index].law ? model->forces[index].law->key : model->forces[index].type->key;
}

int mbg_model_signal_count(const mbg_model *model) { return model ? model->nsignal : 0; }
const char *mbg_model_signal_name(const mbg_model *model, int index) {
  return HAS(model, index, nsignal) ? model->signals[index].name : NULL;
}
const char *mbg_model_signal_type(const mbg_model *model, int index) {
  return HAS(model, index, nsignal) ? model->signals[index].type->key : NULL;
}

/* of a coordinate, of its rate, of its second rate */
static const char *coordinate_unit(const mbg__signal *s, const char *unit) {
  static const char *const rates[2][3] = {{"rad", "rad/s", "rad/s^2"}, {"m", "m/s", "m/s^2"}};
  const int order = s->level >= MBG__LEVEL_ACCELERATION ? 2 : s->level == MBG__LEVEL_VELOCITY;
  return rates[unit[0] == 'm'][order];
}

const char *mbg_model_signal_unit(const mbg_model *model, int index) {
  if (!HAS(model, index, nsignal)) {
    return "";
  }
  const mbg__signal *s = &model->signals[index];
  const mbg__signal_type *type = s->type;
  if (s->unit) {
    return s->unit;
  }
  if (type->of == MBG__OF_COORD) {
    return coordinate_unit(s, model->coords[s->coord].type->unit);
  }
  if (type->role == MBG__ROLE_CONTACT) {
    static const char *const units[] = {"m", "N", "m/s"};
    return units[s->opt[0]];
  }
  if (type->role == MBG__ROLE_CURVE) {
    static const char *const units[] = {"", "m", "m", "m", "m", "1/m", "N"};
    return units[s->opt[0]];
  }
  if (!type->unit[0]) {
    return "";
  }
  if (type->of == MBG__OF_FORCE && model->forces[s->force].law) { /* along a coordinate */
    return type->unit[model->coords[model->forces[s->force].coord].type->unit[0] != 'm'];
  }
  return type->unit[type->unit[1] && s->opt[0] >= 3];
}

int mbg_model_criterion_count(const mbg_model *model) { return model ? model->ncriterion : 0; }
const char *mbg_model_criterion_name(const mbg_model *model, int index) {
  return HAS(model, index, ncriterion) ? model->criteria[index].name : NULL;
}

const char *mbg_model_criterion_kind(const mbg_model *model, int index) {
  static const char *const kinds[] = {[MBG__TERMINAL] = "terminal",
                                      [MBG__INTEGRAL] = "integral",
                                      [MBG__LEAST_SQUARES] = "least_squares",
                                      [MBG__SMOOTH_MAXIMUM] = "smooth_maximum",
                                      [MBG__PATH] = "path",
                                      [MBG__SUM] = "sum",
                                      [MBG__COMBINATION] = "value"};
  return HAS(model, index, ncriterion) ? kinds[model->criteria[index].kind] : NULL;
}

/* ---------------------------------------------------------------------- rows */

void mbg__row_label(const mbg_model *m, int row, char *buffer, size_t size) {
  const mbg__row *r = &m->rows[row];
  switch (r->kind) {
  case MBG__ROW_JOINT:
    mbg__format(buffer, size, "joint '%s' row %s", m->joints[r->owner].name, r->name);
    break;
  case MBG__ROW_DRIVER:
    mbg__format(buffer, size, "driver '%s'", m->drivers[r->owner].name);
    break;
  default:
    mbg__format(buffer, size, "coupling '%s'", m->couplings[r->owner].name);
    break;
  }
}

uint64_t mbg__model_sum(uint64_t sum, const mbg_model *m) {
  const char *run = mbg_model_active_run(m);
  for (const mbg__model_source *s = m->sources; s; s = s->next) {
    sum = mbg__sum(sum, s->text, s->length);
  }
  return run ? mbg__sum(sum, run, strlen(run)) : sum;
}

bool mbg__model_has_rates(const mbg_model *m) {
  for (int i = 0; i < m->nrow; i++) {
    if (m->rows[i].rate) {
      return true;
    }
  }
  return false;
}
