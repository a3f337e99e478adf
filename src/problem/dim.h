/* Dimensions and shapes. A dimension is known, symbolic or unknown. A symbolic one is a polynomial with
 * integer coefficients over named symbols and over functions floor(x/y), min(x,y), max(x,y):
 * "past_sequence+sequence", "12*batch", "floor((height+1)/2)". Symbolic and unknown dimensions may have an
 * upper bound; an unknown one with a bound is not negative. Values are immutable; the expression of a
 * symbolic dimension lives in the arena passed to the function that made it. */
#ifndef PROBLEM_DIM_H
#define PROBLEM_DIM_H

#include "base/arena.h"
#include "base/str.h"

enum dim_kind { DIM_UNKNOWN = 0, DIM_KNOWN, DIM_SYMBOLIC };

struct dim {
	enum dim_kind kind;
	int64_t value;     /* DIM_KNOWN: the value; negative in data propagation only. Else 0 */
	const struct dim_poly *poly; /* DIM_SYMBOLIC: the expression */
	int64_t upper;     /* upper bound, -1: none; equal to value if known */
};

struct dim dim_known(int64_t value); /* its upper bound is the value */
struct dim dim_unknown(void);        /* without an upper bound */
/* Unknown, with an upper bound. A bound above DIM_UPPER_MOST is dropped: it is a sentinel for "to the end"
 * (the `ends` of a Slice), not a size. */
#define DIM_UPPER_MOST ((int64_t)1 << 48)
struct dim dim_unknown_upto(int64_t upper);
/* A symbol. The name may be any bytes and is never parsed, even if it looks like an expression. Empty name:
 * unknown. */
struct dim dim_symbol(struct arena *a, struct text name);
/* DIM_SYMBOLIC: the expression as canonical text (equal expressions have equal texts); else the empty
 * text. */
struct text dim_expression(struct dim d);

/* Exact arithmetic. The result is unknown if it cannot be expressed or overflows int64. */
struct dim dim_add(struct arena *a, struct dim x, struct dim y);
struct dim dim_sub(struct arena *a, struct dim x, struct dim y);
struct dim dim_mul(struct arena *a, struct dim x, struct dim y);
/* x / y. Both known: rounded down, as ONNX Div does for positive values. Symbolic x: only if every term is
 * divisible by y, else unknown. y = 0: unknown. */
struct dim dim_div(struct arena *a, struct dim x, struct dim y);
/* x / y rounded down; a floor(x/y) expression if the division is not exact. Unknown if y is symbolic and may
 * be negative. */
struct dim dim_floor_div(struct arena *a, struct dim x, struct dim y);
/* x / y rounded up; unknown for y < 1. */
struct dim dim_ceil_div(struct arena *a, struct dim x, int64_t y);
/* Minimum and maximum: one of the arguments if their order is certain for all sizes, else a min(x,y) or
 * max(x,y) expression. */
struct dim dim_min(struct arena *a, struct dim x, struct dim y);
struct dim dim_max(struct arena *a, struct dim x, struct dim y);
/* True if d is certainly >= 0. Symbols are sizes, so they count as >= 0. */
bool dim_nonnegative(struct dim d);

/* True if both are certainly equal; an unknown dimension is equal to none. */
bool dim_same(struct dim x, struct dim y);
/* True if they certainly differ: both known and unequal, or one is known and above the upper bound of the
 * other. */
bool dim_differs(struct dim x, struct dim y);

/* A shape. rank -1: unknown rank, dims is NULL. */
struct shape {
	int rank;
	struct dim *dims;
};

#define SHAPE_UNKNOWN ((struct shape){ .rank = -1 })

struct shape shape_make(struct arena *a, int rank); /* dims unknown */
struct shape shape_known(struct arena *a, int rank, const int64_t *dims);
bool shape_is_known(struct shape s);                /* rank and all dims */
bool shape_same(struct shape x, struct shape y);    /* certainly equal, symbolic dims included */
/* Product of the dims: known, symbolic or unknown; 1 for a scalar. */
struct dim shape_elements(struct arena *a, struct shape s);
/* Product of the dims as a double, for costs; NaN unless all dims are known. */
double shape_count(struct shape s);
/* The shape as text: "1x64x112x112", "batchx3x?", "1x?<=100x4" (upper bound 100), "scalar", "?" (unknown
 * rank). */
char *shape_text(struct arena *a, struct shape s);
void shape_add_text(struct str *out, struct shape s);

/* The value of a symbol, as set by --dim or the sidecar file. */
struct dim_binding {
	struct text name;
	int64_t value;
};

/* x with every bound symbol replaced by its value, also inside functions. */
struct dim dim_bind(struct arena *a, struct dim x, const struct dim_binding *bindings, int count);
/* Returns the first symbol in x, or an empty text. */
struct text dim_first_symbol(struct dim x);

#endif
