/* What a symbolic dimension is made of: a sum of products of atoms. An atom is a symbol, or a function of other
 * dimensions that no sum or product says: floor(x/y), min(x,y), max(x,y). Private to the room. */
#ifndef PROBLEM_DIM_POLY_H
#define PROBLEM_DIM_POLY_H

#include "problem/dim.h"

#define POLY_TERMS 16
#define POLY_FACTORS 8

enum dim_atom_kind { ATOM_SYMBOL, ATOM_FLOOR, ATOM_MIN, ATOM_MAX };

struct dim_atom {
	enum dim_atom_kind kind;
	struct text text; /* the symbol's name, or how the function reads */
	struct dim x, y;  /* of functions; known or symbolic */
};

/* coefficient * factor * factor ...; factors in order. */
struct dim_term {
	int64_t coefficient;
	int factor_count;
	const struct dim_atom *factors[POLY_FACTORS];
};

/* Sum of terms, in order, no two alike, none zero. Never a plain constant: that is DIM_KNOWN. In an arena only the
 * terms that are there have room: read it with poly_of. */
struct dim_poly {
	struct text text; /* in an arena: how it reads */
	int count;
	struct dim_term terms[POLY_TERMS];
};

/* false: unknown dims have none. */
bool poly_of(struct dim x, struct dim_poly *p);
/* The dim a polynomial is: constant ones are known. */
struct dim poly_dim(struct arena *a, const struct dim_poly *p, int64_t upper);
/* p + t, p + scale * q; false: too long, or overflow. */
bool poly_add_term(struct dim_poly *p, const struct dim_term *t);
bool poly_add(struct dim_poly *p, const struct dim_poly *q, int64_t scale);
/* x * y and, where it divides exactly, x / y, in x; false: not possible. */
bool term_multiply(struct dim_term *x, const struct dim_term *y);
bool term_divide(struct dim_term *x, const struct dim_term *y);
/* Is it at least 0 for all sizes that the symbols may be? false: not surely. */
bool poly_is_nonnegative(const struct dim_poly *p);
/* An order of known and symbolic dims; 0: the same. */
int dim_compare(struct dim x, struct dim y);
/* floor(x / y) by rounding down, y not 0. */
int64_t floor_quotient(int64_t x, int64_t y);

#endif
