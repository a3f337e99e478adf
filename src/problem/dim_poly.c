/* Symbolic dimensions in normal form: polynomials with integer coefficients whose variables ("atoms") are
 * symbols and floor, min and max of other dimensions. Terms are sorted and merged, so that equal dimensions
 * have equal terms ("2*n+1", however computed). A sparse multivariate polynomial in the terms of computer
 * algebra; beyond POLY_TERMS or POLY_FACTORS a dimension is unknown. */
#include "config.h"

#include "problem/dim_poly.h"

#include <string.h>

/* ---- order */

static int number_compare(int64_t x, int64_t y)
{
	return x < y ? -1 : x > y;
}

/* Total order of atoms: by kind; symbols by name, functions by their first and then second argument.
 * Recurses into the arguments only where the pointers differ; the depth is limited by the length of a
 * function's text (ATOM_TEXT_MAX). */
static int atom_compare(const struct dim_atom *x, const struct dim_atom *y)
{
	if (x == y)
		return 0;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->kind == ATOM_SYMBOL)
		return text_compare(x->text, y->text);
	int c = dim_compare(x->x, y->x);
	return c ? c : dim_compare(x->y, y->y);
}

/* Graded order: terms with more factors first, then by name: "batch*sequence+batch+1". */
static int term_compare(const struct dim_term *x, const struct dim_term *y)
{
	if (x->factor_count != y->factor_count)
		return x->factor_count > y->factor_count ? -1 : 1;
	for (int i = 0; i < x->factor_count; i++) {
		int c = atom_compare(x->factors[i], y->factors[i]);
		if (c)
			return c;
	}
	return 0;
}

/* Compares two polynomials term by term, first by factors and then by coefficient; of two with a common
 * start the one with fewer terms is first. Terms are sorted and merged, so 0 means equal polynomials.
 * Cost: at most POLY_TERMS * POLY_FACTORS comparisons of atoms. */
int dim_compare(struct dim x, struct dim y)
{
	if (x.kind != y.kind)
		return x.kind > y.kind ? -1 : 1; /* constants last */
	if (x.kind != DIM_SYMBOLIC)
		return number_compare(x.value, y.value);
	if (x.poly == y.poly)
		return 0;
	for (int i = 0; i < x.poly->count && i < y.poly->count; i++) {
		const struct dim_term *s = &x.poly->terms[i], *t = &y.poly->terms[i];
		int c = term_compare(s, t);
		c = c ? c : number_compare(s->coefficient, t->coefficient);
		if (c)
			return c;
	}
	return number_compare(x.poly->count, y.poly->count);
}

/* ---- text */

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
		str_add(out, t->factors[i]->text.p, t->factors[i]->text.n);
	}
}

/* ---- polynomials */

bool poly_of(struct dim x, struct dim_poly *p)
{
	if (x.kind == DIM_UNKNOWN)
		return false;
	if (x.kind == DIM_SYMBOLIC) {
		p->count = x.poly->count;
		memcpy(p->terms, x.poly->terms, (size_t)p->count * sizeof(p->terms[0]));
	} else {
		p->count = x.value != 0;
		p->terms[0] = (struct dim_term){ .coefficient = x.value };
	}
	return true;
}

/* Converts a polynomial to a dimension: known if it has no terms, or only one without factors. Otherwise
 * copies only the used terms into the arena, and formats the text once, because it is needed for messages
 * and for the length limit of functions. */
struct dim poly_dim(struct arena *a, const struct dim_poly *p, int64_t upper)
{
	if (p->count == 0)
		return dim_known(0);
	if (p->count == 1 && p->terms[0].factor_count == 0)
		return dim_known(p->terms[0].coefficient);
	size_t size = (size_t)p->count * sizeof(p->terms[0]);
	struct dim_poly *kept = arena_alloc(a, offsetof(struct dim_poly, terms) + size);
	kept->count = p->count;
	memcpy(kept->terms, p->terms, size);
	struct str s = { 0 };
	for (int i = 0; i < p->count; i++)
		term_text(&p->terms[i], i == 0, &s);
	kept->text = (struct text){ arena_strndup(a, s.p, s.n), s.n };
	str_free(&s);
	return (struct dim){ .kind = DIM_SYMBOLIC, .poly = kept, .upper = upper };
}

/* Insertion into the sorted list of terms: like terms are merged, and a term whose coefficient becomes 0
 * is removed, so the normal form is kept. Linear in the number of terms, at most POLY_TERMS. Sums of
 * sparse polynomials: Knuth, The Art of Computer Programming, volume 1, 2.2.4. */
bool poly_add_term(struct dim_poly *p, const struct dim_term *t)
{
	int at = 0;
	if (t->coefficient == 0)
		return true;
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

bool poly_add(struct dim_poly *p, const struct dim_poly *q, int64_t scale)
{
	for (int i = 0; i < q->count; i++) {
		struct dim_term t = q->terms[i];
		if (__builtin_mul_overflow(t.coefficient, scale, &t.coefficient) || !poly_add_term(p, &t))
			return false;
	}
	return true;
}

/* Product of two monomials: multiplies the coefficients and inserts y's factors into x's sorted ones
 * (insertion sort). Powers are repeated factors: n^2 is n*n. At most POLY_FACTORS^2 comparisons. */
bool term_multiply(struct dim_term *x, const struct dim_term *y)
{
	if (x->factor_count + y->factor_count > POLY_FACTORS ||
		__builtin_mul_overflow(x->coefficient, y->coefficient, &x->coefficient))
		return false;
	for (int i = 0; i < y->factor_count; i++) {
		int at = x->factor_count++;
		for (; at > 0 && atom_compare(x->factors[at - 1], y->factors[i]) > 0; at--)
			x->factors[at] = x->factors[at - 1];
		x->factors[at] = y->factors[i];
	}
	return true;
}

/* Exact quotient of two monomials: divides the coefficients and removes each of y's factors once from
 * x's. False if the coefficients leave a remainder or a factor is missing; x is then partly changed.
 * INT64_MIN / -1 would overflow. */
bool term_divide(struct dim_term *x, const struct dim_term *y)
{
	if (y->coefficient == 0 || (y->coefficient == -1 && x->coefficient == INT64_MIN) ||
		x->coefficient % y->coefficient)
		return false;
	x->coefficient /= y->coefficient;
	for (int i = 0; i < y->factor_count; i++) {
		int at = 0;
		while (at < x->factor_count && atom_compare(x->factors[at], y->factors[i]) != 0)
			at++;
		if (at == x->factor_count)
			return false;
		for (x->factor_count--; at < x->factor_count; at++)
			x->factors[at] = x->factors[at + 1];
	}
	return true;
}

/* C rounds quotients to zero: subtracts 1 if there is a remainder and the signs differ. */
int64_t floor_quotient(int64_t x, int64_t y)
{
	return x / y - (x % y != 0 && (x < 0) != (y < 0));
}

/* ---- signs
 *
 * A dimension is surely >= 0 if all its terms are: coefficient >= 0, symbols >= 0 by definition. Otherwise
 * min and max are replaced by their arguments where a bound follows (functions_are_nonnegative). The test is
 * sound but not complete: false means that no proof was found. */

static bool dim_is_nonnegative_at(struct dim d, int *budget);

/* Symbols are sizes, so they are >= 0. max(x, y) is if one argument is; min(x, y) and floor(x/y) are if
 * both are. Sound, not complete: false means that no proof was found. */
static bool atom_is_nonnegative(const struct dim_atom *atom, int *budget)
{
	if (atom->kind == ATOM_SYMBOL)
		return true;
	bool x = dim_is_nonnegative_at(atom->x, budget);
	if (atom->kind == ATOM_MAX)
		return x || dim_is_nonnegative_at(atom->y, budget);
	return x && dim_is_nonnegative_at(atom->y, budget);
}

static bool term_is_nonnegative(const struct dim_term *t, int *budget)
{
	bool yes = t->coefficient >= 0;
	for (int i = 0; yes && i < t->factor_count; i++)
		yes = atom_is_nonnegative(t->factors[i], budget);
	return yes;
}

static bool poly_is_nonnegative_at(const struct dim_poly *p, int *budget);

/* True if p is surely >= 0 after term i's only factor, a function, is replaced by `by`. */
static bool replaced_is_nonnegative(const struct dim_poly *p, int i, struct dim by, int *budget)
{
	struct dim_poly q = *p, r = { 0 };
	int64_t scale = q.terms[i].coefficient;
	for (int j = i; j + 1 < q.count; j++)
		q.terms[j] = q.terms[j + 1];
	q.count--;
	return poly_of(by, &r) && poly_add(&q, &r, scale) && poly_is_nonnegative_at(&q, budget);
}

/* Replaces the function in a term of one factor by its arguments. both: min with a positive coefficient, or
 * max with a negative one, equals one of its arguments, so the proof must succeed for both. Otherwise each
 * argument is a lower bound of the term, and one proof is enough. */
static bool functions_are_nonnegative(const struct dim_poly *p, bool both, int *budget)
{
	for (int i = 0; i < p->count; i++) {
		const struct dim_term *t = &p->terms[i];
		const struct dim_atom *atom = t->factor_count == 1 ? t->factors[0] : NULL;
		bool positive = t->coefficient > 0;
		if (!atom || atom->kind == ATOM_SYMBOL)
			continue;
		if (atom->kind == ATOM_FLOOR) {
			/* floor(x/y) <= x for x >= 0, y >= 1 */
			if (!both && !positive && atom->y.kind == DIM_KNOWN &&
				dim_is_nonnegative_at(atom->x, budget) &&
				replaced_is_nonnegative(p, i, atom->x, budget))
				return true;
			continue;
		}
		if (both != ((atom->kind == ATOM_MIN) == positive))
			continue;
		if (both)
			return replaced_is_nonnegative(p, i, atom->x, budget) &&
			       replaced_is_nonnegative(p, i, atom->y, budget);
		if (replaced_is_nonnegative(p, i, atom->x, budget) ||
			replaced_is_nonnegative(p, i, atom->y, budget))
			return true;
	}
	return false;
}

/* True if every term is >= 0, or if the proof succeeds after one min, max or floor is replaced by its
 * arguments. The replacements branch, so the cost is exponential in the number of functions; budget, the
 * remaining calls, limits it. When it is used up, the answer is false: no proof. */
static bool poly_is_nonnegative_at(const struct dim_poly *p, int *budget)
{
	bool yes = true;
	if (--*budget < 0)
		return false;
	for (int i = 0; yes && i < p->count; i++)
		yes = term_is_nonnegative(&p->terms[i], budget);
	return yes || functions_are_nonnegative(p, true, budget) ||
		functions_are_nonnegative(p, false, budget);
}

static bool dim_is_nonnegative_at(struct dim d, int *budget)
{
	struct dim_poly p;
	if (d.kind == DIM_KNOWN)
		return d.value >= 0;
	return poly_of(d, &p) && poly_is_nonnegative_at(&p, budget);
}

bool poly_is_nonnegative(const struct dim_poly *p)
{
	int budget = 100;
	return poly_is_nonnegative_at(p, &budget);
}
