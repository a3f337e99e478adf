/* A configuration whose device has fixed costs (tests/lib/word_runner.sh), for tests with a real session. */
#ifndef TESTS_UNIT_WORD_CONFIG_H
#define TESTS_UNIT_WORD_CONFIG_H

#include "config/config.h"

#include "tap.h"

#include <stdio.h>
#include <stdlib.h>

/* Loads folder/config.yaml, written with the database folder/NAME.db, the runner `words` of the source tree
 * `top`, which is the device, and more lines: `runners` are more of these, `more` stand for themselves. */
__attribute__((unused)) static void word_config(struct config *c, const char *folder, const char *name,
	const char *top, const char *runners, const char *more)
{
	char path[256];
	struct error err = ERROR_NONE;
	snprintf(path, sizeof(path), "%s/config.yaml", folder);
	FILE *f = fopen(path, "w");
	if (!f)
		abort();
	fprintf(f, "db: %s/%s.db\nmeasure: never\n%srunners:\n"
		"  words: [sh, \"%s/tests/lib/word_runner.sh\", Word 1, \"words, 1 thread\"]\n%s",
		folder, name, more, top, runners);
	fclose(f);
	ok(config_load(c, path, &err) == 0, "a configuration %s", err.text);
	config_set(c, "device", "words", &err);
}

#endif
