/* The main of a fuzz target without libFuzzer: every file that is named is one input. */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include <string.h>

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		FILE *f = fopen(argv[i], "rb");
		if (!f) {
			perror(argv[i]);
			return 1;
		}
		struct str bytes = { 0 };
		char block[8192];
		size_t n;
		while ((n = fread(block, 1, sizeof(block), f)) > 0)
			str_add(&bytes, block, n);
		fclose(f);
		/* Exactly as many bytes as there are, so that a sanitizer sees one byte too many. */
		uint8_t *exact = memcpy(base_malloc(bytes.n), bytes.p ? bytes.p : "", bytes.n);
		fprintf(stderr, "%s\n", argv[i]);
		LLVMFuzzerTestOneInput(exact, bytes.n);
		free(exact);
		str_free(&bytes);
	}
	return 0;
}
