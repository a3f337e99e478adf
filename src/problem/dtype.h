/* Element types, one row each: identifier, name in texts, bits per element, whether it is a floating-point
 * type. Names are those of oneDNN (s8, f32, bf16): they are short, for problem texts. */
#ifndef PROBLEM_DTYPE_H
#define PROBLEM_DTYPE_H

#include "base/error.h"
#include "base/str.h"

/*        id           name          bits float */
#define DTYPE_LIST(_)                      \
	_(F32,        "f32",         32, 1) \
	_(F16,        "f16",         16, 1) \
	_(BF16,       "bf16",        16, 1) \
	_(F64,        "f64",         64, 1) \
	_(TF32,       "tf32",        32, 1) \
	_(S8,         "s8",           8, 0) \
	_(U8,         "u8",           8, 0) \
	_(S16,        "s16",         16, 0) \
	_(U16,        "u16",         16, 0) \
	_(S32,        "s32",         32, 0) \
	_(U32,        "u32",         32, 0) \
	_(S64,        "s64",         64, 0) \
	_(U64,        "u64",         64, 0) \
	_(BOOL,       "bool",         8, 0) \
	_(S4,         "s4",           4, 0) \
	_(U4,         "u4",           4, 0) \
	_(S2,         "s2",           2, 0) \
	_(U2,         "u2",           2, 0) \
	_(F8E4M3,     "f8e4m3",       8, 1) \
	_(F8E5M2,     "f8e5m2",       8, 1) \
	_(F8E4M3FNUZ, "f8e4m3fnuz",   8, 1) \
	_(F8E5M2FNUZ, "f8e5m2fnuz",   8, 1) \
	_(F8E8M0,     "f8e8m0",       8, 1) \
	_(F6E2M3,     "f6e2m3",       6, 1) \
	_(F6E3M2,     "f6e3m2",       6, 1) \
	_(F4E2M1,     "f4e2m1",       4, 1) \
	_(C64,        "c64",         64, 0) \
	_(C128,       "c128",       128, 0) \
	_(STRING,     "string",       0, 0)

enum dtype {
	DTYPE_UNKNOWN = 0,
#define DTYPE_ENUM(id, name, bits, is_float) DTYPE_##id,
	DTYPE_LIST(DTYPE_ENUM)
#undef DTYPE_ENUM
	DTYPE_COUNT
};

const char *dtype_name(enum dtype t);      /* "?" for DTYPE_UNKNOWN */
enum dtype dtype_parse(struct text name);  /* DTYPE_UNKNOWN if there is no such type */
/* A type as people and other programs write it, in any case: fp16, half, float16, int8 ...; DTYPE_UNKNOWN if
 * there is no such type. */
enum dtype dtype_parse_usual(struct text name);
/* A type of models (dtype_is_asked) that a user typed; *t is unchanged by an error. Returns -1 with an error.
 */
int dtype_take_asked(struct text name, enum dtype *t, struct error *err);
int dtype_bits(enum dtype t);              /* 0 for unknown and string */
bool dtype_is_float(enum dtype t);
bool dtype_is_float8(enum dtype t); /* of values with a scale: 8-bit floats but f8e8m0, which is one */
bool dtype_is_asked(enum dtype t);         /* a model can be planned in it: s8 and floating-point types, but
					      not f8e8m0, which is one of scales */
/* Bytes of `count` elements; types of less than 8 bits are packed, and the sum is rounded up. NaN if the type
 * has no fixed size. */
double dtype_bytes(enum dtype t, double count);

#endif
