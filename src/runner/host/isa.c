/* What the processor has, less what DNNL_MAX_CPU_ISA forbids. */
#include "config.h"

#include "runner/host/isa.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#if defined(__x86_64__) && defined(__GNUC__)

/* oneDNN's names of limits: the first letters decide, other names limit nothing. */
static const struct { const char *name; enum isa isa; } limits[] = { { "SSE41", ISA_BASE },
	{ "AVX512_CORE_BF16", ISA_AVX512_BF16 }, { "AVX512_CORE_FP16", ISA_AVX512_BF16 },
	{ "AVX512_CORE_AMX", ISA_AVX512_BF16 }, { "AVX512", ISA_AVX512 }, { "AVX10", ISA_AVX512_BF16 },
	{ "AVX2", ISA_AVX2 }, { "AVX", ISA_BASE } };

static enum isa permitted(void)
{
	const char *cap = getenv("ONEDNN_MAX_CPU_ISA");
	cap = cap ? cap : getenv("DNNL_MAX_CPU_ISA");
	for (size_t i = 0; cap && i < sizeof(limits) / sizeof(limits[0]); i++)
		if (strncasecmp(cap, limits[i].name, strlen(limits[i].name)) == 0)
			return limits[i].isa;
	return ISA_AVX512_BF16;
}

static enum isa supported(void)
{
	if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
		return ISA_BASE;
	if (!__builtin_cpu_supports("avx512f"))
		return ISA_AVX2;
#if defined(__clang__) ? __clang_major__ >= 14 : __GNUC__ >= 11
	if (__builtin_cpu_supports("avx512bf16"))
		return ISA_AVX512_BF16;
#endif
	return ISA_AVX512;
}

enum isa isa_present(void)
{
	enum isa most = permitted(), has = supported();
	return has < most ? has : most;
}
#else
enum isa isa_present(void)
{
	return ISA_BASE;
}
#endif
