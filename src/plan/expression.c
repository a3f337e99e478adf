/* Names of dimensions that are expressions of other dimensions, as exporters and shape inference write them:
 * "past + sequence", "(height - 1)//2 + 1", "floor(width/2 - 1/2)", "Max(1, n)". A recursive-descent parser
 * evaluates them while reading; values are fractions until floor, ceil or the end. */
#include "config.h"

#include "plan/plan_private.h"

#include <string.h>

#define DEPTH_MAX 16

/* An intermediate value: whole / by, by >= 1. */
struct fraction {
	struct dim whole;
	int64_t by;
};

struct reader {
	struct arena *a;
	const char *at, *end;
	int depth;
	struct dim (*symbol)(const void *with, struct text name);
	const void *with;
};

static const struct fraction nothing = { .whole = { .kind = DIM_UNKNOWN, .upper = -1 }, .by = 1 };

static void spaces_skip(struct reader *r)
{
	while (r->at < r->end && *r->at == ' ')
		r->at++;
}

/* Skips `word` if it comes next. */
static bool next_is(struct reader *r, const char *word)
{
	size_t n = strlen(word);
	spaces_skip(r);
	if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n) != 0)
		return false;
	r->at += n;
	return true;
}

/* ---- arithmetic */

/* x/a + y/b = (x*b + y*a) / (a*b); over a common denominator only the numerators are added. Fractions are
 * not reduced: the final division does that. Overflow of the denominator gives unknown. */
static struct fraction sum_of(struct arena *a, struct fraction x, struct fraction y, bool minus)
{
	int64_t by = x.by;
	if (x.by != y.by) {
		if (__builtin_mul_overflow(x.by, y.by, &by))
			return nothing;
		x.whole = dim_mul(a, x.whole, dim_known(y.by));
		y.whole = dim_mul(a, y.whole, dim_known(x.by));
	}
	return (struct fraction){ minus ? dim_sub(a, x.whole, y.whole) : dim_add(a, x.whole, y.whole), by };
}

static struct fraction product_of(struct arena *a, struct fraction x, struct fraction y)
{
	int64_t by;
	if (__builtin_mul_overflow(x.by, y.by, &by))
		return nothing;
	return (struct fraction){ dim_mul(a, x.whole, y.whole), by };
}

/* Division by a positive integer multiplies the denominator, so "width/2 - 1/2" stays exact until a
 * floor. An expression as divisor must divide without remainder (dim_div); other quotients are unknown. */
static struct fraction quotient_of(struct arena *a, struct fraction x, struct fraction y)
{
	int64_t by;
	if (y.by == 1 && y.whole.kind == DIM_KNOWN && y.whole.value > 0)
		return __builtin_mul_overflow(x.by, y.whole.value, &by) ? nothing :
			(struct fraction){ x.whole, by };
	if (x.by != 1 || y.by != 1 || x.whole.kind == DIM_KNOWN)
		return nothing;
	return (struct fraction){ dim_div(a, x.whole, y.whole), 1 };
}

/* floor((x/a) / (y/b)) = floor(x*b / (y*a)): one rounded division of dimensions, so that rounding happens
 * once and exactly. */
static struct fraction floor_of(struct arena *a, struct fraction x, struct fraction y)
{
	struct dim below = dim_mul(a, y.whole, dim_known(x.by));
	return (struct fraction){ dim_floor_div(a, dim_mul(a, x.whole, dim_known(y.by)), below), 1 };
}

static struct fraction extreme_of(struct arena *a, struct fraction x, struct fraction y, bool smaller)
{
	if (x.by != 1 || y.by != 1)
		return nothing;
	return (struct fraction){ smaller ? dim_min(a, x.whole, y.whole) : dim_max(a, x.whole, y.whole), 1 };
}

/* ---- reading */

static struct fraction read_sum(struct reader *r);

/* call = name "(" sum { "," sum } ")" for min and max; FloorDiv has two arguments, floor and ceiling one.
 * Names as sympy, PyTorch and ONNX Runtime write them. An unknown function gives unknown. */
static struct fraction read_call(struct reader *r, struct text name)
{
	struct fraction one = { dim_known(1), 1 }, x = read_sum(r);
	bool min = text_is(name, "min") || text_is(name, "Min"),
		max = text_is(name, "max") || text_is(name, "Max");
	while ((min || max) && next_is(r, ","))
		x = extreme_of(r->a, x, read_sum(r), min);
	if (text_is(name, "FloorDiv") && next_is(r, ","))
		x = floor_of(r->a, x, read_sum(r));
	else if (text_is(name, "floor"))
		x = floor_of(r->a, x, one);
	else if (text_is(name, "ceiling") || text_is(name, "ceil"))
		x = (struct fraction){ dim_ceil_div(r->a, x.whole, x.by), 1 };
	else if (!min && !max)
		return nothing;
	return next_is(r, ")") ? x : nothing;
}

/* factor = "-" factor | "(" sum ")" | name "(" ... | name | number. A name ends at an operator or
 * bracket, so it may contain spaces and dots, as exporters write them. Each level of brackets counts
 * toward DEPTH_MAX, which limits the recursion. */
static struct fraction read_factor(struct reader *r)
{
	if (r->depth >= DEPTH_MAX)
		return nothing;
	if (next_is(r, "-"))
		return product_of(r->a, (struct fraction){ dim_known(-1), 1 }, read_factor(r));
	if (next_is(r, "(")) {
		struct fraction inside = read_sum(r);
		return next_is(r, ")") ? inside : nothing;
	}
	spaces_skip(r);
	struct text word = { r->at, 0 };
	while (r->at < r->end && !memchr("+-*/%(),", *r->at, 8))
		r->at++;
	word.n = (size_t)(r->at - word.p);
	while (word.n && word.p[word.n - 1] == ' ')
		word.n--;
	int64_t number;
	if (next_is(r, "("))
		return read_call(r, word);
	return (struct fraction){ text_to_int64(word, &number) ? dim_known(number) : r->symbol(r->with, word),
		1 };
}

/* product = factor { ("*" | "//" | "/") factor }, evaluated from the left. "//" is tested before "/". */
static struct fraction read_product(struct reader *r)
{
	struct fraction x = read_factor(r);
	for (;;) {
		if (next_is(r, "*"))
			x = product_of(r->a, x, read_factor(r));
		else if (next_is(r, "//"))
			x = floor_of(r->a, x, read_factor(r));
		else if (next_is(r, "/"))
			x = quotient_of(r->a, x, read_factor(r));
		else
			return x;
	}
}

/* sum = product { ("+" | "-") product }, evaluated from the left: recursive descent with one function per
 * level of precedence (Aho, Lam, Sethi, Ullman, Compilers, 4.4). Linear in the length of the text, apart
 * from the arithmetic. */
static struct fraction read_sum(struct reader *r)
{
	r->depth++;
	struct fraction x = read_product(r);
	for (;;) {
		if (next_is(r, "+")) {
			x = sum_of(r->a, x, read_product(r), false);
		} else if (next_is(r, "-")) {
			x = sum_of(r->a, x, read_product(r), true);
		} else {
			r->depth--;
			return x;
		}
	}
}

/* Parses and evaluates in one pass. A fraction that remains at the end must be an integer for all sizes:
 * it is divided with rounding, multiplied back and compared. Unknown for text after the expression, for
 * functions that are not supported, and for sizes that are not integers. */
struct dim expression_dim(struct arena *a, struct text t,
	struct dim (*symbol)(const void *with, struct text name), const void *with)
{
	struct reader r = { .a = a, .at = t.p, .end = t.p + t.n, .symbol = symbol, .with = with };
	struct fraction x = read_sum(&r);
	spaces_skip(&r);
	/* a fraction that remains must be an integer for all sizes: divide, multiply back and compare */
	struct dim by = dim_known(x.by), d = x.by == 1 ? x.whole : dim_floor_div(a, x.whole, by);
	return r.at == r.end && (x.by == 1 || dim_same(dim_mul(a, d, by), x.whole)) ? d : dim_unknown();
}
