/* The loader and the check of a model never crash, hang or leak, whatever a file holds: every file of the gallery cut
   at every byte, and with every byte changed once. In the short run every 23rd place is tried, from a place that moves
   on from file to file; MBG_TEST_LONG=1 tries all. */
#include "support/fuzz.h"

#include <dirent.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* loads the text; a model that loads is checked too. Every failure has a message, everything is given back. */
static void try_text(const char *text, size_t size, const char *base) {
  support_memory memory = {0};
  const mbg_allocator allocator = support_allocator(&memory);
  mbg_context *ctx;
  mbg_model *model = NULL;
  CHECK(mbg_context_create(&allocator, &ctx) == MBG_OK);
  if (mbg_model_parse(ctx, "model.json", text, size, base, &model) == MBG_OK) {
    mbg_check *check = NULL;
    if (mbg_check_create(ctx, model, NULL, &check) < 0) {
      CHECK(mbg_context_error(ctx)[0] != 0);
    }
    mbg_check_destroy(check);
  } else {
    CHECK(model == NULL && mbg_context_error(ctx)[0] != 0);
  }
  mbg_model_destroy(model);
  mbg_context_destroy(ctx);
  CHECK(memory.live == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  try_text((const char *)data, size, ".");
  return 0;
}

#ifndef MBG_LIBFUZZER

static long damage(const char *folder, long first, long stride) {
  char path[1024];
  size_t size;
  long tries = 0;
  snprintf(path, sizeof(path), "%s/model.json", folder);
  char *text = support_read_file(path, &size);
  for (size_t i = (size_t)first; i < size; i += (size_t)stride, tries += 2) {
    try_text(text, i, folder);
    const char kept = text[i];
    /* another printable character, a bit flip, or a byte that is no text at all */
    text[i] = (char)(i % 3 == 0 ? "0\"-,{}[]e9.:"[i % 12] : i % 3 == 1 ? kept ^ (1 << i % 7) : 0x80 | (int)(i % 128));
    try_text(text, size, folder);
    text[i] = kept;
  }
  free(text);
  return tries;
}

int main(void) {
  const long stride = support_rounds(23, 1);
  long tries = 0, files = 0;
  DIR *gallery = opendir(MBG_GALLERY_DIR);
  CHECK(gallery != NULL);
  for (struct dirent *e = readdir(gallery); e; e = readdir(gallery)) {
    char folder[900], path[1024];
    snprintf(folder, sizeof(folder), "%s/%s", MBG_GALLERY_DIR, e->d_name);
    snprintf(path, sizeof(path), "%s/model.json", folder);
    FILE *file = e->d_name[0] == '.' ? NULL : fopen(path, "rb");
    if (!file) {
      continue;
    }
    fclose(file);
    tries += damage(folder, files % stride, stride);
    files++;
  }
  closedir(gallery);
  printf("%ld damaged files from %ld models: no crash, no leak\n", tries, files);
  CHECK(files > 10);
  return 0;
}

#endif
