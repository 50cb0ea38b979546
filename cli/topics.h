/* topics: what `mbgrad help TOPIC` says about formulations, units, files and every section of model files. */
#ifndef CLI_TOPICS_H
#define CLI_TOPICS_H

#include <stdbool.h>

bool cli_topic_known(const char *topic);
/* Explains a topic that is known; detail: of a section of model files, one type of its entries, or NULL. Returns the
   exit status. */
int cli_topic_print(const char *topic, const char *detail);

/* Names of all topics, sections of model files among them; ended by NULL, to be freed with its texts. */
char **cli_topic_names(void);
void cli_topic_names_destroy(char **names);

#endif
