/* Expressions of sizes: names of dimensions that are expressions of other dimensions, and the expressions in
 * which users describe operators (ops/op_own.h). Values are exact; nothing is known of a size that is not
 * known. */
#ifndef PROBLEM_EXPRESSION_H
#define PROBLEM_EXPRESSION_H

#include "base/error.h"
#include "problem/dim.h"

/* The dimension that a name spells as an expression, as exporters and shape inference write them: "past +
 * sequence", "(height - 1)//2 + 1", "floor(width/2 - 1/2)", "Max(1, n)": sums, products, quotients, floor,
 * ceiling, min and max of numbers and of names that `symbol` resolves. DIM_UNKNOWN if it is not an
 * expression. */
struct dim expression_dim(struct arena *a, struct text t,
	struct dim (*symbol)(const void *with, struct text name), const void *with);

/* A number, or a list of them; each is a dimension divided by `by`, which is 1 or more. */
struct computed {
	enum {
		EXPRESSION_NUMBER,
		EXPRESSION_LIST,
		EXPRESSION_ANY      /* unknown which: an attribute before there is a node */
	} kind;
	struct dim number;
	int count;                  /* of a list; -1: unknown */
	const struct dim *items;
	int64_t by;
};

struct computed expression_number(struct dim d);
struct computed expression_list(int count, const struct dim *items);
/* A finite number as an exact fraction; -1 with err if it takes more than 53 bits after the point. */
int expression_double(double number, struct computed *v, struct error *err);

#define EXPRESSION_MOST 1024  /* bytes of an expression */
#define EXPRESSION_ITEMS 256  /* items of all lists that an expression makes */

/* Sets *v to what a name stands for, or, if `function` is not empty, to what function(name) is. -1: err says
 * why not. */
typedef int expression_name(const void *with, struct text function, struct text name,
	struct computed *v, struct error *err);

/* Evaluates what a user wrote, in arena a:
 *
 *   sum     = product { ("+" | "-") product }          "+" of two lists puts one behind the other
 *   product = factor { ("*" | "/" | "//" | "%") factor }          "//" rounds down, also in "%"
 *   factor  = "-" factor | part { "[" index "]" | "[" [ sum ] ":" [ sum ] "]" }
 *   part    = number | name | "(" sum ")" | "[" [ sum { "," sum } ] "]" | function "(" sum { "," sum } ")"
 *
 * Functions: min, max of numbers, floor, ceil, rank (length of a list), size (product of its items); the
 * others take a name and are asked of `get`. Indexes count from 0, negative ones from the end; slices are
 * those of Python. -1 with err, "at character 7: ...": not such an expression, a division by zero, or an
 * overflow of 64 bits. */
int expression_read(struct arena *a, struct text t, expression_name *get, const void *with,
	struct computed *v, struct error *err);
/* The integer that a number is, in arena a; unknown if that is not certain for all sizes. -1 with err:
 * it is a list, or no integer. */
int expression_whole(
	struct arena *a, const struct computed *v, struct dim *whole, struct error *err);
/* A number as double; NaN: not known. -1 with err: it is a list, or negative. */
int expression_amount(const struct computed *v, double *amount, struct error *err);

#endif
