/* Completion for shells, generated from the tables of commands and options. */
#ifndef COMMANDS_COMPLETION_H
#define COMMANDS_COMPLETION_H

#include "commands/command.h"

/* Prints the completion script of a shell. Returns -1 with err for an unknown shell. */
int completion_print(const char *shell, FILE *out, struct error *err);

#endif
