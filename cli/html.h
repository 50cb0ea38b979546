/* html: the frame and the tables of a page. */
#ifndef CLI_HTML_H
#define CLI_HTML_H

#include "text.h"

#include <stdbool.h>
#include <stdio.h>

/* The head of a page, up to its first heading; the end. */
void cli_html_begin(FILE *file, const char *title, const char *note);
void cli_html_end(FILE *file);

/* A section with a heading; an entry of the list at the beginning is its id. */
void cli_html_section(FILE *file, const char *id, const char *title);
void cli_html_section_end(FILE *file);

/* Text as it is read; as the value of an attribute, line breaks included. */
void cli_html_text(FILE *file, const char *text);
void cli_html_attribute(FILE *file, const char *text);
void cli_html_paragraph(FILE *file, const char *kind, const char *format, ...) CLI_PRINTF(3, 4);

/* A table: the heads of its columns, ended by NULL; cells one by one, texts or numbers. */
void cli_html_table(FILE *file, const char *const *heads);
void cli_html_row(FILE *file);
void cli_html_cell(FILE *file, const char *text);
void cli_html_number(FILE *file, double value);
/* A bar: a part from 0 to 1 of the width of its cell. */
void cli_html_bar(FILE *file, double part);
void cli_html_table_end(FILE *file);

#endif
