/* Instruction sets of this processor, for kernels that are compiled for several. */
#ifndef RUNNER_ISA_H
#define RUNNER_ISA_H

/* In this order: each includes those before it. */
enum isa {
	ISA_BASE,        /* what the compiler's flags allow */
	ISA_AVX2,        /* with FMA */
	ISA_AVX512,      /* avx512f */
	ISA_AVX512_BF16,
};

/* The largest set that the processor has and oneDNN's variable ONEDNN_MAX_CPU_ISA (or DNNL_MAX_CPU_ISA)
 * permits. */
enum isa isa_present(void);

#endif
