/* Blocks of memory that are kept between problems, because new pages cost more than filling them. */
#include "config.h"

#include "runner/host/copies.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "runner/host/team.h"

#define GUARD 0xA5
#define KEPT 64
#define KEPT_LEAST 1048576 /* smaller blocks go back to the heap */
#define KEPT_FITS 2        /* a kept block may be this many times too large */
#define CLASSES 8          /* block sizes between two powers of two */
#define HUGE_PAGE ((size_t)2 << 20)
#define HUGE_MODES "/sys/kernel/mm/transparent_hugepage/enabled"
#define GOLDEN 0.6180339887498949

static size_t stride_of(size_t bytes)
{
	return (bytes + COPIES_LINE - 1) / COPIES_LINE * COPIES_LINE + COPIES_LINE;
}

double copies_lines(size_t bytes)
{
	return (double)(stride_of(bytes) - COPIES_LINE);
}

/* Rounded up by at most an eighth, so that kept blocks fit again. */
double copies_need(size_t bytes, int64_t count)
{
	double need = (double)stride_of(bytes) * (double)count + COPIES_LINE, step = COPIES_LINE;
	while (step * 2 * CLASSES <= need)
		step *= 2;
	return ceil(need / step) * step;
}

/* --- kept memory --- */

struct block {
	char *base;
	size_t room;
};

static struct {
	struct block block[KEPT];
	int count;
	size_t bytes, open, most_open; /* kept; in use now; maximum in use */
	bool huge;                     /* copies_pages */
} kept;

static struct block kept_take(int i)
{
	struct block taken = kept.block[i];
	kept.block[i] = kept.block[--kept.count];
	kept.bytes -= taken.room;
	return taken;
}

/* Large blocks are mapped by themselves: the heap would mix both sizes of pages. */
static size_t mapped_bytes(size_t room)
{
	return (room + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
}

static void block_free(struct block b)
{
	if (b.room >= HUGE_PAGE && b.base)
		munmap(b.base, mapped_bytes(b.room));
	else
		free(b.base);
}

void copies_forget(void)
{
	while (kept.count)
		block_free(kept_take(0));
}

/* Index of the smallest kept block that fits, or -1. New pages cost more than filling them, so a larger
 * block is used up to KEPT_FITS. */
static int kept_find(size_t room)
{
	int found = -1;
	for (int i = 0; i < kept.count; i++)
		if (kept.block[i].room >= room && kept.block[i].room / KEPT_FITS <= room &&
			(found < 0 || kept.block[i].room < kept.block[found].room))
			found = i;
	return found;
}

/* Gives back kept blocks until `room` bytes more fit in what was open at once: no more than needed, as new
 * pages are slow: the smallest one that suffices, else the largest. */
static void kept_shrink(size_t room)
{
	while (kept.count && kept.open + kept.bytes + room > kept.most_open) {
		size_t excess = kept.open + kept.bytes + room - kept.most_open;
		int best = 0;
		for (int i = 1; i < kept.count; i++) {
			size_t one = kept.block[i].room, had = kept.block[best].room;
			if (had < excess ? one > had : one >= excess && one < had)
				best = i;
		}
		block_free(kept_take(best));
	}
}

/* Maps a huge page more than needed and gives back what lies before and behind the aligned part. */
static char *mapped(size_t bytes)
{
	char *all = mmap(NULL, bytes + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (all == MAP_FAILED)
		return NULL;
	size_t before = (HUGE_PAGE - (uintptr_t)all % HUGE_PAGE) % HUGE_PAGE;
	if (before)
		munmap(all, before);
	munmap(all + before + bytes, HUGE_PAGE - before);
	if (kept.huge)
		madvise(all + before, bytes, MADV_HUGEPAGE);
	return all + before;
}

static char *block_new(size_t room)
{
	return room >= HUGE_PAGE ? mapped(mapped_bytes(room)) : aligned_alloc(COPIES_LINE, room);
}

static struct block block_get(size_t room)
{
	int found = kept_find(room);
	if (found >= 0)
		return kept_take(found);
	kept_shrink(room);
	char *base = block_new(room);
	if (!base && kept.count) {
		copies_forget();
		base = block_new(room);
	}
	return (struct block){ base, room };
}

static void block_put(struct block b)
{
	if (b.room < KEPT_LEAST || kept.count == KEPT) {
		block_free(b);
		return;
	}
	kept.block[kept.count++] = b;
	kept.bytes += b.room;
}

int copies_pages(bool huge, struct error *err)
{
	char modes[64] = "";
	FILE *f = huge ? fopen(HUGE_MODES, "re") : NULL;
	bool known = f && fgets(modes, sizeof(modes), f);
	if (f)
		fclose(f);
	if (huge && (!known || strstr(modes, "[never]")))
		return error_set(err, "the system gives no huge pages (%s: %s); as root: echo madvise > %s",
			HUGE_MODES, known ? "never" : "missing", HUGE_MODES);
	if (huge != kept.huge)
		copies_forget();
	kept.huge = huge;
	return 0;
}

double copies_kept_bytes(void)
{
	return (double)kept.bytes;
}

/* --- copies --- */

int copies_open(struct copies *c, size_t bytes, int64_t count)
{
	*c = (struct copies){ .bytes = bytes, .stride = stride_of(bytes), .count = count };
	double need = copies_need(bytes, count);
	if (!(need < (double)PTRDIFF_MAX))
		return -1;
	struct block b = block_get((size_t)need);
	if (!b.base)
		return -1;
	c->base = b.base;
	c->room = b.room;
	kept.open += b.room;
	kept.most_open = kept.open > kept.most_open ? kept.open : kept.most_open;
	memset(c->base, GUARD, COPIES_LINE);
	memset(copies_at(c, 0), 0xff, bytes);
	for (int64_t i = 0; i < count; i++)
		memset(copies_at(c, i) + bytes, GUARD, c->stride - bytes);
	return 0;
}

void copies_share(struct copies *c, struct copies *also)
{
	if (!c->users) {
		c->users = base_malloc(sizeof(*c->users));
		*c->users = 1;
	}
	++*c->users;
	*also = *c;
}

void copies_close(struct copies *c)
{
	bool last = !c->users || --*c->users == 0;
	if (last)
		free(c->users);
	if (c->base && last) {
		kept.open -= c->room;
		block_put((struct block){ c->base, c->room });
	}
	*c = (struct copies){ 0 };
}

char *copies_at(const struct copies *c, int64_t i)
{
	return c->base + COPIES_LINE + (size_t)i * c->stride;
}

static void spread_share(void *copies, int share, int shares)
{
	const struct copies *c = copies;
	for (int64_t i = 1 + share; i < c->count; i += shares)
		memcpy(copies_at(c, i), copies_at(c, 0), c->bytes);
}

void copies_spread(struct copies *c)
{
	if (c->count > 1)
		team_run(spread_share, c);
}

static bool is_guard(const char *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)from[i] != GUARD)
			return false;
	return true;
}

bool copies_are_whole(const struct copies *c)
{
	bool whole = !c->base || is_guard(c->base, COPIES_LINE);
	for (int64_t i = 0; c->base && i < c->count && whole; i++)
		whole = is_guard(copies_at(c, i) + c->bytes, c->stride - c->bytes);
	return whole;
}

/* --- order of use --- */

static int64_t common_divisor(int64_t a, int64_t b)
{
	return b ? common_divisor(b, a % b) : a;
}

struct rotation rotation_of(int64_t count)
{
	int64_t step = (int64_t)(GOLDEN * (double)count);
	while (step > 1 && common_divisor(count, step) != 1)
		step--;
	return (struct rotation){ .count = count, .step = count > 1 && step < 1 ? 1 : step };
}

int64_t rotation_next(struct rotation *r)
{
	int64_t now = r->at;
	r->at += r->step;
	r->at -= r->at >= r->count ? r->count : 0;
	return now;
}

int64_t rotation_sets(double bytes, double problem_bytes, int64_t sets)
{
	double pass = (double)(sets - 1) * problem_bytes;
	return sets < 2 ? 1 : (int64_t)fmin((double)sets, ceil(pass / fmax(bytes, COPIES_LINE)) + 1);
}

struct rotations rotations_of(int64_t net, int64_t cold, double constant, double other)
{
	struct rotations r;
	for (enum cache c = 0; c < CACHE_STATES; c++) {
		int64_t count = (int64_t)fmin(cache_copies(c, constant, other), (double)net);
		r.of[c] = rotation_of(c == CACHE_COLD ? cold : c == CACHE_WARM ? 1 : count);
	}
	return r;
}

int64_t rotations_next(struct rotations *r, enum cache c)
{
	return rotation_next(&r->of[cache_plain(c)]);
}

double rotations_bytes(const struct rotations *r, enum cache c, double constant)
{
	return cache_plain(c) == CACHE_WARM ? 0 : (double)r->of[cache_plain(c)].count * constant;
}
