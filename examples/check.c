/* Loads a model, checks it and prints its degrees of freedom and signals:  check MODEL */
#include <mbgrad/check.h>
#include <stdio.h>

int main(int argc, char **argv) {
  mbg_context *ctx = NULL;
  mbg_model *model = NULL;
  mbg_check *check = NULL;
  int status = mbg_context_create(NULL, &ctx);
  if (status == MBG_OK) {
    status = mbg_model_load(ctx, argc > 1 ? argv[1] : "gallery/five-bar", &model);
  }
  if (status == MBG_OK) {
    status = mbg_check_create(ctx, model, NULL, &check);
  }
  if (status == MBG_OK) {
    const mbg_check_summary *s = mbg_check_get_summary(check);
    printf("%s: %d degrees of freedom\n", s->model, s->degrees_of_freedom);
    for (int i = 0; i < s->signals; i++) {
      printf("%s = %.6g\n", mbg_check_get_signal(check, i)->name, mbg_check_get_signal(check, i)->value);
    }
  } else {
    fprintf(stderr, "%s\n", ctx ? mbg_context_error(ctx) : mbg_status_text(status));
  }
  mbg_check_destroy(check);
  mbg_model_destroy(model);
  mbg_context_destroy(ctx);
  return status == MBG_OK ? 0 : 1;
}
