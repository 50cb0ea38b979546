#include "import/report.h"

#include "io/json_write.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void mbg__report_init(mbg__report *report, mbg_context *ctx, mbg__arena *arena, const char *file) {
  *report = (mbg__report){.ctx = ctx, .arena = arena, .file = file};
}

void mbg__report_destroy(mbg__report *report) {
  mbg__free(report->ctx, report->lines);
  report->lines = NULL;
}

static mbg__report_line *line_of(mbg__report *report, const char *fate, const char *what) {
  for (int i = 0; i < report->count; i++) {
    if (!strcmp(report->lines[i].fate, fate) && !strcmp(report->lines[i].what, what)) {
      return &report->lines[i];
    }
  }
  if (report->count == report->most) {
    const int most = 2 * report->most + 16;
    mbg__report_line *lines = mbg__resize(report->ctx, report->lines, (size_t)most, sizeof(*lines));
    if (!lines) {
      return NULL;
    }
    report->lines = lines;
    report->most = most;
  }
  const char *kept = mbg__arena_text(report->arena, what, strlen(what));
  if (!kept) {
    return NULL;
  }
  report->lines[report->count] = (mbg__report_line){.fate = fate, .what = kept};
  return &report->lines[report->count++];
}

void mbg__report_add(mbg__report *report, const mbg__xml *at, const char *fate, const char *format, ...) {
  char what[512];
  va_list args;
  va_start(args, format);
  (void)vsnprintf(what, sizeof(what), format, args);
  va_end(args);
  mbg__report_line *line = line_of(report, fate, what);
  if (!line) {
    report->failed = true;
    return;
  }
  line->first = line->first ? line->first : at;
  line->count++;
}

int mbg__report_text(const mbg__report *report, char **text) {
  mbg__buffer out;
  bool placed = false;
  *text = NULL;
  if (report->failed) {
    return mbg__fail_memory(report->ctx);
  }
  mbg__buffer_init(&out, report->ctx);
  for (int i = 0; i < report->count; i++) {
    placed = placed || report->lines[i].first;
  }
  if (placed) {
    mbg__buffer_format(&out, "%s:\n", report->file);
  }
  for (int i = 0; i < report->count; i++) {
    const mbg__report_line *l = &report->lines[i];
    mbg__buffer_format(&out, "%s: %s", l->fate, l->what);
    if (l->count > 1) {
      mbg__buffer_format(&out, " (%d times)", l->count);
    }
    if (l->first) {
      const bool other = strcmp(l->first->file, report->file) != 0;
      mbg__buffer_format(&out, "%s at %s%s%d:%d", l->count > 1 ? ", first" : "", other ? l->first->file : "",
                         other ? ":" : "", l->first->line, l->first->column);
    }
    mbg__buffer_text(&out, "\n");
  }
  if (report->count == 0) {
    mbg__buffer_text(&out, "complete: nothing was left out, approximated or renamed\n");
  }
  return mbg__buffer_hand_over(&out, text);
}
