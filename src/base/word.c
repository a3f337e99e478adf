/* The nearest known word is that with the least edit distance. */
#include "config.h"

#include "base/word.h"

#include <ctype.h>
#include <string.h>

/* Levenshtein distance by dynamic programming, one row of the table at a time (Wagner and Fischer, 1974). */
int word_distance(struct text a, struct text b, bool fold)
{
	int row[WORD_MAX + 1];
	if (a.n > WORD_MAX || b.n > WORD_MAX)
		return WORD_FAR;
	for (size_t k = 0; k <= b.n; k++)
		row[k] = (int)k;
	for (size_t i = 0; i < a.n; i++) {
		int corner = row[0]++;
		for (size_t k = 1; k <= b.n; k++) {
			int x = (unsigned char)a.p[i], y = (unsigned char)b.p[k - 1];
			int change = corner + (fold ? tolower(x) != tolower(y) : x != y),
				gap = 1 + (row[k] < row[k - 1] ? row[k] : row[k - 1]);
			corner = row[k];
			row[k] = change < gap ? change : gap;
		}
	}
	return row[b.n];
}

/* True if the words begin with the same letters, at least three and all but the last one of `word`: "fuse" is
 * meant for "fusion". */
static bool begins_like(const char *word, const char *known)
{
	size_t same = 0;
	while (word[same] && word[same] == known[same])
		same++;
	return same >= 3 && same + 1 >= strlen(word);
}

void word_try(struct word_nearest *n, const char *known)
{
	int distance = word_distance(text_of(n->word), text_of(known), false);
	int reach = word_reach(strlen(n->word));
	if (distance > reach && begins_like(n->word, known))
		distance = reach;
	bool nearer = !n->best || distance < n->distance || (distance == n->distance &&
		*n->best != *n->word && *known == *n->word); /* few mistake the first letter */
	if (distance > reach || !nearer)
		return;
	n->best = known;
	n->distance = distance;
}
