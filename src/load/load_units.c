/* Numbers with units, "1 kg": the format has none, and the message says what to write. */
#include "io/number.h"
#include "load/load.h"

#include <string.h>

typedef struct {
  const char *word;
  double factor;
  const char *si; /* as the keys name it */
} unit_word;

/* units as they are written, compound ones in the forms of the keys */
static const unit_word units[] = {
    {"m", 1, "m"},
    {"mm", 1e-3, "m"},
    {"cm", 1e-2, "m"},
    {"km", 1e3, "m"},
    {"um", 1e-6, "m"},
    {"in", 0.0254, "m"},
    {"inch", 0.0254, "m"},
    {"ft", 0.3048, "m"},
    {"kg", 1, "kg"},
    {"g", 1e-3, "kg"},
    {"t", 1e3, "kg"},
    {"lb", 0.45359237, "kg"},
    {"s", 1, "s"},
    {"ms", 1e-3, "s"},
    {"min", 60, "s"},
    {"N", 1, "N"},
    {"kN", 1e3, "N"},
    {"MN", 1e6, "N"},
    {"Nm", 1, "N m"},
    {"kNm", 1e3, "N m"},
    {"N/mm", 1e3, "N/m"},
    {"kN/m", 1e3, "N/m"},
    {"Pa", 1, "Pa"},
    {"kPa", 1e3, "Pa"},
    {"MPa", 1e6, "Pa"},
    {"GPa", 1e9, "Pa"},
    {"bar", 1e5, "Pa"},
    {"g/cm^3", 1e3, "kg/m^3"},
    {"m/s", 1, "m/s"},
    {"mm/s", 1e-3, "m/s"},
    {"km/h", 1 / 3.6, "m/s"},
    {"rad", 1, "rad"},
    {"rpm", M_PI / 30, "rad/s"},
    {"J", 1, "J"},
    {"W", 1, "W"},
    {"Hz", 1, "1/s"},
};

static const char *const degrees[] = {"degree", "degrees", "°"};

static const unit_word *find_unit(const char *word) {
  for (int i = 0; i < MBG_COUNT(units); i++) {
    if (strcmp(units[i].word, word) == 0) {
      return &units[i];
    }
  }
  return NULL;
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/* "1.5 kg m^2": the number and its unit, copied and without the blanks around it */
static bool split_unit(const char *text, double *number, char *unit, size_t size) {
  const char *start = text + strspn(text, " ");
  size_t n = strspn(start, "+-0123456789.");
  /* an exponent */
  if (n > 0 && (start[n] == 'e' || start[n] == 'E')) {
    const size_t sign = start[n + 1] == '-' || start[n + 1] == '+', digits = strspn(start + n + 1 + sign, "0123456789");
    n += digits > 0 ? 1 + sign + digits : 0;
  }
  const char *word = start + n + strspn(start + n, " ");
  size_t length = strlen(word);
  while (length > 0 && word[length - 1] == ' ') {
    length--;
  }
  if (!mbg__number_parse(start, n, number) || length == 0 || length >= size) {
    return false;
  }
  mbg__format(unit, size, "%.*s", (int)length, word);
  return true;
}

/* Is it a unit? Its first word is one, or the whole is the unit of the key; a name of the model is none. */
static bool is_unit(mbg__item *item, const char *text, const char *key_unit) {
  char word[16];
  size_t n = 0;
  while (is_letter(text[n])) {
    n++;
  }
  mbg__format(word, sizeof(word), "%.*s", (int)n, text);
  if (n == 0 || n >= sizeof(word) || mbg__name_find(item->L, item->source, MBG__NAME_PARAMETER, word)) {
    return false;
  }
  if (text[n + strcspn(text + n, "+-()[],<>=")] != 0) {
    return false;
  }
  return find_unit(word) || (key_unit && strcmp(text, key_unit) == 0);
}

static bool is_degrees(const char *text) {
  bool found = false;
  for (int i = 0; i < MBG_COUNT(degrees); i++) {
    found = found || strcmp(text, degrees[i]) == 0;
  }
  return found;
}

int mbg__item_unit(mbg__item *item, const mbg__json *json, const char *label, const char *key_unit, bool *found) {
  char text[32], shown[MBG__NUMBER_SIZE];
  double number;
  *found = json->kind == MBG__JSON_STRING && strlen(json->text) == json->length &&
           split_unit(json->text, &number, text, sizeof(text)) && (is_degrees(text) || is_unit(item, text, key_unit));
  if (!*found) {
    return MBG_OK;
  }
  const unit_word same = {text, 1, key_unit};
  const unit_word *u = key_unit && strcmp(text, key_unit) == 0 ? &same : find_unit(text);
  const char *colon = label[0] ? ": " : "";
  const bool given = key_unit && key_unit[0];
  if (is_degrees(text)) {
    mbg__number_format(shown, number);
    return mbg__item_bad(item, json, "%s%sangles are in radians or degrees; write \"%s deg\"", label, colon, shown);
  }
  if (u && (!given || strcmp(u->si, key_unit) == 0)) {
    mbg__format(shown, sizeof(shown), "%.15g", number * u->factor);
    return mbg__item_bad(item, json, "%s%snumbers are written without units; write %s instead of \"%s\" (in %s)", label,
                         colon, shown, json->text, u->si);
  }
  return mbg__item_bad(item, json,
                       "%s%snumbers are written without units; write a number alone instead of \"%s\", in %s", label,
                       colon, json->text, given ? key_unit : "SI units (m, kg, s, N, rad)");
}
