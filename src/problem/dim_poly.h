/* Symbolic dimensions as polynomials: a sum of products of atoms. An atom is a symbol, or a function of other
 * dimensions: floor(x/y), min(x,y), max(x,y). Private to the room. */
#ifndef PROBLEM_DIM_POLY_H
#define PROBLEM_DIM_POLY_H

#include "problem/dim.h"

#define POLY_TERMS 16
#define POLY_FACTORS 8

enum dim_atom_kind { ATOM_SYMBOL, ATOM_FLOOR, ATOM_MIN, ATOM_MAX };

struct dim_atom {
	enum dim_atom_kind kind;
	struct text text; /* the symbol's name, or the function as text */
	struct dim x, y;  /* of functions; known or symbolic */
};

/* coefficient * factor * factor ...; factors in order. */
struct dim_term {
	int64_t coefficient;
	int factor_count;
	const struct dim_atom *factors[POLY_FACTORS];
};

/* Sum of sorted terms; products are distinct and coefficients not 0. A constant is DIM_KNOWN, never a
 * dim_poly. In an arena it is cut off after `count` terms: copy it with poly_of. */
struct dim_poly {
	struct text text; /* in an arena: the polynomial as text */
	int count;
	struct dim_term terms[POLY_TERMS];
};

/* The polynomial of a known or symbolic dim; false if x is unknown. */
bool poly_of(struct dim x, struct dim_poly *p);
/* The dim of a polynomial, in arena a; DIM_KNOWN if it is constant. upper: its upper bound, or -1. */
struct dim poly_dim(struct arena *a, const struct dim_poly *p, int64_t upper);
/* Adds t, or scale * q, to p. False: too many terms, or overflow. */
bool poly_add_term(struct dim_poly *p, const struct dim_term *t);
bool poly_add(struct dim_poly *p, const struct dim_poly *q, int64_t scale);
/* x *= y; x /= y if that is exact. False: too many factors, overflow, or not exact. */
bool term_multiply(struct dim_term *x, const struct dim_term *y);
bool term_divide(struct dim_term *x, const struct dim_term *y);
/* True if p is surely >= 0 for all sizes of its symbols; false if no proof is found. */
bool poly_is_nonnegative(const struct dim_poly *p);
/* Total order of known and symbolic dims: negative, 0 (equal) or positive. */
int dim_compare(struct dim x, struct dim y);
/* floor(x / y), y != 0. */
int64_t floor_quotient(int64_t x, int64_t y);

#endif
