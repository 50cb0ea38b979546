#include "io/record_line.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool mbg__record_line_whole(const char *line, size_t length) {
  char sum[MBG__RECORD_SUM + 1];
  if (length <= MBG__RECORD_SUM) {
    return false;
  }
  const size_t n = length - MBG__RECORD_SUM;
  mbg__format(sum, sizeof(sum), " %016" PRIx64, mbg__sum(MBG__SUM_START, line, n));
  return memcmp(line + n, sum, MBG__RECORD_SUM) == 0;
}

bool mbg__record_line_numbers(char **p, int n, double *out) {
  for (int i = 0; i < n; i++) {
    char *end;
    const uint64_t bits = strtoull(*p, &end, 16);
    if (end == *p) {
      return false;
    }
    memcpy(&out[i], &bits, sizeof(bits));
    *p = end;
  }
  return true;
}

void mbg__record_line_add(mbg__buffer *b, int n, const double *x) {
  for (int i = 0; i < n; i++) {
    uint64_t bits;
    memcpy(&bits, &x[i], sizeof(bits));
    mbg__buffer_format(b, " %016" PRIx64, bits);
  }
}

int mbg__record_line_finish(mbg__buffer *b, const char **text, size_t *length) {
  const int err = mbg__buffer_finish(b, text, length);
  if (err < 0) {
    return err;
  }
  mbg__buffer_format(b, " %016" PRIx64 "\n", mbg__sum(MBG__SUM_START, *text, *length));
  return mbg__buffer_finish(b, text, length);
}
