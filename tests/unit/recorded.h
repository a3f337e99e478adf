/* Compares a text with the lines recorded in a file of the tests. */
#ifndef RECORDED_H
#define RECORDED_H

#include "tap.h"

#include <stdlib.h>

/* path: from srcdir. The file has `least` lines at least. */
static void recorded_lines(const char *at, const char *path, int least)
{
	char whole[1024], line[2048];
	int lines = 0, differ = 0;
	snprintf(whole, sizeof(whole), "%s/%s", getenv("srcdir") ? getenv("srcdir") : "..", path);
	FILE *f = fopen(whole, "r");
	while (f && fgets(line, sizeof(line), f)) {
		size_t n = strcspn(at, "\n");
		n += at[n] == '\n';
		lines++;
		if (strlen(line) != n || memcmp(line, at, n) != 0) {
			differ++;
			printf("# %s:%d\n# want %s# got  %.*s", path, lines, line, (int)n, at);
		}
		at += n;
	}
	if (f)
		fclose(f);
	ok(lines >= least, "%d lines are recorded", lines);
	is_int(differ, 0, "they are as recorded");
	is_str(at, "", "and there are no more");
}

#endif
