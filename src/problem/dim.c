/* Arithmetic on dimensions as polynomials in a canonical order of terms, so that equal expressions compare
 * equal. Exact; what overflows, or grows beyond the limits of terms, becomes unknown. */
#include "config.h"

#include "problem/dim.h"

#include "problem/dim_poly.h"

/* Longer functions become unknown: hostile models nest them without limit. */
#define ATOM_TEXT_MAX 200

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
	return (struct dim){ .kind = DIM_UNKNOWN, .upper = upper > DIM_UPPER_MOST ? -1 : upper };
}

static struct dim atom_dim(struct arena *a, const struct dim_atom *atom, int64_t upper)
{
	struct dim_poly p = { .count = 1 };
	p.terms[0] = (struct dim_term){ .coefficient = 1, .factor_count = 1, .factors = { atom } };
	return poly_dim(a, &p, upper);
}

struct dim dim_symbol(struct arena *a, struct text name)
{
	if (!name.n)
		return dim_unknown();
	struct dim_atom *atom = ARENA_NEW(a, struct dim_atom);
	atom->text = (struct text){ arena_strndup(a, name.p, name.n), name.n };
	return atom_dim(a, atom, -1);
}

struct text dim_expression(struct dim d)
{
	return d.kind == DIM_SYMBOLIC ? d.poly->text : TEXT("");
}

/* ---- sums, products, exact quotients */

/* Upper bound of x + y or x * y: the sum or product of their bounds, valid for dimensions >= 0; -1 (no
 * bound) if one has none or on overflow. One-sided interval arithmetic (Moore, Interval Analysis, 1966). */
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
	if (!poly_of(x, &p) || !poly_of(y, &q))
		return dim_unknown_upto(upper);
	return poly_add(&p, &q, sign) ? poly_dim(a, &p, upper) : dim_unknown();
}

struct dim dim_add(struct arena *a, struct dim x, struct dim y)
{
	return dim_add_scaled(a, x, y, 1);
}

struct dim dim_sub(struct arena *a, struct dim x, struct dim y)
{
	return dim_add_scaled(a, x, y, -1);
}

/* Multiplies every term of x with every term of y and merges the products: at most POLY_TERMS^2
 * insertions. Unknown if the result has too many terms or factors or a coefficient overflows. 0 times
 * unknown is 0: the tensor is empty. */
struct dim dim_mul(struct arena *a, struct dim x, struct dim y)
{
	struct dim_poly p, q, product = { 0 };
	int64_t upper = upper_of(x, y, true);
	if ((x.kind == DIM_KNOWN && x.value == 0) || (y.kind == DIM_KNOWN && y.value == 0))
		return dim_known(0);
	if (!poly_of(x, &p) || !poly_of(y, &q))
		return dim_unknown_upto(upper);
	for (int i = 0; i < p.count; i++)
		for (int j = 0; j < q.count; j++) {
			struct dim_term t = p.terms[i];
			if (!term_multiply(&t, &q.terms[j]) || !poly_add_term(&product, &t))
				return dim_unknown();
		}
	return poly_dim(a, &product, upper);
}

/* An upper bound of x / y, rounded down. */
static int64_t upper_quotient(struct dim x, struct dim y)
{
	return x.upper >= 0 && y.kind == DIM_KNOWN && y.value > 0 ? x.upper / y.value : -1;
}

/* Exact quotient, found term by term: y must be one term that divides every term of x, or equal x. A sum
 * as divisor of another sum (polynomial long division) is not attempted: shapes of models do not need it.
 * Two known values are rounded down. */
struct dim dim_div(struct arena *a, struct dim x, struct dim y)
{
	struct dim_poly p, q, quotient = { 0 };
	if (!poly_of(x, &p) || !poly_of(y, &q) || q.count == 0)
		return dim_unknown();
	if (x.kind == DIM_KNOWN && y.kind == DIM_KNOWN)
		return y.value == -1 && x.value == INT64_MIN ? dim_unknown()
							     : dim_known(floor_quotient(x.value, y.value));
	if (dim_same(x, y))
		return dim_known(1);
	if (q.count != 1)
		return dim_unknown();
	for (int i = 0; i < p.count; i++) {
		struct dim_term t = p.terms[i];
		if (!term_divide(&t, &q.terms[0]) || !poly_add_term(&quotient, &t))
			return dim_unknown();
	}
	return poly_dim(a, &quotient, upper_quotient(x, y));
}

/* ---- functions */

static bool dim_is_sum(struct dim d)
{
	return d.kind == DIM_SYMBOLIC && d.poly->count > 1;
}

static void operand_text(struct str *s, struct dim d, bool brackets)
{
	if (d.kind == DIM_KNOWN) {
		str_add_int(s, d.value);
		return;
	}
	str_add(s, "(", brackets);
	str_add(s, d.poly->text.p, d.poly->text.n);
	str_add(s, ")", brackets);
}

/* Makes floor(x/y), min(x,y) or max(x,y) an atom of a new polynomial of one term, with its text. Operands
 * of a floor are put in brackets where precedence requires it. Nested functions grow the text, so
 * ATOM_TEXT_MAX also limits depth and time. x and y are known or symbolic. */
static struct dim function_dim(
	struct arena *a, enum dim_atom_kind kind, struct dim x, struct dim y, int64_t upper)
{
	static const char *const names[] = { "", "floor", "min", "max" };
	struct str s = { 0 };
	bool quotient = kind == ATOM_FLOOR;
	if (dim_expression(x).n + dim_expression(y).n > ATOM_TEXT_MAX)
		return dim_unknown_upto(upper);
	str_addf(&s, "%s(", names[kind]);
	operand_text(&s, x, quotient && dim_is_sum(x));
	str_add(&s, quotient ? "/" : ",", 1);
	operand_text(&s, y, quotient && y.kind == DIM_SYMBOLIC &&
				    (dim_is_sum(y) || y.poly->terms[0].coefficient != 1 ||
					    y.poly->terms[0].factor_count != 1));
	str_add(&s, ")", 1);
	struct dim_atom *atom = ARENA_NEW(a, struct dim_atom);
	*atom = (struct dim_atom){ kind, { arena_strndup(a, s.p, s.n), s.n }, x, y };
	str_free(&s);
	return atom_dim(a, atom, upper);
}

/* Greatest common divisor by Euclid's algorithm (Knuth, The Art of Computer Programming, volume 2,
 * 4.5.2): O(log min(x, y)) divisions. Not negative; gcd(x, 0) = |x|. */
static int64_t common_divisor(int64_t x, int64_t y)
{
	while (y) {
		int64_t rest = x % y;
		x = y;
		y = rest;
	}
	return x < 0 ? -x : x;
}

/* Simplifies floor(p / by). Splits p = whole * by + rest with coefficients of rest from 0 to by - 1; then
 * divides rest (except its constant) and `by` by their common factor g: floor((g*p + c) / (g*q)) =
 * floor((p + floor(c/g)) / q). */
static bool poly_divide(const struct dim_poly *p, int64_t *by, struct dim_poly *whole, struct dim_poly *rest)
{
	int64_t common = *by;
	*whole = *rest = (struct dim_poly){ 0 };
	for (int i = 0; i < p->count; i++) {
		struct dim_term q = p->terms[i], r = p->terms[i];
		q.coefficient = floor_quotient(p->terms[i].coefficient, *by);
		r.coefficient -= q.coefficient * *by;
		if (r.factor_count)
			common = common_divisor(common, r.coefficient);
		if (!poly_add_term(whole, &q) || !poly_add_term(rest, &r))
			return false;
	}
	struct dim_poly reduced = { 0 };
	for (int i = 0; i < rest->count; i++) {
		struct dim_term t = rest->terms[i];
		t.coefficient /= common;
		if (!poly_add_term(&reduced, &t))
			return false;
	}
	*rest = reduced;
	*by /= common;
	return true;
}

/* Nested floors: floor((floor(x/m) + c) / by) = floor((x + c*m) / (m*by)). Sets that x and divisor if rest
 * has this form. */
static bool floor_nested(struct arena *a, const struct dim_poly *rest, int64_t by, struct dim *x,
	int64_t *divisor)
{
	const struct dim_term *t = &rest->terms[0];
	bool constant = rest->count == 2 && rest->terms[1].factor_count == 0;
	const struct dim_atom *atom = t->factor_count == 1 ? t->factors[0] : NULL;
	if (!atom || t->coefficient != 1 || atom->kind != ATOM_FLOOR || atom->y.kind != DIM_KNOWN ||
		(rest->count != 1 && !constant) || __builtin_mul_overflow(atom->y.value, by, divisor))
		return false;
	*x = atom->x;
	if (constant)
		*x = dim_add(a, *x, dim_mul(a, dim_known(rest->terms[1].coefficient), atom->y));
	return x->kind != DIM_UNKNOWN;
}

/* Normal form of floor(x / by), by > 0: poly_divide takes the divisible part out and reduces the
 * fraction; a floor inside is merged with this one (Graham, Knuth, Patashnik, Concrete Mathematics, 3.2).
 * Each recursion removes one nested floor, so the depth is that of the nesting. */
static struct dim floor_by(struct arena *a, struct dim x, int64_t by)
{
	struct dim_poly p, whole, rest;
	struct dim inner, floored;
	int64_t divisor;
	if (!poly_of(x, &p) || !poly_divide(&p, &by, &whole, &rest))
		return dim_unknown();
	if (by == 1)
		floored = poly_dim(a, &rest, -1);
	else if (floor_nested(a, &rest, by, &inner, &divisor))
		floored = floor_by(a, inner, divisor);
	else
		floored = function_dim(a, ATOM_FLOOR, poly_dim(a, &rest, -1), dim_known(by), -1);
	return dim_add(a, poly_dim(a, &whole, -1), floored);
}

struct dim dim_floor_div(struct arena *a, struct dim x, struct dim y)
{
	struct dim d = dim_div(a, x, y);
	int64_t upper = upper_quotient(x, y);
	if (d.kind == DIM_UNKNOWN && x.kind != DIM_UNKNOWN && y.kind == DIM_KNOWN && y.value > 0)
		d = floor_by(a, x, y.value);
	else if (d.kind == DIM_UNKNOWN && x.kind != DIM_UNKNOWN && y.kind == DIM_SYMBOLIC &&
		dim_nonnegative(y))
		d = function_dim(a, ATOM_FLOOR, x, y, upper);
	if (d.kind != DIM_KNOWN)
		d.upper = upper;
	return d;
}

struct dim dim_ceil_div(struct arena *a, struct dim x, int64_t y)
{
	return y < 1 ? dim_unknown() : dim_floor_div(a, dim_add(a, x, dim_known(y - 1)), dim_known(y));
}

/* Minimum or maximum. Selects one argument if the sign of x - y or y - x is proved for all sizes;
 * otherwise makes an atom with ordered arguments, so that min(x,y) and min(y,x) are equal. The upper
 * bound of a minimum is the smaller of both, or the only one; a maximum needs both. */
static struct dim dim_extreme(struct arena *a, struct dim x, struct dim y, bool smaller)
{
	bool bounded_x = x.upper >= 0 && dim_nonnegative(x), bounded_y = y.upper >= 0 && dim_nonnegative(y);
	int64_t least = x.upper < y.upper ? x.upper : y.upper,
		most = x.upper < y.upper ? y.upper : x.upper, upper = -1;
	if (smaller && dim_nonnegative(x) && dim_nonnegative(y))
		upper = bounded_x && bounded_y ? least : bounded_x ? x.upper : bounded_y ? y.upper : -1;
	else if (!smaller && bounded_x && bounded_y)
		upper = most;
	if (x.kind == DIM_UNKNOWN || y.kind == DIM_UNKNOWN)
		return dim_unknown_upto(upper);
	struct dim d = dim_sub(a, x, y);
	if (dim_nonnegative(d))
		return smaller ? y : x;
	if (dim_nonnegative(dim_sub(a, y, x)))
		return smaller ? x : y;
	bool swap = dim_compare(x, y) > 0;
	return function_dim(a, smaller ? ATOM_MIN : ATOM_MAX, swap ? y : x, swap ? x : y, upper);
}

struct dim dim_min(struct arena *a, struct dim x, struct dim y)
{
	return dim_extreme(a, x, y, true);
}

struct dim dim_max(struct arena *a, struct dim x, struct dim y)
{
	return dim_extreme(a, x, y, false);
}

/* ---- comparisons */

bool dim_nonnegative(struct dim d)
{
	struct dim_poly p;
	if (d.kind == DIM_UNKNOWN)
		return d.upper >= 0;
	if (d.kind == DIM_KNOWN)
		return d.value >= 0;
	return poly_of(d, &p) && poly_is_nonnegative(&p);
}

bool dim_same(struct dim x, struct dim y)
{
	return x.kind == y.kind && x.kind != DIM_UNKNOWN && dim_compare(x, y) == 0;
}

/* True if the known x is above y's upper bound. */
static bool dim_exceeds(struct dim x, struct dim y)
{
	return x.kind == DIM_KNOWN && y.kind != DIM_KNOWN && y.upper >= 0 && x.value > y.upper;
}

bool dim_differs(struct dim x, struct dim y)
{
	return (x.kind == DIM_KNOWN && y.kind == DIM_KNOWN && x.value != y.value) || dim_exceeds(x, y) ||
	       dim_exceeds(y, x);
}

/* ---- bindings */

/* A symbol with a binding becomes its value. A function is evaluated again from its bound arguments,
 * which simplifies it (a floor of known values is known). The search for a name is linear: models have
 * few symbols. */
static struct dim atom_bind(
	struct arena *a, const struct dim_atom *atom, const struct dim_binding *bindings, int count)
{
	if (atom->kind == ATOM_SYMBOL) {
		for (int i = 0; i < count; i++)
			if (text_equal(bindings[i].name, atom->text))
				return dim_known(bindings[i].value);
		return atom_dim(a, atom, -1);
	}
	struct dim x = dim_bind(a, atom->x, bindings, count), y = dim_bind(a, atom->y, bindings, count);
	return atom->kind == ATOM_FLOOR ? dim_floor_div(a, x, y) :
		dim_extreme(a, x, y, atom->kind == ATOM_MIN);
}

/* Substitutes values for symbols: evaluates the sum of products with the arithmetic above, which restores
 * the normal form. If symbols remain, the result keeps x's upper bound. */
struct dim dim_bind(struct arena *a, struct dim x, const struct dim_binding *bindings, int count)
{
	if (x.kind != DIM_SYMBOLIC)
		return x;
	struct dim bound = dim_known(0);
	for (int i = 0; i < x.poly->count; i++) {
		const struct dim_term *t = &x.poly->terms[i];
		struct dim product = dim_known(t->coefficient);
		for (int j = 0; j < t->factor_count; j++)
			product = dim_mul(a, product, atom_bind(a, t->factors[j], bindings, count));
		bound = dim_add(a, bound, product);
	}
	if (bound.kind != DIM_KNOWN)
		bound.upper = x.upper;
	return bound;
}

/* Depth-first search in text order: the first symbol of the first term with factors; of a function its
 * first argument's, else its second's. Returns an empty text if x has no symbol. */
struct text dim_first_symbol(struct dim x)
{
	for (int i = 0; x.kind == DIM_SYMBOLIC && i < x.poly->count; i++) {
		if (x.poly->terms[i].factor_count == 0)
			continue;
		const struct dim_atom *atom = x.poly->terms[i].factors[0];
		if (atom->kind == ATOM_SYMBOL)
			return atom->text;
		struct text in_x = dim_first_symbol(atom->x);
		return in_x.n ? in_x : dim_first_symbol(atom->y);
	}
	return (struct text){ "", 0 };
}
