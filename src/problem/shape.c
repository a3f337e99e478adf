/* Shapes of values: lists of dimensions, known or not; a negative rank is an unknown shape. */
#include "config.h"

#include "problem/dim_poly.h"

#include <math.h>

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

bool shape_same(struct shape x, struct shape y)
{
	if (x.rank < 0 || x.rank != y.rank)
		return false;
	for (int i = 0; i < x.rank; i++)
		if (!dim_same(x.dims[i], y.dims[i]))
			return false;
	return true;
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

void shape_add_text(struct str *out, struct shape s)
{
	if (s.rank < 1)
		str_puts(out, s.rank ? "?" : "scalar");
	for (int i = 0; i < s.rank; i++) {
		struct dim d = s.dims[i];
		if (i)
			str_add(out, "x", 1);
		if (d.kind == DIM_KNOWN) {
			str_add_int(out, d.value);
		} else if (d.kind == DIM_SYMBOLIC) {
			bool simple = d.poly->count == 1;
			str_puts(out, simple ? "" : "(");
			str_add_clean(out, dim_expression(d));
			str_puts(out, simple ? "" : ")");
		} else if (d.upper >= 0) {
			str_puts(out, "?<=");
			str_add_int(out, d.upper);
		} else {
			str_add(out, "?", 1);
		}
	}
}

char *shape_text(struct arena *a, struct shape s)
{
	struct str out = { 0 };
	shape_add_text(&out, s);
	char *text = arena_strndup(a, out.p, out.n);
	str_free(&out);
	return text;
}
