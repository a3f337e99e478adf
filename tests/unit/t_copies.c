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

int main(void)
{
	test_content();
	test_kept();
	test_sets();
	return done_testing();
}
