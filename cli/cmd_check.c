/* mbgrad check: degrees of freedom, start and parts of a model */
#include "mbgrad/check.h"

#include "cli.h"
#include "cmd_check_gradient.h"
#include "run_options.h"
#include "session.h"
#include "step_error.h"
#include "table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MAX = 40, INDENT_MAX = 24 };

/* A list printed as a table: `most` of its `count` entries. */
static int shown(int count, bool full) { return full || count <= ROWS_MAX ? count : ROWS_MAX; }

static void finish(cli_table *table, int count, int most) {
  cli_table_print(table, 2);
  cli_table_destroy(table);
  if (most < count) {
    printf("  ... %d more (--full prints all)\n", count - most);
  }
}

static const char *plural(int count) { return count == 1 ? "" : "s"; }

/* two numbers in one text, "0.1 m, 0.2 rad"; to be freed */
static char *two(double a, const char *unit_a, double b, const char *unit_b) {
  char na[CLI_NUMBER_SIZE], nb[CLI_NUMBER_SIZE];
  return cli_format("%s %s, %s %s", cli_number(na, a), unit_a, cli_number(nb, b), unit_b);
}

/* ---------------------------------------------------------------------- summary */

enum { LABEL = 24 };

/* label and text; the text is freed */
static void line(const char *label, char *text) {
  char first[LABEL + 8];
  snprintf(first, sizeof(first), "  %-*s", LABEL - 2, label);
  cli_paragraph(first, text);
  free(text);
}

static void print_constraints(const mbg_check *check, const mbg_check_summary *s) {
  char *text = s->redundant == 0 ? cli_format("%d%s", s->constraints, s->constraints > 0 ? ", none redundant" : "")
                                 : cli_format("%d, of which %d independent; redundant: ", s->constraints, s->rank);
  for (int i = 0; i < s->redundant && i < 12; i++) {
    char *more = cli_format("%s%s%s", text, i > 0 ? ", " : "", mbg_check_redundant(check, i));
    free(text);
    text = more;
  }
  if (s->redundant > 12) {
    char *more = cli_format("%s and %d more", text, s->redundant - 12);
    free(text);
    text = more;
  }
  line("constraints", text);
}

static bool moved(const mbg_check_summary *s) {
  return s->start.most_moved > 1e-9 * s->size || s->start.most_turned > 1e-9;
}

static void print_start(const mbg_check_summary *s) {
  const mbg_check_start *r = &s->start;
  char number[CLI_NUMBER_SIZE], rate[CLI_NUMBER_SIZE];
  const bool off = r->guess_residual > 1e-9, off_rate = r->guess_rate_residual > 1e-9;
  const bool equilibrium = !strcmp(r->method, "equilibrium");
  if (equilibrium) {
    line("start", cli_format("static equilibrium, found in %d steps", r->iterations));
  } else if (!off && !off_rate) {
    line("start", cli_format("as given: all constraints hold"));
  } else if (off && r->worst) {
    line("start", cli_format("assembled: the guess was off by %s of the model's size (%s)",
                             cli_number(number, r->guess_residual), r->worst));
  } else if (off) {
    line("start",
         cli_format("assembled: the guess was off by %s of the model's size", cli_number(number, r->guess_residual)));
  } else {
    line("start", cli_format("assembled: positions as given, rates of the guess off by %s",
                             cli_number(number, r->guess_rate_residual)));
  }
  if (moved(s)) {
    line("bodies moved by",
         cli_format("at most %s m, %s rad", cli_number(number, r->most_moved), cli_number(rate, r->most_turned)));
  }
  const int n = s->degrees_of_freedom, places = s->position_freedoms;
  if (n > 0 && equilibrium) {
    line("pinned", cli_format("%d of %d freedom%s in rate", n - r->free_rates, n, plural(n)));
  } else if (places != n) {
    line("pinned", cli_format("%d of %d freedom%s in position, %d of %d in rate", places - r->free_positions, places,
                              plural(places), n - r->free_rates, n));
  } else if (n > 0) {
    line("pinned", cli_format("%d of %d freedom%s in position, %d in rate", n - r->free_positions, n, plural(n),
                              n - r->free_rates));
  }
}

static void print_summary(const mbg_check *check) {
  const mbg_check_summary *s = mbg_check_get_summary(check);
  char number[CLI_NUMBER_SIZE];
  cli_heading(s->model);
  if (s->note[0]) {
    cli_paragraph("", s->note);
  }
  putchar('\n');
  line("degrees of freedom",
       s->position_freedoms == s->degrees_of_freedom
           ? cli_format("%d", s->degrees_of_freedom)
           : cli_format("%d of positions, %d of rates", s->position_freedoms, s->degrees_of_freedom));
  line("unknowns", cli_format("%d of %d bod%s", s->unknowns, s->bodies, s->bodies == 1 ? "y" : "ies"));
  if (s->states > 0) {
    line("states", cli_format("%d", s->states));
  }
  print_constraints(check, s);
  print_start(s);
  line("mass", cli_format("%s kg", cli_number(number, s->mass)));
  line("energy at the start", two(s->kinetic_energy, "J kinetic", s->potential_energy, "J potential"));
  line("numbers", cli_format("%d, which follow from %d parameter%s", s->attributes, s->parameter_entries,
                             plural(s->parameter_entries)));
}

/* ---------------------------------------------------------------------- mechanism */

static void add_link(cli_table *table, const mbg_check *check, const mbg_check_link *link, int depth) {
  if (depth <= INDENT_MAX) {
    cli_table_format(table, "%*s%s", 2 * depth, "", link->body);
  } else {
    cli_table_format(table, "%*s(%d) %s", 2 * INDENT_MAX, "", depth, link->body);
  }
  if (link->kind == MBG_LINK_FREE) {
    cli_table_texts(table, link->beam ? "node" : "free", link->beam ? link->beam : "", NULL);
    return;
  }
  const mbg_check_joint *joint = mbg_check_get_joint(check, link->joint);
  cli_table_texts(table, joint->type, joint->name, NULL);
}

static void add_loop(cli_table *table, const mbg_check *check, const mbg_check_link *link) {
  const mbg_check_joint *joint = mbg_check_get_joint(check, link->joint);
  cli_table_format(table, "loop: %s - %s", link->parent, link->body);
  cli_table_texts(table, joint->type, joint->name, NULL);
}

static void print_mechanism(const mbg_check *check, bool full) {
  const int count = mbg_check_get_summary(check)->links, most = shown(count, full);
  bool free_part = false;
  cli_table table = cli_table_make("lll");
  cli_table_texts(&table, "ground", "", "", NULL);
  for (int i = 0; i < most; i++) {
    const mbg_check_link *link = mbg_check_get_link(check, i);
    if (link->kind == MBG_LINK_LOOP) {
      add_loop(&table, check, link);
    } else {
      /* a free body stands beside the ground, followed by its children */
      free_part = free_part || link->kind == MBG_LINK_FREE;
      add_link(&table, check, link, link->depth - free_part);
    }
  }
  cli_heading("\nmechanism");
  finish(&table, count, most);
}

/* ---------------------------------------------------------------------- lists */

static void print_bodies(const mbg_check *check, bool full) {
  const mbg_check_summary *s = mbg_check_get_summary(check);
  const int most = shown(s->bodies, full);
  const bool how_far = moved(s);
  cli_table table = cli_table_make(how_far ? "llrrrrrr" : "llrrrr");
  cli_table_texts(&table, "name", "motion", "mass [kg]", "x [m]", "y [m]", "z [m]", NULL);
  if (how_far) {
    cli_table_texts(&table, "moved [m]", "turned [rad]", NULL);
  }
  for (int i = 0; i < most; i++) {
    const mbg_check_body *b = mbg_check_get_body(check, i);
    cli_table_texts(&table, b->name, b->motion, NULL);
    cli_table_number(&table, b->mass);
    for (int k = 0; k < 3; k++) {
      cli_table_number(&table, b->position[k]);
    }
    if (how_far) {
      cli_table_number(&table, b->moved);
      cli_table_number(&table, b->turned);
    }
  }
  cli_heading("\nbodies");
  finish(&table, s->bodies, most);
}

/* a line per coordinate; the first one names the joint */
static void add_joint(cli_table *table, const mbg_check_joint *j) {
  for (int k = 0; k < (j->coordinates > 0 ? j->coordinates : 1); k++) {
    if (k == 0) {
      cli_table_texts(table, j->name, j->type, NULL);
      cli_table_format(table, "%s - %s", j->bodies[0], j->bodies[1]);
      cli_table_format(table, "%d", j->rows);
    } else {
      cli_table_texts(table, "", "", "", "", NULL);
    }
    if (j->coordinates == 0) {
      cli_table_texts(table, "", "", "", NULL);
      continue;
    }
    const mbg_check_coordinate *q = &j->coordinate[k];
    char number[CLI_NUMBER_SIZE];
    cli_table_text(table, q->name);
    cli_table_format(table, "%s %s", cli_number(number, q->value), q->unit);
    cli_table_format(table, "%s %s/s%s%s", cli_number(number, q->rate), q->unit, q->driver ? "  driven by " : "",
                     q->driver ? q->driver : "");
  }
}

static void print_joints(const mbg_check *check, bool full) {
  const int count = mbg_check_get_summary(check)->joints, most = shown(count, full);
  cli_table table = cli_table_make("lllrlrl");
  cli_table_texts(&table, "name", "type", "between", "rows", "coordinate", "value", "rate", NULL);
  for (int i = 0; i < most; i++) {
    add_joint(&table, mbg_check_get_joint(check, i));
  }
  cli_heading("\njoints");
  finish(&table, count, most);
}

static void print_couplings(const mbg_check *check, bool full) {
  const int count = mbg_check_get_summary(check)->couplings, most = shown(count, full);
  cli_table table = cli_table_make("l");
  for (int i = 0; i < most; i++) {
    cli_table_text(&table, mbg_check_coupling(check, i));
  }
  cli_heading("\ncouplings");
  finish(&table, count, most);
}

static void print_drivers(const mbg_check *check, bool full) {
  const int count = mbg_check_get_summary(check)->drivers, most = shown(count, full);
  cli_table table = cli_table_make("llll");
  cli_table_texts(&table, "name", "joint", "coordinate", "law", NULL);
  for (int i = 0; i < most; i++) {
    const mbg_check_driver *d = mbg_check_get_driver(check, i);
    cli_table_texts(&table, d->name, d->joint, d->coordinate, d->law, NULL);
  }
  cli_heading("\ndrivers");
  finish(&table, count, most);
}

static void add_force(cli_table *table, const mbg_check_force *f) {
  char n[6][CLI_NUMBER_SIZE];
  cli_table_texts(table, f->name, f->type, NULL);
  cli_table_format(table, "%s - %s", f->bodies[0], f->bodies[1]);
  if (f->along) {
    cli_table_format(table, "%s at %s %s", cli_number(n[0], f->tension), f->along, cli_number(n[1], f->length));
    return;
  }
  for (int k = 0; k < 3; k++) {
    cli_number(n[k], f->force[k]);
    cli_number(n[3 + k], f->torque[k]);
  }
  cli_table_format(table, "force (%s, %s, %s), torque (%s, %s, %s)", n[0], n[1], n[2], n[3], n[4], n[5]);
}

static void print_forces(const mbg_check *check, bool full) {
  const int count = mbg_check_get_summary(check)->forces, most = shown(count, full);
  cli_table table = cli_table_make("llll");
  cli_table_texts(&table, "name", "type", "between", "at the start", NULL);
  for (int i = 0; i < most; i++) {
    add_force(&table, mbg_check_get_force(check, i));
  }
  cli_heading("\nforces");
  finish(&table, count, most);
}

static void add_parameter(cli_table *table, const mbg_check_parameter *p) {
  if (p->vector) {
    double least = INFINITY, greatest = -INFINITY;
    for (int k = 0; k < p->count; k++) {
      least = fmin(least, p->values[k]);
      greatest = fmax(greatest, p->values[k]);
    }
    char number[2][CLI_NUMBER_SIZE];
    cli_table_format(table, "%s[%d]", p->name, p->count);
    if (least < greatest) {
      cli_table_format(table, "%s .. %s", cli_number(number[0], least), cli_number(number[1], greatest));
    } else {
      cli_table_text(table, cli_number(number[0], least));
    }
  } else {
    cli_table_text(table, p->name);
    cli_table_number(table, p->values[0]);
  }
  cli_table_text(table, p->unit);
  cli_table_number(table, p->min);
  cli_table_number(table, p->max);
  cli_table_format(table, "%d", p->uses);
  cli_table_text(table, p->note);
}

static void print_parameters(const mbg_check *check, bool full) {
  const int count = mbg_check_get_summary(check)->parameters, most = shown(count, full);
  cli_table table = cli_table_make("lrlrrrl");
  cli_table_texts(&table, "name", "value", "unit", "min", "max", "uses", "note", NULL);
  for (int i = 0; i < most; i++) {
    add_parameter(&table, mbg_check_get_parameter(check, i));
  }
  cli_heading("\nparameters");
  finish(&table, count, most);
}

static void print_signals(const mbg_check *check, bool full) {
  const int count = mbg_check_get_summary(check)->signals, most = shown(count, full);
  cli_table table = cli_table_make("llr");
  cli_table_texts(&table, "name", "type", "at the start", NULL);
  for (int i = 0; i < most; i++) {
    const mbg_check_signal *s = mbg_check_get_signal(check, i);
    cli_table_texts(&table, s->name, s->type, NULL);
    if (s->determined) {
      cli_table_number(&table, s->value);
    } else {
      cli_table_text(&table, "not determined");
    }
  }
  cli_heading("\nsignals");
  finish(&table, count, most);
}

static void print_criteria(const mbg_check *check, bool full) {
  const int count = mbg_check_get_summary(check)->criteria, most = shown(count, full);
  cli_table table = cli_table_make("ll");
  cli_table_texts(&table, "name", "kind", NULL);
  for (int i = 0; i < most; i++) {
    const mbg_check_criterion *c = mbg_check_get_criterion(check, i);
    cli_table_texts(&table, c->name, c->kind, NULL);
  }
  cli_heading("\ncriteria");
  finish(&table, count, most);
}

/* ---------------------------------------------------------------------- the command */

static void print_lists(const mbg_check *check, bool full) {
  const mbg_check_summary *s = mbg_check_get_summary(check);
  const struct {
    int count;
    void (*print)(const mbg_check *, bool);
  } lists[] = {{s->links, print_mechanism},       {s->bodies, print_bodies},       {s->joints, print_joints},
               {s->drivers, print_drivers},       {s->couplings, print_couplings}, {s->forces, print_forces},
               {s->parameters, print_parameters}, {s->signals, print_signals},     {s->criteria, print_criteria}};
  for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
    if (lists[i].count > 0) {
      lists[i].print(check, full);
    }
  }
}

/* the JSON of the check, with the proof as a further member when there is one */
static int print_json(cli_session *session, const mbg_check *check, const cli_proof *proof) {
  char *text;
  const int result = mbg_check_json(session->ctx, check, &text);
  if (result != MBG_OK) {
    return result;
  }
  if (proof) {
    printf("%.*s,\n", (int)(strrchr(text, '}') - text - 1), text);
    cli_proof_json(proof);
    fputs("\n}\n", stdout);
  } else {
    fputs(text, stdout);
  }
  mbg_text_destroy(session->ctx, text);
  return result;
}

static int print_check(cli_session *session, const mbg_check *check, const cli_proof *proof, const cli_args *args) {
  if (cli_flag(args, "json")) {
    return print_json(session, check, proof);
  }
  if (proof) {
    cli_proof_print(proof, cli_flag(args, "full"));
  } else {
    print_summary(check);
    print_lists(check, cli_flag(args, "full"));
  }
  return MBG_OK;
}

static int check_model(cli_session *session, const cli_proof *proof, const cli_args *args) {
  mbg_check *check = NULL;
  const mbg_check_options opt = {.size = sizeof(opt), .parameters = session->parameters};
  int result = mbg_check_create(session->ctx, session->model, &opt, &check);
  if (result == MBG_OK) {
    result = print_check(session, check, proof, args);
  }
  mbg_check_destroy(check);
  return cli_session_status(session, result);
}

/* options that only a run can use */
static int refuse_without_gradient(const cli_args *args) {
  static const char *const names[] = {"formulation", "step",   "tolerance", "accuracy",
                                      "end",         "memory", "plot",      "criteria"};
  if (cli_flag(args, "hessian")) {
    return cli_bad_input("check: '--hessian' needs '--gradient'");
  }
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
    if (cli_value(args, names[i], 0)) {
      return cli_bad_input("check: '--%s' needs '--gradient'", names[i]);
    }
  }
  return CLI_DONE;
}

static int check_command(const cli_args *args) {
  cli_session session = {0};
  cli_proof *proof = NULL;
  int status = cli_flag(args, "gradient") ? cli_proof_make(args, &proof) : refuse_without_gradient(args);
  if (status == CLI_DONE) {
    status = cli_session_open(&session, args);
  }
  if (status == CLI_DONE) {
    status = check_model(&session, proof, args);
  }
  if (status == CLI_DONE && proof && cli_value(args, "plot", 0)) {
    status = cli_proof_plot(proof, cli_value(args, "plot", 0));
  }
  if (status == CLI_DONE && proof) {
    status = cli_proof_status(proof);
  }
  cli_session_close(&session);
  cli_proof_destroy(proof);
  return status;
}

static const cli_option options[] = {
    CLI_OPTION_JSON,
    CLI_OPTION_FULL,
    {"gradient", NULL, false, "prove the gradient: Taylor test, direct against adjoint, finite differences"},
    CLI_OPTION_PLOT,
    {"hessian", NULL, false, "with --gradient: prove second derivatives, too"},
    {"criteria", "A,B,...", false, "with --gradient: these criteria only"},
    CLI_OPTIONS_RUN,
    CLI_OPTION_NO_ERROR,
};

extern const cli_command cli_cmd_check;

const cli_command cli_cmd_check = {
    .name = "check",
    .arguments = "MODEL",
    .summary = "errors of a model, degrees of freedom, redundant constraints, start",
    .details = "Reads a model, reports its errors, assembles its start and lists its parts:\n"
               "degrees of freedom, redundant constraints by name, the mechanism as a tree, bodies, joints with their\n"
               "coordinates, forces, parameters, and all signals at the start. Numbers below 1e-12 are printed as 0.\n"
               "With --gradient it runs the model and proves its gradient instead; --json prints both.\n",
    .least = 1,
    .most = 1,
    .options = options,
    .noption = (int)(sizeof(options) / sizeof(options[0])),
    .run = check_command,
};
