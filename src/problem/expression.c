/* One recursive-descent parser for two dialects, which evaluates while reading. Names of dimensions may have
 * any bytes besides operators and brackets, and what is not understood is unknown; in what users write names
 * are identifiers, there are lists, and what is not understood is an error. Values are fractions until floor,
 * ceil or the end. */
#include "config.h"

#include "problem/expression.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define DEPTH_MAX 16
#define FRACTION_BITS 53

struct reader {
	struct arena *a;
	const char *begin, *at, *end;
	int depth;
	/* names of dimensions */
	struct dim (*symbol)(const void *with, struct text name);
	/* what users write */
	expression_name *get;
	const void *with;
	struct error *err;
	bool failed;
	int items; /* of lists made so far */
};

static const struct computed nothing = { .number = { .kind = DIM_UNKNOWN, .upper = -1 }, .by = 1 };

struct computed expression_number(struct dim d)
{
	return (struct computed){ .number = d, .by = 1 };
}

struct computed expression_list(int count, const struct dim *items)
{
	return (struct computed){ .kind = EXPRESSION_LIST, .count = count, .items = items, .by = 1 };
}

int expression_double(double number, struct computed *v, struct error *err)
{
	int64_t by = 1;
	for (int i = 0; i < FRACTION_BITS && number != floor(number); i++) {
		number *= 2;
		by *= 2;
	}
	if (!(fabs(number) < 0x1p62) || number != floor(number))
		return error_set(err, "the number is not exactly representable");
	*v = (struct computed){ .number = dim_known((int64_t)number), .by = by };
	return 0;
}

/* The value of something that is not understood. Users are told where: the first failure counts. */
static struct computed fail(struct reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static struct computed fail(struct reader *r, const char *fmt, ...)
{
	char text[ERROR_TEXT_SIZE];
	if (!r->get || r->failed)
		return nothing;
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	error_set(r->err, "at character %td: %s", r->at - r->begin + 1, text);
	r->failed = true;
	r->at = r->end;
	return nothing;
}

static void spaces_skip(struct reader *r)
{
	while (r->at < r->end && (*r->at == ' ' || (r->get && strchr("\t\r\n", *r->at) && *r->at)))
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

/* The same for a list of the dialect of users; the other has no brackets of this kind. */
static bool list_is(struct reader *r, const char *word)
{
	return r->get && next_is(r, word);
}

static struct computed expect(struct reader *r, const char *word, struct computed v)
{
	return next_is(r, word) ? v : fail(r, "\"%s\" is expected", word);
}

/* ---- arithmetic */

static int64_t common_divisor(int64_t x, int64_t y)
{
	while (y) {
		int64_t rest = x % y;
		x = y;
		y = rest;
	}
	return x;
}

/* Known fractions in lowest terms; others are not reduced: the final division does that. */
static struct computed fraction(struct dim whole, int64_t by)
{
	int64_t most = by > 1 && whole.kind == DIM_KNOWN && whole.value != INT64_MIN ?
		common_divisor(by, whole.value < 0 ? -whole.value : whole.value) : 1;
	return (struct computed){ .number = most > 1 ? dim_known(whole.value / most) : whole,
		.by = by / most };
}

/* Brings both to one denominator; false: it overflows. */
static bool made_alike(struct arena *a, struct computed *x, struct computed *y)
{
	int64_t by = x->by;
	if (x->by == y->by)
		return true;
	if (__builtin_mul_overflow(x->by, y->by, &by))
		return false;
	x->number = dim_mul(a, x->number, dim_known(y->by));
	y->number = dim_mul(a, y->number, dim_known(x->by));
	x->by = y->by = by;
	return true;
}

static struct computed product_of(struct arena *a, struct computed x, struct computed y)
{
	int64_t by;
	if (__builtin_mul_overflow(x.by, y.by, &by))
		return nothing;
	return fraction(dim_mul(a, x.number, y.number), by);
}

/* Division by a known number multiplies the denominator, so "width/2 - 1/2" stays exact until a floor. An
 * expression as divisor must divide without remainder (dim_div); other quotients are unknown. */
static struct computed quotient_of(struct arena *a, struct computed x, struct computed y)
{
	int64_t by;
	if (y.number.kind == DIM_KNOWN && y.number.value && y.number.value != INT64_MIN) {
		int64_t over = y.number.value < 0 ? -y.number.value : y.number.value;
		if (__builtin_mul_overflow(x.by, over, &by))
			return nothing;
		return fraction(dim_mul(a, x.number, dim_known(y.number.value < 0 ? -y.by : y.by)), by);
	}
	if (x.by != 1 || y.by != 1 || x.number.kind == DIM_KNOWN)
		return nothing;
	return expression_number(dim_div(a, x.number, y.number));
}

/* floor((x/a) / (y/b)) = floor(x*b / (y*a)): one rounded division of dimensions, so that rounding happens
 * once and exactly. */
static struct computed floor_of(struct arena *a, struct computed x, struct computed y)
{
	struct dim below = dim_mul(a, y.number, dim_known(x.by));
	return expression_number(dim_floor_div(a, dim_mul(a, x.number, dim_known(y.by)), below));
}

static struct computed rest_of(struct arena *a, struct computed x, struct computed y)
{
	struct computed whole = product_of(a, y, floor_of(a, x, y));
	return made_alike(a, &x, &whole) ? fraction(dim_sub(a, x.number, whole.number), x.by) : nothing;
}

/* op: the operator's character; 'f' of "//", '<' of min, '>' of max. */
static struct computed numbers_compute(struct arena *a, char op, struct computed x, struct computed y)
{
	switch (op) {
	case '*': return product_of(a, x, y);
	case '/': return quotient_of(a, x, y);
	case 'f': return floor_of(a, x, y);
	case '%': return rest_of(a, x, y);
	default: break;
	}
	if (!made_alike(a, &x, &y))
		return nothing;
	return fraction(op == '+' ? dim_add(a, x.number, y.number) : op == '-' ?
		dim_sub(a, x.number, y.number) : op == '<' ? dim_min(a, x.number, y.number) :
		dim_max(a, x.number, y.number), x.by);
}

static struct dim *items_new(struct reader *r, int count)
{
	r->items += count;
	return ARENA_ARRAY(r->a, struct dim, count);
}

static struct computed compute(struct reader *r, char op, struct computed x, struct computed y);

static struct dim scaled(struct reader *r, struct dim d, int64_t by)
{
	return compute(r, '*', expression_number(d), expression_number(dim_known(by))).number;
}

/* Appends an item; all get the denominator of the last one that needs another. */
static struct computed item_add(struct reader *r, struct computed list, struct dim *items, struct computed v)
{
	int64_t before = list.by, by = v.by / common_divisor(v.by, before);
	if (v.kind == EXPRESSION_ANY)
		v = nothing;
	if (__builtin_mul_overflow(list.by, by, &list.by))
		return fail(r, "the number does not fit 64 bits");
	for (int i = 0; i < list.count && list.by != before; i++)
		items[i] = scaled(r, items[i], list.by / before);
	items[list.count++] = scaled(r, v.number, list.by / v.by);
	return list;
}

static struct computed lists_join(struct reader *r, struct computed x, struct computed y)
{
	bool known = x.kind == EXPRESSION_LIST && y.kind == EXPRESSION_LIST && x.count >= 0 && y.count >= 0;
	if (!known)
		return (struct computed){ .kind = x.kind == y.kind ? x.kind : EXPRESSION_LIST, .count = -1,
			.by = 1 };
	if (r->items + x.count + y.count > EXPRESSION_ITEMS)
		return fail(r, "the lists have more than %d items together", EXPRESSION_ITEMS);
	struct dim *items = items_new(r, x.count + y.count);
	struct computed joined = expression_list(0, items);
	for (int i = 0; i < x.count + y.count; i++)
		joined = item_add(r, joined, items, i < x.count ?
			(struct computed){ .number = x.items[i], .by = x.by } :
			(struct computed){ .number = y.items[i - x.count], .by = y.by });
	return joined;
}

static struct computed compute(struct reader *r, char op, struct computed x, struct computed y)
{
	if (op == '+' && x.kind != EXPRESSION_NUMBER && y.kind != EXPRESSION_NUMBER)
		return lists_join(r, x, y);
	if (x.kind == EXPRESSION_LIST || y.kind == EXPRESSION_LIST)
		return fail(r, "a list where a number is needed");
	if (x.kind == EXPRESSION_ANY || y.kind == EXPRESSION_ANY)
		return nothing;
	bool known = x.number.kind == DIM_KNOWN && y.number.kind == DIM_KNOWN;
	if (strchr("/f%", op) && y.number.kind == DIM_KNOWN && !y.number.value)
		return fail(r, "a division by zero");
	struct computed v = numbers_compute(r->a, op, x, y);
	return known && v.number.kind != DIM_KNOWN ? fail(r, "the number does not fit 64 bits") : v;
}

/* ---- functions */

static struct computed read_sum(struct reader *r);

static struct computed read_number(struct reader *r)
{
	struct computed v = read_sum(r);
	return v.kind == EXPRESSION_LIST ? fail(r, "a list where a number is needed") : v;
}

static struct computed rounded_up(struct reader *r, struct computed x)
{
	struct computed minus = expression_number(dim_known(-1));
	if (!r->get)
		return expression_number(dim_ceil_div(r->a, x.number, x.by));
	struct computed down = compute(r, 'f', compute(r, '*', minus, x), expression_number(dim_known(1)));
	return compute(r, '*', minus, down);
}

/* rank(list), size(list) */
static struct computed read_measure(struct reader *r, bool rank)
{
	struct computed v = read_sum(r), all = expression_number(dim_known(1));
	if (v.kind == EXPRESSION_NUMBER)
		return fail(r, "a number where a list is needed");
	if (v.kind == EXPRESSION_ANY || v.count < 0)
		return nothing;
	for (int i = 0; i < v.count && !rank; i++)
		all = compute(r, '*', all, (struct computed){ .number = v.items[i], .by = v.by });
	return rank ? expression_number(dim_known(v.count)) : all;
}

static struct text read_word(struct reader *r);

/* function(name), asked of the caller. */
static struct computed read_asked(struct reader *r, struct text function)
{
	struct error why;
	struct computed v = nothing;
	struct text name = read_word(r);
	if (r->failed || !name.n)
		return fail(r, "%.*s takes a name", (int)(function.n < 40 ? function.n : 40), function.p);
	return r->get(r->with, function, name, &v, &why) ? fail(r, "%s", why.text) : v;
}

/* call = name "(" sum { "," sum } ")" for min and max; FloorDiv has two arguments, floor and ceiling one.
 * Names as sympy, PyTorch and ONNX Runtime write them. An unknown function gives unknown. */
static struct computed read_call(struct reader *r, struct text name)
{
	bool min = text_is(name, "min") || text_is(name, "Min"),
		max = text_is(name, "max") || text_is(name, "Max"), rank = text_is(name, "rank");
	bool floors = text_is(name, "floor"), ceils = text_is(name, "ceiling") || text_is(name, "ceil");
	struct computed x;
	if (r->get && (rank || text_is(name, "size")))
		x = read_measure(r, rank);
	else if (r->get && !min && !max && !floors && !ceils)
		x = read_asked(r, name);
	else
		x = read_number(r);
	while ((min || max) && next_is(r, ","))
		x = compute(r, min ? '<' : '>', x, read_number(r));
	if (text_is(name, "FloorDiv") && next_is(r, ","))
		x = compute(r, 'f', x, read_sum(r));
	else if (floors)
		x = compute(r, 'f', x, expression_number(dim_known(1)));
	else if (ceils)
		x = rounded_up(r, x);
	else if (!min && !max && !r->get)
		return nothing;
	return expect(r, ")", x);
}

/* ---- lists */

static struct computed read_list(struct reader *r)
{
	struct dim items[EXPRESSION_ITEMS];
	struct computed list = expression_list(0, items);
	if (next_is(r, "]"))
		return expression_list(0, items_new(r, 0));
	do {
		struct computed v = read_number(r);
		if (r->items + list.count >= EXPRESSION_ITEMS) /* an item may have made lists of its own */
			return fail(r, "the lists have more than %d items together", EXPRESSION_ITEMS);
		list = item_add(r, list, items, v);
	} while (next_is(r, ","));
	if (r->failed)
		return nothing;
	struct dim *kept = items_new(r, list.count);
	memcpy(kept, items, (size_t)list.count * sizeof(*kept));
	list.items = kept;
	return expect(r, "]", list);
}

/* *at: a known index into `count` items; with `slice` beyond the ends too. False: it is not known. */
static bool index_known(struct reader *r, struct computed i, bool slice, int count, int *at)
{
	struct dim d = { 0 };
	if (i.kind != EXPRESSION_NUMBER || r->failed)
		return false;
	if (expression_whole(r->a, &i, &d, r->err)) {
		fail(r, "%s", r->err->text);
		return false;
	}
	if (d.kind != DIM_KNOWN || count < 0)
		return false;
	int64_t from = d.value < 0 ? d.value + count : d.value;
	if (!slice && (from < 0 || from >= count)) {
		fail(r, "there is no item %" PRId64 " in a list of %d", d.value, count);
		return false;
	}
	*at = from < 0 ? 0 : from > count ? count : (int)from;
	return true;
}

/* After "[": index "]", or [ sum ] ":" [ sum ] "]". */
static struct computed read_index(struct reader *r, struct computed v)
{
	struct computed first = nothing, last = nothing;
	bool from = !next_is(r, ":"), slice = !from, to = false;
	if (v.kind == EXPRESSION_NUMBER)
		return fail(r, "a number has no items");
	if (from) {
		first = read_number(r);
		slice = next_is(r, ":");
	}
	if (slice && !next_is(r, "]")) {
		to = true;
		last = read_number(r);
	}
	if ((!slice || to) && !next_is(r, "]"))
		return fail(r, "\"]\" is expected");
	int count = v.kind == EXPRESSION_LIST ? v.count : -1, begin = 0, end = count;
	bool known = (!from || index_known(r, first, slice, count, &begin)) &&
		(!to || index_known(r, last, true, count, &end));
	if (!known || count < 0)
		return slice ? (struct computed){ .kind = EXPRESSION_LIST, .count = -1, .by = 1 } : nothing;
	if (!slice)
		return (struct computed){ .number = v.items[begin], .by = v.by };
	v.items += begin;
	v.count = end > begin ? end - begin : 0;
	return v;
}

/* ---- reading */

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* A name of a dimension ends at an operator or bracket, so it may contain spaces and dots, as exporters write
 * them. A user's name is an identifier. */
static struct text read_word(struct reader *r)
{
	spaces_skip(r);
	struct text word = { r->at, 0 };
	while (r->at < r->end && (r->get ? is_letter(*r->at) || (r->at > word.p && is_digit(*r->at)) :
			!memchr("+-*/%(),", *r->at, 8)))
		r->at++;
	word.n = (size_t)(r->at - word.p);
	while (word.n && word.p[word.n - 1] == ' ')
		word.n--;
	return word;
}

/* Digits with at most one point. */
static struct computed read_digits(struct reader *r)
{
	int64_t number = 0, by = 1;
	bool point = false, fits = true;
	for (; r->at < r->end && (is_digit(*r->at) || (*r->at == '.' && !point)); r->at++) {
		point |= *r->at == '.';
		if (*r->at == '.')
			continue;
		fits &= !__builtin_mul_overflow(number, 10, &number) &&
			!__builtin_add_overflow(number, *r->at - '0', &number) &&
			(!point || !__builtin_mul_overflow(by, 10, &by));
	}
	return fits ? fraction(dim_known(number), by) : fail(r, "the number does not fit 64 bits");
}

static struct computed read_part(struct reader *r)
{
	if (next_is(r, "(")) {
		struct computed inside = read_sum(r);
		return expect(r, ")", inside);
	}
	if (list_is(r, "["))
		return read_list(r);
	spaces_skip(r);
	if (r->get && r->at < r->end && is_digit(*r->at))
		return read_digits(r);
	const char *at = r->at;
	struct text word = read_word(r);
	int64_t number;
	if (next_is(r, "("))
		return read_call(r, word);
	if (!r->get)
		return expression_number(text_to_int64(word, &number) ? dim_known(number) :
			r->symbol(r->with, word));
	r->at = word.n ? at : r->at;
	struct error why;
	struct computed v = nothing;
	if (!word.n || r->get(r->with, TEXT(""), word, &v, &why))
		return fail(r, "%s", word.n ? why.text : "a number, a name or a list is expected");
	r->at = word.p + word.n;
	return v;
}

/* factor = "-" factor | part with indexes. Each level of brackets counts toward DEPTH_MAX, which limits the
 * recursion. */
static struct computed read_factor(struct reader *r)
{
	bool minus = false;
	if (r->depth >= DEPTH_MAX)
		return fail(r, "nested deeper than %d brackets", DEPTH_MAX);
	while (next_is(r, "-"))
		minus = !minus;
	struct computed v = read_part(r);
	while (list_is(r, "["))
		v = read_index(r, v);
	return minus ? compute(r, '*', expression_number(dim_known(-1)), v) : v;
}

/* product = factor { ("*" | "//" | "/" | "%") factor }, evaluated from the left. "//" is tested first. */
static struct computed read_product(struct reader *r)
{
	struct computed x = read_factor(r);
	for (;;) {
		if (next_is(r, "*"))
			x = compute(r, '*', x, read_factor(r));
		else if (next_is(r, "//"))
			x = compute(r, 'f', x, read_factor(r));
		else if (next_is(r, "/"))
			x = compute(r, '/', x, read_factor(r));
		else if (list_is(r, "%"))
			x = compute(r, '%', x, read_factor(r));
		else
			return x;
	}
}

/* sum = product { ("+" | "-") product }, evaluated from the left: recursive descent with one function per
 * level of precedence (Aho, Lam, Sethi, Ullman, Compilers, 4.4). Linear in the length of the text, apart
 * from the arithmetic. */
static struct computed read_sum(struct reader *r)
{
	r->depth++;
	struct computed x = read_product(r);
	for (;;) {
		if (next_is(r, "+")) {
			x = compute(r, '+', x, read_product(r));
		} else if (next_is(r, "-")) {
			x = compute(r, '-', x, read_product(r));
		} else {
			r->depth--;
			return x;
		}
	}
}

/* The dimension that a fraction is for all sizes: it is divided with rounding, multiplied back and
 * compared. */
static struct dim whole_of(struct arena *a, const struct computed *x)
{
	struct dim by = dim_known(x->by), d = x->by == 1 ? x->number : dim_floor_div(a, x->number, by);
	return x->by == 1 || dim_same(dim_mul(a, d, by), x->number) ? d : dim_unknown();
}

/* Unknown for text after the expression, for functions that are not supported, and for sizes that are not
 * integers. */
struct dim expression_dim(struct arena *a, struct text t,
	struct dim (*symbol)(const void *with, struct text name), const void *with)
{
	struct reader r = { .a = a, .begin = t.p, .at = t.p, .end = t.p + t.n, .symbol = symbol,
		.with = with };
	struct computed x = read_sum(&r);
	spaces_skip(&r);
	return r.at == r.end ? whole_of(a, &x) : dim_unknown();
}

int expression_read(struct arena *a, struct text t, expression_name *get, const void *with,
	struct computed *v, struct error *err)
{
	struct error why = ERROR_NONE;
	struct reader r = { .a = a, .begin = t.p, .at = t.p, .end = t.p + t.n, .get = get, .with = with,
		.err = &why };
	if (t.n > EXPRESSION_MOST)
		return error_set(err, "longer than %d characters", EXPRESSION_MOST);
	*v = read_sum(&r);
	spaces_skip(&r);
	if (!r.failed && r.at < r.end)
		fail(&r, "an operator or the end is expected");
	return r.failed ? error_set(err, "%s", why.text) : 0;
}

int expression_whole(struct arena *a, const struct computed *v, struct dim *whole, struct error *err)
{
	if (v->kind == EXPRESSION_LIST)
		return error_set(err, "a list where a number is needed");
	*whole = v->kind == EXPRESSION_ANY ? dim_unknown() : whole_of(a, v);
	if (v->kind == EXPRESSION_NUMBER && v->number.kind == DIM_KNOWN && whole->kind != DIM_KNOWN)
		return error_set(err, "%" PRId64 "/%" PRId64 " is not an integer; // rounds down",
			v->number.value, v->by);
	return 0;
}

int expression_amount(const struct computed *v, double *amount, struct error *err)
{
	if (v->kind == EXPRESSION_LIST)
		return error_set(err, "a list where a number is needed");
	*amount = v->kind == EXPRESSION_NUMBER && v->number.kind == DIM_KNOWN ?
		(double)v->number.value / (double)v->by : (double)NAN;
	return *amount < 0 ? error_set(err, "negative: %g", *amount) : 0;
}
