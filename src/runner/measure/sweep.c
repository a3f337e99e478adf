/* Visits combinations in an order whose every prefix is spread evenly (a step of the golden ratio, coprime
 * to the total). */
#include "config.h"

#include "runner/measure/sweep.h"

#define TOTAL_MOST ((int64_t)1 << 62)
#define GOLDEN 0.6180339887498949 /* steps of this share of a circle visit it evenly (Weyl's sequence) */

static int64_t common_divisor(int64_t a, int64_t b)
{
	while (b) {
		int64_t rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

/* A step that has no common divisor with the total reaches every index. */
static int64_t step_for(int64_t total)
{
	int64_t step = (int64_t)((double)total * GOLDEN);
	for (step = step < 1 ? 1 : step; common_divisor(total, step) != 1; step++)
		;
	return step;
}

void sweep_open(struct sweep *s, const int *size, int axes, int64_t most)
{
	*s = (struct sweep){ .axes = axes, .total = 1, .index = -1 };
	for (int i = 0; i < axes; i++) {
		s->size[i] = s->total <= TOTAL_MOST / size[i] ? size[i] : 1;
		s->total *= s->size[i];
	}
	s->left = s->total < most ? s->total : most;
	s->step = s->left == s->total ? 1 : step_for(s->total);
}

bool sweep_next(struct sweep *s)
{
	if (s->left <= 0)
		return false;
	s->left--;
	if (s->index < 0)
		s->index = 0;
	else /* both are below 2^62 */
		s->index = (s->index + s->step) % s->total;
	int64_t rest = s->index;
	for (int i = s->axes - 1; i >= 0; i--) {
		s->at[i] = (int)(rest % s->size[i]);
		rest /= s->size[i];
	}
	return true;
}

int sweep_values(int64_t least, int64_t last, int64_t stride, int64_t *to, int room)
{
	uint64_t step = stride < 1 ? 1 : (uint64_t)stride, first = (uint64_t)least;
	if (last < least)
		return 0;
	uint64_t steps = ((uint64_t)last - first) / step; /* unsigned: the span may exceed int64_t */
	int n = 0;
	if (steps < (uint64_t)room) {
		for (uint64_t i = 0; i <= steps; i++)
			to[n++] = (int64_t)(first + i * step);
		return n;
	}
	int64_t end = (int64_t)(first + steps * step);
	to[n++] = least;
	for (int64_t v = 1; v < end && v <= INT64_MAX / 2 && n < room - 1; v *= 2)
		if (v > least && ((uint64_t)v - first) % step == 0)
			to[n++] = v;
	to[n++] = end;
	return n;
}
