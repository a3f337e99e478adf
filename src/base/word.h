/* Misspelt words: the nearest of those that are known. */
#ifndef BASE_WORD_H
#define BASE_WORD_H

#include "base/str.h"

#include <stdbool.h>

#define WORD_MAX 64 /* bytes */
#define WORD_FAR 99 /* distance to a longer word */
/* Levenshtein distance of two words: the fewest letters to insert, remove or replace. fold: letters that
 * differ in case only are equal. */
int word_distance(struct text a, struct text b, bool fold);

/* The most edits after which a word of n letters is still taken for a misspelt one. */
static inline int word_reach(size_t n)
{
	return n < 4 ? 1 : 2;
}

/* The nearest of the words that were tried; best is NULL while none is within reach. */
struct word_nearest {
	const char *word, *best;
	int distance;
};
void word_try(struct word_nearest *n, const char *known);

#endif
