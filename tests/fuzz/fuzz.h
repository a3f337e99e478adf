/* What the fuzz targets share. Each is one function over bytes: with libFuzzer it looks for bytes that break
 * something, without it (fuzz_main.c) it runs over files, so that what was once found is looked for in every
 * `make check`. What must hold is said with FUZZ_CHECK, in every build. */
#ifndef FUZZ_H
#define FUZZ_H

#include "base/str.h"
#include "model/graph.h"
#include "plan/plan.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define FUZZ_CHECK(what)                                                                      \
	do {                                                                                  \
		if (!(what)) {                                                                \
			fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #what); \
			abort();                                                              \
		}                                                                             \
	} while (0)

/* The path of a file with exactly these bytes; it lives in memory, and until the next call. */
const char *fuzz_file(const uint8_t *bytes, size_t n);
/* Standard input becomes a stream of these bytes. False: they do not fit into one at once. */
bool fuzz_stdin(const uint8_t *bytes, size_t n);
/* One line, not empty, that is safe on a terminal. */
void fuzz_check_line(const char *line);
/* Plans the model under a few sets of options, looks for fused groups, and holds what comes out against what
 * the interfaces promise. */
void fuzz_plan(const struct model *m);

#endif
