#include "config.h"

#include "problem/dim.h"
#include "problem/kernel.h"
#include "problem/problem.h"
#include "problem/result.h"
#include "tap.h"

#include <stdlib.h>

/* text, flops, bytes: worked out by hand. */
static const struct {
	const char *text;
	double flops, bytes;
} good[] = {
	{ "conv:f32,f32.c,f32/f32:n1c64h56w56k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1",
		2.0 * 64 * 64 * 9 * 56 * 56, 4.0 * (64 * 56 * 56 * 2 + 64 * 64 * 9) },
	{ "conv:f32,f32.c,f32/f32:n1c64h56w56k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1+bias:f32.c+add:f32+relu",
		(2.0 * 64 * 9 + 3) * 64 * 56 * 56, 4.0 * (64 * 56 * 56 * 3 + 64 * 64 * 9 + 64) },
	{ "conv:bf16,bf16.c,bf16/f32:n1c32h112w112k32r3s3:ph1pw1qh1qw1:sh2sw2:dh1dw1:g32+clip,0,6",
		(2.0 * 9 + 1) * 32 * 56 * 56, 2.0 * (32 * 112 * 112 + 32 * 9 + 32 * 56 * 56) },
	{ "conv:f32@nxc,f32.c,f32@nxc/f32:n1c8w100k4s3:pw1qw0:sw1:dw4:g1", 2.0 * 8 * 3 * 4 * 93,
		4.0 * (800 + 96 + 372) },
	{ "conv:f32,f32.c,f32/f32:n2c3d8h8w8k4t3r3s3:pd0ph0pw0qd0qh0qw0:sd1sh1sw1:dd1dh1dw1:g1",
		2.0 * 3 * 27 * 2 * 4 * 216, 4.0 * (2 * 3 * 512 + 4 * 81 + 2 * 4 * 216) },
	{ "matmul:f32,f32.c,f32/f32:ba1bb1m128n3072k768:ta0tb1+bias:f32.c+gelu_erf",
		128.0 * 3072 * (2 * 768 + 2), 4.0 * (128 * 768 + 768 * 3072 + 128 * 3072 + 3072) },
	{ "matmul:f32,f32@s8192x64x1,f32/f32:ba12bb12m128n128k64:ta0tb0", 2.0 * 12 * 128 * 128 * 64,
		4.0 * 12 * (128 * 64 * 2 + 128 * 128) },
	{ "matmul:f32,f32,f32/f32:ba4x1bb1x3m2n2k2:ta0tb0", 2.0 * 12 * 8, 4.0 * (16 + 12 + 48) },
	{ "pool:f32,f32:max:n1c64h112w112r3s3:ph1pw1qh1qw1:sh2sw2:dh1dw1", 9.0 * 64 * 56 * 56,
		4.0 * 64 * (112 * 112 + 56 * 56) },
	{ "batchnorm:f32,f32:1x64x56x56", 2.0 * 64 * 56 * 56, 8.0 * 64 * 56 * 56 },
	{ "layernorm:f32,f32:128x768:ax1", 7.0 * 128 * 768, 8.0 * 128 * 768 },
	{ "softmax:f32,f32:soft:1x12x128x128:ax3", 5.0 * 12 * 128 * 128, 8.0 * 12 * 128 * 128 },
	{ "eltwise:f32,f32:leaky_relu,0.1:10", 10, 80 },
	{ "binary:f32,f32.c,f32:add:1x256x56x56:256x1x1", 256.0 * 56 * 56, 4.0 * (2 * 256 * 56 * 56 + 256) },
	{ "reduce:f32,f32:mean:1x64x7x7:1x64x1x1", 64.0 * 49, 4.0 * 64 * 50 },
	{ "concat:f32,f32:1x64x28x28,1x32x28x28:ax1", 0, 8.0 * 96 * 784 },
	{ "transpose:f32,f32:1x128x12x64:perm0x2x1x3", 0, 8.0 * 128 * 768 },
	{ "resample:f32,f32:nearest:n1c64h20w20:oh40ow40", 0, 4.0 * 64 * 2000 },
	{ "lrn:f32,f32:across,0.0001,0.75:1x64x56x56:n5", 13.0 * 64 * 3136, 8.0 * 64 * 3136 },
	{ "cast:f32,bf16:1x3x224x224", 0, 6.0 * 150528 },
	{ "copy:u8,u8:b602112", 0, 2.0 * 602112 },
	{ "deconv:f32,f32.c,f32/"
	  "f32:n1c256h14w14k128r3s3:ph1pw1qh1qw1:sh2sw2:dh1dw1:uh1uw1:g1+bias:f32.c+relu",
		2.0 * 256 * 128 * 9 * 196 + 2.0 * 128 * 28 * 28,
		4.0 * (256 * 196 + 256 * 128 * 9 + 128 * 784 + 128) },
	{ "deconv:f16,f16.c,f16/f32:n2c4w5k6s2:pw0qw0:sw2:dw1:uw0:g2", 2.0 * 2 * 4 * 3 * 2 * 5,
		2.0 * (2 * 4 * 5 + 4 * 3 * 2 + 2 * 6 * 10) },
	{ "instancenorm:f32,f32:1x64x56x56", 7.0 * 64 * 56 * 56, 8.0 * 64 * 56 * 56 },
	{ "groupnorm:f16,f16:2x64x56x56:g32", 7.0 * 2 * 64 * 56 * 56, 4.0 * 2 * 64 * 56 * 56 },
	{ "rmsnorm:bf16,bf16:128x4096:ax1", 4.0 * 128 * 4096, 4.0 * 128 * 4096 },
	{ "attention:f16,f16,f16,f16/f32:full:n1hq12hk12lq128lk128d64e64", 12.0 * 128 * 128 * (4 * 64 + 5),
		2.0 * 12 * 128 * 64 * 4 },
	{ "attention:f32,f32,f32,f32/f32:masked:n2hq12hk12lq128lk128d64e64:2x1x1x128",
		2 * 12.0 * 128 * 128 * (4 * 64 + 6), 4.0 * (2 * 4 * 12 * 128 * 64 + 2 * 128) },
	{ "attention:f16,f16,f16,f16/f32:causal:n2hq8hk2lq3lk5d64e32",
		16.0 * (3 + 4 + 5) * (2 * 64 + 2 * 32 + 5),
		2.0 * 2 * (8 * 3 * 64 + 2 * 5 * 64 + 2 * 5 * 32 + 8 * 3 * 32) },
	{ "rnn:f32,f32.c,f32:lstm:t128n1i512h512d1", 128.0 * 512 * (4 * (2 * 1024 + 2) + 9),
		4.0 * (128 * 512 + 4 * 512 * 1026 + 128 * 512) },
	{ "rnn:f32,f32.c,f32:gru:t3n5i7h2d2", 3.0 * 5 * 2 * 2 * (3 * (2 * 9 + 2) + 8),
		4.0 * (3 * 5 * 7 + 2 * 3 * 2 * 11 + 3 * 2 * 5 * 2) },
	{ "dropout:f32,f32:drop,0.5:128x768", 2.0 * 128 * 768, 8.0 * 128 * 768 },
	{ "gather:f32.c,s64,f32:50257x768:ax0:1x128", 0, 8.0 * 128 * 768 + 8.0 * 128 },
	{ "gather:f16,s32,f16:2x3x4:ax1:5x6", 0, 4.0 * 2 * 30 * 4 + 4.0 * 30 },
	{ "select:bool,f32,f32,f32:1x1x128x128:1x12x128x128:1", 0,
		128.0 * 128 + 4.0 * (24.0 * 128 * 128 + 1) },
	{ "topk:f32,f32:largest:1x1000:ax1:k5", 1000, 4.0 * 1005 + 8.0 * 5 },
	{ "argreduce:f32,s64:argmax:8x1000:ax1", 8000, 32000 + 64 },
	{ "scan:s64,s64:cumsum:1x128:ax1", 128, 16.0 * 128 },
	{ "rnn:f32,f32.c,f32:rnn_tanh:t128n1i512h256d1", 128.0 * 256 * (2 * 768 + 2 + 1),
		4.0 * (128 * 512 + 256 * 770 + 128 * 256) },
	{ "rnn:f32,f32.c,f32:rnn_relu:t2n3i4h5d2", 2.0 * 3 * 2 * 5 * (2 * 9 + 2 + 1),
		4.0 * (2 * 3 * 4 + 2 * 5 * 11 + 2 * 2 * 3 * 5) },
	{ "conv:u8,s8.c,s32/s32:n1c64h56w56k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1",
		2.0 * 64 * 64 * 9 * 56 * 56, 64 * 56 * 56 + 64 * 64 * 9 + 4.0 * 64 * 56 * 56 },
	{ "conv:u8,s8.c,u8/"
	  "s32:n1c64h56w56k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1+scale:f32.c+bias:f32.c+add:u8+relu",
		(2.0 * 64 * 9 + 4) * 64 * 56 * 56, 3.0 * 64 * 56 * 56 + 64 * 64 * 9 + 4 * 64 + 4 * 64 },
	{ "deconv:s8,s8.c,f16/s32:n2c4w5k6s2:pw0qw0:sw2:dw1:uw0:g2+scale:f32.c",
		2.0 * 2 * 4 * 3 * 2 * 5 + 2 * 6 * 10, 2 * 4 * 5 + 4 * 3 * 2 + 2.0 * 2 * 6 * 10 + 4 * 6 },
	{ "matmul:u8,s8.c,f32/s32:ba1bb1m128n3072k768:ta0tb0+scale:f32+bias:f32.c",
		128.0 * 3072 * (2 * 768 + 2), 128 * 768 + 768 * 3072 + 4.0 * (128 * 3072 + 2 * 3072) },
	{ "matmul:f32,u4.c,f32/f32:ba1bb1m2n48k70:ta0tb1:b32z1", 2.0 * 2 * 48 * 70,
		4.0 * 2 * (70 + 48) + 48 * 70 / 2 + 48 * 3 * 4.5 },
	{ "matmul:bf16,s8.c,bf16/f32:ba1bb1m1n16k64:ta0tb0:b64z0+bias:bf16.c", 2.0 * 16 * 64 + 16,
		2.0 * (64 + 16) + 16 * 64 + 2 * 16 + 2 * 16 },
	{ "quantize:f32,u8:tensor:1x3x224x224", 2.0 * 150528, 5.0 * 150528 + 4 },
	{ "quantize:f32,s8:axis:64x3x7x7:ax0", 2.0 * 64 * 147, 5.0 * 64 * 147 + 4 * 64 },
	{ "quantize:f16,s4:block:64x100:ax1:b32", 2.0 * 6400, 2.5 * 6400 + 4 * 64 * 4 },
	{ "quantize:bf16,f8e4m3:tensor:8", 16, 28 },
	{ "quantize:f32,u8:dynamic:1x128x768", 4.0 * 128 * 768, 5.0 * 128 * 768 + 4 },
	{ "dequantize:u8,f32:tensor:1x64x56x56", 2.0 * 64 * 3136, 5.0 * 64 * 3136 + 4 },
	{ "dequantize:s32,f32:axis:1x64x8:ax1", 2.0 * 512, 8.0 * 512 + 4 * 64 },
	{ "dequantize:u4,f16:block:4096x4096:ax0:b128", 2.0 * 4096 * 4096,
		2.5 * 4096 * 4096 + 4.0 * 32 * 4096 },
};

static const struct {
	const char *text, *says;
} bad[] = {
	{ "", "kernel" },
	{ "conf:f32", "kernel" },
	{ "conv", "\":\"" },
	{ "conv:f33,f32.c,f32/f32:n1c64h56w56k64r3s3", "data type" },
	{ "conv:f32,f32.c,f32:n1c64h56w56k64r3s3", "accumulator" },
	{ "conv:f32@odd,f32.c,f32/f32:n1c8w9k4s3:pw0qw0:sw1:dw1:g1", "a layout (ncx, nxc or s and strides)" },
	{ "conv:f32,f32.c,f32/f32:n0c64h56w56k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1", "1 or more" },
	{ "conv:f32,f32.c,f32/f32:n1c64h56w56k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g7", "groups" },
	{ "conv:f32,f32.c,f32/f32:n1c64h2w2k64r5s5:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1", "larger than" },
	{ "conv:f32,f32.c,f32/f32:n1c64h56w56k64r3s3:ph1pw1qh1qw1:sh0sw1:dh1dw1:g1", "stride" },
	{ "conv:f32,f32.c,f32/f32:n01c64h56w56k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1", "canonical spelling" },
	{ "conv:f32,f32.c,f32/f32:n1c64h56w56k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1+", "epilogue" },
	{ "conv:f32,f32.c,f32/f32:n1c64h56w56k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1+relu+relu+relu+relu+relu",
		"epilogue" },
	{ "conv:f32,f32.c,f32/f32:n1c64h56w56k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1 ", "the end" },
	{ "conv:f32,f32.c,f32/f32:n99999999999999999999c64h56w56", "number" },
	{ "eltwise:f32,f32:leaky_relu:10", "parameter" },
	{ "eltwise:f32,f32:leaky_relu,nan:10", "finite" },
	{ "eltwise:f32,f32:clip,0,6.0:10", "canonical spelling" },
	{ "eltwise:f32,f32:max:10", "mode" },
	{ "eltwise:string,f32:relu:10", "size" },
	{ "matmul:f32,f32,f32/f32:ba4bb3m2n2k2:ta0tb0", "broadcast" },
	{ "matmul:f32,f32,f32/f32:ba1bb1m2n2k2:ta2tb0", "expected 0 or 1" },
	{ "matmul:f32,u4.c,f32/f32:ba1bb1m2n2k8:ta0tb0:b4z2", "expected 0 or 1" },
	{ "matmul:f32,u4.c,f32/f32:ba1bb1m2n2k8:ta0tb0:b0z0", "canonical spelling" },
	{ "matmul:f32,u4.c,f32/f32:ba1bb1m2n2k8:ta0tb0:b9z0", "blocks of 9 terms of 8" },
	{ "matmul:f32,u4.c,f32/f32:ba1bb1m2n2k8:ta0tb0:b4", "z" },
	{ "matmul:f32,f32.c,f32/f32:ba1bb1m2n2k8:ta0tb0:b4z0", "no scales in blocks" },
	{ "matmul:u8,s8.c,s32/s32:ba1bb1m2n2k8:ta0tb0:b4z0", "no scales in blocks" },
	{ "softmax:f32,f32:soft:1x12:ax2", "axis" },
	{ "transpose:f32,f32:1x2:perm0x0", "permutation" },
	{ "reduce:f32,f32:mean:2x3:2x2", "become 1" },
	{ "concat:f32,f32:1x64x28x28,1x32x28x27:ax1", "off the axis" },
	{ "eltwise:f32,f32:relu:1x1x1x1x1x1x1x1x1", "fewer" },
	{ "eltwise:f32,f32:relu:99999999999x99999999999", "1e15" },
	{ "copy:u8,u8:b0", "1 or more" },
	{ "deconv:f32,f32.c,f32/f32:n1c4w5k6s2:pw0qw0:sw2:dw1:g2", "uw" },
	{ "deconv:f32,f32.c,f32/f32:n1c4w5k6s2:pw0qw0:sw2:dw1:uw2:g2", "output pad" },
	{ "deconv:f32,f32.c,f32/f32:n1c4w5k6s2:pw9qw9:sw2:dw1:uw0:g2", "no output" },
	{ "deconv:f32,f32.c,f32/f32:n1c4w5k6s2:pw0qw0:sw2:dw1:uw0:g3", "groups" },
	{ "deconv:f32,f32.c,f32/f32:n1c4w281474976710656k6s2:pw0qw0:sw16777217:dw1:uw0:g2", "too large" },
	{ "instancenorm:f32,f32:64", "channel" },
	{ "groupnorm:f32,f32:64:g1", "channel" },
	{ "groupnorm:f32,f32:2x64:g5", "groups" },
	{ "groupnorm:f32,f32:2x64:g0", "1 or more" },
	{ "rmsnorm:f32,f32:64:ax1", "axis" },
	{ "attention:f16,f16,f16,f16:full:n1hq12hk12lq128lk128d64e64", "accumulator" },
	{ "attention:f16,f16,f16/f32:full:n1hq12hk12lq128lk128d64e64", "operand" },
	{ "attention:f16,f16,f16,f16/f32:full:n1hq12hk5lq128lk128d64e64", "heads" },
	{ "attention:f16,f16,f16,f16/f32:causal:n1hq12hk12lq128lk127d64e64", "keys" },
	{ "attention:f16,f16,f16,f16/f32:full:n1hq12hk0lq128lk128d64e64", "1 or more" },
	{ "attention:f32,f32,f32,f32/f32:masked:n2hq8hk8lq3lk5d4e4:2x1x5x3", "mask" },
	{ "attention:f32,f32,f32,f32/f32:masked:n2hq8hk8lq3lk5d4e4:3x5", "mask" },
	{ "attention:f32,f32,f32,f32/f32:masked:n2hq8hk8lq3lk5d4e4", "expected" },
	{ "attention:f32,f32,f32,f32/f32:full:n2hq8hk8lq3lk5d4e4:2x8x3x5", "expected" },
	{ "attention:f16,f16,f16,f16/f32:full:n1hq281474976710656hk1lq281474976710656lk1d1e1", "1e15" },
	{ "rnn:f32,f32.c,f32:elman:t1n1i1h1d1", "mode: expected a mode of this kernel at \"elman:t1" },
	{ "eltwise:f99,f32:relu:10", "expected a data type at \"f99,f32:relu:10\"" },
	{ "eltwise:f32,f32:relu:10+swoosh", "mode) at \"swoosh\"" },
	{ "matmul:f32,f32,f32/x:ba1bb1m2n2k2:ta0tb0", "expected a data type at \"x:ba1" },
	{ "eltwise:f32,f32:relu:", "expected a number at its end" },
	{ "rnn:f32,f32.c,f32:lstm:t1n1i1h1d3", "directions" },
	{ "rnn:f32,f32.c,f32:lstm:t1n1i281474976710656h281474976710656d2", "out of range" },
	{ "dropout:f32,f32:drop:10", "parameter" },
	{ "dropout:f32,f32:drop,1:10", "ratio" },
	{ "gather:f32,f32,f32:4x4:ax0:4", "indices" },
	{ "gather:f32,s64,f32:4x4:ax2:4", "axis" },
	{ "gather:f32,s64,f32:1x1x1x1x1:ax0:1x1x1x1x1", "more than" },
	{ "select:bool,f32,f32,f32:2:3:1", "broadcast" },
	{ "select:bool,f32,f32,f32:2:1:3", "broadcast" },
	{ "select:bool,f32,f32,f32:2:2", "\":\"" },
	{ "topk:f32,f32:largest:1x1000:ax1:k1001", "k is 1001" },
	{ "topk:f32,f32:largest:1x1000:ax1:k0", "k is 0" },
	{ "argreduce:f32,s64:rmax:8x1000:ax1", "mode" },
	{ "scan:f32,f32:cumsum:8:ax8", "axis" },
	{ "conv:u8,s8.c,u8/s32:n1c4w5k6s2:pw0qw0:sw2:dw1:g2+bias:f32.c+scale:f32.c", "first epilogue" },
	{ "conv:u8,s8.c,u8/s32:n1c4w5k6s2:pw0qw0:sw2:dw1:g2+scale:f32.c+scale:f32.c", "first epilogue" },
	{ "conv:u8,s8.c,s32/s32:n1c4w5k6s2:pw0qw0:sw2:dw1:g2+scale:f32.c", "not s32" },
	{ "conv:f32,f32.c,f32/f32:n1c4w5k6s2:pw0qw0:sw2:dw1:g2+scale:f32.c", "s32 sums" },
	{ "matmul:u8,s8.c,f32/s32:ba1bb1m2n2k2:ta0tb0+scale:f16.c", "have type f32" },
	{ "eltwise:f32,f32:relu:8+scale:f32.c", "s32 sums" },
	{ "eltwise:f8e4m3,f8e4m3:relu:8+scale:f32.c", "or sources of 8-bit floats" },
	{ "matmul:f8e4m3,f16.c,f16/f32:ba1bb1m2n2k2:ta0tb0+scale:f32.c", "or sources of 8-bit floats" },
	{ "matmul:f8e8m0,f8e4m3.c,f16/f32:ba1bb1m2n2k2:ta0tb0+scale:f32.c", "or sources of 8-bit floats" },
	{ "matmul:f8e4m3,f8e4m3.c,f16/f16:ba1bb1m2n2k2:ta0tb0+scale:f32.c", "or sources of 8-bit floats" },
	{ "matmul:f8e4m3,f8e4m3.c,f16/f32:ba1bb1m2n2k2:ta0tb0+bias:f16.c+scale:f32.c", "first epilogue" },
	{ "matmul:u8,s8.c,f32/s32:ba1bb1m2n2k2:ta0tb0+scale", "\":\"" },
	{ "quantize:f32,u8:tensor:8:ax0", "the end" },
	{ "quantize:f32,u8:axis:8", "\":\"" },
	{ "quantize:f32,u8:axis:8:ax1", "axis" },
	{ "quantize:f32,u8:block:8:ax0:b0", "blocks of 0" },
	{ "quantize:f32,f16:tensor:8", "quantized value" },
	{ "quantize:u8,f32:tensor:8", "cannot be quantized" },
	{ "dequantize:f32,u8:tensor:8", "cannot be quantized" },
	{ "dequantize:u8,f32:dynamic:8", "mode" },
	{ "quantize:f32,bool:tensor:8", "quantized value" },
	{ "dequantize:s64,f32:tensor:8", "quantized value" },
	{ "dequantize:s8,s32:tensor:8", "cannot be quantized" },
	{ "pool:f32,f32:max:n1c8w8s2:pw0qw281474976710657:sw2:dw1", "pad" },
	{ "pool:f32,f32:max:n1c8w8s2:pw281474976710657qw0:sw2:dw1", "pad" },
	{ "pool:f32,f32:max:n1c8w8s0:pw0qw0:sw2:dw1", "kernel size" },
	{ "pool:f32,f32:max:n1c8w8s2:pw0qw0:sw2:dw0", "dilation" },
	{ "eltwise:f32,f32:relu:125000000x1000000", "1e15" },
};

/* The limits themselves are accepted. */
static void test_limits(void)
{
	static const char *const texts[] = {
		"eltwise:f32,f32:relu:124999999x1000000",
		"quantize:s32,u8:tensor:8",
		"topk:f32,f32:largest:1x1000:ax1:k1000",
		"topk:f32,f32:largest:1x1000:ax1:k1",
		"conv:f32,f32.c,f32/f32:n1c1w5k1s5:pw0qw0:sw1:dw1:g1",
		"groupnorm:f32,f32:2x64:g64",
		"quantize:f32,u8:block:8:ax0:b8",
		"conv:f32,f32.c,f32/f32:n1c4w5k4s1:pw0qw0:sw1:dw1:g1+relu+relu+relu+relu",
		"attention:f16,f16,f16,f16/f32:causal:n1hq12hk12lq128lk128d64e64",
	};
	struct problem p;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct error err = ERROR_NONE;
		ok(problem_parse(text_of(texts[i]), &p, &err) == 0, "reads %s: %s", texts[i], err.text);
	}
	for (int count = PROBLEM_SHAPES; count <= PROBLEM_SHAPES + 1; count++) {
		char text[PROBLEM_TEXT_SIZE] = "concat:u8,u8:";
		struct error err = ERROR_NONE;
		for (int i = 0; i < count; i++)
			strcat(text, i ? ",1" : "1");
		strcat(text, ":ax0");
		is_int(problem_parse(text_of(text), &p, &err), count > PROBLEM_SHAPES ? -1 : 0, "%d shapes",
			count);
		ok((count > PROBLEM_SHAPES) == (strstr(err.text, "fewer shapes") != NULL), "%s", err.text);
	}
	for (int which = 0; which < 4; which++) {
		char text[PROBLEM_TEXT_SIZE];
		struct error err = ERROR_NONE;
		problem_parse(TEXT("conv:f32,f32.c,f32/f32:n1c4w5k4s1:pw0qw0:sw1:dw1:g1"), &p, &err);
		(which & 1 ? p.pad_begin : p.pad_end)[2] = which & 2 ? -1 : (INT64_C(1) << 48) + 1;
		ok(problem_format(&p, text, &err) < 0 && strstr(err.text, "a pad is out of range"), "%s",
			err.text);
	}
	for (int which = 0; which < 2; which++) {
		char text[PROBLEM_TEXT_SIZE];
		struct error err = ERROR_NONE;
		problem_parse(TEXT("conv:f32,f32.c,f32/f32:n1c4w5k4s1:pw0qw0:sw1:dw1:g1+clip,0,6"), &p, &err);
		*(which ? &p.epilogue[0].alpha : &p.epilogue[0].beta) = INFINITY;
		ok(problem_format(&p, text, &err) < 0 && strstr(err.text, "epilogue 0 is not finite"),
			"a limit that is not finite: %s", err.text);
	}
}

static void test_texts(void)
{
	struct problem p;
	struct error err = ERROR_NONE;
	char text[PROBLEM_TEXT_SIZE];
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		if (!ok(problem_parse(text_of(good[i].text), &p, &err) == 0, "reads %s", good[i].text)) {
			printf("# %s\n", err.text);
			continue;
		}
		problem_format(&p, text, &err);
		is_str(text, good[i].text, "and writes it back");
		near(problem_flops(&p), good[i].flops, 1e-12, "operations");
		near(problem_bytes(&p), good[i].bytes, 1e-12, "bytes");
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		err.text[0] = '\0';
		ok(problem_parse(text_of(bad[i].text), &p, &err) == -1, "refuses %s", bad[i].text);
		if (!ok(strstr(err.text, bad[i].says) != NULL, "and says why"))
			printf("# says %s, not %s\n", err.text, bad[i].says);
	}
}

/* A kept problem is the same, whatever was in its place before, in a fraction of the bytes. */
static void test_kept(void)
{
	struct arena a = { 0 };
	size_t bytes = 0;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct problem p, back;
		char text[PROBLEM_TEXT_SIZE];
		problem_parse(text_of(good[i].text), &p, NULL);
		const struct problem_kept *kept = problem_keep(&a, &p);
		memset(&back, 0xff, sizeof(back));
		problem_restore(kept, &back);
		ok(problem_format(&back, text, NULL) == 0 && strcmp(text, good[i].text) == 0, "kept: %s",
			good[i].text);
		ok(kept->kernel == p.kernel && kept->mode == p.mode &&
				memcmp(&kept->alpha, &p.alpha, 2 * sizeof(p.alpha)) == 0 &&
				kept->epilogue_count == p.epilogue_count &&
				kept->shape_count == p.shape_count,
			"what is read often");
		bytes += problem_extent(&p);
	}
	ok(a.total < bytes / 4, "%zu bytes kept of %zu", a.total, bytes);
	arena_free(&a);
}

/* Every proper prefix of a text is refused: none is another problem's spelling, none crashes. */
static void test_prefixes(void)
{
	int accepted = 0;
	struct problem p;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		for (size_t n = 0; n < strlen(good[i].text); n++) {
			char *copy = strndup(good[i].text, n);
			struct error err;
			char text[PROBLEM_TEXT_SIZE];
			if (problem_parse(text_of(copy), &p, &err) == 0)
				accepted += problem_format(&p, text, &err) || strcmp(text, copy) != 0;
			free(copy);
		}
	is_int(accepted, 0, "a cut text is refused or another problem, spelled its one way");
}

static void test_shapes(void)
{
	struct problem p;
	struct error err;
	problem_parse(TEXT("matmul:f32,f32,f32/f32:ba4x1bb1x3m5n6k7:ta0tb0"), &p, &err);
	struct problem_shape s = problem_operand_shape(&p, 2);
	ok(s.rank == 4 && s.dim[0] == 4 && s.dim[1] == 3 && s.dim[2] == 5 && s.dim[3] == 6,
		"matmul destination");
	problem_parse(TEXT("binary:f32,f32,f32:add:2x1x4:3x1"), &p, &err);
	s = problem_operand_shape(&p, 2);
	ok(s.rank == 3 && s.dim[0] == 2 && s.dim[1] == 3 && s.dim[2] == 4, "binary broadcasts both ways");
	ok(!problem_has_constant(&p), "no constant operand");
	problem_parse(TEXT("conv:f32,f32.c,f32/f32:n1c8h9w10k4r3s2:ph1pw0qh0qw0:sh2sw1:dh1dw1:g2"), &p, &err);
	s = problem_operand_shape(&p, 1);
	ok(s.rank == 4 && s.dim[0] == 4 && s.dim[1] == 4 && s.dim[2] == 3 && s.dim[3] == 2,
		"weights as ONNX");
	is_int(problem_out_size(&p, 1), 4, "height: asymmetric pads");
	is_int(problem_out_size(&p, 2), 9, "width");
	ok(problem_has_constant(&p), "weights are constant");
	near(problem_constant_bytes(&p), 4.0 * 4 * 4 * 3 * 2, 0, "constant bytes");
}

/* A struct that a program fills, unlike a text, can lack a field. */
static void test_incomplete(void)
{
	struct problem whole, p;
	struct error err = ERROR_NONE;
	char buf[PROBLEM_TEXT_SIZE];
	problem_parse(TEXT("matmul:f32,f32,f32/f32:ba1bb1m5n6k7:ta0tb0"), &whole, &err);
	is_int(problem_format(&whole, buf, &err), 0, "a complete problem has a text");
	p = whole;
	p.accumulator = DTYPE_UNKNOWN;
	ok(problem_format(&p, buf, &err) == -1 && strstr(err.text, "accumulator"),
		"no accumulator type: refused");
	for (int i = 0; i < 3; i++) {
		p = whole;
		p.operand[i].dtype = DTYPE_UNKNOWN;
		ok(problem_format(&p, buf, &err) == -1 && strstr(err.text, "no type"),
			"operand %d without a type: refused", i);
	}
	p = whole;
	p.kernel = KERNEL_COUNT;
	ok(problem_format(&p, buf, &err) == -1 && strstr(err.text, "no such kernel"),
		"no such kernel: refused");
}

/* A shape as text, for comparing. */
static const char *shape_of(const char *text, int operand)
{
	static char buf[128];
	struct problem p;
	struct error err = ERROR_NONE;
	if (problem_parse(text_of(text), &p, &err))
		return err.text[0] ? strcpy(buf, err.text) : "";
	struct problem_shape s = problem_operand_shape(&p, operand);
	int n = 0;
	for (int i = 0; i < s.rank; i++)
		n += snprintf(buf + n, sizeof(buf) - (size_t)n, "%s%lld", i ? "x" : "", (long long)s.dim[i]);
	return buf;
}

static void test_new_shapes(void)
{
	const char *deconv = "deconv:f32,f32.c,f32/f32:n1c8h9w10k6r3s2:ph1pw0qh0qw1:sh2sw3:dh1dw2:uh1uw0:g2";
	is_str(shape_of(deconv, 0), "1x8x9x10", "deconv source");
	is_str(shape_of(deconv, 1), "8x3x3x2", "deconv weights: c, k/g, r, s");
	is_str(shape_of(deconv, 2), "1x6x19x29", "deconv destination");
	const char *attention = "attention:f16,f16,f16,f16/f32:causal:n2hq8hk2lq3lk5d64e32";
	is_str(shape_of(attention, 0), "2x8x3x64", "queries");
	is_str(shape_of(attention, 1), "2x2x5x64", "keys");
	is_str(shape_of(attention, 2), "2x2x5x32", "values");
	is_str(shape_of(attention, 3), "2x8x3x32", "what attention gives");
	const char *rnn = "rnn:f32,f32.c,f32:gru:t3n5i7h2d2";
	is_str(shape_of(rnn, 0), "3x5x7", "steps, batch, input");
	is_str(shape_of(rnn, 1), "132", "weights as one blob");
	is_str(shape_of(rnn, 2), "3x2x5x2", "steps, directions, batch, hidden");
	const char *gather = "gather:f16,s32,f16:2x3x4:ax1:5x6";
	is_str(shape_of(gather, 1), "5x6", "indices");
	is_str(shape_of(gather, 2), "2x5x6x4", "indices in place of the axis");
	is_str(shape_of("gather:f16,s32,f16:7:ax0:1", 2), "1", "one element");
	const char *select = "select:bool,f32,f32,f32:2x1:3x1x4:1";
	is_str(shape_of(select, 0), "2x1", "condition");
	is_str(shape_of(select, 3), "3x2x4", "all three broadcast");
	is_str(shape_of("topk:f32,f32:largest:4x1000:ax1:k5", 1), "4x5", "k along the axis");
	is_str(shape_of("argreduce:f32,s64:argmin:4x1000x3:ax1", 1), "4x1x3", "one along the axis");
	is_str(shape_of("scan:f32,f32:cumsum:4x3:ax0", 1), "4x3", "a scan keeps its shape");
	is_str(shape_of("rnn:f32,f32.c,f32:rnn_relu:t3n5i7h2d2", 1), "44",
		"weights of a plain recurrent layer");
	is_str(shape_of("quantize:f32,u8:axis:4x3:ax0", 1), "4x3", "quantizing keeps the shape");
}

/* text, in channels last. */
static const char *const last[][2] = {
	{ "conv:f32,f32.c,f32/f32:n1c8h9w9k4r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1+bias:f32.c+add:f32+relu",
		"conv:f32@nxc,f32.c@nxc,f32@nxc/"
		"f32:n1c8h9w9k4r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1+bias:f32.c+add:f32@nxc+relu" },
	{ "pool:f32,f32@ncx:max:n1c64w112s3:pw1qw1:sw2:dw1",
		"pool:f32@nxc,f32@nxc:max:n1c64w112s3:pw1qw1:sw2:dw1" },
	{ "binary:f32,f32.c,f32:add:1x256x56x56:256x1x1",
		"binary:f32@nxc,f32.c,f32@nxc:add:1x256x56x56:256x1x1" },
	{ "binary:f32@s4x1x2,f32,f32:add:1x2x2:1x2x2", "binary:f32@s4x1x2,f32@nxc,f32@nxc:add:1x2x2:1x2x2" },
	{ "concat:f32,f32:1x64x28x28,1x32x28x28:ax1", "concat:f32@nxc,f32@nxc:1x64x28x28,1x32x28x28:ax1" },
	{ "eltwise:f32,f32:relu:128x768", NULL },
	{ "quantize:f32,u8:axis:1x3x8x8:ax1", "quantize:f32@nxc,u8@nxc:axis:1x3x8x8:ax1" },
	{ "conv:u8,s8.c,u8/s32:n1c8w9k4s3:pw1qw1:sw1:dw1:g1+scale:f32.c+add:u8",
		"conv:u8@nxc,s8.c@nxc,u8@nxc/s32:n1c8w9k4s3:pw1qw1:sw1:dw1:g1+scale:f32.c+add:u8@nxc" },
	{ "softmax:f32,f32:soft:1x12x128x128:ax3", NULL },
	{ "matmul:f32,f32,f32/f32:ba12bb12m128n128k64:ta0tb0", NULL },
	{ "cast:f32,f16:1x1x1x1x1x3", NULL },
};

static void test_layouts(void)
{
	for (size_t i = 0; i < sizeof(last) / sizeof(last[0]); i++) {
		struct problem p;
		struct error err = ERROR_NONE;
		char text[PROBLEM_TEXT_SIZE];
		if (!ok(problem_parse(text_of(last[i][0]), &p, &err) == 0, "%s", last[i][0]))
			continue;
		bool changed = problem_set_layout(&p, LAYOUT_NXC);
		is_int(changed, last[i][1] != NULL, "has channels to put last, or not");
		problem_format(&p, text, &err);
		is_str(text, last[i][1] ? last[i][1] : last[i][0], "channels last");
		ok(!problem_set_layout(&p, LAYOUT_NXC), "twice changes nothing");
		problem_set_layout(&p, LAYOUT_ANY);
	}
}

/* ---- random problems of every kernel */

static uint64_t dice_state = 20;

static int64_t dice(int64_t from, int64_t to)
{
	dice_state = dice_state * 6364136223846793005u + 1442695040888963407u;
	return from + (int64_t)((dice_state >> 33) % (uint64_t)(to - from + 1));
}

static struct problem_shape dice_shape(int rank)
{
	struct problem_shape s = { .rank = rank };
	for (int i = 0; i < rank; i++)
		s.dim[i] = dice(1, 9);
	return s;
}

static struct operand dice_operand(void)
{
	static const enum dtype types[] = { DTYPE_F32, DTYPE_F16, DTYPE_BF16, DTYPE_S64, DTYPE_S8 };
	struct operand o = {
		.dtype = types[dice(0, 4)], .constant = dice(0, 1), .layout = (enum layout)dice(0, 2)
	};
	return o;
}

static void dice_window(struct problem *p)
{
	p->spatial = (int)dice(1, 3);
	p->g = dice(1, 4);
	p->n = dice(1, 3);
	p->c = p->g * dice(1, 5);
	p->k = p->kernel == KERNEL_CONV || p->kernel == KERNEL_DECONV ? p->g * dice(1, 5) : 0;
	for (int i = 3 - p->spatial; i < 3; i++) {
		p->in[i] = dice(5, 20);
		p->kernel_size[i] = dice(1, 3);
		p->pad_begin[i] = dice(0, 2);
		p->pad_end[i] = dice(0, 2);
		p->stride[i] = dice(1, 3);
		p->dilation[i] = dice(1, 2);
		p->out[i] = dice(1, 40);
		p->out_pad[i] = dice(0, p->stride[i] - 1);
	}
}

static void dice_numbers(struct problem *p)
{
	int64_t *sizes[] = { &p->n, &p->kv_heads, &p->query_length, &p->head_size, &p->value_size, &p->steps,
		&p->input_size, &p->hidden_size, &p->m, &p->mn, &p->mk, &p->size };
	if (p->kernel == KERNEL_CONV || p->kernel == KERNEL_DECONV || p->kernel == KERNEL_POOL ||
			p->kernel == KERNEL_RESAMPLE) {
		dice_window(p);
		return;
	}
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		*sizes[i] = dice(1, 64);
	p->heads = p->kv_heads * dice(1, 4);
	p->key_length = p->query_length + dice(0, 9);
	p->directions = dice(1, 2);
	p->batch_a = dice_shape((int)dice(1, 3));
	p->batch_b = p->batch_a;
	p->batch_b.dim[0] = dice(0, 1) ? 1 : p->batch_a.dim[0];
	p->transpose_a = dice(0, 1);
	p->shape_count = p->kernel == KERNEL_SELECT ? 3
		: p->kernel == KERNEL_BINARY || p->kernel == KERNEL_REDUCE || p->kernel == KERNEL_CONCAT ||
			p->kernel == KERNEL_GATHER
		? 2
		: 1;
	for (int i = 0; i < PROBLEM_SHAPES; i++)
		p->shape[i] = p->shape[0].rank ? p->shape[0] : dice_shape((int)dice(2, 4));
	for (int i = 0; i < p->shape[0].rank; i++)
		p->perm[i] = p->shape[0].rank - 1 - i;
	p->axis = (int)dice(0, p->shape[0].rank - 1);
	p->g = kernel_row(p->kernel)->channels ? p->shape[0].dim[1] : 0; /* groupnorm */
	if (p->kernel == KERNEL_MATMUL)
		p->size = 0; /* blocks are of other types */
	if (p->kernel == KERNEL_TOPK)
		p->size = dice(1, p->shape[0].dim[p->axis]);
	if (p->kernel == KERNEL_REDUCE || p->kernel == KERNEL_SELECT)
		p->shape[1].dim[p->axis] = 1;
}

/* Any valid problem's text reads back to the same text, with finite costs. */
static void test_random(void)
{
	for (int k = 0; k < KERNEL_COUNT; k++) {
		int failures = 0;
		if (kernel_row((enum kernel)k)->branches) /* t_beside */
			continue;
		for (int turn = 0; turn < 200; turn++) {
			struct problem p = {
				.kernel = (enum kernel)k, .accumulator = DTYPE_F32, .alpha = 0.5f, .beta = 2
			};
			struct problem back;
			struct error err = ERROR_NONE;
			char text[PROBLEM_TEXT_SIZE], again[PROBLEM_TEXT_SIZE];
			for (int i = 0; i < PROBLEM_OPERANDS; i++)
				p.operand[i] = dice_operand();
			if (p.kernel == KERNEL_GATHER)
				p.operand[1].dtype = DTYPE_S32;
			if (p.kernel == KERNEL_QUANTIZE || p.kernel == KERNEL_DEQUANTIZE) {
				p.operand[0].dtype = p.kernel == KERNEL_QUANTIZE ? DTYPE_BF16 : DTYPE_S4;
				p.operand[1].dtype = p.kernel == KERNEL_QUANTIZE ? DTYPE_U8 : DTYPE_F32;
			}
			for (int m = 1, seen = 0; m < MODE_COUNT; m++)
				if (mode_parse(p.kernel, text_of(mode_name((enum mode)m))) == (enum mode)m &&
					dice(0, seen++) == 0)
					p.mode = (enum mode)m;
			dice_numbers(&p);
			if (p.mode == MODE_MASKED) {
				p.shape_count = 1;
				p.shape[0] = (struct problem_shape){ 4, { p.n, 1, 1, p.key_length } };
			}
			int wrong = problem_format(&p, text, &err) ||
				problem_parse(text_of(text), &back, &err) ||
				problem_format(&back, again, &err) || strcmp(text, again) != 0 ||
				problem_flops(&p) != problem_flops(&back) ||
				problem_bytes(&p) != problem_bytes(&back) || !(problem_bytes(&p) > 0) ||
				!(problem_flops(&p) >= 0) ||
				problem_has_constant(&p) != (problem_constant_bytes(&p) > 0);
			if (wrong && !failures++)
				printf("# %s: %s\n", kernel_name(p.kernel), err.text[0] ? err.text : text);
		}
		is_int(failures, 0, "random problems of %s", kernel_name((enum kernel)k));
	}
}

/* ---- functions of dimensions */

static void is_dim(struct arena *a, struct dim d, const char *text, const char *what)
{
	is_str(d.kind == DIM_SYMBOLIC ? text_clean(a, dim_expression(d))
				      : arena_printf(a, "%lld", (long long)d.value),
		text, "%s", what);
}

static void test_dim_functions(void)
{
	struct arena a = { 0 };
	struct dim h = dim_symbol(&a, TEXT("h")), s = dim_symbol(&a, TEXT("s")), one = dim_known(1),
		   two = dim_known(2);
	struct dim half = dim_floor_div(&a, dim_add(&a, h, one), two);
	is_dim(&a, half, "floor((h+1)/2)", "rounded down");
	is_dim(&a, dim_floor_div(&a, dim_sub(&a, h, one), two), "floor((h+1)/2)-1",
		"what divides stands in front");
	is_dim(&a, dim_floor_div(&a, dim_add(&a, half, one), two), "floor((h+3)/4)", "twice is once");
	is_dim(&a, dim_floor_div(&a, dim_add(&a, dim_mul(&a, two, h), dim_known(5)), dim_known(4)),
		"floor(h/2)+1", "reduced");
	is_dim(&a, dim_floor_div(&a, dim_add(&a, dim_mul(&a, dim_known(4), h), dim_known(7)), two), "2*h+3",
		"nothing left to round");
	is_dim(&a, dim_floor_div(&a, dim_mul(&a, h, s), s), "h", "exact by a symbol");
	is_dim(&a, dim_floor_div(&a, h, dim_add(&a, s, one)), "floor(h/(s+1))", "by a sum");
	is_dim(&a, dim_ceil_div(&a, h, 3), "floor((h+2)/3)", "rounded up");
	struct dim cut = dim_min(&a, s, dim_known(512));
	is_dim(&a, cut, "min(s,512)", "the smaller");
	is_int(cut.upper, 512, "has a bound");
	is_dim(&a, dim_min(&a, dim_known(512), s), "min(s,512)", "in one order");
	is_dim(&a, dim_min(&a, cut, s), "min(s,512)", "the smaller again");
	is_dim(&a, dim_min(&a, s, dim_known(1)), "min(s,1)", "not 1: a dimension may be 0");
	is_dim(&a, dim_max(&a, cut, s), "s", "the larger of a whole and its part");
	is_dim(&a, dim_max(&a, dim_sub(&a, s, dim_known(3)), dim_known(0)), "max(s-3,0)", "the larger");
	is_dim(&a, dim_min(&a, dim_add(&a, s, h), s), "s", "a sum is no smaller than its parts");
	ok(dim_nonnegative(dim_sub(&a, s, cut)) && !dim_nonnegative(dim_sub(&a, cut, s)),
		"the sign of a rest");
	ok(dim_nonnegative(
		   dim_sub(&a, dim_min(&a, dim_add(&a, s, h), dim_known(9)), dim_min(&a, s, dim_known(9)))),
		"a window of a table");
	struct dim_binding bind[] = { { TEXT("h"), 7 }, { TEXT("s"), 600 } };
	is_int(dim_bind(&a, dim_mul(&a, half, cut), bind, 2).value, 2048, "bound within functions");
	is_dim(&a, dim_bind(&a, dim_mul(&a, half, cut), bind, 1), "4*min(s,512)", "partly bound");
	is_str(text_clean(&a, dim_first_symbol(dim_mul(&a, cut, cut))), "s", "a symbol within a function");
	ok(!dim_same(dim_symbol(&a, TEXT("min(s,512)")), cut), "a name that looks like a function is a name");
	ok(dim_floor_div(&a, h, dim_known(0)).kind == DIM_UNKNOWN, "division by zero is unknown");
	ok(dim_floor_div(&a, h, dim_sub(&a, s, one)).kind == DIM_UNKNOWN,
		"division by what may be negative, too");
	is_int(dim_floor_div(&a, dim_unknown_upto(9), two).upper, 4, "bounds divide");
	is_int(dim_min(&a, dim_unknown_upto(9), dim_known(5)).upper, 5, "the smaller bound");
	is_int(dim_max(&a, dim_unknown_upto(9), dim_known(5)).upper, 9, "the larger bound");
	is_int(dim_min(&a, dim_unknown(), dim_known(5)).upper, -1, "what may be negative has no bound");
	arena_free(&a);
}

/* A random expression, and its value for the numbers that stand for the symbols a, b and c; valid becomes
 * false where it divides by what is not positive. */
static struct dim dice_dim(struct arena *a, const int64_t *numbers, int depth, int64_t *value, bool *valid)
{
	static const char *const names[] = { "a", "b", "c" };
	int64_t x, y;
	int what = depth ? dice(0, 7) : dice(0, 1);
	if (what == 0) {
		*value = dice(0, 9);
		return dim_known(*value);
	}
	if (what == 1) {
		int which = (int)dice(0, 2);
		*value = numbers[which];
		return dim_symbol(a, text_of(names[which]));
	}
	struct dim p = dice_dim(a, numbers, depth - 1, &x, valid),
		   q = dice_dim(a, numbers, depth - 1, &y, valid);
	switch (what) {
	case 2:
		*value = x + y;
		return dim_add(a, p, q);
	case 3:
		*value = x - y;
		return dim_sub(a, p, q);
	case 4:
		*value = x * y;
		return dim_mul(a, p, q);
	case 5:
		*value = x < y ? x : y;
		return dim_min(a, p, q);
	case 6:
		*value = x > y ? x : y;
		return dim_max(a, p, q);
	default:
		*valid = *valid && y > 0;
		*value = y > 0 ? x / y - (x % y < 0) : 0;
		return dim_floor_div(a, p, q);
	}
}

static void test_random_dims(void)
{
	int wrong = 0, known = 0;
	for (int turn = 0; turn < 20000; turn++) {
		struct arena a = { 0 };
		int64_t numbers[3] = { dice(0, 20), dice(0, 20), dice(0, 20) }, value;
		struct dim_binding bind[] = { { TEXT("a"), numbers[0] }, { TEXT("b"), numbers[1] },
			{ TEXT("c"), numbers[2] } };
		bool valid = true;
		struct dim d = dice_dim(&a, numbers, 4, &value, &valid);
		struct dim partly = dim_bind(&a, d, bind, 1), bound = dim_bind(&a, d, bind, 3),
			   later = dim_bind(&a, partly, bind, 3);
		known += valid && d.kind != DIM_UNKNOWN;
		bool differs = (bound.kind == DIM_KNOWN && bound.value != value) ||
			(later.kind == DIM_KNOWN && later.value != value) ||
			(d.kind == DIM_SYMBOLIC && bound.kind != DIM_KNOWN) ||
			(d.upper >= 0 && value > d.upper) || (dim_nonnegative(d) && value < 0);
		if (valid && differs && !wrong++)
			printf("# %s is %lld for %lld, %lld, %lld\n",
				d.kind == DIM_SYMBOLIC ? dim_expression(d).p : "?", (long long)value,
				(long long)numbers[0], (long long)numbers[1], (long long)numbers[2]);
		arena_free(&a);
	}
	ok(wrong == 0 && known > 10000, "random expressions bound are what their numbers give: %d of %d",
		known, 20000);
}

static void test_dims(void)
{
	struct arena a = { 0 };
	struct dim batch = dim_symbol(&a, TEXT("batch")), seq = dim_symbol(&a, TEXT("seq"));
	struct dim product = dim_mul(&a, dim_mul(&a, seq, batch), dim_known(12));
	is_str(text_clean(&a, dim_expression(product)), "12*batch*seq", "products sort");
	ok(dim_same(dim_div(&a, product, dim_mul(&a, batch, dim_known(4))), dim_mul(&a, dim_known(3), seq)),
		"exact division by a product");
	ok(dim_div(&a, product, dim_known(5)).kind == DIM_UNKNOWN, "what does not divide is unknown");
	struct dim sum = dim_add(&a, dim_add(&a, seq, dim_known(1)), batch);
	is_str(text_clean(&a, dim_expression(sum)), "batch+seq+1", "sums sort");
	ok(dim_same(dim_sub(&a, sum, batch), dim_add(&a, dim_known(1), seq)), "subtraction cancels");
	is_int(dim_sub(&a, sum, sum).value, 0, "to zero");
	ok(!dim_same(dim_unknown(), dim_unknown()), "unknown equals nothing");
	ok(!dim_differs(batch, dim_known(3)), "a symbol contradicts nothing");
	ok(!dim_same(dim_symbol(&a, TEXT("a+b")),
		   dim_add(&a, dim_symbol(&a, TEXT("a")), dim_symbol(&a, TEXT("b")))),
		"a name that looks like a sum is a name");
	struct dim_binding bind[] = { { TEXT("seq"), 128 } };
	is_str(text_clean(&a, dim_expression(dim_bind(&a, product, bind, 1))), "1536*batch", "partly bound");
	is_str(text_clean(&a, dim_first_symbol(dim_bind(&a, product, bind, 1))), "batch",
		"what is still free");
	struct dim big = dim_known(INT64_MAX);
	ok(dim_mul(&a, big, big).kind == DIM_UNKNOWN && dim_add(&a, big, big).kind == DIM_UNKNOWN,
		"overflow is unknown");
	ok(dim_div(&a, batch, dim_known(0)).kind == DIM_UNKNOWN, "division by zero is unknown");
	is_int(dim_div(&a, dim_known(-7), dim_known(2)).value, -4, "floor division");
	is_int(dim_mul(&a, dim_unknown(), dim_known(0)).value, 0, "zero times anything");
	is_int(dim_add(&a, dim_unknown_upto(10), dim_known(5)).upper, 15, "bounds add");
	struct shape s = shape_make(&a, 3);
	s.dims[0] = sum;
	s.dims[1] = dim_known(3);
	is_str(shape_text(&a, s), "(batch+seq+1)x3x?", "shape in words");
	ok(isnan(shape_count(s)), "an unknown count is not a number");
	is_str(shape_text(&a, shape_make(&a, 0)), "scalar", "rank 0");
	is_str(shape_text(&a, SHAPE_UNKNOWN), "?", "unknown rank");
	arena_free(&a);
}

/* A scalar (rank 0) is a known shape of one element; a shape of unknown rank is neither. */
static void test_ranks(void)
{
	struct arena a = { 0 };
	struct shape scalar = shape_make(&a, 0), one = shape_known(&a, 1, (int64_t[]){ 1 });
	ok(shape_is_known(scalar) && !shape_is_known(SHAPE_UNKNOWN),
		"a scalar is known, an unknown rank is not");
	ok(!shape_is_known(shape_make(&a, 1)), "an unknown dimension is not known");
	ok(shape_same(scalar, scalar) && shape_same(one, one), "a shape is the same as itself");
	ok(!shape_same(SHAPE_UNKNOWN, SHAPE_UNKNOWN), "two unknown ranks are not surely the same");
	ok(!shape_same(scalar, one) && !shape_same(scalar, SHAPE_UNKNOWN),
		"shapes of different rank are not the same");
	is_dim(&a, shape_elements(&a, scalar), "1", "elements of a scalar");
	is_int(shape_elements(&a, SHAPE_UNKNOWN).kind, DIM_UNKNOWN, "elements of an unknown rank");
	near(shape_count(scalar), 1, 0, "a scalar counts as one");
	ok(isnan(shape_count(SHAPE_UNKNOWN)) && isnan(shape_count(shape_make(&a, 1))),
		"unknown sizes have no count");
	is_str(shape_text(&a, scalar), "scalar", "a scalar as text");
	is_str(shape_text(&a, SHAPE_UNKNOWN), "?", "an unknown rank as text");
	arena_free(&a);
}

/* The least part of its source that a kernel must read. */
static void test_share_read(void)
{
	static const struct {
		const char *text;
		double share;
	} rows[] = {
		{ "resample:f32,f32:nearest:n1c64h40w40:oh20ow20", 0 },
		{ "gather:f32.c,s64,f32:50257x768:ax0:1x128", 0 },
		/* every column and row is under a kernel */
		{ "pool:f32,f32:max:n1c64h112w112r3s3:ph1pw1qh1qw1:sh2sw2:dh1dw1", 1 },
		/* 1x1 at a stride of 2: every second row and column */
		{ "conv:f32,f32.c,f32/f32:n1c64h56w56k64r1s1:ph0pw0qh0qw0:sh2sw2:dh1dw1:g1", 0.25 },
		/* 2 of 3 rows, and all columns */
		{ "pool:f32,f32:max:n1c8h9w8r2s2:ph0pw0qh0qw0:sh3sw2:dh1dw1", 2.0 / 3 },
		/* dilated taps may all fall on the same rows: one for each output */
		{ "pool:f32,f32:max:n1c8w21s3:pw0qw0:sw4:dw2", 5.0 / 21 },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct problem p;
		struct error err = ERROR_NONE;
		if (!ok(problem_parse(text_of(rows[i].text), &p, &err) == 0, "%s", rows[i].text)) {
			printf("# %s\n", err.text);
			continue;
		}
		near(kernel_row(p.kernel)->share_read(&p), rows[i].share, 1e-12, "its share");
	}
}

/* The share of a convolution's products that read the source instead of padding. */
static void test_share_computed(void)
{
	static const struct {
		const char *text;
		double share;
	} rows[] = {
		{ "conv:f32,f32.c,f32/f32:n1c8h56w56k8r1s1:ph0pw0qh0qw0:sh1sw1:dh1dw1:g1", 1 },
		/* the first and the last of 3 taps miss one of 56 columns */
		{ "conv:f32,f32.c,f32/f32:n1c8w56k8s3:pw1qw1:sw1:dw1:g1", 166.0 / 168 },
		{ "conv:f32,f32.c,f32/f32:n1c8h56w56k8r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1",
			166.0 / 168 * 166 / 168 },
		/* at a stride of 2 only the first tap does */
		{ "conv:f32,f32.c,f32/f32:n1c8w112k8s3:pw1qw1:sw2:dw1:g1", 167.0 / 168 },
		/* padding at the begin only, dilated */
		{ "conv:f32,f32.c,f32/f32:n1c8w100k4s3:pw1qw0:sw1:dw4:g1", 278.0 / 279 },
		{ "deconv:f32,f32.c,f32/f32:n2c4w5k6s2:pw0qw0:sw2:dw1:uw0:g2", 1 },
		/* 14 elements; the first tap of one of them writes to the padding */
		{ "deconv:f32,f32.c,f32/f32:n1c4w14k6s3:pw1qw1:sw2:dw1:uw1:g1", 41.0 / 42 },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct problem p;
		struct error err = ERROR_NONE;
		if (ok(problem_parse(text_of(rows[i].text), &p, &err) == 0, "%s %s", rows[i].text, err.text))
			near(kernel_row(p.kernel)->share_computed(&p), rows[i].share, 1e-12, "its share");
	}
}

/* Scales and shifts of a normalization: one for each channel, or for each element from the axis on. */
static void test_parameters(void)
{
	static const struct {
		const char *text;
		int64_t count;
	} rows[] = {
		{ "batchnorm:f32,f32:2x64x56x56", 64 },
		{ "instancenorm:f32,f32:2x64x56x56", 64 },
		{ "groupnorm:f32,f32:2x64x7x7:g32", 64 },
		{ "layernorm:f32,f32:128x768:ax1", 768 },
		{ "layernorm:f32,f32:2x3x5x7:ax2", 35 },
		{ "rmsnorm:f32,f32:2x3x5x7:ax1", 105 },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct problem p;
		struct error err = ERROR_NONE;
		if (ok(problem_parse(text_of(rows[i].text), &p, &err) == 0, "%s %s", rows[i].text, err.text))
			is_int(kernel_row(p.kernel)->parameter_count(&p), rows[i].count, "its parameters");
	}
}

/* A dimension's text: a divisor of several factors or terms is in brackets, and its first symbol is found
 * behind a constant and within functions. */
static void test_dim_texts(void)
{
	struct arena a = { 0 };
	struct dim h = dim_symbol(&a, TEXT("h")), s = dim_symbol(&a, TEXT("s")),
		   t = dim_symbol(&a, TEXT("t")), two = dim_known(2), st = dim_mul(&a, s, t);
	is_dim(&a, dim_floor_div(&a, h, s), "floor(h/s)", "by a symbol");
	is_dim(&a, dim_floor_div(&a, h, st), "floor(h/(s*t))", "by a product");
	is_dim(&a, dim_floor_div(&a, h, dim_mul(&a, two, s)), "floor(h/(2*s))", "by a multiple");
	is_dim(&a, dim_floor_div(&a, dim_mul(&a, h, t), two), "floor(h*t/2)", "a product is not in brackets");
	/* a floor within a floor is one, unless something else than a number is added or it is multiplied */
	struct dim half = dim_floor_div(&a, h, two);
	is_dim(&a, dim_floor_div(&a, dim_add(&a, half, dim_known(1)), dim_known(3)), "floor((h+2)/6)",
		"nested");
	is_dim(&a, dim_floor_div(&a, dim_add(&a, half, s), dim_known(3)), "floor((s+floor(h/2))/3)",
		"with a symbol");
	is_dim(&a, dim_floor_div(&a, dim_mul(&a, two, half), dim_known(3)), "floor(2*floor(h/2)/3)",
		"multiplied");
	is_dim(&a, dim_floor_div(&a, dim_floor_div(&a, h, s), dim_known(3)), "floor(floor(h/s)/3)",
		"by a symbol, then by a number");
	is_dim(&a, dim_min(&a, dim_mul(&a, two, h), s), "min(2*h,s)", "nor are the arguments of min");
	struct dim later = dim_min(&a, dim_known(3), s);
	is_str(text_clean(&a, dim_first_symbol(dim_add(&a, later, dim_known(7)))), "s",
		"the first symbol behind a constant");
	is_str(text_clean(&a, dim_first_symbol(dim_known(7))), "", "a number has no symbol");
	is_str(text_clean(&a, dim_first_symbol(dim_floor_div(&a, dim_known(100), t))), "t",
		"the first symbol in a second argument");
	arena_free(&a);
}

/* Signs that are known without the values: of functions of symbols, and of their differences. */
static void test_signs(void)
{
	struct arena a = { 0 };
	struct dim h = dim_symbol(&a, TEXT("h")), s = dim_symbol(&a, TEXT("s"));
	struct dim less = dim_sub(&a, h, dim_known(3)), zero = dim_known(0);
	ok(dim_nonnegative(dim_floor_div(&a, h, dim_known(2))), "a quotient of symbols");
	ok(dim_nonnegative(dim_floor_div(&a, h, dim_add(&a, s, dim_known(1)))), "by a symbol");
	ok(!dim_nonnegative(dim_floor_div(&a, less, dim_known(2))), "of a difference: unknown");
	ok(dim_nonnegative(dim_min(&a, h, s)) && dim_nonnegative(dim_max(&a, h, s)),
		"the smaller, the larger");
	ok(!dim_nonnegative(dim_min(&a, less, s)), "the smaller of a difference: unknown");
	ok(dim_nonnegative(dim_max(&a, less, zero)), "the larger of a difference and 0");
	ok(!dim_nonnegative(less) && !dim_nonnegative(dim_sub(&a, h, s)), "differences: unknown");
	ok(dim_nonnegative(zero) && !dim_nonnegative(dim_known(-1)) && !dim_nonnegative(dim_unknown()),
		"numbers, and what is unknown");
	arena_free(&a);
}

/* Kernels whose results differ between libraries by more than rounding: exponentials, roots, divisions. */
static void test_transcendental(void)
{
	static const enum kernel yes[] = { KERNEL_BATCHNORM, KERNEL_LAYERNORM, KERNEL_RMSNORM,
		KERNEL_INSTANCENORM, KERNEL_GROUPNORM, KERNEL_SOFTMAX, KERNEL_ATTENTION, KERNEL_RNN };
	static const enum kernel no[] = { KERNEL_CONV, KERNEL_MATMUL, KERNEL_POOL, KERNEL_CONCAT,
		KERNEL_TRANSPOSE, KERNEL_COPY, KERNEL_CAST, KERNEL_GATHER, KERNEL_SELECT, KERNEL_TOPK };
	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		ok(kernel_row(yes[i])->transcendental, "%s", kernel_name(yes[i]));
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		ok(!kernel_row(no[i])->transcendental, "%s is exact up to rounding", kernel_name(no[i]));
}

/* A copy of a device has strings of its own; missing ones are "". */
static void test_copies(void)
{
	struct arena a = { 0 };
	const struct device d = { .name = "n",
		.model = "m",
		.stack = "s",
		.runner = "r",
		.version = "v",
		.host = "h",
		.attributes = "{}",
		.jobs = NULL,
		.threads = 3,
		.llc_bytes = 5,
		.has_matrix = true };
	struct device c = device_copy(&a, &d);
	const char *const had[] = { d.name, d.model, d.stack, d.runner, d.version, d.host, d.attributes };
	const char *const has[] = { c.name, c.model, c.stack, c.runner, c.version, c.host, c.attributes };
	for (int i = 0; i < 7; i++) {
		is_str(has[i], had[i], "string %d", i);
		ok(has[i] != had[i], "is a copy");
	}
	is_str(c.jobs, "", "a missing one is empty");
	ok(c.threads == 3 && c.llc_bytes == 5 && c.has_matrix, "and the numbers");
	ok(jobs_contain("problem model", "problem") && jobs_contain("problem model", "model") &&
			!jobs_contain("problem model", "prob") && !jobs_contain("problems", "problem"),
		"a kind is a whole word");
	arena_free(&a);
}

static void test_names(void)
{
	for (int s = 0; s < STATUS_COUNT; s++)
		is_int(status_parse(status_name((enum status)s)), s, "status %s",
			status_name((enum status)s));
	is_int(status_parse("fine"), -1, "no such status");
	is_int(cache_parse("warm"), CACHE_WARM, "cache");
	is_int(launch_parse("isolated"), LAUNCH_ISOLATED, "launch");
	for (int t = 1; t < DTYPE_COUNT; t++)
		is_int(dtype_parse(text_of(dtype_name((enum dtype)t))), t, "dtype %s",
			dtype_name((enum dtype)t));
	near(dtype_bytes(DTYPE_S4, 3), 2, 0, "packed types round up");
	ok(isnan(dtype_bytes(DTYPE_STRING, 1)), "a string has no size");
}

int main(void)
{
	test_texts();
	test_kept();
	test_prefixes();
	test_shapes();
	test_incomplete();
	test_new_shapes();
	test_layouts();
	test_random();
	test_dims();
	test_dim_functions();
	test_random_dims();
	test_ranks();
	test_limits();
	test_share_read();
	test_share_computed();
	test_parameters();
	test_dim_texts();
	test_signs();
	test_transcendental();
	test_copies();
	test_names();
	return done_testing();
}
