#include "manual.h"

#include "cli.h"
#include "mbgrad/version.h"
#include "text.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------- roff */

/* text in which nothing is a request: - and \ are escaped, and so is a . or ' that begins a line */
static void put(FILE *f, const char *text) {
  bool first = true;
  for (; *text; text++) {
    if (first && (*text == '.' || *text == '\'')) {
      fputs("\\&", f);
    }
    if (*text == '\\') {
      fputs("\\e", f);
    } else if (*text == '-') {
      fputs("\\-", f);
    } else {
      fputc(*text, f);
    }
    first = *text == '\n';
  }
}

static void heading(FILE *f, const char *name, const char *summary) {
  char title[64];
  snprintf(title, sizeof title, "%s", name);
  for (char *p = title; *p; p++) {
    *p = (char)toupper((unsigned char)*p);
  }
  fputs(".TH ", f);
  put(f, title);
  fprintf(f, " 1 \"\" \"mbgrad %s\" \"Exact gradients of multibody simulations\"\n.SH NAME\n", mbg_version());
  put(f, name);
  fputs(" \\- ", f);
  put(f, summary);
  fputs("\n.SH SYNOPSIS\n", f);
}

static void option(FILE *f, const cli_option *o) {
  const char letter = cli_option_letter(o->name);
  char *help = cli_option_help(o);
  fputs(".TP\n", f);
  if (letter) {
    fprintf(f, "\\fB\\-%c\\fR, ", letter);
  }
  fputs("\\fB\\-\\-", f);
  put(f, o->name);
  fputs("\\fR", f);
  if (o->value) {
    fputs(" \\fI", f);
    put(f, o->value);
    fputs("\\fR", f);
  }
  fputc('\n', f);
  put(f, help);
  fputc('\n', f);
  free(help);
}

static void status_section(FILE *f) {
  fputs(".SH EXIT STATUS\n0 done, 1 the run failed, 2 bad input, 3 steps too long for the accuracy asked for.\n", f);
}

/* ---------------------------------------------------------------------- pages */

static void command_page(FILE *f, const cli_command *c) {
  char *name = cli_format("mbgrad-%s", c->name);
  heading(f, name, c->summary);
  free(name);
  fputs("\\fBmbgrad ", f);
  put(f, c->name);
  fputs("\\fR ", f);
  put(f, c->arguments);
  fputs(" [\\fIoptions\\fR]\n.SH DESCRIPTION\n.nf\n", f);
  put(f, c->details);
  fputs(".fi\n.SH OPTIONS\n", f);
  for (int i = 0; i < c->noption; i++) {
    option(f, &c->options[i]);
  }
  fputs(".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nprint this\n", f);
  status_section(f);
  fputs(".SH SEE ALSO\n.BR mbgrad (1)\n", f);
}

static void program_page(FILE *f) {
  heading(f, "mbgrad", "exact gradients of multibody simulations");
  fputs(
      "\\fBmbgrad\\fR \\fICOMMAND\\fR [\\fIarguments\\fR] [\\fIoptions\\fR]\n.SH DESCRIPTION\n"
      "Simulates mechanisms described in a JSON file and differentiates the results exactly: every criterion by every\n"
      "parameter. On those gradients it optimizes designs, identifies parameters and finds controls.\n.PP\n"
      "\\fIMODEL\\fR is a file, a folder that holds \\fImodel.json\\fR, or a name of the gallery (\\fBmbgrad "
      "list\\fR).\n"
      "\\fBmbgrad help\\fR \\fITOPIC\\fR explains formulations, units, files and every section of model files.\n"
      ".SH COMMANDS\n",
      f);
  for (int i = 0; cli_commands[i]; i++) {
    fputs(".TP\n.BR mbgrad\\-", f);
    put(f, cli_commands[i]->name);
    fputs(" (1)\n", f);
    put(f, cli_commands[i]->summary);
    fputc('\n', f);
  }
  fputs(".SH ENVIRONMENT\n.TP\n\\fBMBGRAD_GALLERY\\fR\nfolder of the gallery\n.TP\n\\fBNO_COLOR\\fR\n"
        "any value: no colours and no bold text\n",
        f);
  status_section(f);
}

static int write_page(const char *folder, const cli_command *c) {
  char *path = c ? cli_format("%s/mbgrad-%s.1", folder, c->name) : cli_format("%s/mbgrad.1", folder);
  FILE *f = fopen(path, "w");
  bool fine = f != NULL;
  if (f) {
    if (c) {
      command_page(f, c);
    } else {
      program_page(f);
    }
    fine = !ferror(f);
    fine = fclose(f) == 0 && fine;
  }
  const int status = fine ? CLI_DONE : cli_failed("'%s' could not be written: %s", path, strerror(errno));
  free(path);
  return status;
}

int cli_manual_write(const char *folder) {
  int status = write_page(folder, NULL);
  for (int i = 0; cli_commands[i] && status == CLI_DONE; i++) {
    status = write_page(folder, cli_commands[i]);
  }
  return status;
}
