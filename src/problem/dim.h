/* Dimensions. A dimension is known, symbolic (a polynomial over named symbols with integer coefficients, such as
 * "past_sequence+sequence" or "12*batch", in which floor(x/y), min(x,y) and max(x,y) may stand for symbols:
 * "floor((height+1)/2)"), or unknown; the last two may have an upper bound. An unknown one that has a bound is not
 * negative.
 * Values are immutable; whatever a symbolic one points to lives in the arena it was made with. */
#ifndef PROBLEM_DIM_H
#define PROBLEM_DIM_H

#include "base/arena.h"
#include "base/str.h"

enum dim_kind { DIM_UNKNOWN = 0, DIM_KNOWN, DIM_SYMBOLIC };

struct dim {
	enum dim_kind kind;
	int64_t value;     /* DIM_KNOWN: the value (data propagation uses negative ones too); else 0 */
	const struct dim_poly *poly; /* DIM_SYMBOLIC: the expression */
	int64_t upper;     /* an upper bound, or -1 for none; equal to value when known */
};

struct dim dim_known(int64_t value);
struct dim dim_unknown(void);
/* Unknown, with an upper bound. A bound above DIM_UPPER_MOST is dropped: it comes from a sentinel that means "to the
 * end", and bounds nothing. */
#define DIM_UPPER_MOST ((int64_t)1 << 48)
struct dim dim_unknown_upto(int64_t upper);
/* The symbol itself. Any bytes are one name, even if they read as an expression. Empty name = unknown. */
struct dim dim_symbol(struct arena *a, struct text name);
/* DIM_SYMBOLIC: how the expression reads, one way for all that are equal; else the empty text. */
struct text dim_expression(struct dim d);

/* Exact arithmetic; the result is unknown where it cannot be expressed or a known result overflows int64. */
struct dim dim_add(struct arena *a, struct dim x, struct dim y);
struct dim dim_sub(struct arena *a, struct dim x, struct dim y);
struct dim dim_mul(struct arena *a, struct dim x, struct dim y);
/* Exact division: known/known truncates toward floor as ONNX Div does for positive values; a symbolic x is
 * divided only where every coefficient (or a common symbol) divides exactly, else unknown. y = 0: unknown. */
struct dim dim_div(struct arena *a, struct dim x, struct dim y);
/* x / y rounded down, also where it does not divide exactly; of a symbolic y that may be negative: unknown. */
struct dim dim_floor_div(struct arena *a, struct dim x, struct dim y);
/* x / y rounded up, for y >= 1; else unknown. */
struct dim dim_ceil_div(struct arena *a, struct dim x, int64_t y);
/* Of two of which it is not sure which is the smaller: a function of both. */
struct dim dim_min(struct arena *a, struct dim x, struct dim y);
struct dim dim_max(struct arena *a, struct dim x, struct dim y);
/* Surely >= 0? (Symbols are sizes.) */
bool dim_nonnegative(struct dim d);

/* True only when both are surely equal (unknown equals nothing). */
bool dim_same(struct dim x, struct dim y);
/* True when both are known and differ, or one is known and more than the other can be: a contradiction. */
bool dim_differs(struct dim x, struct dim y);

/* A shape. rank -1 = even the rank is unknown (dims NULL). */
struct shape {
	int rank;
	struct dim *dims;
};

#define SHAPE_UNKNOWN ((struct shape){ .rank = -1 })

struct shape shape_make(struct arena *a, int rank); /* dims unknown */
struct shape shape_known(struct arena *a, int rank, const int64_t *dims);
bool shape_is_known(struct shape s);                /* rank and all dims */
bool shape_same(struct shape x, struct shape y);    /* surely the same dims, symbolic ones too */
/* Product of the dims: known, symbolic or unknown; 1 for a scalar. */
struct dim shape_elements(struct arena *a, struct shape s);
/* As double for costs; NaN unless fully known. */
double shape_count(struct shape s);
/* "1x64x112x112", "batchx3x?", "1x?<=100x4", "scalar", "?" . */
char *shape_text(struct arena *a, struct shape s);
void shape_add_text(struct str *out, struct shape s);

/* Values for symbols, as --dim and the sidecar give them. */
struct dim_binding {
	struct text name;
	int64_t value;
};

/* x with every bound symbol replaced by its value, within functions too. */
struct dim dim_bind(struct arena *a, struct dim x, const struct dim_binding *bindings, int count);
/* The first symbol in x that is still there, or the empty text. */
struct text dim_first_symbol(struct dim x);

#endif
