/* Reads and writes what --assume says of a cost. */
#include "config.h"

#include "problem/assumed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_MAX 32 /* bytes of a number */

static const struct {
	const char *word;
	double ns;
} units[] = { { "ns", 1 }, { "us", 1e3 }, { "\u00b5s", 1e3 }, { "\u03bcs", 1e3 },
	{ "ms", 1e6 }, { "s", 1e9 } };

static int cost_refuse(struct text word, struct error *err)
{
	char shown[NUMBER_MAX + 1];
	size_t n = word.n < NUMBER_MAX ? word.n : NUMBER_MAX;
	memcpy(shown, word.n ? word.p : "", n);
	shown[n] = '\0';
	return error_set(
		err, "'%s' is not a cost; give 12us (ns, us, ms, s), 2x (twice as fast) or 0", shown);
}

int assumed_parse(struct text word, struct assumption *cost, struct error *err)
{
	char number[NUMBER_MAX + 1], unit[NUMBER_MAX + 1], *end;
	if (!word.n || word.n > NUMBER_MAX)
		return cost_refuse(word, err);
	memcpy(number, word.p, word.n);
	number[word.n] = '\0';
	size_t digits = strspn(number, "0123456789.");
	snprintf(unit, sizeof(unit), "%s", number + digits);
	number[digits] = '\0';
	double value = strtod(number, &end);
	const char *is = unit + strspn(unit, " ");
	if (!digits || end == number || *end || !isfinite(value))
		return cost_refuse(word, err);
	if (strcmp(is, "x") == 0 && value > 0) {
		*cost = (struct assumption){ ASSUME_FACTOR, value };
		return 0;
	}
	if (!*is && value == 0) {
		*cost = (struct assumption){ ASSUME_TIME, 0 };
		return 0;
	}
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (strcmp(is, units[i].word) == 0) {
			*cost = (struct assumption){ ASSUME_TIME, value * units[i].ns };
			return 0;
		}
	return cost_refuse(word, err);
}

char *assumed_text(char *buf, const struct assumption *cost)
{
	buf[0] = '\0';
	if (cost->kind == ASSUME_FACTOR)
		snprintf(buf, ASSUMED_TEXT_SIZE, "%gx", cost->value);
	else if (cost->kind == ASSUME_TIME && cost->value == 0)
		snprintf(buf, ASSUMED_TEXT_SIZE, "0");
	else if (cost->kind == ASSUME_TIME)
		snprintf(buf, ASSUMED_TEXT_SIZE, "%gus", cost->value / 1e3);
	return buf;
}
