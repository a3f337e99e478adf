/* Completion for shells, generated from the tables of commands and options. */
#ifndef COMMANDS_COMPLETION_H
#define COMMANDS_COMPLETION_H

#include "commands/command.h"

/* Prints the script of a shell. -1: there is none for it. */
int completion_print(const char *shell, FILE *out, struct error *err);

#endif
