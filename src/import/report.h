/* report: what an import took, changed or left out, one line for each kind of thing with its count and first place. */
#ifndef MBG_IMPORT_REPORT_H
#define MBG_IMPORT_REPORT_H

#include "import/xml.h"

typedef struct {
  const char *fate; /* "left out", "approximated", "renamed", "merged" */
  const char *what;
  const mbg__xml *first;
  int count;
} mbg__report_line;

typedef struct {
  mbg_context *ctx;
  mbg__arena *arena;
  const char *file; /* that places without a name mean */
  mbg__report_line *lines;
  int count, most;
  bool failed;
} mbg__report;

void mbg__report_init(mbg__report *report, mbg_context *ctx, mbg__arena *arena, const char *file);
void mbg__report_destroy(mbg__report *report);
/* One more of a kind; running out of memory is remembered. at may be NULL. */
void mbg__report_add(mbg__report *report, const mbg__xml *at, const char *fate, const char *format, ...)
    MBG_PRINTF(4, 5);
/* The text: the file, then one line each with line and column, and the file only where it is another one (an included
   one). The caller's to free. */
int mbg__report_text(const mbg__report *report, char **text);

#endif
