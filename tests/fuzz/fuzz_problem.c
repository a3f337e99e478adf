/* Bytes are texts of problems, one a line. What parses has one spelling, costs that are numbers, operands,
 * and a twin in the other layout that is a problem, too. */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "problem/problem_private.h"

#include <math.h>
#include <string.h>

static void check_figures(const struct problem *p)
{
	FUZZ_CHECK(problem_flops(p) >= 0 && isfinite(problem_flops(p)));
	FUZZ_CHECK(problem_bytes(p) >= 0 && isfinite(problem_bytes(p)));
	FUZZ_CHECK(problem_constant_bytes(p) >= 0);
	FUZZ_CHECK(problem_has_constant(p) || problem_constant_bytes(p) == 0);
	for (int i = 0; i < problem_operand_count(p); i++) {
		struct problem_shape s = problem_operand_shape(p, i);
		FUZZ_CHECK(s.rank >= 0 && s.rank <= PROBLEM_RANK);
		for (int j = 0; j < s.rank; j++)
			FUZZ_CHECK(s.dim[j] >= 0);
	}
}

static void check_round(const struct problem *p)
{
	struct problem back;
	struct error err = ERROR_NONE;
	char text[PROBLEM_TEXT_SIZE], again[PROBLEM_TEXT_SIZE];
	if (problem_format(p, text, &err)) {
		fuzz_check_line(err.text);
		return;
	}
	FUZZ_CHECK(problem_parse(text_of(text), &back, &err) == 0);
	FUZZ_CHECK(problem_format(&back, again, &err) == 0 && strcmp(text, again) == 0);
	check_figures(&back);
}

static void check_text(struct text t)
{
	struct problem p, other;
	struct error err = ERROR_NONE;
	char text[PROBLEM_TEXT_SIZE];
	if (problem_parse(t, &p, &err)) {
		fuzz_check_line(err.text);
		return;
	}
	FUZZ_CHECK(problem_check(&p, &err) == 0);
	FUZZ_CHECK(problem_format(&p, text, &err) == 0);
	FUZZ_CHECK(strlen(text) == t.n && memcmp(text, t.p, t.n) == 0);
	check_figures(&p);
	for (enum layout l = LAYOUT_ANY; l <= LAYOUT_NXC; l++) {
		other = p;
		problem_set_layout(&other, l);
		check_round(&other);
	}
	if (plan_twin(&p, &other))
		check_round(&other);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	for (size_t at = 0; at < n;) {
		const uint8_t *end = memchr(bytes + at, '\n', n - at);
		size_t length = end ? (size_t)(end - bytes) - at : n - at;
		check_text((struct text){ (const char *)bytes + at, length });
		at += length + 1;
	}
	return 0;
}
