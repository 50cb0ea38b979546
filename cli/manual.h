/* manual: pages of the manual for man(1), made from the tables of commands and options. */
#ifndef CLI_MANUAL_H
#define CLI_MANUAL_H

/* Writes mbgrad.1 and mbgrad-COMMAND.1 for every command into a folder that is there. Returns the exit status. */
int cli_manual_write(const char *folder);

#endif
