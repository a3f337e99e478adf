/* Keeps what was estimated at several points of a run, and compares it with the time that was left. */
#include "config.h"

#include "commands/bench_eta.h"

#include <math.h>
#include <stdlib.h>

#include "base/arena.h"

#define BEGIN 0.1 /* part of the run from which, and */
#define END 0.95  /* up to which estimates count */

void bench_eta_note(struct bench_eta *b, double at_s, double left_s)
{
	if (b->count == b->capacity) {
		b->capacity = b->capacity ? 2 * b->capacity : 256;
		b->at_s = base_realloc(b->at_s, (size_t)b->capacity * sizeof(*b->at_s));
		b->left_s = base_realloc(b->left_s, (size_t)b->capacity * sizeof(*b->left_s));
	}
	b->at_s[b->count] = at_s;
	b->left_s[b->count++] = left_s;
}

double bench_eta_off(const struct bench_eta *b)
{
	double worst = NAN, end_s = b->count ? b->at_s[b->count - 1] : 0;
	for (int i = 0; i < b->count; i++) {
		double left_s = end_s - b->at_s[i];
		if (b->at_s[i] < BEGIN * end_s || b->at_s[i] > END * end_s || isnan(b->left_s[i]))
			continue;
		worst = fmax(worst, fmax(b->left_s[i] / left_s, left_s / b->left_s[i]));
	}
	return worst;
}

void bench_eta_free(struct bench_eta *b)
{
	free(b->at_s);
	free(b->left_s);
	*b = (struct bench_eta){ 0 };
}
