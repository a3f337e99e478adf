/* What the header says: unknown, partial, unsupported, complete. */
#include "config.h"

#include "ui/model/say.h"

#include "tap.h"

#include <math.h>

static const char *gap(const struct bound_says *b, int form)
{
	static char text[SAY_GAP];
	return say_gap(text, b, form);
}

static void test_bound(void)
{
	struct analysis a = {
		.total_ns = NAN, .border_ns = NAN, .coverage = { .layers = 175, .missing = 170, .free = 5 }
	};
	struct bound_says b = say_bound(&a, 3);
	is_int(b.known, KNOWN_NONE, "nothing is known");
	is_str(gap(&b, 0), "170 of 172 layers to measure", "missing; folded ones are not counted");
	is_str(gap(&b, 2), "170/172 to measure", "in few words");
	ok(b.casts_ns == 0, "casts that nobody knows are not shown");

	a.coverage.missing = 0;
	a.coverage.unsupported = 174;
	b = say_bound(&a, 0);
	is_str(gap(&b, 0), "174 of 175 layers n/a", "unsupported is not \"to measure\"");

	a.coverage.missing = 1;
	a.coverage.unsupported = 2;
	a.total_ns = 5;
	b = say_bound(&a, 0);
	is_int(b.known, KNOWN_PARTLY, "a part is known");
	is_str(b.least, "at least ", "a sum with gaps is a lower bound");
	a.estimated = true;
	is_str(say_bound(&a, 0).least, "partial ~", "with estimates it is not");
	a.estimated = false;
	is_str(gap(&b, 0), "1 of 175 layers to measure, 2 n/a", "apart");
	is_str(gap(&b, 1), "1/175 to measure, 2 n/a", "shorter");
	is_str(gap(&b, 2), "1/175 to measure", "shortest");

	a.coverage = (struct coverage){ .layers = 9, .measured = 9 };
	b = say_bound(&a, 0);
	is_str(gap(&b, 0), "casts not measured", "every layer, but not the border");

	a.complete = true;
	a.border_ns = 7;
	a.coverage.proxy = 2;
	b = say_bound(&a, 0);
	ok(b.known == KNOWN_ALL && b.casts_ns == 7, "complete, with casts");
	is_str(gap(&b, 0), "all 9 layers known, 2 by proxy", "and said so");
	is_str(gap(&b, 1), "9 layers known", "shorter");

	a.coverage = (struct coverage){ .layers = 9, .estimated = 5, .free = 3, .fused = 2 };
	b = say_bound(&a, 1);
	is_str(gap(&b, 0), "all 5 layers estimated, 4 free", "those that take no time are no gaps");
	is_str(gap(&b, 1), "all 5 estimated", "shorter");
	a.coverage.measured = 1;
	a.coverage.fused = 0;
	b = say_bound(&a, 1);
	is_str(gap(&b, 0), "5 of 8 layers estimated", "others are measured");

	a.coverage = (struct coverage){ .layers = 3, .measured = 3, .mistrusted = 1, .noisy = 1 };
	b = say_bound(&a, 0);
	is_str(gap(&b, 0), "all 3 layers known, 1 to measure, 1 suspect",
		"noisy and suspect layers are counted");
	is_str(gap(&b, 2), "1/3 to measure", "and are what is left when it gets narrow");
	a.complete = false;
	a.coverage = (struct coverage){ .layers = 5, .measured = 3, .missing = 2,
		.mistrusted = 1, .noisy = 1 };
	b = say_bound(&a, 0);
	b.failed = 1;
	is_str(gap(&b, 0), "2 of 5 layers to measure, 1 failed, 1 suspect",
		"missing and noisy ones in one count, failed ones apart");
}

static const char *real(const struct reality *y, const struct analysis *a, int layers, bool brief)
{
	static char text[SAY_REAL];
	return say_real(text, y, a, layers, brief);
}

static void test_real(void)
{
	struct execution e = execution_new();
	struct analysis a = { .total_ns = 39e6, .complete = true };
	struct reality y = { .execution = &e, .from = MEASURED_LATENCY, .measured_ns = 40.6e6,
		.ratio = 39 / 40.6 };
	e.stats.stop = STOP_CONVERGED;
	is_str(real(&y, &a, 0, false), "real 40.6 ms  ratio 0.96", "a latency beside a complete bound");
	is_str(real(&y, &a, 2, false), "real 40.6 ms  ratio 0.96  2 contradicted",
		"with contradicted layers");
	is_str(real(&y, &a, 2, true), "real 40.6 ms", "in few words");
	y.bound_estimated = true;
	is_str(real(&y, &a, 0, false), "real 40.6 ms  ratio ~0.96", "an estimated bound");
	y.bound_estimated = false;
	e.stats.stop = STOP_DISTURBED;
	is_str(real(&y, &a, 0, false), "real 40.6 ms noisy  ratio 0.96", "noisy samples");
	y.from = MEASURED_SUM;
	is_str(real(&y, &a, 0, false), "real ~40.6 ms  ratio ~0.96", "a sum of layers is an estimate");
	y.from = MEASURED_LATENCY;
	e.stats.stop = STOP_CONVERGED;
	y.ratio = 1.08;
	y.contradicted = true;
	is_str(real(&y, &a, 0, false), "real 40.6 ms  ratio 1.08 contradicted", "the whole is contradicted");
	y.ratio = 0.012;
	y.contradicted = false;
	is_str(real(&y, &a, 0, false), "real 40.6 ms  ratio 0.012", "small ratios have more digits");
	a.complete = false;
	is_str(real(&y, &a, 1, false), "real 40.6 ms  1 contradicted", "no ratio of a bound with gaps");
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
		{ true, false, 4, 0, GAIN_PARTLY, "sums with gaps that cannot be filled" },
		{ true, true, 4, 1, GAIN_UNKNOWN, "a difference of partial sums is no saving" },
		{ true, true, -4, 0, GAIN_KNOWN, "known to cost" },
		{ true, true, 0, 0, GAIN_KNOWN, "known to change nothing" },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct what_if_effect e = { .available = cases[i].available, .complete = cases[i].complete,
			.saves_ns = cases[i].saves, .unmeasured_problems = cases[i].wanted };
		is_int(say_toggle(&e, true).gain, cases[i].gain, "%s", cases[i].what);
		is_int(say_toggle(&e, false).gain, cases[i].wanted ? GAIN_ABSENT : cases[i].gain,
			"%s: where nothing can be measured", cases[i].what);
	}
	struct what_if_effect quick = { .available = true, .complete = true, .saves_ns = 40, .rough = true,
		.unmeasured_problems = 3 };
	is_int(say_toggle(&quick, true).gain, GAIN_ROUGH, "of quick measurements");
	is_int(say_toggle(&quick, false).gain, GAIN_ROUGH, "also where nothing more can be measured");
	quick.saves_ns = NAN;
	is_int(say_toggle(&quick, true).gain, GAIN_UNKNOWN, "different gaps have no difference");
	struct what_if_effect later = { .available = true, .pending = true, .saves_ns = NAN };
	is_int(say_toggle(&later, true).gain, GAIN_PENDING, "computed after the frame");
	later.available = false;
	is_int(say_toggle(&later, true).gain, GAIN_ABSENT, "what does not apply is known at once");
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
	is_str(say_interval(b, 1000, 990, 17000, 52), "1.00 us  990 ns..17.0 us",
		"one that would reach below nothing");
	is_str(say_interval(b, 1000, NAN, 1020, 24), "1.00 us", "none");
	is_str(say_interval(b, NAN, NAN, NAN, 0), "-", "nothing");
}

int main(void)
{
	test_bound();
	test_real();
	test_toggle();
	test_interval();
	return done_testing();
}
