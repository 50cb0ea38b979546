/* A program outside the tree: creates a context and says which library it runs with. */
#include <mbgrad/context.h>
#include <mbgrad/version.h>
#include <stdio.h>

int main(void) {
  mbg_context *ctx = NULL;
  if (mbg_context_create(&ctx, NULL) < 0) {
    return 1;
  }
  puts(mbg_version());
  mbg_context_destroy(ctx);
  return 0;
}
