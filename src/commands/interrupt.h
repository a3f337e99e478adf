/* Ctrl-C and kill, for commands that keep their results and end cleanly. */
#ifndef COMMANDS_INTERRUPT_H
#define COMMANDS_INTERRUPT_H

#include <signal.h>

/* Set to 1 by the first SIGINT or SIGTERM after interrupt_watch; the second one ends the program at once. */
extern volatile sig_atomic_t interrupted;
void interrupt_watch(void);
/* For commands that keep nothing: the first one ends the program at once, without an unfinished file. */
void interrupt_end(void);

#endif
