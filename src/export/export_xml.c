#include "export/export.h"

#include <math.h>

void mbg__export_numbers(mbg__buffer *out, const char *key, const double *values, int n, double scale) {
  const double fine = scale > 0 ? pow(10, 14 - round(log10(scale))) : 0;
  mbg__buffer_format(out, " %s=\"", key);
  for (int i = 0; i < n; i++) {
    mbg__buffer_text(out, i > 0 ? " " : "");
    mbg__buffer_number(out, scale > 0 ? round(values[i] * fine) / fine + 0.0 : values[i]);
  }
  mbg__buffer_text(out, "\"");
}

void mbg__export_number(mbg__buffer *out, const char *key, double value) {
  mbg__export_numbers(out, key, &value, 1, 0);
}

void mbg__export_text(mbg__buffer *out, const char *key, const char *text) {
  mbg__buffer_format(out, " %s=\"", key);
  for (; *text; text++) {
    const char *as = *text == '<' ? "&lt;" : *text == '"' ? "&quot;" : *text == '&' ? "&amp;" : NULL;
    if (as) {
      mbg__buffer_text(out, as);
    } else {
      mbg__buffer_add(out, (unsigned char)*text < 32 ? " " : text, 1);
    }
  }
  mbg__buffer_text(out, "\"");
}

void mbg__export_line(mbg__buffer *out, int level) {
  mbg__buffer_text(out, "\n");
  for (int i = 0; i < level; i++) {
    mbg__buffer_text(out, "  ");
  }
}

/* Roll follows from the yaw that was found, so that both fit together where the pitch is a right angle and only their
   sum counts. */
void mbg__export_rpy(const double R[9], double rpy[3]) {
  rpy[2] = atan2(R[3], R[0]);
  const double c = cos(rpy[2]), s = sin(rpy[2]);
  rpy[1] = atan2(-R[6], c * R[0] + s * R[3]);
  rpy[0] = atan2(s * R[2] - c * R[5], c * R[4] - s * R[1]);
}

/* from the largest of the four squares */
void mbg__export_quaternion(const double R[9], double q[4]) {
  const double square[4] = {1 + R[0] + R[4] + R[8], 1 + R[0] - R[4] - R[8], 1 - R[0] + R[4] - R[8],
                            1 - R[0] - R[4] + R[8]};
  int k = 0;
  for (int i = 1; i < 4; i++) {
    k = square[i] > square[k] ? i : k;
  }
  const double root = sqrt(square[k]), f = 1 / (2 * root);
  const double turn[3] = {R[7] - R[5], R[2] - R[6], R[3] - R[1]};
  const double sum[3] = {R[5] + R[7], R[2] + R[6], R[1] + R[3]}; /* yz, xz, xy */
  if (k == 0) {
    q[0] = root / 2;
    v3_scale(q + 1, f, turn);
    return;
  }
  for (int i = 1; i < 4; i++) {
    q[i] = i == k ? root / 2 : sum[6 - i - k - 1] * f; /* the third axis names the product of the other two */
  }
  q[0] = turn[k - 1] * f;
}
