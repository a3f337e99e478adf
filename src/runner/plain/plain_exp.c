#include "config.h"

#include "runner/plain/plain_exp.h"

#include "runner/host/isa.h"
#include "runner/host/lines.h"

#define FUNCTIONS \
	FUNCTION(MODE_SIGMOID) FUNCTION(MODE_TANH) FUNCTION(MODE_GELU_ERF) FUNCTION(MODE_GELU_TANH) \
	FUNCTION(MODE_SWISH) FUNCTION(MODE_ELU) FUNCTION(MODE_MISH)

#define NAME(x) x##_base
#define TARGET
#include "runner/plain/plain_exp_impl.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define NAME(x) x##_avx2
#define TARGET __attribute__((target("avx2,fma")))
#include "runner/plain/plain_exp_impl.h"

#define NAME(x) x##_avx512
#define TARGET __attribute__((target("avx512f")))
#include "runner/plain/plain_exp_impl.h"

static const struct plain_exp avx2 = { "avx2", eltwise_avx2 }, avx512 = { "avx512", eltwise_avx512 };
#endif

static const struct plain_exp base = { "base", eltwise_base };

const struct plain_exp *plain_exp(void)
{
#if defined(__x86_64__) && defined(__GNUC__)
	enum isa isa = isa_present();
	if (isa >= ISA_AVX2)
		return isa >= ISA_AVX512 ? &avx512 : &avx2;
#endif
	return &base;
}

static bool has_exponential(enum mode m)
{
#define FUNCTION(mode) case mode:
	switch (m) {
	FUNCTIONS
		return true;
	default: return false;
	}
#undef FUNCTION
}

bool plain_by_exp(const struct problem *p)
{
	return p->kernel == KERNEL_ELTWISE && has_exponential(p->mode) && p->operand[0].dtype == DTYPE_F32 &&
		p->operand[1].dtype == DTYPE_F32;
}
