/* number: decimal numbers to doubles and back, correct to the last bit and the same in every locale. */
#ifndef MBG_IO_NUMBER_H
#define MBG_IO_NUMBER_H

#include "base/base.h"

/* Reads [+-] digits [. digits] [e [+-] digits], at least one digit before or after the point, all of it and nothing
   else. *value is the nearest double: 0 when too small, infinite when too large. false when it is no such number. */
bool mbg__number_parse(const char *text, size_t length, double *value);

/* Writes the shortest of %.15g, %.16g, %.17g that reads back as the same double; "nan", "inf" or "-inf" when there is
   none. Returns the length. */
enum { MBG__NUMBER_SIZE = 40 };
int mbg__number_format(char buffer[MBG__NUMBER_SIZE], double value);

#endif
