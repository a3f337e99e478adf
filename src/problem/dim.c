#include "config.h"

#include "problem/dim.h"

#include <math.h>
#include <stdlib.h>

#define POLY_TERMS 16
#define POLY_FACTORS 8

/* coefficient * factor * factor ...; factors sorted by name. */
struct dim_term {
	int64_t coefficient;
	int factor_count;
	struct text factors[POLY_FACTORS];
};

/* Sum of terms, sorted, no two alike, none zero. Never a plain constant: that is DIM_KNOWN. */
struct dim_poly {
	int count;
	struct dim_term terms[POLY_TERMS];
};

struct dim dim_known(int64_t value)
{
	return (struct dim){ .kind = DIM_KNOWN, .value = value, .upper = value };
}

struct dim dim_unknown(void)
{
	return (struct dim){ .kind = DIM_UNKNOWN, .upper = -1 };
}

struct dim dim_unknown_upto(int64_t upper)
{
	return (struct dim){ .kind = DIM_UNKNOWN, .upper = upper };
}

/* Longer products first, then by name: "batch*sequence+batch+1". */
static int term_compare(const struct dim_term *x, const struct dim_term *y)
{
	if (x->factor_count != y->factor_count)
		return x->factor_count > y->factor_count ? -1 : 1;
	for (int i = 0; i < x->factor_count; i++) {
		int c = text_compare(x->factors[i], y->factors[i]);
		if (c)
			return c;
	}
	return 0;
}

static void term_text(const struct dim_term *t, bool first, struct str *out)
{
	int64_t c = t->coefficient;
	if (c < 0)
		str_add(out, "-", 1);
	else if (!first)
		str_add(out, "+", 1);
	uint64_t size = c < 0 ? -(uint64_t)c : (uint64_t)c;
	bool shown = size != 1 || t->factor_count == 0;
	if (shown)
		str_addf(out, "%llu", (unsigned long long)size);
	for (int i = 0; i < t->factor_count; i++) {
		if (shown || i)
			str_add(out, "*", 1);
		str_add(out, t->factors[i].p, t->factors[i].n);
	}
}

/* The dim a polynomial is: constant ones are known. */
static struct dim poly_dim(struct arena *a, const struct dim_poly *p, int64_t upper)
{
	if (p->count == 0)
		return dim_known(0);
	if (p->count == 1 && p->terms[0].factor_count == 0)
		return dim_known(p->terms[0].coefficient);
	struct dim_poly *kept = ARENA_NEW(a, struct dim_poly);
	*kept = *p;
	struct str s = { 0 };
	for (int i = 0; i < p->count; i++)
		term_text(&p->terms[i], i == 0, &s);
	struct text text = { arena_strndup(a, s.p, s.n), s.n };
	str_free(&s);
	return (struct dim){ .kind = DIM_SYMBOLIC, .text = text, .poly = kept, .upper = upper };
}

struct dim dim_symbol(struct arena *a, struct text name)
{
	if (!name.n)
		return dim_unknown();
	struct dim_poly p = { .count = 1 };
	p.terms[0] = (struct dim_term){ .coefficient = 1, .factor_count = 1 };
	p.terms[0].factors[0] = (struct text){ arena_strndup(a, name.p, name.n), name.n };
	return poly_dim(a, &p, -1);
}

/* false: unknown dims have none. */
static bool dim_poly(struct dim x, struct dim_poly *p)
{
	if (x.kind == DIM_UNKNOWN)
		return false;
	if (x.kind == DIM_SYMBOLIC) {
		*p = *x.poly;
	} else {
		*p = (struct dim_poly){ .count = x.value != 0 };
		p->terms[0].coefficient = x.value;
	}
	return true;
}

/* Adds a term, keeping the order; false on overflow. */
static bool poly_add_term(struct dim_poly *p, const struct dim_term *t)
{
	int at = 0;
	while (at < p->count && term_compare(&p->terms[at], t) < 0)
		at++;
	if (at < p->count && term_compare(&p->terms[at], t) == 0) {
		int64_t *c = &p->terms[at].coefficient;
		if (__builtin_add_overflow(*c, t->coefficient, c))
			return false;
		if (*c == 0) {
			for (int i = at; i + 1 < p->count; i++)
				p->terms[i] = p->terms[i + 1];
			p->count--;
		}
		return true;
	}
	if (p->count == POLY_TERMS)
		return false;
	for (int i = p->count; i > at; i--)
		p->terms[i] = p->terms[i - 1];
	p->terms[at] = *t;
	p->count++;
	return true;
}

static bool term_multiply(struct dim_term *x, const struct dim_term *y)
{
	if (x->factor_count + y->factor_count > POLY_FACTORS ||
		__builtin_mul_overflow(x->coefficient, y->coefficient, &x->coefficient))
		return false;
	for (int i = 0; i < y->factor_count; i++) {
		int at = x->factor_count++;
		for (; at > 0 && text_compare(x->factors[at - 1], y->factors[i]) > 0; at--)
			x->factors[at] = x->factors[at - 1];
		x->factors[at] = y->factors[i];
	}
	return true;
}

/* x / y where it divides exactly. */
static bool term_divide(struct dim_term *x, const struct dim_term *y)
{
	if (y->coefficient == 0 || (y->coefficient == -1 && x->coefficient == INT64_MIN) ||
		x->coefficient % y->coefficient)
		return false;
	x->coefficient /= y->coefficient;
	for (int i = 0; i < y->factor_count; i++) {
		int at = 0;
		while (at < x->factor_count && !text_equal(x->factors[at], y->factors[i]))
			at++;
		if (at == x->factor_count)
			return false;
		for (x->factor_count--; at < x->factor_count; at++)
			x->factors[at] = x->factors[at + 1];
	}
	return true;
}

static int64_t upper_of(struct dim x, struct dim y, bool product)
{
	int64_t upper;
	if (x.upper < 0 || y.upper < 0)
		return -1;
	bool overflow = product ? __builtin_mul_overflow(x.upper, y.upper, &upper)
				: __builtin_add_overflow(x.upper, y.upper, &upper);
	return overflow ? -1 : upper;
}

static struct dim dim_add_scaled(struct arena *a, struct dim x, struct dim y, int64_t sign)
{
	struct dim_poly p, q;
	int64_t upper = sign > 0 ? upper_of(x, y, false) : -1;
	if (!dim_poly(x, &p) || !dim_poly(y, &q))
		return dim_unknown_upto(upper);
	for (int i = 0; i < q.count; i++) {
		struct dim_term t = q.terms[i];
		if (__builtin_mul_overflow(t.coefficient, sign, &t.coefficient) || !poly_add_term(&p, &t))
			return dim_unknown();
	}
	return poly_dim(a, &p, upper);
}

struct dim dim_add(struct arena *a, struct dim x, struct dim y)
{
	return dim_add_scaled(a, x, y, 1);
}

struct dim dim_sub(struct arena *a, struct dim x, struct dim y)
{
	return dim_add_scaled(a, x, y, -1);
}

struct dim dim_mul(struct arena *a, struct dim x, struct dim y)
{
	struct dim_poly p, q, product = { 0 };
	int64_t upper = upper_of(x, y, true);
	if ((x.kind == DIM_KNOWN && x.value == 0) || (y.kind == DIM_KNOWN && y.value == 0))
		return dim_known(0);
	if (!dim_poly(x, &p) || !dim_poly(y, &q))
		return dim_unknown_upto(upper);
	for (int i = 0; i < p.count; i++)
		for (int j = 0; j < q.count; j++) {
			struct dim_term t = p.terms[i];
			if (!term_multiply(&t, &q.terms[j]) || !poly_add_term(&product, &t))
				return dim_unknown();
		}
	return poly_dim(a, &product, upper);
}

static struct dim dim_div_known(int64_t x, int64_t y)
{
	if (y == -1)
		return x == INT64_MIN ? dim_unknown() : dim_known(-x);
	int64_t quotient = x / y;
	if (x % y != 0 && (x < 0) != (y < 0))
		quotient--;
	return dim_known(quotient);
}

struct dim dim_div(struct arena *a, struct dim x, struct dim y)
{
	struct dim_poly p, q, quotient = { 0 };
	if (!dim_poly(x, &p) || !dim_poly(y, &q) || q.count == 0)
		return dim_unknown();
	if (x.kind == DIM_KNOWN && y.kind == DIM_KNOWN)
		return dim_div_known(x.value, y.value);
	if (dim_same(x, y))
		return dim_known(1);
	if (q.count != 1)
		return dim_unknown();
	for (int i = 0; i < p.count; i++) {
		struct dim_term t = p.terms[i];
		if (!term_divide(&t, &q.terms[0]) || !poly_add_term(&quotient, &t))
			return dim_unknown();
	}
	return poly_dim(a, &quotient, -1);
}

bool dim_same(struct dim x, struct dim y)
{
	if (x.kind != y.kind || x.kind == DIM_UNKNOWN)
		return false;
	if (x.kind == DIM_KNOWN)
		return x.value == y.value;
	if (x.poly == y.poly)
		return true;
	if (x.poly->count != y.poly->count)
		return false;
	for (int i = 0; i < x.poly->count; i++)
		if (x.poly->terms[i].coefficient != y.poly->terms[i].coefficient ||
			term_compare(&x.poly->terms[i], &y.poly->terms[i]) != 0)
			return false;
	return true;
}

bool dim_differs(struct dim x, struct dim y)
{
	return x.kind == DIM_KNOWN && y.kind == DIM_KNOWN && x.value != y.value;
}

static const struct dim_binding *binding_find(const struct dim_binding *bindings, int count, struct text name)
{
	for (int i = 0; i < count; i++)
		if (text_equal(bindings[i].name, name))
			return &bindings[i];
	return NULL;
}

struct dim dim_bind(struct arena *a, struct dim x, const struct dim_binding *bindings, int count)
{
	if (x.kind != DIM_SYMBOLIC)
		return x;
	struct dim_poly bound = { 0 };
	for (int i = 0; i < x.poly->count; i++) {
		const struct dim_term *from = &x.poly->terms[i];
		struct dim_term t = { .coefficient = from->coefficient };
		for (int j = 0; j < from->factor_count; j++) {
			const struct dim_binding *b = binding_find(bindings, count, from->factors[j]);
			if (!b)
				t.factors[t.factor_count++] = from->factors[j];
			else if (__builtin_mul_overflow(t.coefficient, b->value, &t.coefficient))
				return dim_unknown();
		}
		if (t.coefficient && !poly_add_term(&bound, &t))
			return dim_unknown();
	}
	return poly_dim(a, &bound, x.upper);
}

struct text dim_first_symbol(struct dim x)
{
	if (x.kind == DIM_SYMBOLIC)
		for (int i = 0; i < x.poly->count; i++)
			if (x.poly->terms[i].factor_count)
				return x.poly->terms[i].factors[0];
	return (struct text){ "", 0 };
}

struct shape shape_make(struct arena *a, int rank)
{
	struct shape s = { .rank = rank };
	if (rank >= 0)
		s.dims = ARENA_ARRAY(a, struct dim, rank);
	for (int i = 0; i < rank; i++)
		s.dims[i] = dim_unknown();
	return s;
}

struct shape shape_known(struct arena *a, int rank, const int64_t *dims)
{
	struct shape s = shape_make(a, rank);
	for (int i = 0; i < rank; i++)
		s.dims[i] = dim_known(dims[i]);
	return s;
}

bool shape_is_known(struct shape s)
{
	for (int i = 0; i < s.rank; i++)
		if (s.dims[i].kind != DIM_KNOWN)
			return false;
	return s.rank >= 0;
}

struct dim shape_elements(struct arena *a, struct shape s)
{
	if (s.rank < 0)
		return dim_unknown();
	struct dim product = dim_known(1);
	for (int i = 0; i < s.rank; i++)
		product = dim_mul(a, product, s.dims[i]);
	return product;
}

double shape_count(struct shape s)
{
	double count = s.rank < 0 ? NAN : 1;
	for (int i = 0; i < s.rank; i++)
		count *= s.dims[i].kind == DIM_KNOWN ? (double)s.dims[i].value : NAN;
	return count;
}

char *shape_text(struct arena *a, struct shape s)
{
	if (s.rank < 0)
		return arena_strndup(a, "?", 1);
	if (s.rank == 0)
		return arena_strndup(a, "scalar", 6);
	struct str out = { 0 };
	for (int i = 0; i < s.rank; i++) {
		if (i)
			str_add(&out, "x", 1);
		if (s.dims[i].kind == DIM_KNOWN)
			str_addf(&out, "%lld", (long long)s.dims[i].value);
		else if (s.dims[i].kind == DIM_SYMBOLIC) {
			const char *clean = text_clean(a, s.dims[i].text);
			bool simple = s.dims[i].poly->count == 1;
			str_addf(&out, simple ? "%s" : "(%s)", clean);
		} else
			str_add(&out, "?", 1);
	}
	char *text = arena_strndup(a, out.p, out.n);
	str_free(&out);
	return text;
}
