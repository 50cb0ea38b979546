#include "html.h"

#include "canvas.h"
#include "mbgrad/version.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

static const char style[] =
    ":root{color-scheme:light;--ink:#1d2430;--soft:#5b6675;--line:#dfe4ea;--blue:#0072b2}"
    "*{box-sizing:border-box}"
    "body{margin:0;background:#f4f6f8;color:var(--ink);font:16px/1.5 system-ui,sans-serif}"
    "main{max-width:1180px;margin:0 auto;padding:24px 20px 48px}"
    "h1{font-size:30px;line-height:1.2;margin:8px 0}h2{font-size:20px;margin:0 0 12px}h3{font-size:16px;margin:20px 0 "
    "6px}"
    "section{background:#fff;border:1px solid var(--line);border-radius:10px;padding:20px 22px;margin:18px 0}"
    ".note{color:var(--soft);margin:4px 0 0;max-width:80ch}"
    "nav{display:flex;flex-wrap:wrap;gap:6px 18px;margin:14px 0 0}nav a{color:var(--blue)}"
    ".scroll{overflow-x:auto}"
    "table{border-collapse:collapse;font-size:14px;font-variant-numeric:tabular-nums;min-width:min(100%,420px)}"
    "th,td{padding:5px 14px 5px 0;text-align:left;border-bottom:1px solid var(--line);white-space:nowrap}"
    "th{color:var(--soft);font-weight:600}td.n,th.n{text-align:right}"
    ".plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,390px),1fr));gap:10px 18px}"
    ".plots svg{width:100%;height:auto;max-width:640px}"
    "dl{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:12px;margin:0}"
    "dt{color:var(--soft);font-size:13px}dd{margin:0;font-size:18px;font-weight:600}"
    "iframe{width:100%;height:min(76vh,640px);border:1px solid var(--line);border-radius:8px;background:#fff}"
    ".bar{display:inline-block;height:11px;background:var(--blue);border-radius:2px;min-width:1px;vertical-align:"
    "middle}"
    "td.b{width:40%;min-width:120px}"
    ".good,.bad,.warn{border-left:4px solid #009e73;padding:2px 12px;margin:10px 0}"
    ".bad{border-color:#d55e00}.warn{border-color:#e69f00}"
    "footer{color:var(--soft);font-size:13px}code{font-size:14px}"
    "@media(max-width:560px){main{padding:14px 10px}section{padding:14px 12px}h1{font-size:24px}"
    "iframe{height:70vh}}"
    "@media print{body{background:#fff}section{break-inside:avoid;border:0;padding:0}nav,iframe{display:none}}";

void cli_html_text(FILE *f, const char *text) { cli_svg_text(f, text); }

void cli_html_attribute(FILE *f, const char *text) {
  for (; *text; text++) {
    if (*text == '&') {
      fputs("&amp;", f);
    } else if (*text == '"') {
      fputs("&quot;", f);
    } else {
      fputc(*text, f);
    }
  }
}

void cli_html_begin(FILE *f, const char *title, const char *note) {
  fputs("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
        "<meta name=\"generator\" content=\"mbgrad " MBG_VERSION "\">\n<title>",
        f);
  cli_html_text(f, title);
  fprintf(f, "</title>\n<style>%s</style>\n</head>\n<body>\n<main>\n<h1>", style);
  cli_html_text(f, title);
  fputs("</h1>\n", f);
  if (note && *note) {
    cli_html_paragraph(f, "note", "%s", note);
  }
}

void cli_html_end(FILE *f) { fputs("</main>\n</body>\n</html>\n", f); }

void cli_html_section(FILE *f, const char *id, const char *title) {
  fprintf(f, "<section id=\"%s\">\n<h2>", id);
  cli_html_text(f, title);
  fputs("</h2>\n", f);
}

void cli_html_section_end(FILE *f) { fputs("</section>\n", f); }

void cli_html_paragraph(FILE *f, const char *kind, const char *format, ...) {
  va_list list;
  va_start(list, format);
  const int n = vsnprintf(NULL, 0, format, list);
  va_end(list);
  char *text = cli_resize(NULL, (size_t)n + 1, 1);
  va_start(list, format);
  vsnprintf(text, (size_t)n + 1, format, list);
  va_end(list);
  fprintf(f, "<p class=\"%s\">", kind);
  for (char *at = text; *at; at++) { /* lines stay lines */
    const char one[2] = {*at, 0};
    if (*at == '\n') {
      fputs("<br>", f);
    } else {
      cli_html_text(f, one);
    }
  }
  fputs("</p>\n", f);
  free(text);
}

/* ---------------------------------------------------------------------- tables */

void cli_html_table(FILE *f, const char *const *heads) {
  fputs("<div class=\"scroll\"><table>\n<tr>", f);
  for (; *heads; heads++) { /* a head that begins with '>' stands over numbers */
    const bool number = **heads == '>';
    fputs(number ? "<th class=\"n\">" : "<th>", f);
    cli_html_text(f, *heads + number);
    fputs("</th>", f);
  }
}

void cli_html_row(FILE *f) { fputs("</tr>\n<tr>", f); }

void cli_html_cell(FILE *f, const char *text) {
  fputs("<td>", f);
  cli_html_text(f, text);
  fputs("</td>", f);
}

void cli_html_number(FILE *f, double value) {
  char text[CLI_NUMBER_SIZE];
  fprintf(f, "<td class=\"n\">%s</td>", cli_number(text, value));
}

void cli_html_bar(FILE *f, double part) {
  const double width = isfinite(part) ? 100 * fmin(1, fmax(0, part)) : 0;
  fprintf(f, "<td class=\"b\"><span class=\"bar\" style=\"width:%.1f%%\"></span></td>", width);
}

void cli_html_table_end(FILE *f) { fputs("</tr>\n</table></div>\n", f); }
