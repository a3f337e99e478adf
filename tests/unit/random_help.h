/* Random numbers that are the same in each run. A test that needs others sets random_state. */
#ifndef RANDOM_HELP_H
#define RANDOM_HELP_H

#include <stdint.h>

static uint32_t random_state = 7;

/* 0 to n - 1 */
static int below(int n)
{
	random_state = random_state * 1664525u + 1013904223u;
	return (int)((random_state >> 8) % (uint32_t)n);
}

#endif
