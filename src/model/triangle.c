/* Whether a constant matrix is a causal mask, by all of its elements. O(elements). */
#include "config.h"

#include "model/triangle.h"

#include <math.h>

bool triangle_hides(double added)
{
	return added < -100;
}

enum triangle triangle_find(int64_t queries, int64_t keys, int64_t count,
	double (*number)(const void *from, int64_t i), const void *from)
{
	bool seen = true, hidden = true, added = true;
	if (queries > keys || count <= 0)
		return TRIANGLE_NONE;
	for (int64_t i = 0; i < count && (seen || hidden); i++) {
		bool sees = i % keys <= i / keys % queries + keys - queries;
		double is = number(from, i);
		bool zero = !(is < 0 || is > 0);
		if (isnan(is))
			return TRIANGLE_NONE;
		seen &= zero != sees;
		hidden &= zero == sees;
		added &= zero || triangle_hides(is);
	}
	return seen ? TRIANGLE_SEEN : !hidden ? TRIANGLE_NONE : added ? TRIANGLE_ADDED : TRIANGLE_HIDDEN;
}
