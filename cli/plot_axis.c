#include "plot_axis.h"

#include "canvas.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* numbers beyond these cannot be told from none: sums and quotients of them would not be finite */
static const double largest = 1e300, least = 1e-300;

cli_axis cli_axis_make(bool logarithmic) { return (cli_axis){.log = logarithmic, .low = INFINITY, .high = -INFINITY}; }

bool cli_axis_fits(const cli_axis *a, double x) { return fabs(x) <= largest && (!a->log || x >= least); }

double cli_axis_place(const cli_axis *a, double x) {
  const double part = a->log ? log(x / a->low) / log(a->high / a->low) : (x - a->low) / (a->high - a->low);
  return a->begin + part * (a->end - a->begin);
}

void cli_axis_widen(cli_axis *a, double x) {
  x = fabs(x) < least ? 0 : x;
  a->low = fmin(a->low, x);
  a->high = fmax(a->high, x);
}

/* ---------------------------------------------------------------------- range */

/* a step of 1, 2 or 5 times a power of ten, about `count` of them in the range */
static double nice_step(double range, int count) {
  const double raw = range / count, power = pow(10, floor(log10(raw))), part = raw / power;
  return power * (part < 1.5 ? 1 : part < 3.5 ? 2 : part < 7.5 ? 5 : 10);
}

/* 1, 2 or 5 times a power of ten below (above) a positive number */
static double round_log(double x, bool up) {
  static const double parts[] = {1, 2, 5, 10};
  const double power = pow(10, floor(log10(x) + 1e-12)), part = x / power;
  double found = up ? 10 : 1;
  for (int i = 0; i < 4; i++) {
    if (up ? parts[3 - i] >= part * (1 - 1e-9) : parts[i] <= part * (1 + 1e-9)) {
      found = up ? parts[3 - i] : parts[i];
    }
  }
  return found * power;
}

static void finish_log(cli_axis *a) {
  if (a->high > 30 * a->low) {
    a->low = pow(10, floor(log10(a->low) + 1e-9));
    a->high = pow(10, ceil(log10(a->high) - 1e-9));
  } else {
    a->low = round_log(a->low, false);
    a->high = round_log(a->high, true);
  }
  if (!(a->high > 1.5 * a->low)) {
    a->low = round_log(a->low / 2, false);
    a->high = round_log(a->high * 2, true);
  }
}

void cli_axis_finish(cli_axis *a, bool rounded) {
  if (!(a->low <= a->high)) {
    a->low = a->log ? 0.1 : 0;
    a->high = 1;
  }
  if (a->log) {
    finish_log(a);
    return;
  }
  const double size = fmax(fabs(a->low), fabs(a->high));
  if (!(a->high - a->low > 2e-11 * size)) { /* rounding is drawn as a constant */
    const double half = size > 0 ? 0.1 * size : 1;
    a->low -= half;
    a->high += half;
  } else if (rounded) {
    const double step = nice_step(a->high - a->low, 5);
    a->low = step * floor(a->low / step + 1e-6);
    a->high = step * ceil(a->high / step - 1e-6);
  }
}

void cli_axis_stretch(cli_axis *a, double range) {
  const double more = (range - (a->high - a->low)) / 2;
  if (more > 0) {
    a->low -= more;
    a->high += more;
  }
}

/* ---------------------------------------------------------------------- labels */

/* the power of ten that labels leave out: a multiple of 3, 0 for handy numbers */
static int power_of(double size) {
  const int e = size > 0 ? (int)floor(log10(size) + 1e-9) : 0;
  return e >= 5 || e <= -4 ? 3 * (int)floor(e / 3.0) : 0;
}

/* many digits that all ticks share are left out, too */
static double offset_of(const cli_axis *a, double step) {
  const double size = fmax(fabs(a->low), fabs(a->high));
  if (step > 2e-5 * size) {
    return 0;
  }
  const double unit = pow(10, ceil(log10(a->high - a->low)));
  return unit * round((a->low + a->high) / 2 / unit);
}

static void label_linear(cli_axis *a, double step) {
  const double offset = offset_of(a, step);
  double size = 0;
  for (int i = 0; i < a->ntick; i++) {
    size = fmax(size, fabs(a->tick[i] - offset));
  }
  const int power = power_of(size), digits = power - (int)floor(log10(step) + 1e-9);
  for (int i = 0; i < a->ntick; i++) {
    const double value = (a->tick[i] - offset) / pow(10, power);
    if (fabs(a->tick[i] - offset) < 0.01 * step) {
      strcpy(a->label[i], "0");
    } else {
      snprintf(a->label[i], sizeof(a->label[i]), "%.*f", digits > 0 ? digits : 0, value);
    }
  }
  if (offset != 0 && power != 0) {
    snprintf(a->note, sizeof(a->note), "%.12g + \342\200\246 \303\22710" CLI_RAISED "%d", offset, power);
  } else if (offset != 0) {
    snprintf(a->note, sizeof(a->note), "%.12g + \342\200\246", offset);
  } else if (power != 0) {
    snprintf(a->note, sizeof(a->note), "\303\22710" CLI_RAISED "%d", power);
  }
}

static void linear_ticks(cli_axis *a, int count) {
  const double nice = nice_step(a->high - a->low, count), step = a->whole ? fmax(1, nice) : nice;
  const double first = ceil(a->low / step - 1e-6), last = floor(a->high / step + 1e-6);
  for (double i = first; i <= last && a->ntick < CLI_TICKS; i++) {
    a->tick[a->ntick++] = i * step;
  }
  label_linear(a, step);
}

/* a power of ten, or `part` times one */
static void add_log(cli_axis *a, int power, int part, bool label) {
  const double value = part * pow(10, power);
  if (value < a->low * (1 - 1e-9) || value > a->high * (1 + 1e-9)) {
    return;
  }
  if (!label) {
    a->minor[a->nminor] = value;
    a->nminor += a->nminor + 1 < CLI_MINOR;
    return;
  }
  if (a->ntick == CLI_TICKS) {
    return;
  }
  char *text = a->label[a->ntick];
  const size_t room = sizeof(a->label[0]);
  a->tick[a->ntick++] = value;
  if (power >= -2 && power <= 3) {
    snprintf(text, room, "%.4g", value);
  } else if (part == 1) {
    snprintf(text, room, "10" CLI_RAISED "%d", power);
  } else {
    snprintf(text, room, "%d\302\26710" CLI_RAISED "%d", part, power);
  }
}

static void log_ticks(cli_axis *a, int count) {
  const double decades = log10(a->high / a->low);
  const int first = (int)floor(log10(a->low) + 1e-9), last = (int)ceil(log10(a->high) - 1e-9);
  const int each = (int)decades / count + 1;
  for (int i = first; i <= last; i++) {
    const bool power = (i - first) % each == 0, few = decades <= 2.01 && count >= 5;
    for (int part = 1; part < 10; part++) {
      const bool label = (part == 1 && power) || (few && (part == 2 || part == 5)) || decades < 0.5;
      if (label || each == 1) {
        add_log(a, i, part, label);
      }
    }
  }
}

void cli_axis_ticks(cli_axis *a, int count) {
  a->ntick = a->nminor = 0;
  a->note[0] = 0;
  if (a->log) {
    log_ticks(a, count);
  } else {
    linear_ticks(a, count);
  }
}

double cli_axis_label_width(const cli_axis *a, double size) {
  double width = 0;
  for (int i = 0; i < a->ntick; i++) {
    width = fmax(width, cli_text_width(a->label[i], size));
  }
  return width;
}
