/* Ctrl-C and kill, for commands that keep what is done and end well. */
#ifndef COMMANDS_INTERRUPT_H
#define COMMANDS_INTERRUPT_H

#include <signal.h>

/* Becomes 1 with the first SIGINT or SIGTERM from interrupt_watch on; the second one ends the program at once. */
extern volatile sig_atomic_t interrupted;
void interrupt_watch(void);

#endif
