/* record_line: lines "KIND STATUS numbers.. SUM" of files to which results are appended: numbers as their bits in
   hexadecimal, so that what is read is what was computed, and a sum over the line, so that one that was cut off or
   changed is recognised. */
#ifndef MBG_IO_RECORD_LINE_H
#define MBG_IO_RECORD_LINE_H

#include "io/json_write.h"

/* Bytes of the sum and the blank before it. */
enum { MBG__RECORD_SUM = 17 };

/* Does the line (without its line break) end with " " and the sum of the bytes before it? */
bool mbg__record_line_whole(const char *line, size_t length);
/* n numbers at *p, which moves behind them; false when there are fewer. */
bool mbg__record_line_numbers(char **p, int n, double *out);
void mbg__record_line_add(mbg__buffer *b, int n, const double *x);
/* Adds the sum of everything in the buffer, which is one line, and the line break. */
int mbg__record_line_finish(mbg__buffer *b, const char **text, size_t *length);

#endif
