/* text: messages, headings and numbers for readers. */
#ifndef CLI_TEXT_H
#define CLI_TEXT_H

#include <stdbool.h>
#include <stddef.h>

enum { CLI_WIDTH = 100 }; /* columns that output may fill */

#if defined(__GNUC__)
#define CLI_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define CLI_PRINTF(fmt, args)
#endif

/* "mbgrad: error: ..." to standard error; returns CLI_BAD_INPUT, so that `return cli_bad_input("...")` reads well. */
int cli_bad_input(const char *format, ...) CLI_PRINTF(1, 2);
/* The same, returning CLI_FAILED. */
int cli_failed(const char *format, ...) CLI_PRINTF(1, 2);

/* "mbgrad: warning: ..." in the same way. */
void cli_warning(const char *format, ...) CLI_PRINTF(1, 2);

/* A line to standard error, its label in colour where cli_colours says so. */
typedef enum { CLI_NOTE, CLI_WARNING, CLI_ERROR } cli_severity;
void cli_message(cli_severity severity, const char *text);
/* From now on this process prints messages, or does not: another rank prints the same ones. */
void cli_messages_off(bool off);
/* Is the file (STDERR_FILENO) a terminal that shows colours, and NO_COLOR not set? */
bool cli_colours(int file);

/* A heading: bold when standard output is a terminal that shows colours. */
void cli_heading(const char *text);
/* Text with line breaks between words, so that lines have at most CLI_WIDTH columns; `first` precedes the first
   line, later lines are indented by its width. */
void cli_paragraph(const char *first, const char *text);

/* %.6g; magnitudes below 1e-12 read 0, infinite numbers read "-". The buffer has CLI_NUMBER_SIZE bytes; returns it. */
enum { CLI_NUMBER_SIZE = 32 };
const char *cli_number(char *buffer, double value);

bool cli_ends_with(const char *text, const char *end);

/* Columns of a text on a terminal (characters, not bytes). */
int cli_columns(const char *text);

/* Text as a JSON string to standard output. */
void cli_json_string(const char *text);

/* The candidate nearest to word by edit distance, or NULL when none is near. */
const char *cli_nearest(const char *word, const char *const *candidates, int count);

/* Memory or the end of the program. */
void *cli_resize(void *block, size_t count, size_t size);
char *cli_copy(const char *text);
/* A copy in which control characters read \\x1b, line breaks as well unless they are kept: names and notes come from
   files, and go to terminals. */
char *cli_visible(const char *text, bool keep_breaks);
/* Formatted text, to be freed. */
char *cli_format(const char *format, ...) CLI_PRINTF(1, 2);

#endif
