#include "text.h"

#include "cli.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---------------------------------------------------------------------- messages */

bool cli_colours(int file) {
  const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");
  return isatty(file) && !(no_color && no_color[0]) && !(terminal && !strcmp(terminal, "dumb"));
}

static bool silent;

void cli_messages_off(bool off) { silent = off; }

void cli_message(cli_severity severity, const char *text) {
  static const char *const label[] = {"note:", "warning:", "error:"};
  static const char *const colour[] = {"36", "1;33", "1;31"}; /* cyan, yellow, red */
  const char *program = severity == CLI_NOTE ? "" : "mbgrad: ";
  if (silent) {
    return;
  }
  fflush(stdout);
  if (cli_colours(STDERR_FILENO)) {
    fprintf(stderr, "%s\033[%sm%s\033[0m %s\n", program, colour[severity], label[severity], text);
  } else {
    fprintf(stderr, "%s%s %s\n", program, label[severity], text);
  }
}

static void message(cli_severity severity, const char *format, va_list args) {
  char text[4096];
  vsnprintf(text, sizeof(text), format, args);
  char *visible = cli_visible(text, false);
  cli_message(severity, visible);
  free(visible);
}

void cli_warning(const char *format, ...) {
  va_list args;
  va_start(args, format);
  message(CLI_WARNING, format, args);
  va_end(args);
}

int cli_bad_input(const char *format, ...) {
  va_list args;
  va_start(args, format);
  message(CLI_ERROR, format, args);
  va_end(args);
  return CLI_BAD_INPUT;
}

int cli_failed(const char *format, ...) {
  va_list args;
  va_start(args, format);
  message(CLI_ERROR, format, args);
  va_end(args);
  return CLI_FAILED;
}

/* ---------------------------------------------------------------------- memory */

void *cli_resize(void *block, size_t count, size_t size) {
  void *more = size > 0 && count > SIZE_MAX / size ? NULL : realloc(block, count * size > 0 ? count * size : 1);
  if (!more) {
    exit(cli_failed("out of memory"));
  }
  return more;
}

char *cli_copy(const char *text) {
  const size_t size = strlen(text) + 1;
  return memcpy(cli_resize(NULL, size, 1), text, size);
}

/* 1 or 2 bytes of a control character, U+0080 to U+009F included; 0: none */
static size_t control_bytes(const char *text) {
  const unsigned char c = (unsigned char)text[0], next = c ? (unsigned char)text[1] : 0;
  return c < 0x20 || c == 0x7f ? 1 : c == 0xc2 && next >= 0x80 && next < 0xa0 ? 2 : 0;
}

char *cli_visible(const char *text, bool keep_breaks) {
  char *out = cli_resize(NULL, 4 * strlen(text) + 1, 1), *p = out;
  while (*text) {
    const size_t n = control_bytes(text);
    if (n == 0 || (*text == '\n' && keep_breaks)) {
      *p++ = *text++;
    } else {
      p += sprintf(p, "\\x%02x", (unsigned char)text[n - 1]);
      text += n;
    }
  }
  *p = 0;
  return out;
}

char *cli_format(const char *format, ...) {
  va_list args;
  va_start(args, format);
  const int length = vsnprintf(NULL, 0, format, args);
  va_end(args);
  char *text = cli_resize(NULL, (size_t)(length < 0 ? 0 : length) + 1, 1);
  va_start(args, format);
  vsnprintf(text, (size_t)(length < 0 ? 0 : length) + 1, format, args);
  va_end(args);
  return text;
}

/* ---------------------------------------------------------------------- for readers */

void cli_heading(const char *text) {
  const bool bold = cli_colours(STDOUT_FILENO);
  char *visible = cli_visible(text, true);
  printf(bold ? "\033[1m%s\033[0m\n" : "%s\n", visible);
  free(visible);
}

bool cli_ends_with(const char *text, const char *end) {
  const size_t n = strlen(text), m = strlen(end);
  return n >= m && !strcmp(text + n - m, end);
}

int cli_columns(const char *text) {
  int count = 0;
  for (; *text; text++) {
    count += ((unsigned char)*text & 0xC0) != 0x80; /* first bytes of UTF-8 characters */
  }
  return count;
}

void cli_paragraph(const char *first, const char *text) {
  const int indent = cli_columns(first);
  int column = indent;
  bool begun = false;
  fputs(first, stdout);
  while (*text) {
    const size_t blank = strspn(text, " \t\r\n"), length = strcspn(text + blank, " \t\r\n");
    char *raw = cli_format("%.*s", (int)length, text + blank), *word = cli_visible(raw, false);
    free(raw);
    const int width = cli_columns(word);
    if (begun && column + 1 + width > CLI_WIDTH) {
      printf("\n%*s%s", indent, "", word);
      column = indent + width;
    } else if (length > 0) {
      printf("%s%s", begun ? " " : "", word);
      column += width + begun;
    }
    begun = begun || length > 0;
    free(word);
    text += blank + length;
  }
  putchar('\n');
}

const char *cli_number(char *buffer, double value) {
  if (isinf(value)) {
    strcpy(buffer, "-");
  } else {
    snprintf(buffer, CLI_NUMBER_SIZE, "%.6g", fabs(value) < 1e-12 ? 0 : value);
  }
  return buffer;
}

void cli_json_string(const char *text) {
  putchar('"');
  for (; *text; text++) {
    const unsigned char c = (unsigned char)*text;
    if (c == '"' || c == '\\') {
      printf("\\%c", c);
    } else if (control_bytes(text) > 0) {
      text += control_bytes(text) - 1;
      printf("\\u%04x", (unsigned char)*text);
    } else {
      putchar(c);
    }
  }
  putchar('"');
}

/* ---------------------------------------------------------------------- suggestions */

/* edit distance with transpositions of neighbours; a is the shorter side of a table with three rows */
static int distance(const char *a, const char *b) {
  enum { MOST = 63 };
  const int na = (int)strlen(a), nb = (int)strlen(b);
  int d[3][MOST + 1];
  if (na > MOST || nb > MOST) {
    return MOST + 1;
  }
  for (int j = 0; j <= nb; j++) {
    d[0][j] = j;
  }
  for (int i = 1; i <= na; i++) {
    int *row = d[i % 3], *up = d[(i + 2) % 3], *up2 = d[(i + 1) % 3];
    row[0] = i;
    for (int j = 1; j <= nb; j++) {
      int best = up[j - 1] + (a[i - 1] != b[j - 1]);
      best = up[j] + 1 < best ? up[j] + 1 : best;
      best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && up2[j - 2] + 1 < best) {
        best = up2[j - 2] + 1;
      }
      row[j] = best;
    }
  }
  return d[na % 3][nb];
}

const char *cli_nearest(const char *word, const char *const *candidates, int count) {
  const char *best = NULL;
  int least = ((int)strlen(word) + 2) / 3 + 1;
  for (int i = 0; i < count; i++) {
    const int d = distance(word, candidates[i]);
    if (d < least) {
      least = d;
      best = candidates[i];
    }
  }
  return best;
}
