/* The source that every generated kernel begins with: types and conversions. */
#include "config.h"

#include "runner/nvrtc/nvrtc_source.h"

/* bf16 has instructions from sm_80 on; before, adding just under a half of the last place rounds to even. */
const char nvrtc_prelude[] =
	"typedef signed char s8; typedef unsigned char u8; typedef short s16; typedef unsigned short u16;\n"
	"typedef int s32; typedef unsigned u32; typedef long long s64;\n"
	"template <typename W, int N> struct __align__(sizeof(W) * N) pack { W at[N]; };\n"
	"#define KERNEL extern \"C\" __global__\n"
	"#define FUNCTION static __device__ __forceinline__\n"
	"#define FIRST (blockIdx.x * (s64)blockDim.x + threadIdx.x)\n"
	"#define STEP (gridDim.x * (s64)blockDim.x)\n"
	"FUNCTION float read_f16(u16 w)\n"
	"{ float v; asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(v) : \"h\"(w)); return v; }\n"
	"FUNCTION u16 write_f16(float v)\n"
	"{ u16 w; asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(w) : \"f\"(v)); return w; }\n"
	"FUNCTION float read_bf16(u16 w) { return __uint_as_float((u32)w << 16); }\n"
	"FUNCTION u16 write_bf16(float v)\n"
	"{\n"
	"#if __CUDA_ARCH__ >= 800\n"
	"	u16 w; asm(\"cvt.rn.bf16.f32 %0, %1;\" : \"=h\"(w) : \"f\"(v)); return w;\n"
	"#else\n"
	"	u32 w = __float_as_uint(v);\n"
	"	return v != v ? 0x7fff : (u16)((w + 0x7fff + (w >> 16 & 1)) >> 16);\n"
	"#endif\n"
	"}\n";
