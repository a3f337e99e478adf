/* Damaged models, in great numbers: cut off at every byte, bits turned at random with fixed seeds, lengths
 * and kinds of fields changed. Each is refused with one clean line, or is a model whose plan keeps its
 * promises (tests/fuzz). */
#include "config.h"

#include "tests/fuzz/fuzz.h"
#include "tests/unit/tap.h"

#include "base/arena.h"

#include <stdlib.h>

#define FLIPS 4000

static const char *const names[] = { "baked", "rows", "symbolic" };

/* Is it a model? */
static bool try(const uint8_t *bytes, size_t n)
{
	struct error err = ERROR_NONE;
	struct model *m = model_load(fuzz_file(bytes, n), &err);
	if (m)
		fuzz_plan(m);
	else
		fuzz_check_line(err.text);
	model_free(m);
	return m != NULL;
}

static size_t read_model(const char *name, uint8_t **bytes)
{
	const char *srcdir = getenv("srcdir");
	char path[2048];
	snprintf(path, sizeof(path), "%s/tests/models/%s.onnx", srcdir ? srcdir : ".", name);
	FILE *f = fopen(path, "rb");
	*bytes = base_malloc(1 << 16);
	size_t n = f ? fread(*bytes, 1, 1 << 16, f) : 0;
	if (f)
		fclose(f);
	return n;
}

static void test_truncated(const char *name, const uint8_t *bytes, size_t n)
{
	int models = 0;
	for (size_t i = 0; i < n; i++) {
		/* A buffer of exactly this size, so that a sanitizer detects one byte too many. */
		uint8_t *part = memcpy(base_malloc(i), bytes, i);
		models += try(part, i);
		free(part);
	}
	/* Fields behind the graph may be missing. */
	ok(models < 100, "%s cut off at each of %zu bytes: %d are models", name, n, models);
}

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

static void test_flips(const char *name, const uint8_t *bytes, size_t n)
{
	int models = 0;
	uint64_t state = n;
	uint8_t *copy = base_malloc(n);
	for (int i = 0; i < FLIPS; i++) {
		memcpy(copy, bytes, n);
		for (int k = 0; k <= i % 4; k++)
			copy[next_random(&state) % n] ^= (uint8_t)(1 << next_random(&state) % 8);
		models += try(copy, n);
	}
	free(copy);
	ok(models > 0 && models < FLIPS, "%s with turned bits: %d of %d are models", name, models, FLIPS);
}

/* Whole bytes: lengths past the end, fields of other kinds, endless numbers. */
static void test_bytes(const char *name, const uint8_t *bytes, size_t n)
{
	static const uint8_t values[] = { 0x00, 0xff };
	int models = 0;
	uint8_t *copy = base_malloc(n);
	for (size_t i = 0; i < n * sizeof(values); i++) {
		memcpy(copy, bytes, n);
		copy[i / sizeof(values)] = values[i % sizeof(values)];
		models += try(copy, n);
	}
	for (size_t i = 0; i < n; i++) {
		memcpy(copy, bytes, n);
		copy[i] = (uint8_t)((copy[i] & ~7) | ((copy[i] + 1) & 7));
		models += try(copy, n);
	}
	free(copy);
	ok(models > 0, "%s with other bytes in place of each: %d are models", name, models);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		uint8_t *bytes;
		size_t n = read_model(names[i], &bytes);
		if (ok(n > 100 && try(bytes, n), "%s opens", names[i])) {
			test_truncated(names[i], bytes, n);
			test_flips(names[i], bytes, n);
			test_bytes(names[i], bytes, n);
		}
		free(bytes);
	}
	return done_testing();
}
