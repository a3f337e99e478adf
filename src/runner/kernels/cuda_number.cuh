/* Conversion of stored numbers of every type: with the hardware's conversions on a GPU, with those of
 * fill_impl.h, which give the same bits, if the sources are compiled for a CPU. */
#ifndef RUNNER_CUDA_NUMBER_CUH
#define RUNNER_CUDA_NUMBER_CUH

#include "runner/kernels/cuda_device.cuh"
#include "runner/verify/fill_impl.h"

#ifndef CUDA_ON_CPU
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#endif

/* A dtype's storage word and a C type that holds all its values exactly. */
template <int TYPE> struct number;

#define NUMBER_PLAIN(type, word_type, value_type)                                                   \
	template <> struct number<type> {                                                          \
		typedef word_type word;                                                            \
		typedef value_type value;                                                          \
		static __device__ inline value read(word w) { return (value)w; }                   \
		static __device__ inline word write(value v) { return (word)v; }                   \
	};
NUMBER_PLAIN(DTYPE_F32, float, float)
NUMBER_PLAIN(DTYPE_F64, double, double)
NUMBER_PLAIN(DTYPE_S8, int8_t, int32_t)
NUMBER_PLAIN(DTYPE_U8, uint8_t, int32_t)
NUMBER_PLAIN(DTYPE_S16, int16_t, int32_t)
NUMBER_PLAIN(DTYPE_U16, uint16_t, int32_t)
NUMBER_PLAIN(DTYPE_S32, int32_t, int32_t)
NUMBER_PLAIN(DTYPE_U32, uint32_t, int64_t)
NUMBER_PLAIN(DTYPE_S64, int64_t, int64_t)
NUMBER_PLAIN(DTYPE_U64, uint64_t, uint64_t)

template <> struct number<DTYPE_BOOL> {
	typedef uint8_t word;
	typedef int32_t value;
	static __device__ inline value read(word w) { return w != 0; }
	static __device__ inline word write(value v) { return v != 0; }
};

/* Floats of 8 and 16 bits: stored as bits in a word, computed as float. */
#define NUMBER_SMALL(type, word_type, from_bits, to_bits)                                           \
	template <> struct number<type> {                                                          \
		typedef word_type word;                                                            \
		typedef float value;                                                               \
		static __device__ inline value read(word w) { return from_bits; }                  \
		static __device__ inline word write(value v) { return to_bits; }                   \
	};
#ifdef CUDA_ON_CPU
#define NUMBER_BY_HAND(type, word_type) \
	NUMBER_SMALL(type, word_type, (float)fill_unbits(w, type), (word_type)fill_bits(v, type))
NUMBER_BY_HAND(DTYPE_F16, uint16_t)
NUMBER_BY_HAND(DTYPE_BF16, uint16_t)
NUMBER_BY_HAND(DTYPE_F8E4M3, uint8_t)
NUMBER_BY_HAND(DTYPE_F8E5M2, uint8_t)
#else
NUMBER_SMALL(DTYPE_F16, uint16_t, __half2float(__ushort_as_half(w)), __half_as_ushort(__float2half_rn(v)))
NUMBER_SMALL(DTYPE_BF16, uint16_t, __uint_as_float((uint32_t)w << 16), __bfloat16_as_ushort(__float2bfloat16_rn(v)))
NUMBER_SMALL(DTYPE_F8E4M3, uint8_t, __half2float(__half(__nv_cvt_fp8_to_halfraw(w, __NV_E4M3))),
	__nv_cvt_float_to_fp8(v, __NV_SATFINITE, __NV_E4M3))
NUMBER_SMALL(DTYPE_F8E5M2, uint8_t, __half2float(__half(__nv_cvt_fp8_to_halfraw(w, __NV_E5M2))),
	__nv_cvt_float_to_fp8(v, __NV_SATFINITE, __NV_E5M2))
#endif

/* Converts a float to an integer type: truncates as ONNX's Cast does, then saturates; NaN becomes 0. */
template <typename TO, typename VALUE> static __device__ inline TO number_integer(VALUE v, int bits,
	bool is_signed)
{
	VALUE limit = (VALUE)(UINT64_C(1) << (bits - 1)) * (is_signed ? 1 : 2); /* a power of two: exact */
	uint64_t most = UINT64_MAX >> (64 - bits + is_signed);
	if (v != v)
		return 0;
	if (v >= limit)
		return (TO)most;
	if (v < (is_signed ? -limit : (VALUE)0))
		return is_signed ? (TO)(-(int64_t)most - 1) : (TO)0;
	return is_signed ? (TO)(int64_t)v : (TO)(uint64_t)v;
}

/* Converts to the word of TO. Integers: rounds to nearest even and saturates; NaN becomes the minimum. */
template <int TO> static __device__ inline typename number<TO>::word number_round(float v)
{
	bool is_signed;
	int bits = fill_whole_bits((enum dtype)TO, &is_signed);
	if (!bits)
		return number<TO>::write((typename number<TO>::value)v);
	float low = is_signed ? -(float)(1 << (bits - 1)) : 0, high = low + (float)((1 << bits) - 1);
	return (typename number<TO>::word)(int)rintf(fminf(fmaxf(v, low), high));
}

/* Converts a value to the value type of TO; integer types saturate, except from one integer type to a 64-bit
 * one. */
template <int TO, typename VALUE> static __device__ inline typename number<TO>::value number_convert(VALUE v)
{
	typedef typename number<TO>::value to_value;
	bool is_signed;
	int bits = fill_whole_bits((enum dtype)TO, &is_signed);
	if (TO == DTYPE_BOOL)
		return (to_value)(v != 0);
	if (!bits || (bits == 64 && (VALUE)0.5 == 0)) /* to float, or integer to 64-bit integer */
		return (to_value)v;
	if ((VALUE)0.5 != 0) /* float to integer */
		return number_integer<to_value, VALUE>(v, bits, is_signed);
	int64_t most = is_signed ? (int64_t)(UINT64_MAX >> (65 - bits)) : (int64_t)(UINT64_MAX >> (64 - bits));
	int64_t least = is_signed ? -most - 1 : 0, integer = (int64_t)v;
	return (to_value)(integer > most ? most : integer < least ? least : integer);
}

#endif
