#include "config.h"

#include "commands/interrupt.h"

#include "base/output.h"

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
