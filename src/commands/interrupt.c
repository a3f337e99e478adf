/* The first signal sets a flag, so that a command stores what it has; the second one ends the program. */
#include "config.h"

#include "commands/interrupt.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/output.h"
#include "base/str.h"

volatile sig_atomic_t interrupted;

static void on_interrupt(int signal_number)
{
	(void)signal_number;
	interrupted = 1;
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
}

static void on_end(int signal_number)
{
	output_abandon();
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

void interrupt_end(void)
{
	struct sigaction action = { .sa_handler = on_end };
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

void interrupt_watch(void)
{
	struct sigaction action = { .sa_handler = on_interrupt }; /* no SA_RESTART: interrupts waits */
	interrupted = 0;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

/* ---- pipes ---- */

#define PIPE_LINE 4096
static char waited[2 * PIPE_LINE]; /* what is said after a second */

static void say_pipe(int number)
{
	(void)number;
	if (write(STDERR_FILENO, waited, strlen(waited)) < 0)
		return;
}

void pipe_wait(bool quiet, const char *path)
{
	const struct sigaction say = { .sa_handler = say_pipe, .sa_flags = SA_RESTART };
	struct stat st;
	if (!path || quiet || stat(path, &st) || !S_ISFIFO(st.st_mode) || strlen(path) > PIPE_LINE / 2)
		return;
	char clean[PIPE_LINE];
	text_clean_to(clean, text_of(path));
	snprintf(waited, sizeof(waited), "benanza: waiting: %s is a pipe; a program has to write to it\n",
		clean);
	sigaction(SIGALRM, &say, NULL);
	alarm(1);
}

void pipe_waited(void)
{
	alarm(0);
}
