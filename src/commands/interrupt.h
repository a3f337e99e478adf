/* Signals: Ctrl-C and kill, for commands that keep their results and end cleanly; the alarm of a wait. */
#ifndef COMMANDS_INTERRUPT_H
#define COMMANDS_INTERRUPT_H

#include <signal.h>
#include <stdbool.h>

/* Set to 1 by the first SIGINT or SIGTERM after interrupt_watch; the second one ends the program at once. */
extern volatile sig_atomic_t interrupted;
void interrupt_watch(void);
/* For commands that keep nothing: the first one ends the program at once, without an unfinished file. */
void interrupt_end(void);
/* Around opening a file that may be a pipe: after a second a line on standard error names the pipe. A path of
 * NULL is ignored. */
void pipe_wait(bool quiet, const char *path);
void pipe_waited(void);

#endif
