/* Bytes are a model: loaded, and planned under a few sets of options. */
#include "config.h"

#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct error err = ERROR_NONE;
	struct model *m = model_load(fuzz_file(bytes, n), &err);
	if (m)
		fuzz_plan(m);
	model_free(m);
	return 0;
}
