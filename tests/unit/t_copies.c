/* Copies of operands: what they hold, their guards, and the memory that is kept between them. */
#include "config.h"

#include "runner/host/copies.h"
#include "tap.h"

#include <string.h>

#define BYTES 3000000

static void test_content(void)
{
	struct copies c;
	bool poisoned = true, same = true;
	is_int(copies_open(&c, 100, 5), 0, "five copies");
	for (int i = 0; i < 100; i++)
		poisoned &= (unsigned char)copies_at(&c, 0)[i] == 0xff;
	ok(poisoned, "what nobody writes is no number");
	memset(copies_at(&c, 0), 7, 100);
	copies_spread(&c);
	for (int64_t i = 0; i < 5; i++)
		same &= memcmp(copies_at(&c, i), copies_at(&c, 0), 100) == 0 &&
			(size_t)copies_at(&c, i) % COPIES_LINE == 0;
	ok(same && copies_are_whole(&c), "all hold what the first one does, on lines of their own");
	copies_at(&c, 3)[100] = 0;
	ok(!copies_are_whole(&c), "a byte behind one of them is noticed");
	copies_close(&c);
	is_int(copies_open(&c, SIZE_MAX / 4, 8), -1, "no memory");
	copies_close(&c);
}

/* No more is given back than what is needed instead. */
static void test_shrink(void)
{
	struct copies c[3], big;
	copies_forget();
	for (int i = 0; i < 3; i++)
		copies_open(&c[i], (size_t)(12 + 2 * i) * BYTES, 1);
	char *middle = c[1].base;
	for (int i = 0; i < 3; i++)
		copies_close(&c[i]);
	double of_middle = copies_need(14 * BYTES, 1);
	copies_open(&big, 18 * BYTES, 1);
	near(copies_kept_bytes(), of_middle, 0, "for a block larger than each: two of three");
	copies_open(&c[0], 13 * BYTES, 1);
	ok(c[0].base == middle, "the third still serves");
	copies_close(&c[0]);
	copies_close(&big);
	copies_forget();
}

/* Two works have one input: it is there until both have closed it. */
static void test_shared(void)
{
	struct copies a, b;
	copies_forget();
	copies_open(&a, BYTES, 1);
	memset(copies_at(&a, 0), 7, BYTES);
	copies_share(&a, &b);
	ok(b.base == a.base && b.count == 1, "the same memory");
	copies_close(&a);
	ok(copies_kept_bytes() <= 0 && copies_are_whole(&b) && copies_at(&b, 0)[BYTES - 1] == 7,
		"one has closed it: it stays");
	copies_share(&b, &a);
	copies_close(&b);
	copies_close(&a);
	ok(copies_kept_bytes() > BYTES && copies_kept_bytes() < 2.0 * BYTES, "the last one closes it, once");
	copies_forget();
}

/* What is open and kept together was open at once before. */
static void test_kept(void)
{
	struct copies a, b, c;
	copies_forget();
	ok(copies_open(&a, BYTES, 2) == 0 && copies_open(&b, BYTES, 2) == 0, "two blocks");
	double one = copies_need(BYTES, 2);
	ok(one >= 2.0 * BYTES && one <= 2.0 * BYTES * 9 / 8 + 4 * COPIES_LINE,
		"each an eighth too large at most");
	char *before = a.base;
	memset(copies_at(&a, 0), 7, BYTES);
	copies_spread(&a);
	copies_close(&a);
	ok(copies_kept_bytes() >= one && copies_kept_bytes() <= one, "a closed one is kept");
	copies_open(&c, BYTES - 1000, 2);
	ok(c.base == before && copies_kept_bytes() <= 0, "and serves the next of about its size");
	ok((unsigned char)copies_at(&c, 0)[BYTES / 2] == 0xff && copies_are_whole(&c),
		"which is poisoned and guarded anew");
	copies_close(&c);
	copies_open(&c, BYTES * 5 / 8, 2);
	ok(c.base == before && copies_kept_bytes() <= 0, "or of one a little smaller");
	copies_close(&c);
	copies_open(&c, 5 * BYTES, 2);
	ok(copies_kept_bytes() <= 0, "what would come on top of that is given back first");
	copies_close(&b);
	copies_close(&c);
	ok(copies_kept_bytes() >= one + copies_need(5 * BYTES, 2), "both are kept");
	copies_forget();
	ok(copies_kept_bytes() <= 0, "until they are forgotten");
}

/* An algorithm whose buffers are larger than the problem's operands rotates through fewer copies of them. */
static void test_sets(void)
{
	is_int(rotation_sets(1152, 1152, 16384), 16384, "buffers of the problem's own size: all sets");
	is_int(rotation_sets(600, 1152, 16384), 16384, "smaller ones: not more");
	is_int(rotation_sets(256 * 1152, 1152, 16384), 65, "256 times the size: as many bytes pass");
	is_int(rotation_sets(1e12, 1152, 16384), 2, "two at least, if copies are wanted");
	is_int(rotation_sets(1152, 1152, 1), 1, "one if no copies are wanted");
}

/* As many copies rotate as pass between two uses of one. */
static void test_distances(void)
{
	double mib = 1 << 20;
	struct rotations r = rotations_of(65, 1, mib, 2 * mib);
	is_int(r.of[CACHE_NET].count, 65, "net: all of them");
	is_int(r.of[CACHE_WARM].count, 1, "warm: one");
	is_int(r.of[CACHE_COLD].count, 1, "cold: as told");
	is_int(r.of[CACHE_NEAREST].count, 1, "1 MiB: the other operands are farther");
	is_int(r.of[CACHE_NEAREST + 3].count, 7, "8 MiB: six copies and the other operands between two uses");
	is_int(r.of[CACHE_FARTHEST].count, 65, "512 MiB: no more than there are");
	is_int(rotations_of(5, 1, 40 * mib, 0).of[CACHE_NEAREST + 5].count, 2, "constants of 40 MiB: two");
	is_int(rotations_of(5, 1, 0, mib).of[CACHE_NET].count, 1, "without constants nothing rotates");
	int seen[7] = { 0 }, same = 1;
	for (int i = 0; i < 14; i++)
		seen[rotations_next(&r, CACHE_NEAREST + 3)]++;
	for (int i = 0; i < 7; i++)
		same = same && seen[i] == 2;
	ok(same, "each copy is used once before the first one comes back");
	near(rotations_bytes(&r, cache_in_pages(CACHE_NEAREST + 3, true), mib), 7 * mib, 0,
		"pages make no difference to what passes");
	near(rotations_bytes(&r, CACHE_WARM, mib), 0, 0, "warm: nothing passes");
}

/* Huge pages: aligned to them, where an operand fills one; or refused with the reason. */
static void test_pages(void)
{
	struct copies c;
	struct error err = ERROR_NONE;
	if (copies_pages(true, &err)) {
		ok(strstr(err.text, "transparent_hugepage"), "huge pages are refused: %s", err.text);
		return;
	}
	copies_open(&c, 3 << 20, 2);
	ok((uintptr_t)c.base % (2 << 20) == 0, "a large block begins with a huge page");
	char *base = c.base;
	copies_close(&c);
	is_int(copies_pages(false, &err), 0, "back to ordinary pages");
	near(copies_kept_bytes(), 0, 0, "memory in huge pages is not kept for them");
	copies_open(&c, 3 << 20, 2);
	ok(c.base && copies_are_whole(&c) && base, "and others are given");
	copies_close(&c);
}

int main(void)
{
	test_content();
	test_shared();
	test_kept();
	test_sets();
	test_distances();
	test_pages();
	test_shrink();
	return done_testing();
}
