/* Constant masks of causal attention: ... x queries x keys. Query i sees the keys up to i + keys - queries.
 */
#ifndef MODEL_TRIANGLE_H
#define MODEL_TRIANGLE_H

#include <stdbool.h>
#include <stdint.h>

enum triangle {
	TRIANGLE_NONE,
	TRIANGLE_SEEN,   /* not zero where a query sees the key */
	TRIANGLE_HIDDEN, /* not zero where it does not */
	TRIANGLE_ADDED   /* as hidden; added to the scores, it hides them (triangle_hides) */
};

/* Of `count` numbers, row after row; count is a multiple of queries * keys. number: element i, NaN if it is
 * unknown. Reads the numbers up to the first that does not fit. */
enum triangle triangle_find(int64_t queries, int64_t keys, int64_t count,
	double (*number)(const void *from, int64_t i), const void *from);
/* True for a number that hides the score to which it is added. */
bool triangle_hides(double added);

#endif
