/* Memory of an operand on a CPU, in as many copies as a cache state rotates through, with guard bytes before, between and
 * behind them; and the order in which they are taken.
 *
 * Caches are made cold by rotation, not by flushing: what is written in one execution is then still on its way to memory in
 * the next, as in a network, where a flush would have paid for it beforehand; pages are cold too; and executions can follow
 * each other without a pause. The copies are taken in leaps, so that no prefetcher reads the next one ahead. */
#ifndef RUNNER_COPIES_H
#define RUNNER_COPIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct copies {
	char *base;
	size_t room;          /* at base */
	size_t bytes, stride; /* of one; from one to the next */
	int64_t count;
};

#define COPIES_LINE 64 /* every copy begins on a cache line, and at least so many guard bytes are behind it */

/* In whole cache lines: what passes when one is read. */
double copies_lines(size_t bytes);
/* What copies_open takes. */
double copies_need(size_t bytes, int64_t count);
/* The first one's bytes are 0xff: an output that nobody writes stays NaN. -1: no memory. To be closed either way, and to be
 * spread before use, or filled one by one. */
int copies_open(struct copies *c, size_t bytes, int64_t count);
void copies_close(struct copies *c);
char *copies_at(const struct copies *c, int64_t i);
/* What the first one holds, into all others. */
void copies_spread(struct copies *c);
/* Memory is kept for the next ones, since fresh pages cost more than filling them: never more, with what is open, than was open
 * at once before. From one thread alone. */
double copies_kept_bytes(void);
void copies_forget(void);
/* Has nobody written before, between or behind them? */
bool copies_are_whole(const struct copies *c);

/* Each of `count` copies once, then again in the same order. */
struct rotation {
	int64_t count, step, at;
};
struct rotation rotation_of(int64_t count);
int64_t rotation_next(struct rotation *r);
/* Copies of everything that an algorithm touches (so many bytes), so that as much passes as limits' cold_sets of the problem's
 * own operands would be; 1 where those are 1. */
int64_t rotation_cold(double bytes, double problem_bytes, int64_t cold_sets);

#endif
