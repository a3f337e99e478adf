/* Misspelt words: the nearest of those that are known. */
#ifndef BASE_WORD_H
#define BASE_WORD_H

/* Levenshtein distance of two words; 32 if b has over 31 letters. */
int word_distance(const char *a, const char *b);

/* The nearest of the words that were tried; best is NULL while none is within two edits. */
struct word_nearest {
	const char *word, *best;
	int distance;
};
void word_try(struct word_nearest *n, const char *known);

#endif
