/* Lengths that are sums of joint coordinates: springs and dampers along them, and couplings that hold such a sum. */
#include "import/robot.h"
#include "io/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------------------- adding */

int mbg__robot_add_term(mbg__robot *robot, int joint, double factor, const char *law) {
  const mbg__robot_term term = {.joint = joint, .factor = factor, .law = law};
  void *list = mbg__robot_put(robot->ctx, robot->terms, &robot->nterm, &robot->most_terms, sizeof(term), &term);
  if (!list) {
    return mbg__fail_memory(robot->ctx);
  }
  robot->terms = list;
  return MBG_OK;
}

static bool is_tendon(const mbg__robot *robot, const char *word) {
  for (int i = 0; i < robot->ntendon; i++) {
    if (!strcmp(robot->tendons[i].word, word)) {
      return true;
    }
  }
  return false;
}

int mbg__robot_add_tendon(mbg__robot *robot, const mbg__robot_tendon *given) {
  mbg__robot_tendon tendon = *given;
  tendon.first = robot->nterm - tendon.count;
  tendon.word = mbg__robot_expression_word(robot, "l", tendon.name, is_tendon);
  void *list = tendon.word ? mbg__robot_put(robot->ctx, robot->tendons, &robot->ntendon, &robot->most_tendons,
                                            sizeof(tendon), &tendon)
                           : NULL;
  if (!list) {
    return mbg__fail_memory(robot->ctx);
  }
  robot->tendons = list;
  return MBG_OK;
}

int mbg__robot_find_tendon(const mbg__robot *robot, const char *name) {
  for (int i = 0; i < robot->ntendon; i++) {
    if (!strcmp(robot->tendons[i].name, name)) {
      return i;
    }
  }
  return -1;
}

static bool is_coupling(const mbg__robot *robot, const char *word) {
  for (int i = 0; i < robot->ncoupling; i++) {
    if (!strcmp(robot->couplings[i].word, word)) {
      return true;
    }
  }
  return false;
}

int mbg__robot_add_coupling(mbg__robot *robot, const mbg__robot_coupling *given) {
  mbg__robot_coupling coupling = *given;
  coupling.first = robot->nterm - coupling.count;
  coupling.word = mbg__robot_expression_word(robot, "equality", coupling.name, is_coupling);
  void *list = coupling.word ? mbg__robot_put(robot->ctx, robot->couplings, &robot->ncoupling, &robot->most_couplings,
                                              sizeof(coupling), &coupling)
                             : NULL;
  if (!list) {
    return mbg__fail_memory(robot->ctx);
  }
  robot->couplings = list;
  return MBG_OK;
}

/* ---------------------------------------------------------------------- writing */

void mbg__robot_write_sum(mbg__buffer *out, double c, const char *word) {
  if (c != 0) {
    mbg__buffer_text(out, c < 0 ? " - " : " + ");
    mbg__buffer_number(out, fabs(c));
    mbg__buffer_format(out, "%s%s", *word ? "*" : "", word);
  }
}

void mbg__robot_write_tendon_couplings(const mbg__robot *robot, mbg__json_writer *w) {
  for (int i = 0; i < robot->ncoupling; i++) {
    const mbg__robot_coupling *c = &robot->couplings[i];
    if (c->count == 0) {
      mbg__robot_write_rope_coupling(robot, w, c);
      continue;
    }
    mbg__json_key(w, c->word);
    mbg__json_begin_object(w);
    mbg__json_key(w, "terms");
    mbg__json_begin_array(w);
    for (int k = c->first; k < c->first + c->count; k++) {
      mbg__json_begin_object(w);
      mbg__json_key(w, "joint");
      mbg__json_string(w, robot->joints[robot->terms[k].joint].word);
      mbg__json_key(w, "factor");
      mbg__json_number(w, robot->terms[k].factor);
      if (robot->terms[k].law) {
        mbg__json_key(w, "law");
        mbg__json_string(w, robot->terms[k].law);
      }
      mbg__json_end_object(w);
    }
    mbg__json_end_array(w);
    mbg__json_key(w, "constant");
    mbg__json_number(w, c->constant);
    mbg__json_end_object(w);
  }
}

/* + c*max(sign*(word - bound), 0)^power */
static void write_beyond(mbg__buffer *out, double c, int sign, const char *word, double bound, const char *power) {
  char number[MBG__NUMBER_SIZE], law[400];
  (void)mbg__number_format(number, fabs(bound));
  if (sign > 0) {
    (void)snprintf(law, sizeof(law), "max(%s %c %s, 0)%s", word, bound < 0 ? '+' : '-', number, power);
  } else {
    (void)snprintf(law, sizeof(law), "max(%s%s - %s, 0)%s", bound < 0 ? "-" : "", number, word, power);
  }
  mbg__robot_write_sum(out, c, law);
}

void mbg__robot_write_slack(mbg__buffer *out, const mbg__robot_pull *pull, double factor, double zero,
                            const char *word) {
  if (pull->rest[0] != pull->rest[1]) {
    write_beyond(out, factor * pull->stiffness, 1, word, pull->rest[1] - zero, "");
    if (isfinite(pull->rest[0])) {
      write_beyond(out, -factor * pull->stiffness, -1, word, pull->rest[0] - zero, "");
    }
  }
}

/* F (d/w)^3 at a depth d: 1000 N at 5 mm, 8e9 N/m^3; of a sum of angles 10 N m at 5 degrees */
void mbg__robot_write_limits(const mbg__robot *robot, mbg__buffer *out, const mbg__robot_pull *pull, double factor,
                             double zero, const char *word, const mbg__xml *at) {
  const double stiffness = pull->turns ? 10 / pow(0.08726646259971647, 3) : 8e9;
  if (isfinite(pull->upper)) {
    write_beyond(out, factor * stiffness, 1, word, pull->upper - zero, "^3");
  }
  if (isfinite(pull->lower)) {
    write_beyond(out, -factor * stiffness, -1, word, pull->lower - zero, "^3");
  }
  if (isfinite(pull->upper) || isfinite(pull->lower)) {
    mbg__report_add(robot->report, at, "approximated",
                    "limits of tendons are soft stops; their stiffness is not in the file");
  }
}

/* the sum of factor q, or of factor w */
static void write_length(const mbg__robot *robot, mbg__json_writer *w, const mbg__robot_tendon *t, bool rate) {
  char name[300];
  const char *text = "";
  mbg__buffer out;
  mbg__buffer_init(&out, robot->ctx);
  mbg__buffer_text(&out, "0");
  for (int k = t->first; k < t->first + t->count; k++) {
    mbg__robot_signal_name(name, rate ? "w" : "q", robot->joints[robot->terms[k].joint].word);
    mbg__robot_write_sum(&out, robot->terms[k].factor, name);
  }
  (void)mbg__buffer_finish(&out, &text, NULL);
  (void)snprintf(name, sizeof(name), "%s%s", t->word, rate ? "_rate" : "");
  mbg__json_key(w, name);
  mbg__json_begin_object(w);
  mbg__json_key(w, "type");
  mbg__json_string(w, "expression");
  mbg__json_key(w, "value");
  mbg__json_string(w, text);
  mbg__json_end_object(w);
  mbg__buffer_destroy(&out);
}

void mbg__robot_write_tendon_signals(const mbg__robot *robot, mbg__json_writer *w) {
  for (int i = 0; i < robot->ntendon; i++) {
    write_length(robot, w, &robot->tendons[i], false);
    write_length(robot, w, &robot->tendons[i], true);
  }
}

/* -factor (k (l - rest) + c l') on each joint */
static void write_spring(const mbg__robot *robot, mbg__json_writer *w, const mbg__robot_tendon *t,
                         const mbg__robot_term *term, bool limits) {
  const mbg__robot_pull *pull = &t->pull;
  const double k = pull->rest[0] == pull->rest[1] ? pull->stiffness : 0;
  char name[600];
  const char *text = "";
  mbg__buffer out;
  mbg__buffer_init(&out, robot->ctx);
  mbg__buffer_number(&out, term->factor * k * (pull->rest[0] - t->zero) + 0.0); /* never -0 */
  mbg__robot_write_sum(&out, -term->factor * k, t->word);
  (void)snprintf(name, sizeof(name), "%s_rate", t->word);
  mbg__robot_write_sum(&out, -term->factor * pull->damping, name);
  mbg__robot_write_slack(&out, pull, -term->factor, t->zero, t->word);
  if (limits) {
    mbg__robot_write_limits(robot, &out, pull, -term->factor, t->zero, t->word, t->at);
  }
  (void)mbg__buffer_finish(&out, &text, NULL);
  (void)snprintf(name, sizeof(name), "tendon_%s_%.250s", t->word + 2, robot->joints[term->joint].word);
  mbg__json_key(w, name);
  mbg__json_begin_object(w);
  mbg__json_key(w, "type");
  mbg__json_string(w, "expression");
  mbg__json_key(w, "joint");
  mbg__json_string(w, robot->joints[term->joint].word);
  mbg__json_key(w, "force");
  mbg__json_string(w, text);
  mbg__json_end_object(w);
  mbg__buffer_destroy(&out);
}

void mbg__robot_write_tendons(const mbg__robot *robot, mbg__json_writer *w, bool limits) {
  for (int i = 0; i < robot->ntendon; i++) {
    const mbg__robot_tendon *t = &robot->tendons[i];
    const bool limited = limits && (isfinite(t->pull.lower) || isfinite(t->pull.upper));
    for (int k = t->first; k < t->first + t->count; k++) {
      if (t->pull.stiffness > 0 || t->pull.damping > 0 || limited) {
        write_spring(robot, w, t, &robot->terms[k], limits);
      }
    }
  }
}
