#include "config.h"

#include "base/word.h"

#include <string.h>

/* Levenshtein distance by dynamic programming, one row of the table at a time (Wagner and Fischer, 1974). */
int word_distance(const char *a, const char *b)
{
	int row[32];
	size_t n = strlen(b);
	if (n >= 32)
		return 32;
	for (size_t k = 0; k <= n; k++)
		row[k] = (int)k;
	for (size_t i = 0; a[i]; i++) {
		int corner = row[0]++;
		for (size_t k = 1; k <= n; k++) {
			int change = corner + (a[i] != b[k - 1]),
				gap = 1 + (row[k] < row[k - 1] ? row[k] : row[k - 1]);
			corner = row[k];
			row[k] = change < gap ? change : gap;
		}
	}
	return row[n];
}

void word_try(struct word_nearest *n, const char *known)
{
	int distance = word_distance(n->word, known);
	if (distance > 2 || (n->best && distance >= n->distance))
		return;
	n->best = known;
	n->distance = distance;
}
