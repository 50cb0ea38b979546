/* mbgrad completion: scripts that complete command lines in bash, zsh and fish, made from the tables of options */
#include "cli.h"
#include "gallery.h"
#include "mbgrad/run.h"
#include "text.h"
#include "topics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------- values of options */

typedef enum { FLAG, WORDS, FILES, FREE } value_kind;

/* the library's list that an option's help begins with, separated by blanks; "": none */
static void value_words(const cli_option *o, char *list, size_t size) {
  list[0] = 0;
  size_t used = 0;
  for (int i = 0; i < mbg_formulation_count() && !strncmp(o->help, "{formulations}", 14); i++) {
    used += (size_t)snprintf(list + used, size - used, "%s%s", i > 0 ? " " : "", mbg_formulation_key(i));
  }
  for (int m = MBG_METHOD_DIRECT; m < MBG_METHOD_COUNT && !strncmp(o->help, "{methods}", 9); m++) {
    used += (size_t)snprintf(list + used, size - used, "%s ", mbg_method_name(m));
  }
  if (used > 0 && !strncmp(o->help, "{methods}", 9)) {
    snprintf(list + used, size - used, "auto");
  }
  for (int i = 0; i < mbg_formulation_count() && !strncmp(o->help, "{integrators}", 13); i++) {
    const char *keys = mbg_formulation_integrators(i);
    used += keys[0] ? (size_t)snprintf(list + used, size - used, "%s%s", used > 0 ? " " : "", keys) : 0;
  }
}

static value_kind kind_of(const cli_option *o, char *words, size_t size) {
  value_words(o, words, size);
  if (!o->value) {
    return FLAG;
  }
  return words[0]                                                                            ? WORDS
         : strstr(o->value, "FILE") || strstr(o->value, "FOLDER") || strstr(o->value, "DIR") ? FILES
                                                                                             : FREE;
}

/* ---------------------------------------------------------------------- bash */

static void bash_options(const cli_command *c) {
  printf("  %s) options='", c->name);
  for (int i = 0; i < c->noption; i++) {
    printf("--%s ", c->options[i].name);
  }
  printf("--help'");
  for (int i = 0; i < c->noption; i++) {
    const cli_option *o = &c->options[i];
    const char letter = cli_option_letter(o->name);
    char words[256];
    const value_kind kind = kind_of(o, words, sizeof words);
    if (kind == FLAG) {
      continue;
    }
    printf("\n    [[ $prev == --%s", o->name);
    if (letter) {
      printf(" || $prev == -%c", letter);
    }
    printf(kind == WORDS ? " ]] && values='%s'" : kind == FILES ? " ]] && values=files" : " ]] && values=free", words);
  }
  printf(" ;;\n");
}

static void print_bash(void) {
  printf("# completion of mbgrad for bash: mbgrad completion bash > ~/.local/share/bash-completion/completions/mbgrad\n"
         "_mbgrad() {\n"
         "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} program=${COMP_WORDS[0]} options='' "
         "values=''\n"
         "  local commands='");
  for (int i = 0; cli_commands[i]; i++) {
    printf("%s%s", i > 0 ? " " : "", cli_commands[i]->name);
  }
  printf("'\n  COMPREPLY=()\n  if ((COMP_CWORD == 1)); then\n"
         "    mapfile -t COMPREPLY < <(compgen -W \"$commands\" -- \"$cur\")\n    return\n  fi\n"
         "  case ${COMP_WORDS[1]} in\n");
  for (int i = 0; cli_commands[i]; i++) {
    bash_options(cli_commands[i]);
  }
  printf("  esac\n"
         "  case $values in\n"
         "  files) mapfile -t COMPREPLY < <(compgen -f -- \"$cur\") ;;\n"
         "  free) ;;\n"
         "  ?*) mapfile -t COMPREPLY < <(compgen -W \"$values\" -- \"$cur\") ;;\n"
         "  *)\n"
         "    if [[ $cur == -* ]]; then\n"
         "      mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$cur\")\n"
         "    elif [[ ${COMP_WORDS[1]} == help ]]; then\n"
         "      mapfile -t COMPREPLY < <(compgen -W \"$commands $(\"$program\" completion topics 2>/dev/null)\" -- "
         "\"$cur\")\n"
         "    elif [[ ${COMP_WORDS[1]} == completion ]]; then\n"
         "      mapfile -t COMPREPLY < <(compgen -W 'bash zsh fish' -- \"$cur\")\n"
         "    else\n"
         "      mapfile -t COMPREPLY < <(compgen -W \"$(\"$program\" completion models 2>/dev/null)\" -- \"$cur\"; "
         "compgen -f -- \"$cur\")\n"
         "    fi ;;\n"
         "  esac\n"
         "}\n"
         "complete -o filenames -F _mbgrad mbgrad\n");
}

/* ---------------------------------------------------------------------- zsh */

/* text inside '...', in which zsh's _arguments reads [ ] : */
static void print_quoted(const char *text, const char *special) {
  for (; *text; text++) {
    if (*text == '\'') {
      fputs("'\\''", stdout);
    } else {
      printf(strchr(special, *text) ? "\\%c" : "%c", *text);
    }
  }
}

static void zsh_option(const cli_option *o) {
  const char letter = cli_option_letter(o->name);
  char words[256], *help = cli_option_help(o);
  const value_kind kind = kind_of(o, words, sizeof words);
  printf(" \\\n      ");
  if (letter && o->kind == CLI_MANY) {
    printf("'*'{-%c,--%s}'[", letter, o->name);
  } else if (letter) {
    printf("'(-%c --%s)'{-%c,--%s}'[", letter, o->name, letter, o->name);
  } else {
    printf("'%s--%s[", o->kind == CLI_MANY ? "*" : "", o->name);
  }
  print_quoted(help, "[]:\\");
  fputs("]", stdout);
  if (kind != FLAG) {
    fputs(":", stdout);
    print_quoted(o->value, "[]:\\");
    printf(kind == WORDS ? ":(%s)" : kind == FILES ? ":_files" : ":", words);
  }
  fputs("'", stdout);
  free(help);
}

static void print_zsh(void) {
  printf("#compdef mbgrad\n# completion of mbgrad for zsh: mbgrad completion zsh > a folder of $fpath/_mbgrad\n\n"
         "_mbgrad_models() {\n  local -a models=(${(f)\"$(mbgrad completion models 2>/dev/null)\"})\n"
         "  _describe 'model of the gallery' models\n  _files\n}\n\n"
         "_mbgrad_topics() {\n  local -a topics=(${(f)\"$(mbgrad completion topics 2>/dev/null)\"})\n"
         "  _describe topic topics\n  _describe command commands\n}\n\n"
         "_mbgrad() {\n  local -a commands=(");
  for (int i = 0; cli_commands[i]; i++) {
    printf("\n    '%s:", cli_commands[i]->name);
    print_quoted(cli_commands[i]->summary, ":\\");
    fputs("'", stdout);
  }
  printf("\n  )\n  if ((CURRENT == 2)); then\n    _describe command commands\n    return\n  fi\n"
         "  local command=$words[2]\n  shift words\n  ((CURRENT--))\n  case $command in\n");
  for (int i = 0; cli_commands[i]; i++) {
    const cli_command *c = cli_commands[i];
    printf("    %s) _arguments", c->name);
    for (int k = 0; k < c->noption; k++) {
      zsh_option(&c->options[k]);
    }
    printf(" \\\n      '(-h --help)'{-h,--help}'[print help]' \\\n      '*:%s' ;;\n",
           !strcmp(c->name, "help")         ? "topic:_mbgrad_topics"
           : !strcmp(c->name, "completion") ? "shell:(bash zsh fish)"
                                            : "model:_mbgrad_models");
  }
  printf("  esac\n}\n\n_mbgrad \"$@\"\n");
}

/* ---------------------------------------------------------------------- fish */

static void fish_option(const cli_command *c, const cli_option *o) {
  const char letter = cli_option_letter(o->name);
  char words[256], *help = cli_option_help(o);
  const value_kind kind = kind_of(o, words, sizeof words);
  printf("complete -c mbgrad -n '__fish_seen_subcommand_from %s' -l %s", c->name, o->name);
  if (letter) {
    printf(" -s %c", letter);
  }
  if (kind == WORDS) {
    printf(" -x -a '%s'", words);
  } else if (kind != FLAG) {
    fputs(kind == FILES ? " -r -F" : " -x", stdout);
  }
  fputs(" -d '", stdout);
  for (const char *p = help; *p; p++) {
    printf(*p == '\'' || *p == '\\' ? "\\%c" : "%c", *p);
  }
  puts("'");
  free(help);
}

static void print_fish(void) {
  puts("# completion of mbgrad for fish: mbgrad completion fish > ~/.config/fish/completions/mbgrad.fish");
  for (int i = 0; cli_commands[i]; i++) {
    const cli_command *c = cli_commands[i];
    printf("complete -c mbgrad -n __fish_use_subcommand -f -a %s -d '", c->name);
    for (const char *p = c->summary; *p; p++) {
      printf(*p == '\'' || *p == '\\' ? "\\%c" : "%c", *p);
    }
    puts("'");
    for (int k = 0; k < c->noption; k++) {
      fish_option(c, &c->options[k]);
    }
    if (strstr(c->arguments, "MODEL") || !strcmp(c->name, "new")) {
      printf("complete -c mbgrad -n '__fish_seen_subcommand_from %s' -a '(mbgrad completion models)'\n", c->name);
    }
  }
  puts("complete -c mbgrad -n '__fish_seen_subcommand_from help' -f -a '(mbgrad completion topics)'\n"
       "complete -c mbgrad -n '__fish_seen_subcommand_from completion' -f -a 'bash zsh fish'");
}

/* ---------------------------------------------------------------------- command */

static void print_models(void) {
  char **names;
  const int count = cli_gallery_names(&names);
  for (int i = 0; i < count; i++) {
    puts(names[i]);
  }
  cli_gallery_names_destroy(names, count);
}

static void print_topics(void) {
  char **names = cli_topic_names();
  for (int i = 0; names[i]; i++) {
    puts(names[i]);
  }
  cli_topic_names_destroy(names);
}

static int completion(const cli_args *args) {
  static const struct {
    const char *name;
    void (*print)(void);
  } scripts[] = {{"bash", print_bash},
                 {"zsh", print_zsh},
                 {"fish", print_fish},
                 {"models", print_models},
                 {"topics", print_topics}};
  for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
    if (!strcmp(scripts[i].name, args->argument[0])) {
      scripts[i].print();
      return CLI_DONE;
    }
  }
  return cli_bad_input("completion: '%s': expected bash, zsh or fish", args->argument[0]);
}

extern const cli_command cli_cmd_completion;

const cli_command cli_cmd_completion = {
    .name = "completion",
    .arguments = "SHELL",
    .summary = "completion of command lines for bash, zsh or fish",
    .details =
        "Prints a script that completes commands, options, their values and names of the gallery. For this session:\n\n"
        "  source <(mbgrad completion bash)\n"
        "  source <(mbgrad completion zsh); compdef _mbgrad mbgrad\n"
        "  mbgrad completion fish | source\n",
    .least = 1,
    .most = 1,
    .run = completion,
};
