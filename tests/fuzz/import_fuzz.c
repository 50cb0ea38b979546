/* Robots in XML: attributes, texts and elements of good files of URDF, SDF and MJCF are changed, swapped, repeated and
   taken out (names that are swapped make cycles of parents), entities are declared, elements nested, files included
   that include themselves, each other or many; then the file is imported, and a model that comes out is loaded and
   asked.

   What it cannot produce: files of more than some hundred kilobytes, encodings other than UTF-8; bytes without any
   structure are one case in sixteen. */
#include "support/fuzz.h"

#include <string.h>

enum { PROBLEMS = 10, TREES = 12 };

static const char *const names[PROBLEMS] = {"arm.urdf",   "loop.urdf", "leg.sdf",  "walker.xml",  "crab.xml",
                                            "table.urdf", "key.xml",   "cart.sdf", "tendons.xml", "spring.sdf"};
static char *files[PROBLEMS];

static void put_file(const char *name, const char *text) { support_write_file(name, text, strlen(text)); }

/* files for <include>: a body, a whole robot, one that includes itself twice, two that include each other, and a tree
   of 10^11 leaves */
static void write_includes(void) {
  put_file("part.xml", "<mujoco><worldbody><body name='part'><joint/><geom size='0.1'/></body></worldbody></mujoco>");
  put_file("base.xml", files[3]);
  put_file("self.xml", "<mujoco><include file='self.xml'/><include file='self.xml'/></mujoco>");
  put_file("ping.xml", "<mujoco><include file='pong.xml'/></mujoco>");
  put_file("pong.xml", "<mujoco><include file='ping.xml'/></mujoco>");
  put_file("self.sdf", "<sdf><model name='s'><include><uri>self.sdf</uri></include></model></sdf>");
  put_file("rim.sdf", "<sdf><model name='rim'><link name='rim'/><frame name='hub'/></model></sdf>");
  for (int level = 0; level < TREES; level++) {
    fuzz_text text = {0};
    char name[32];
    snprintf(name, sizeof(name), "tree%d.xml", level);
    fuzz_puts(&text, "<mujoco>");
    for (int i = 0; i < 10 && level + 1 < TREES; i++) {
      fuzz_printf(&text, "<include file='tree%d.xml'/>", level + 1);
    }
    fuzz_puts(&text, "</mujoco>");
    put_file(name, text.at);
    fuzz_free(&text);
  }
}

static void open_corpus(void) {
  for (int i = 0; i < PROBLEMS; i++) {
    files[i] = fuzz_corpus(names[i]);
  }
  write_includes();
}

static void close_corpus(void) {
  for (int i = 0; i < PROBLEMS; i++) {
    free(files[i]);
  }
}

/* ---------------------------------------------------------------------- pieces of a file */

typedef struct {
  size_t at, length;
} piece;

/* the nth piece of a kind: a value of an attribute, a text, an element without children; counts them for n < 0 */
typedef int finder(const fuzz_text *text, int n, piece *out);

static int find_value(const fuzz_text *text, int n, piece *out) {
  int count = 0;
  for (const char *p = text->at; (p = strstr(p, "=\"")); count++) {
    const char *end = strchr(p + 2, '"');
    if (!end) {
      break;
    }
    if (count == n) {
      *out = (piece){(size_t)(p + 2 - text->at), (size_t)(end - p - 2)};
    }
    p = end + 1;
  }
  return count;
}

static int find_between(const fuzz_text *text, int n, piece *out) {
  int count = 0;
  for (const char *p = text->at; (p = strchr(p, '>')); p++) {
    const char *end = strchr(p, '<');
    if (!end) {
      break;
    }
    if (p[1] != '\n' && end > p + 1) {
      if (count++ == n) {
        *out = (piece){(size_t)(p + 1 - text->at), (size_t)(end - p - 1)};
      }
    }
  }
  return count;
}

static int find_element(const fuzz_text *text, int n, piece *out) {
  int count = 0;
  for (const char *p = text->at; (p = strchr(p, '<')); p++) {
    const char *end = strchr(p, '>');
    if (!end) {
      break;
    }
    if (end[-1] == '/' && count++ == n) {
      *out = (piece){(size_t)(p - text->at), (size_t)(end + 1 - p)};
    }
  }
  return count;
}

/* lines of the file as pieces: whole links and joints where they stand on one line */
static int find_line(const fuzz_text *text, int n, piece *out) {
  int count = 0;
  for (const char *p = text->at; *p; count++) {
    const size_t length = strcspn(p, "\n");
    if (count == n) {
      *out = (piece){(size_t)(p - text->at), length};
    }
    p += length + (p[length] == '\n');
  }
  return count;
}

static bool choose(support_rng *rng, finder *find, const fuzz_text *text, piece *out) {
  const int count = find(text, -1, out);
  if (count > 0) {
    (void)find(text, support_index(rng, count), out);
  }
  return count > 0;
}

static void replace(fuzz_text *text, piece at, const char *by, size_t length) {
  fuzz_erase(text, at.at, at.length);
  fuzz_insert(text, at.at, by, length);
}

/* ---------------------------------------------------------------------- changes */

static const char *word(support_rng *rng) {
  static const char *const words[] = {
      "",      "0 0",       "0 0 0 0",     "base",     "hand",   "pelvis", "crank",          "world",     "ground",
      "fixed", "floating",  "ball",        "revolute", "planar", "screw",  "${x}",           "__model__", "a b c",
      "1e400", "-1",        "nan nan nan", "&lt;",     "0 0 0",  "1 1 1",  "1e-300 0 0",     "prismatic", "universal",
      "tip",   "sum",       "integrator",  "affine",   "up",     "xbody",  "1e308",          "1 2 3 4",   "base.xml",
      "axle",  "left::hub", "self.sdf",    "rim.sdf",  "true",   "home",   "wheel/model.sdf"};
  return fuzz_one_of(rng, 3) ? fuzz_number(rng) : fuzz_one_of(rng, 4) ? fuzz_no_number(rng) : FUZZ_PICK(rng, words);
}

/* the piece of one place at another */
static void exchange(support_rng *rng, finder *find, fuzz_text *text) {
  piece a = {0, 0}, b = {0, 0};
  if (!choose(rng, find, text, &a) || !choose(rng, find, text, &b)) {
    return;
  }
  char *copy = malloc(a.length + 1);
  CHECK(copy);
  memcpy(copy, text->at + a.at, a.length);
  if (fuzz_one_of(rng, 2)) {
    replace(text, b, copy, a.length);
  } else {
    fuzz_insert(text, b.at, copy, a.length);
  }
  free(copy);
}

static void change(support_rng *rng, fuzz_text *text) {
  finder *const finders[] = {find_value, find_between, find_element, find_line};
  piece at = {0, 0};
  const int kind = support_index(rng, 10);
  if (kind < 4) {
    if (choose(rng, kind < 3 ? find_value : find_between, text, &at)) {
      const char *by = word(rng);
      replace(text, at, by, strlen(by));
    }
  } else if (kind < 7) {
    exchange(rng, FUZZ_PICK(rng, finders), text);
  } else if (choose(rng, finders[2 + support_index(rng, 2)], text, &at)) {
    fuzz_erase(text, at.at, at.length);
  }
}

/* entities that name each other, a long one, one outside; a file that includes others */
static const char *head_of(support_rng *rng) {
  static const char *const heads[] = {
      ("<!DOCTYPE r [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;\">"
       "<!ENTITY c \"&b;&b;&b;&b;&b;&b;&b;&b;\"><!ENTITY d \"&c;&c;&c;&c;&c;&c;&c;&c;\">]>"),
      "<!DOCTYPE r [<!ENTITY x SYSTEM \"/etc/hostname\">]>",
      "<!DOCTYPE r SYSTEM \"/etc/hostname\" [<!ENTITY % p SYSTEM \"/etc/hostname\"> %p;]>",
      "<!DOCTYPE r [<!ATTLIST joint type CDATA \"revolute\">]>",
      "<include file=\"part.xml\"/>",
      "<include file=\"self.xml\"/>",
      "<include file=\"ping.xml\"/>",
      "<include file=\"tree0.xml\"/>",
      "<include file=\"base.xml\"/>",
      "<include file=\"/dev/null\"/>",
      "<include file=\"/\"/>",
      "<include/>"};
  return FUZZ_PICK(rng, heads);
}

/* elements in elements, opened and mostly not closed; a value of many numbers */
static void blow_up(support_rng *rng, fuzz_text *text) {
  static const char *const open[] = {"<g>",     "<body>",          "<link name='a'>", "<default class='a'>",
                                     "<frame>", "<model name='a'>"},
                           *const close[] = {"</g>", "</body>", "</link>", "</default>", "</frame>", "</model>"};
  const int kind = support_index(rng, 6), count = support_index(rng, 300);
  const bool closed = fuzz_one_of(rng, 2);
  piece at = {0, 0};
  if (fuzz_one_of(rng, 3)) {
    if (choose(rng, find_value, text, &at)) {
      for (int n = support_index(rng, 20000); n > 0; n--) {
        fuzz_insert(text, at.at, "1e99 ", 5);
      }
    }
  } else if (choose(rng, find_element, text, &at)) {
    for (int n = count; n > 0 && closed; n--) {
      fuzz_insert(text, at.at + at.length, close[kind], strlen(close[kind]));
    }
    for (int n = count; n > 0; n--) {
      fuzz_insert(text, at.at, open[kind], strlen(open[kind]));
    }
  }
}

static void wrap(support_rng *rng, fuzz_text *text) {
  const char *head = strchr(text->at, '>');
  if (fuzz_one_of(rng, 2) && head) {
    const char *by = head_of(rng);
    const size_t at = by[1] == '!' ? 0 : (size_t)(head + 1 - text->at);
    fuzz_insert(text, at, by, strlen(by));
    return;
  }
  blow_up(rng, text);
}

static void make(support_rng *rng, int problem, fuzz_text *out) {
  static const char *const pieces[] = {"<", ">", "/>", "\"", "&", "</robot>", "<!--", "]]>", "<?", "\xff", "="};
  fuzz_puts(out, files[problem]);
  for (int n = support_index(rng, 5); n >= 0; n--) {
    change(rng, out);
  }
  if (fuzz_one_of(rng, 12)) {
    wrap(rng, out);
  }
  if (fuzz_one_of(rng, 16)) {
    fuzz_damage(rng, out, pieces, (int)(sizeof(pieces) / sizeof(pieces[0])));
  }
}

/* ---------------------------------------------------------------------- import */

static void choose_options(support_rng *rng, mbg_import_options *o) {
  static const char *const lists[] = {NULL, "mass", "mass,com,inertia", "damping friction stiffness"};
  static const char *const without[] = {NULL, NULL, "limits", "limits,damping,friction"};
  mbg_import_options_default(o, sizeof(*o));
  o->parameters = FUZZ_PICK(rng, lists);
  o->without = FUZZ_PICK(rng, without);
  o->free_base = fuzz_one_of(rng, 2);
  o->keep_fixed = fuzz_one_of(rng, 4);
  o->contacts = fuzz_one_of(rng, 4);
}

static fuzz_outcome take(support_rng *rng, int problem, const char *text, size_t length) {
  mbg_context *ctx = fuzz_context();
  mbg_import_options options;
  mbg_model *model = NULL;
  char *json = NULL, *report = NULL;
  fuzz_outcome outcome = FUZZ_REFUSED;
  choose_options(rng, &options);
  support_write_file(names[problem], text, length);
  int err = mbg_import_file(ctx, names[problem], &options, &json, &report);
  if (err < 0) {
    CHECK(!json && !report);
    fuzz_check_error(ctx, err);
  } else {
    outcome = FUZZ_ACCEPTED;
    err = mbg_model_parse(ctx, "model.json", json, strlen(json), NULL, &model);
    if (err < 0) {
      fuzz_check_error(ctx, err);
    } else if (fuzz_one_of(rng, 8)) {
      const fuzz_outcome asked = fuzz_ask(rng, ctx, model);
      outcome = asked == FUZZ_REFUSED ? outcome : asked;
    }
  }
  mbg_model_destroy(model);
  mbg_text_destroy(ctx, json);
  mbg_text_destroy(ctx, report);
  fuzz_context_close(ctx);
  return outcome;
}

static const fuzz_program program = {.name = "import_fuzz",
                                     .inputs = 2000,
                                     .inputs_long = 100000,
                                     .problems = PROBLEMS,
                                     .open = open_corpus,
                                     .close = close_corpus,
                                     .make = make,
                                     .take = take};
FUZZ_PROGRAM(program)
