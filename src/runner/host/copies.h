/* Copies of an operand in CPU memory, as many as a cache state rotates through, with guard bytes before,
 * between and after them, and the order in which they are used.
 *
 * Rotation makes caches cold without a flush. As in a network, the writes of one execution reach memory
 * during the next; a flush would complete them outside the measured time. TLB entries are cold too, and
 * executions follow each other without a pause. The copies are used in large steps, so that no prefetcher
 * reads the next one ahead. */
#ifndef RUNNER_COPIES_H
#define RUNNER_COPIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "problem/result.h"

struct copies {
	char *base;
	size_t room;          /* bytes allocated at base */
	size_t bytes, stride; /* of a copy; between two copies */
	int64_t count;
	int *users;           /* that share them (copies_share); NULL: one */
};

#define COPIES_LINE 64 /* alignment of a copy, and minimum of guard bytes behind it */

/* Bytes read for one copy, in whole cache lines. */
double copies_lines(size_t bytes);
/* Bytes that copies_open allocates. */
double copies_need(size_t bytes, int64_t count);
/* Allocates the copies and fills the first one with 0xff, so that an output that is not written stays NaN.
 * -1: no memory. Close it in either case. Before use call copies_spread, or fill the copies one by one. */
int copies_open(struct copies *c, size_t bytes, int64_t count);
void copies_close(struct copies *c);
/* Makes `also` the same memory as the open c; it is freed when both are closed. */
void copies_share(struct copies *c, struct copies *also);
char *copies_at(const struct copies *c, int64_t i);
/* Copies the first one to all others, on all threads (team.h). */
void copies_spread(struct copies *c);
/* Copies that are opened from now on are in transparent huge pages of 2 MiB (huge), where they fill some, or
 * in the system's default pages. -1: the system has no huge pages. */
int copies_pages(bool huge, struct error *err);
/* Closed memory is kept for reuse, since new pages cost more than filling them. Kept and open memory
 * together never exceed the largest amount that was open at once. Not thread-safe. */
double copies_kept_bytes(void);
void copies_forget(void);
/* True if the guard bytes before, between and behind the copies are intact. */
bool copies_are_whole(const struct copies *c);

/* An order that uses each of `count` copies once, then repeats. */
struct rotation {
	int64_t count, step, at;
};
struct rotation rotation_of(int64_t count);
int64_t rotation_next(struct rotation *r);
/* Returns the number of copies of an algorithm's buffers (`bytes` in total), so that as many bytes pass as
 * with `sets` copies of the problem's own operands (`problem_bytes`), and no more copies; 1 if sets is 1. An
 * algorithm may need far larger buffers than the problem: a depthwise convolution with blocks of 16x16
 * channels has 256 times the weights. */
int64_t rotation_sets(double bytes, double problem_bytes, int64_t sets);

/* The rotations of one algorithm, one for each state of the caches without regard to pages: of constants, in
 * state cold of all operands. */
struct rotations {
	struct rotation of[CACHE_STATES];
};
/* net, cold: copies in these states. constant, other: bytes of one copy of its constants, and of all that
 * stays where it is. At a reuse distance as many copies rotate as pass between two uses of one, to the
 * nearest: (copies - 1) * constant + other, at most `net` copies. */
struct rotations rotations_of(int64_t net, int64_t cold, double constant, double other);
/* The copy of the constants that the next execution uses; in state cold, of all operands. */
int64_t rotations_next(struct rotations *r, enum cache c);
/* Bytes of constants read before the first copy is used again; 0: nothing rotates. */
double rotations_bytes(const struct rotations *r, enum cache c, double constant);

#endif
