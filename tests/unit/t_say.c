/* What the header says: unknown, partial, unsupported, complete. */
#include "config.h"

#include "ui/app_say.h"

#include "tap.h"

#include <math.h>

static const char *gap(const struct bound_says *b, int form)
{
	static char text[SAY_GAP];
	return say_gap(text, b, form);
}

static void test_bound(void)
{
	struct analysis a = { .bound_ns = NAN, .border_ns = NAN, .coverage = { .layers = 175, .missing = 170, .free = 5 } };
	struct bound_says b = say_bound(&a, 3);
	is_int(b.known, KNOWN_NONE, "nothing is known");
	is_str(gap(&b, 0), "170 of 172 layers not measured", "missing; folded ones are not counted");
	is_str(gap(&b, 2), "170/172 missing", "in few words");
	ok(b.casts_ns == 0, "casts that nobody knows are not shown");

	a.coverage.missing = 0;
	a.coverage.unsupported = 174;
	b = say_bound(&a, 0);
	is_str(gap(&b, 0), "174 of 175 layers unsupported", "unsupported is not \"not measured\"");

	a.coverage.missing = 1;
	a.coverage.unsupported = 2;
	a.bound_ns = 5;
	b = say_bound(&a, 0);
	is_int(b.known, KNOWN_PARTLY, "a part is known");
	is_str(gap(&b, 0), "1 not measured, 2 unsupported of 175 layers", "apart");
	is_str(gap(&b, 1), "1 missing, 2 unsupported", "shorter");
	is_str(gap(&b, 2), "3/175 unknown", "shortest");

	a.coverage = (struct coverage){ .layers = 9, .measured = 9 };
	b = say_bound(&a, 0);
	is_str(gap(&b, 0), "casts not measured", "every layer, but not the border");

	a.complete = true;
	a.border_ns = 7;
	a.coverage.proxy = 2;
	b = say_bound(&a, 0);
	ok(b.known == KNOWN_ALL && b.casts_ns == 7, "complete, with casts");
	is_str(gap(&b, 0), "all 9 layers known, 2 by proxy", "and said so");
	is_str(gap(&b, 1), "all 9 layers known", "shorter");
}

static void test_toggle(void)
{
	static const struct {
		bool available, complete;
		double saves;
		int wanted;
		enum gain gain;
		const char *what;
	} cases[] = {
		{ false, true, 5, 0, GAIN_ABSENT, "not here" },
		{ true, false, NAN, 3, GAIN_UNKNOWN, "not measured yet" },
		{ true, false, NAN, 0, GAIN_NEVER, "unsupported: nothing left to measure" },
		{ true, false, 0, 0, GAIN_NEVER, "no difference between what is not known" },
		{ true, false, 0, 2, GAIN_UNKNOWN, "no difference yet" },
		{ true, true, 0, 2, GAIN_UNKNOWN, "no difference yet, and more to come" },
		{ true, false, 4, 0, GAIN_PARTLY, "partial sums" },
		{ true, true, 4, 1, GAIN_PARTLY, "more may come" },
		{ true, true, -4, 0, GAIN_KNOWN, "known to cost" },
		{ true, true, 0, 0, GAIN_KNOWN, "known to change nothing" },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct what_if_effect e = { .available = cases[i].available, .complete = cases[i].complete,
			.saves_ns = cases[i].saves, .unmeasured_problems = cases[i].wanted };
		is_int(say_toggle(&e).gain, cases[i].gain, "%s", cases[i].what);
	}
}

static void test_interval(void)
{
	char b[SAY_INTERVAL];
	is_str(say_interval(b, 1000, NAN, NAN, 1), "1.00 us  1 sample", "one sample has no interval");
	is_str(say_interval(b, 1000, 1000, 1000, 1), "1.00 us  1 sample", "whatever it claims");
	is_str(say_interval(b, 100e3, 71e3, 421e3, 3), "100 us  71.0..421 us", "few: their range");
	is_str(say_interval(b, 1000, 900, 421e3, 5), "1.00 us  900 ns..421 us", "of two units");
	is_str(say_interval(b, 1000, 990, 1004, 24), "1.00 us \u00b11.0%", "the larger side");
	is_str(say_interval(b, 1000, 990, 1020, 0), "1.00 us \u00b12.0%", "either");
	is_str(say_interval(b, 1000, 990, 17000, 52), "1.00 us  990 ns..17.0 us", "one that would reach below nothing");
	is_str(say_interval(b, 1000, NAN, 1020, 24), "1.00 us", "none");
	is_str(say_interval(b, NAN, NAN, NAN, 0), "-", "nothing");
}

int main(void)
{
	test_bound();
	test_toggle();
	test_interval();
	return done_testing();
}
