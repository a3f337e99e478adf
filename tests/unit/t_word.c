/* Distances of words. */
#include "config.h"

#include "base/word.h"
#include "tests/unit/tap.h"

#include <string.h>

int main(void)
{
	static const struct {
		const char *a, *b;
		bool fold;
		int distance;
	} cases[] = {
		{ "", "", false, 0 },
		{ "", "abc", false, 3 },
		{ "kitten", "sitting", false, 3 },
		{ "flaw", "lawn", false, 2 },
		{ "Relu", "relu", false, 1 },
		{ "Relu", "reLU", true, 0 },
		{ "\xc3\x89t\xc3\xa9", "ete", true, 4 },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct text a = text_of(cases[i].a), b = text_of(cases[i].b);
		is_int(word_distance(a, b, cases[i].fold), cases[i].distance, "%s and %s", cases[i].a,
			cases[i].b);
		is_int(word_distance(b, a, cases[i].fold), cases[i].distance, "... and back");
	}
	char most[WORD_MAX + 2];
	memset(most, 'x', sizeof(most));
	is_int(word_distance((struct text){ most, WORD_MAX }, TEXT(""), false), WORD_MAX, "the longest word");
	is_int(word_distance((struct text){ most, WORD_MAX + 1 }, TEXT(""), false), WORD_FAR, "a longer one");
	is_int(word_distance(TEXT(""), (struct text){ most, WORD_MAX + 1 }, false), WORD_FAR, "... and back");
	struct word_nearest n = { .word = "fusoin" };
	word_try(&n, "matrix");
	is_str(n.best, NULL, "nothing is near");
	word_try(&n, "fusion");
	word_try(&n, "fusing");
	is_str(n.best, "fusion", "the nearest word, the first of two");
	struct word_nearest brief = { .word = "foo" };
	word_try(&brief, "dot");
	word_try(&brief, "good");
	is_str(brief.best, NULL, "a word of three letters is not taken for one with another two");
	word_try(&brief, "for");
	is_str(brief.best, "for", "but for one with another letter");
	return done_testing();
}
