/* Sweeps over combinations of settings (runner/measure/sweep.h). */
#include "config.h"

#include "tests/unit/tap.h"

#include <stdlib.h>

#include "base/str.h"
#include "runner/measure/sweep.h"

static void test_whole(void)
{
	static const int size[] = { 3, 1, 4 };
	struct sweep s;
	bool seen[12] = { false };
	int count = 0;
	sweep_open(&s, size, 3, 100);
	while (sweep_next(&s)) {
		int which = s.at[0] * 4 + s.at[2];
		ok(s.at[1] == 0 && which >= 0 && which < 12 && !seen[which], "%d %d %d is new", s.at[0],
			s.at[1], s.at[2]);
		if (count++ == 0)
			is_int(which, 0, "the first choices come first");
		seen[which] = true;
	}
	is_int(count, 12, "all combinations");
	ok(!sweep_next(&s), "and no more");
	sweep_open(&s, size, 0, 100);
	ok(sweep_next(&s) && !sweep_next(&s), "no settings have one combination");
	sweep_open(&s, size, 3, 0);
	ok(!sweep_next(&s), "none is wanted");
}

/* A part of a large product: each choice of each axis comes up, none much more often than others. */
static void test_part(void)
{
	static const int size[] = { 24, 7, 2, 12, 5 };
	int times[5][24] = { { 0 } };
	struct sweep s;
	int count = 0;
	sweep_open(&s, size, 5, 2000);
	is_int(s.total, 24 * 7 * 2 * 12 * 5, "of many");
	bool *seen = calloc((size_t)s.total, 1), twice = false;
	for (; sweep_next(&s); count++) {
		twice = twice || seen[s.index];
		seen[s.index] = true;
		for (int i = 0; i < 5; i++)
			times[i][s.at[i]]++;
	}
	is_int(count, 2000, "some");
	ok(!twice, "each once");
	for (int i = 0; i < 5; i++) {
		int least = 2000, most = 0;
		for (int j = 0; j < size[i]; j++) {
			least = times[i][j] < least ? times[i][j] : least;
			most = times[i][j] > most ? times[i][j] : most;
		}
		ok(least > 0 && most <= 2 * least, "axis %d: %d to %d times", i, least, most);
	}
	free(seen);
}

static void test_huge(void)
{
	int size[SWEEP_AXES];
	struct sweep s;
	int count = 0;
	for (int i = 0; i < SWEEP_AXES; i++)
		size[i] = 1000;
	sweep_open(&s, size, SWEEP_AXES, 5000);
	for (bool fine = true; sweep_next(&s); count++)
		for (int i = 0; i < SWEEP_AXES && fine; i++) {
			fine = s.at[i] >= 0 && s.at[i] < s.size[i];
			if (!fine)
				ok(false, "axis %d: %d", i, s.at[i]);
		}
	is_int(count, 5000, "a product beyond 64 bits");
	is_int(s.size[SWEEP_AXES - 1], 1, "later axes keep their first choice");
}

static void values_are(int64_t least, int64_t last, int64_t stride, int room, const char *want)
{
	int64_t value[64];
	struct str text = { 0 };
	int n = sweep_values(least, last, stride, value, room);
	for (int i = 0; i < n; i++)
		str_addf(&text, "%s%lld", i ? " " : "", (long long)value[i]);
	is_str(text.p ? text.p : "", want, "%lld to %lld by %lld, at most %d", (long long)least,
		(long long)last, (long long)stride, room);
	str_free(&text);
}

int main(void)
{
	test_whole();
	test_part();
	test_huge();
	values_are(0, 5, 1, 16, "0 1 2 3 4 5");
	values_are(0, 9, 4, 16, "0 4 8");
	values_are(3, 3, 1, 16, "3");
	values_are(4, 3, 1, 16, "");
	values_are(1, 2, 0, 16, "1 2");
	values_are(1, 2048, 1, 16, "1 2 4 8 16 32 64 128 256 512 1024 2048");
	values_are(1, 100, 1, 16, "1 2 4 8 16 32 64 100");
	values_are(2, 100, 2, 8, "2 4 8 16 32 64 100");
	values_are(1, INT64_MAX, 1, 4, "1 2 4 9223372036854775807");
	values_are(INT64_MIN, INT64_MAX, 1, 3, "-9223372036854775808 1 9223372036854775807");
	return done_testing();
}
