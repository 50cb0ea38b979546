#include "import/robot.h"

#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------------------- names */

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

/* The name with letters of mbgrad alone; a number is added where the word is there already. The report names those that
   are seen in the model. */
static const char *make_word(const mbg__robot *robot, mbg__names *used, const char *name, const mbg__xml *at,
                             bool seen) {
  char word[256];
  size_t n = 0;
  for (const char *c = name; *c && n < 240; c++) {
    word[n++] = is_letter(*c) ? *c : '_';
  }
  word[n] = 0;
  if (n == 0 || !strcmp(word, "ground")) {
    n = (size_t)snprintf(word, sizeof(word), "%s_link", n == 0 ? "unnamed" : word);
  }
  for (int k = 2; mbg__names_find(used, word) >= 0; k++) {
    (void)snprintf(word + n, sizeof(word) - n, "_%d", k);
  }
  const char *kept = mbg__arena_text(robot->arena, word, strlen(word));
  if (!kept || !mbg__names_add(used, kept, 0)) {
    return NULL;
  }
  if (seen && strcmp(kept, name) != 0) {
    mbg__report_add(robot->report, at, "renamed", "'%s' is called '%s'", name, kept);
  }
  return kept;
}

int mbg__robot_make_words(const mbg__robot *robot) {
  mbg__names links, joints;
  bool good = true;
  mbg__names_init(&links, robot->ctx);
  mbg__names_init(&joints, robot->ctx);
  for (int l = 0; l < robot->nlink && good; l++) {
    good = (robot->links[l].word = make_word(robot, &links, robot->links[l].name, robot->links[l].at, true)) != NULL;
  }
  for (int j = 0; j < robot->njoint && good; j++) {
    mbg__robot_joint *joint = &robot->joints[j];
    const bool seen = joint->kind != MBG__ROBOT_FIXED || joint->loop; /* the others are gone */
    good = (joint->word = make_word(robot, &joints, joint->name, joint->at, seen)) != NULL;
  }
  mbg__names_destroy(&links);
  mbg__names_destroy(&joints);
  return good ? MBG_OK : mbg__fail_memory(robot->ctx);
}

void mbg__robot_signal_name(char out[300], const char *prefix, const char *word) {
  (void)snprintf(out, 300, "%s_%s", prefix, word);
  for (char *c = out; *c; c++) {
    *c = *c == '-' ? '_' : *c;
  }
}

const char *mbg__robot_expression_word(const mbg__robot *robot, const char *prefix, const char *name,
                                       bool (*taken)(const mbg__robot *robot, const char *word)) {
  char out[300];
  (void)snprintf(out, 260, "%s_%.230s", prefix, name);
  for (char *c = out; *c; c++) {
    *c = is_letter(*c) && *c != '-' ? *c : '_';
  }
  const size_t n = strlen(out);
  for (int k = 2; taken(robot, out); k++) {
    (void)snprintf(out + n, 20, "_%d", k);
  }
  return mbg__arena_text(robot->arena, out, strlen(out));
}

/* ---------------------------------------------------------------------- lists of words */

int mbg__robot_take_words(mbg_context *ctx, const char *option, const char *list, const char *const *known, int n,
                          bool *out) {
  for (const char *p = list ? list : ""; *p;) {
    const size_t length = strcspn(p, ", ");
    int found = -1;
    for (int i = 0; i < n; i++) {
      found = strlen(known[i]) == length && !strncmp(known[i], p, length) ? i : found;
    }
    if (length > 0 && found < 0) {
      char word[64], hint[256];
      mbg__format(word, sizeof(word), "%.*s", (int)(length < 60 ? length : 60), p);
      mbg__known(hint, sizeof(hint), word, known, n);
      return mbg__fail(ctx, MBG_ERROR_INPUT, "%s: unknown word '%s'%s", option, word, hint);
    }
    if (length > 0) {
      out[found] = true;
    }
    p += length + (p[length] != 0);
  }
  return MBG_OK;
}
