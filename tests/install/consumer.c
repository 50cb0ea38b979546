/* A program outside the tree: creates a context and prints the version of the library that it runs with. */
#include <mbgrad/mbgrad.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  mbg_context *ctx = NULL;
  char number[32];
  snprintf(number, sizeof(number), "%d.%d.%d", MBG_VERSION_MAJOR, MBG_VERSION_MINOR, MBG_VERSION_PATCH);
  if (strcmp(number, MBG_VERSION) != 0 || mbg_version_number() != MBG_VERSION_NUMBER) {
    return 1;
  }
  if (mbg_context_create(NULL, &ctx) < 0) {
    return 1;
  }
  puts(mbg_version());
  mbg_context_destroy(ctx);
  return 0;
}
