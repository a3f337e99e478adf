/* Everything that the text of a generated pointwise kernel uses, for a CPU: one thread after another, with
 * the number `thread` of `threads`. In C and C++. */
#ifndef POINTWISE_PRELUDE_H
#define POINTWISE_PRELUDE_H

static const char pointwise_prelude[] =
	"#include <math.h>\n#include <stdint.h>\n"
	"#include \"runner/verify/fill_impl.h\"\n"
	"typedef int8_t s8; typedef uint8_t u8; typedef int16_t s16; typedef uint16_t u16;\n"
	"typedef int32_t s32; typedef uint32_t u32; typedef long long s64;\n"
	"template <typename W, int N> struct alignas(sizeof(W) * N) pack { W at[N]; };\n"
	"extern \"C\" { s64 thread, threads; }\n"
	"#define KERNEL static\n#define FIRST thread\n#define STEP threads\n"
	"static float read_f16(u16 w) { return (float)fill_unbits(w, DTYPE_F16); }\n"
	"static u16 write_f16(float v) { return (u16)fill_bits(v, DTYPE_F16); }\n"
	"static float read_bf16(u16 w) { return (float)fill_unbits(w, DTYPE_BF16); }\n"
	"static u16 write_bf16(float v) { return (u16)fill_bits(v, DTYPE_BF16); }\n";

#endif
