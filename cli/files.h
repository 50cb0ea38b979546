/* files: output files. Each is written beside its place and takes it when it is complete; the file that was there
   before is kept as FILE~. */
#ifndef CLI_FILES_H
#define CLI_FILES_H

#include "options.h"

#include "mbgrad/model.h"

#include <stdio.h>

/* Opens a file for writing ("-": standard output); NULL with a message, for which the exit status is CLI_FAILED. */
FILE *cli_file_open(const char *path);
/* Puts it in its place. CLI_FAILED with a message when it could not be written to its end; the former file is then
   intact. */
int cli_file_close(FILE *file, const char *path);
/* Gives it up: the former file stays. */
void cli_file_drop(FILE *file);

/* The same for libraries that open files by name: write to the name that begin returns (NULL: as above), which end and
   give_up release. complete false: a message is printed, the former file stays. */
char *cli_file_begin(const char *path);
int cli_file_end(char *name, const char *path, bool complete);
void cli_file_give_up(char *name, const char *path);

/* Makes a folder that is not there yet. what: "--output: " or "", before the message. */
int cli_folder_make(const char *what, const char *path);

/* Was `name` made by a process that is gone: PREFIX, its number, "-", anything? */
bool cli_abandoned(const char *folder, const char *name, const char *prefix);

/* The model's name with an ending, a file of the current folder; letters that a path cannot have become '-'. To be
   freed. */
char *cli_model_file(const mbg_model *model, const char *ending);

/* Is the value of --plot, of a command with --panels, no file but what is drawn: "A,B;X:Y", or one signal? Then the
   plot is NAME.svg of the model. */
bool cli_names_signals(const mbg_model *model, const char *text);

/* Errors that are visible before anything is computed, for every file that the options name: a folder that is missing
   or cannot be written, an input of the model, one file for two options. */
int cli_files_check(const cli_args *args, mbg_context *ctx, const mbg_model *model);
/* The same for one path; what: "--out". */
int cli_file_check(mbg_context *ctx, const mbg_model *model, const char *what, const char *path, cli_option_kind kind);

#endif
