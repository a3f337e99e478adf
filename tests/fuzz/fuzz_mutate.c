/* Changes a case word by word, so that most of what is tried can be read: libFuzzer's own changes do the
 * rest. */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "ops/op.h"

#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *bytes, size_t n, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t n, size_t most, unsigned seed);
__attribute__((weak)) size_t LLVMFuzzerMutate(uint8_t *bytes, size_t n, size_t most)
{
	(void)bytes;
	return n < most ? n : most;
}

#define DELIMITERS " ,[]={}\n"
#define WORDS_MOST 512

static const char *const values[] = { "0", "1", "-1", "2", "3", "4", "5", "7", "8", "16", "-2", "255", "1024",
	"1025", "65536", "2147483647", "2147483648", "-2147483648", "1099511627776", "4611686018427387904",
	"9223372036854775807", "-9223372036854775808", "?", "?<=8", "batch", "n", "2*batch", "batch+n", "n-1",
	"0.5", "-1.0", "1.0e38", "nan.", "inf.", "-", "f32", "f16", "f64", "bf16", "s8", "u8", "s32", "s64",
	"u64", "bool", "s4", "f8e4m3", "c64", "string", "f32.c", "s64.c", "s64.c[0]={}", "s64.c[1]={0}",
	"s64.c[2]={1,2}", "f32[]", "f32[2,3,4]", "f32[1,2,3,4,5,6,7,8,9]", "f32.c[]={1.0}", "s64[]={3}",
	"axis=1", "axes=[0,1]", "[1,1,1,1]", "[]", "\"\"", "\"SAME_UPPER\"", "\"linear\"" };

static const char *random_word(unsigned seed)
{
	size_t n = sizeof(values) / sizeof(values[0]), i = seed / 2 % (n + 40);
	return i < n ? values[i] : op_row(seed % op_row_count())->name;
}

/* Puts `with` where `old` bytes stood at `at`. */
static size_t splice(
	uint8_t *bytes, size_t n, size_t most, size_t at, size_t old, const char *with, size_t length)
{
	if (n - old + length > most)
		return n;
	memmove(bytes + at + length, bytes + at + old, n - at - old);
	memcpy(bytes + at, with, length);
	return n - old + length;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t n, size_t most, unsigned seed)
{
	struct text words[WORDS_MOST];
	size_t count = 0;
	for (size_t at = 0; at < n && count < WORDS_MOST;) {
		size_t end = at;
		while (end < n && !strchr(DELIMITERS, bytes[end]))
			end++;
		if (end > at)
			words[count++] = (struct text){ (const char *)bytes + at, end - at };
		at = end + 1;
	}
	unsigned how = seed % 8, pick = seed >> 3;
	if (count == 0 || how == 0)
		return LLVMFuzzerMutate(bytes, n, most);
	struct text word = words[pick % count], other = words[pick / 7 % count];
	size_t at = (size_t)(word.p - (const char *)bytes);
	char copy[64];
	size_t length = other.n < sizeof(copy) ? other.n : sizeof(copy);
	memcpy(copy, other.p, length);
	if (how == 1)
		return splice(bytes, n, most, at, word.n, "", 0);
	if (how == 2)
		return splice(bytes, n, most, at, word.n, copy, length);
	if (how == 3)
		return splice(bytes, n, most, at, 0, pick % 2 ? "1," : "- ", 2);
	const char *with = random_word(pick / 11);
	return splice(bytes, n, most, at, word.n, with, strlen(with));
}
