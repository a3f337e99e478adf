/* The table of element types, and the nearest one for a misspelt word. */
#include "config.h"

#include "problem/dtype.h"

#include "base/word.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const struct {
	const char *name;
	int bits;
	bool is_float;
} dtype_rows[DTYPE_COUNT] = {
	[DTYPE_UNKNOWN] = { "?", 0, false },
#define DTYPE_ROW(id, name, bits, is_float) [DTYPE_##id] = { name, bits, is_float },
	DTYPE_LIST(DTYPE_ROW)
#undef DTYPE_ROW
};

const char *dtype_name(enum dtype t)
{
	return dtype_rows[t].name;
}

enum dtype dtype_parse(struct text name)
{
	for (int t = DTYPE_UNKNOWN + 1; t < DTYPE_COUNT; t++)
		if (text_is(name, dtype_rows[t].name))
			return (enum dtype)t;
	return DTYPE_UNKNOWN;
}

static const struct {
	const char *name;
	enum dtype type;
} usual[] = {
	{ "fp64", DTYPE_F64 }, { "float64", DTYPE_F64 }, { "double", DTYPE_F64 },
	{ "fp32", DTYPE_F32 }, { "float32", DTYPE_F32 }, { "float", DTYPE_F32 }, { "single", DTYPE_F32 },
	{ "tensorfloat32", DTYPE_TF32 },
	{ "fp16", DTYPE_F16 }, { "float16", DTYPE_F16 }, { "half", DTYPE_F16 },
	{ "bfloat16", DTYPE_BF16 }, { "bfloat", DTYPE_BF16 },
	{ "float8e4m3fn", DTYPE_F8E4M3 }, { "float8_e4m3fn", DTYPE_F8E4M3 }, { "e4m3", DTYPE_F8E4M3 },
	{ "fp8_e4m3", DTYPE_F8E4M3 }, { "fp8", DTYPE_F8E4M3 }, { "f8", DTYPE_F8E4M3 },
	{ "float8e5m2", DTYPE_F8E5M2 }, { "float8_e5m2", DTYPE_F8E5M2 },
	{ "e5m2", DTYPE_F8E5M2 }, { "fp8_e5m2", DTYPE_F8E5M2 },
	{ "int8", DTYPE_S8 }, { "i8", DTYPE_S8 }, { "uint8", DTYPE_U8 }, { "int16", DTYPE_S16 },
	{ "i16", DTYPE_S16 }, { "uint16", DTYPE_U16 }, { "int32", DTYPE_S32 }, { "i32", DTYPE_S32 },
	{ "int", DTYPE_S32 }, { "uint32", DTYPE_U32 }, { "int64", DTYPE_S64 }, { "i64", DTYPE_S64 },
	{ "long", DTYPE_S64 }, { "uint64", DTYPE_U64 }, { "int4", DTYPE_S4 }, { "i4", DTYPE_S4 },
	{ "uint4", DTYPE_U4 }, { "boolean", DTYPE_BOOL }, { "fp4", DTYPE_F4E2M1 }, { "f4", DTYPE_F4E2M1 },
	{ "float4e2m1", DTYPE_F4E2M1 }, { "e2m1", DTYPE_F4E2M1 },
};

static bool is_word(struct text name, const char *word)
{
	return strlen(word) == name.n && strncasecmp(name.p, word, name.n) == 0;
}

enum dtype dtype_parse_usual(struct text name)
{
	for (int t = DTYPE_UNKNOWN + 1; t < DTYPE_COUNT; t++)
		if (is_word(name, dtype_rows[t].name))
			return (enum dtype)t;
	for (size_t i = 0; i < sizeof(usual) / sizeof(*usual); i++)
		if (is_word(name, usual[i].name))
			return usual[i].type;
	return DTYPE_UNKNOWN;
}

/* Returns the number of digits of the first number in a word; 0: none. */
static size_t digits_of(const char *word)
{
	return strspn(word + strcspn(word, "0123456789"), "0123456789");
}

/* Tries a type unless it is another one, of more or fewer digits (f64 for fp4). */
static void nearest_try(struct word_nearest *near, const char *name)
{
	size_t digits = digits_of(near->word);
	if (!digits || digits == digits_of(name))
		word_try(near, name);
}

int dtype_take_asked(struct text name, enum dtype *t, struct error *err)
{
	enum dtype found = dtype_parse_usual(name);
	char word[41];
	struct word_nearest near = { .word = word };
	snprintf(word, sizeof(word), "%.*s", name.n > 40 ? 40 : (int)name.n, name.p);
	if (dtype_is_asked(found)) {
		*t = found;
		return 0;
	}
	if (found != DTYPE_UNKNOWN)
		return error_set(err, "%s is not a type to run a model in, such as f32, bf16, f16, "
			"f8e4m3, s8: other integers are in the file of a quantized model", word);
	for (int i = DTYPE_UNKNOWN + 1; i < DTYPE_COUNT; i++)
		if (dtype_is_asked((enum dtype)i))
			nearest_try(&near, dtype_rows[i].name);
	for (size_t i = 0; i < sizeof(usual) / sizeof(*usual); i++)
		if (dtype_is_asked(usual[i].type))
			nearest_try(&near, usual[i].name);
	return error_set(err, "%s is not a type such as f32, bf16, f16, f8e4m3, s8%s%s%s", word,
		near.best ? "; did you mean " : "", near.best ? near.best : "", near.best ? "?" : "");
}

int dtype_bits(enum dtype t)
{
	return dtype_rows[t].bits;
}

bool dtype_is_float(enum dtype t)
{
	return dtype_rows[t].is_float;
}

bool dtype_is_float8(enum dtype t)
{
	return dtype_is_float(t) && dtype_bits(t) == 8 && t != DTYPE_F8E8M0;
}

bool dtype_is_asked(enum dtype t)
{
	return (dtype_is_float(t) && t != DTYPE_F8E8M0) || t == DTYPE_S8;
}

double dtype_bytes(enum dtype t, double count)
{
	return dtype_rows[t].bits ? ceil(count * dtype_rows[t].bits / 8) : NAN;
}
