/* Names of cuBLASLt's algorithms: their id and the sizes that their configuration ids stand for. The tables
 * are indexed by the enumerators of cublasLt.h (CUDA 13.0); ids of newer libraries that are not in the tables
 * are shown as numbers. */
#include "config.h"

#include "runner/cublaslt/cublaslt_names.h"

#include <stdio.h>
#include <string.h>

#define COUNT_OF(table) (sizeof(table) / sizeof((table)[0]))

/* cublasLtMatmulTile_t: rows and columns of D that a block computes. */
static const uint16_t tiles[][2] = {
	{ 0, 0 }, { 8, 8 }, { 8, 16 }, { 16, 8 }, { 8, 32 }, { 16, 16 }, { 32, 8 }, { 8, 64 }, { 16, 32 },
	{ 32, 16 }, { 64, 8 }, { 32, 32 }, { 32, 64 }, { 64, 32 }, { 32, 128 }, { 64, 64 }, { 128, 32 },
	{ 64, 128 }, { 128, 64 }, { 64, 256 }, { 128, 128 }, { 256, 64 }, { 64, 512 }, { 128, 256 },
	{ 256, 128 }, { 512, 64 }, { 64, 96 }, { 96, 64 }, { 96, 128 }, { 128, 160 }, { 160, 128 },
	{ 192, 128 }, { 128, 192 }, { 128, 96 }, { 32, 256 }, { 256, 32 }, { 8, 128 }, { 8, 192 },
	{ 8, 256 }, { 8, 320 }, { 8, 384 }, { 8, 448 }, { 8, 512 }, { 8, 576 }, { 8, 640 }, { 8, 704 },
	{ 8, 768 }, { 16, 64 }, { 16, 128 }, { 16, 192 }, { 16, 256 }, { 16, 320 }, { 16, 384 },
	{ 16, 448 }, { 16, 512 }, { 16, 576 }, { 16, 640 }, { 16, 704 }, { 16, 768 }, { 24, 64 },
	{ 24, 128 }, { 24, 192 }, { 24, 256 }, { 24, 320 }, { 24, 384 }, { 24, 448 }, { 24, 512 },
	{ 24, 576 }, { 24, 640 }, { 24, 704 }, { 24, 768 }, { 32, 192 }, { 32, 320 }, { 32, 384 },
	{ 32, 448 }, { 32, 512 }, { 32, 576 }, { 32, 640 }, { 32, 704 }, { 32, 768 }, { 40, 64 },
	{ 40, 128 }, { 40, 192 }, { 40, 256 }, { 40, 320 }, { 40, 384 }, { 40, 448 }, { 40, 512 },
	{ 40, 576 }, { 40, 640 }, { 40, 704 }, { 40, 768 }, { 48, 64 }, { 48, 128 }, { 48, 192 },
	{ 48, 256 }, { 48, 320 }, { 48, 384 }, { 48, 448 }, { 48, 512 }, { 48, 576 }, { 48, 640 },
	{ 48, 704 }, { 48, 768 }, { 56, 64 }, { 56, 128 }, { 56, 192 }, { 56, 256 }, { 56, 320 },
	{ 56, 384 }, { 56, 448 }, { 56, 512 }, { 56, 576 }, { 56, 640 }, { 56, 704 }, { 56, 768 },
	{ 64, 192 }, { 64, 320 }, { 64, 384 }, { 64, 448 }, { 64, 576 }, { 64, 640 }, { 64, 704 },
	{ 64, 768 }, { 72, 64 }, { 72, 128 }, { 72, 192 }, { 72, 256 }, { 72, 320 }, { 72, 384 },
	{ 72, 448 }, { 72, 512 }, { 72, 576 }, { 72, 640 }, { 80, 64 }, { 80, 128 }, { 80, 192 },
	{ 80, 256 }, { 80, 320 }, { 80, 384 }, { 80, 448 }, { 80, 512 }, { 80, 576 }, { 88, 64 },
	{ 88, 128 }, { 88, 192 }, { 88, 256 }, { 88, 320 }, { 88, 384 }, { 88, 448 }, { 88, 512 },
	{ 96, 192 }, { 96, 256 }, { 96, 320 }, { 96, 384 }, { 96, 448 }, { 96, 512 }, { 104, 64 },
	{ 104, 128 }, { 104, 192 }, { 104, 256 }, { 104, 320 }, { 104, 384 }, { 104, 448 }, { 112, 64 },
	{ 112, 128 }, { 112, 192 }, { 112, 256 }, { 112, 320 }, { 112, 384 }, { 120, 64 }, { 120, 128 },
	{ 120, 192 }, { 120, 256 }, { 120, 320 }, { 120, 384 }, { 128, 320 }, { 128, 384 }, { 136, 64 },
	{ 136, 128 }, { 136, 192 }, { 136, 256 }, { 136, 320 }, { 144, 64 }, { 144, 128 }, { 144, 192 },
	{ 144, 256 }, { 144, 320 }, { 152, 64 }, { 152, 128 }, { 152, 192 }, { 152, 256 }, { 152, 320 },
	{ 160, 64 }, { 160, 192 }, { 160, 256 }, { 168, 64 }, { 168, 128 }, { 168, 192 }, { 168, 256 },
	{ 176, 64 }, { 176, 128 }, { 176, 192 }, { 176, 256 }, { 184, 64 }, { 184, 128 }, { 184, 192 },
	{ 184, 256 }, { 192, 64 }, { 192, 192 }, { 192, 256 }, { 200, 64 }, { 200, 128 }, { 200, 192 },
	{ 208, 64 }, { 208, 128 }, { 208, 192 }, { 216, 64 }, { 216, 128 }, { 216, 192 }, { 224, 64 },
	{ 224, 128 }, { 224, 192 }, { 232, 64 }, { 232, 128 }, { 232, 192 }, { 240, 64 }, { 240, 128 },
	{ 240, 192 }, { 248, 64 }, { 248, 128 }, { 248, 192 }, { 256, 192 }, { 264, 64 }, { 264, 128 },
	{ 272, 64 }, { 272, 128 }, { 280, 64 }, { 280, 128 }, { 288, 64 }, { 288, 128 }, { 296, 64 },
	{ 296, 128 }, { 304, 64 }, { 304, 128 }, { 312, 64 }, { 312, 128 }, { 320, 64 }, { 320, 128 },
	{ 328, 64 }, { 328, 128 }, { 336, 64 }, { 336, 128 }, { 344, 64 }, { 344, 128 }, { 352, 64 },
	{ 352, 128 }, { 360, 64 }, { 360, 128 }, { 368, 64 }, { 368, 128 }, { 376, 64 }, { 376, 128 },
	{ 384, 64 }, { 384, 128 }, { 392, 64 }, { 400, 64 }, { 408, 64 }, { 416, 64 }, { 424, 64 },
	{ 432, 64 }, { 440, 64 }, { 448, 64 }, { 456, 64 }, { 464, 64 }, { 472, 64 }, { 480, 64 },
	{ 488, 64 }, { 496, 64 }, { 504, 64 }, { 520, 64 }, { 528, 64 }, { 536, 64 }, { 544, 64 },
	{ 552, 64 }, { 560, 64 }, { 568, 64 }, { 576, 64 }, { 584, 64 }, { 592, 64 }, { 600, 64 },
	{ 608, 64 }, { 616, 64 }, { 624, 64 }, { 632, 64 }, { 640, 64 }, { 648, 64 }, { 656, 64 },
	{ 664, 64 }, { 672, 64 }, { 680, 64 }, { 688, 64 }, { 696, 64 }, { 704, 64 }, { 712, 64 },
	{ 720, 64 }, { 728, 64 }, { 736, 64 }, { 744, 64 }, { 752, 64 }, { 760, 64 }, { 768, 64 },
	{ 64, 16 }, { 64, 24 }, { 64, 40 }, { 64, 48 }, { 64, 56 }, { 64, 72 }, { 64, 80 }, { 64, 88 },
	{ 64, 104 }, { 64, 112 }, { 64, 120 }, { 64, 136 }, { 64, 144 }, { 64, 152 }, { 64, 160 },
	{ 64, 168 }, { 64, 176 }, { 64, 184 }, { 64, 200 }, { 64, 208 }, { 64, 216 }, { 64, 224 },
	{ 64, 232 }, { 64, 240 }, { 64, 248 }, { 64, 264 }, { 64, 272 }, { 64, 280 }, { 64, 288 },
	{ 64, 296 }, { 64, 304 }, { 64, 312 }, { 64, 328 }, { 64, 336 }, { 64, 344 }, { 64, 352 },
	{ 64, 360 }, { 64, 368 }, { 64, 376 }, { 64, 392 }, { 64, 400 }, { 64, 408 }, { 64, 416 },
	{ 64, 424 }, { 64, 432 }, { 64, 440 }, { 64, 456 }, { 64, 464 }, { 64, 472 }, { 64, 480 },
	{ 64, 488 }, { 64, 496 }, { 64, 504 }, { 64, 520 }, { 64, 528 }, { 64, 536 }, { 64, 544 },
	{ 64, 552 }, { 64, 560 }, { 64, 568 }, { 64, 584 }, { 64, 592 }, { 64, 600 }, { 64, 608 },
	{ 64, 616 }, { 64, 624 }, { 64, 632 }, { 64, 648 }, { 64, 656 }, { 64, 664 }, { 64, 672 },
	{ 64, 680 }, { 64, 688 }, { 64, 696 }, { 64, 712 }, { 64, 720 }, { 64, 728 }, { 64, 736 },
	{ 64, 744 }, { 64, 752 }, { 64, 760 }, { 128, 8 }, { 128, 16 }, { 128, 24 }, { 128, 40 },
	{ 128, 48 }, { 128, 56 }, { 128, 72 }, { 128, 80 }, { 128, 88 }, { 128, 104 }, { 128, 112 },
	{ 128, 120 }, { 128, 136 }, { 128, 144 }, { 128, 152 }, { 128, 168 }, { 128, 176 }, { 128, 184 },
	{ 128, 200 }, { 128, 208 }, { 128, 216 }, { 128, 224 }, { 128, 232 }, { 128, 240 }, { 128, 248 },
	{ 128, 264 }, { 128, 272 }, { 128, 280 }, { 128, 288 }, { 128, 296 }, { 128, 304 }, { 128, 312 },
	{ 128, 328 }, { 128, 336 }, { 128, 344 }, { 128, 352 }, { 128, 360 }, { 128, 368 }, { 128, 376 },
	{ 128, 392 }, { 128, 400 }, { 128, 408 }, { 128, 416 }, { 128, 424 }, { 128, 432 }, { 128, 440 },
	{ 128, 448 }, { 128, 456 }, { 128, 464 }, { 128, 472 }, { 128, 480 }, { 128, 488 }, { 128, 496 },
	{ 128, 504 }, { 128, 512 }, { 192, 8 }, { 192, 16 }, { 192, 24 }, { 192, 32 }, { 192, 40 },
	{ 192, 48 }, { 192, 56 }, { 192, 72 }, { 192, 80 }, { 192, 88 }, { 192, 96 }, { 192, 104 },
	{ 192, 112 }, { 192, 120 }, { 192, 136 }, { 192, 144 }, { 192, 152 }, { 192, 160 }, { 192, 168 },
	{ 192, 176 }, { 192, 184 }, { 192, 200 }, { 192, 208 }, { 192, 216 }, { 192, 224 }, { 192, 232 },
	{ 192, 240 }, { 192, 248 }, { 192, 264 }, { 192, 272 }, { 192, 280 }, { 192, 288 }, { 192, 296 },
	{ 192, 304 }, { 192, 312 }, { 192, 320 }, { 192, 328 }, { 192, 336 }, { 256, 8 }, { 256, 16 },
	{ 256, 24 }, { 256, 40 }, { 256, 48 }, { 256, 56 }, { 256, 72 }, { 256, 80 }, { 256, 88 },
	{ 256, 96 }, { 256, 104 }, { 256, 112 }, { 256, 120 }, { 256, 136 }, { 256, 144 }, { 256, 152 },
	{ 256, 160 }, { 256, 168 }, { 256, 176 }, { 256, 184 }, { 256, 200 }, { 256, 208 }, { 256, 216 },
	{ 256, 224 }, { 256, 232 }, { 256, 240 }, { 256, 248 }, { 256, 256 }, { 320, 8 }, { 320, 16 },
	{ 320, 24 }, { 320, 32 }, { 320, 40 }, { 320, 48 }, { 320, 56 }, { 320, 72 }, { 320, 80 },
	{ 320, 88 }, { 320, 96 }, { 320, 104 }, { 320, 112 }, { 320, 120 }, { 320, 136 }, { 320, 144 },
	{ 320, 152 }, { 320, 160 }, { 320, 168 }, { 320, 176 }, { 320, 184 }, { 320, 192 }, { 320, 200 },
	{ 384, 8 }, { 384, 16 }, { 384, 24 }, { 384, 32 }, { 384, 40 }, { 384, 48 }, { 384, 56 },
	{ 384, 72 }, { 384, 80 }, { 384, 88 }, { 384, 96 }, { 384, 104 }, { 384, 112 }, { 384, 120 },
	{ 384, 136 }, { 384, 144 }, { 384, 152 }, { 384, 160 }, { 384, 168 }, { 448, 8 }, { 448, 16 },
	{ 448, 24 }, { 448, 32 }, { 448, 40 }, { 448, 48 }, { 448, 56 }, { 448, 72 }, { 448, 80 },
	{ 448, 88 }, { 448, 96 }, { 448, 104 }, { 448, 112 }, { 448, 120 }, { 448, 128 }, { 448, 136 },
	{ 448, 144 }, { 512, 8 }, { 512, 16 }, { 512, 24 }, { 512, 32 }, { 512, 40 }, { 512, 48 },
	{ 512, 56 }, { 512, 72 }, { 512, 80 }, { 512, 88 }, { 512, 96 }, { 512, 104 }, { 512, 112 },
	{ 512, 120 }, { 512, 128 }, { 576, 8 }, { 576, 16 }, { 576, 24 }, { 576, 32 }, { 576, 40 },
	{ 576, 48 }, { 576, 56 }, { 576, 72 }, { 576, 80 }, { 576, 88 }, { 576, 96 }, { 576, 104 },
	{ 576, 112 }, { 640, 8 }, { 640, 16 }, { 640, 24 }, { 640, 32 }, { 640, 40 }, { 640, 48 },
	{ 640, 56 }, { 640, 72 }, { 640, 80 }, { 640, 88 }, { 640, 96 }, { 704, 8 }, { 704, 16 },
	{ 704, 24 }, { 704, 32 }, { 704, 40 }, { 704, 48 }, { 704, 56 }, { 704, 72 }, { 704, 80 },
	{ 704, 88 }, { 768, 8 }, { 768, 16 }, { 768, 24 }, { 768, 32 }, { 768, 40 }, { 768, 48 },
	{ 768, 56 }, { 768, 72 }, { 768, 80 }, { 256, 512 }, { 256, 1024 }, { 512, 512 }, { 512, 1024 },
};

/* cublasLtMatmulStages_t: depth of a stage x number of stages. */
static const char *const stages[] = {
	"", "16x1", "16x2", "16x3", "16x4", "16x5", "16x6", "32x1", "32x2", "32x3", "32x4", "32x5", "32x6",
	"64x1", "64x2", "64x3", "64x4", "64x5", "64x6", "128x1", "128x2", "128x3", "128x4", "128x5",
	"128x6", "32x10", "8x4", "16x10", "8x5", "", "", "8x3", "8xauto", "16xauto", "32xauto", "64xauto",
	"128xauto", "256xauto", "768xauto",
};

/* cublasLtClusterShape_t. */
static const uint8_t clusters[][3] = {
	{ 0, 0, 0 }, { 0, 0, 0 }, { 1, 1, 1 }, { 2, 1, 1 }, { 4, 1, 1 }, { 1, 2, 1 }, { 2, 2, 1 },
	{ 4, 2, 1 }, { 1, 4, 1 }, { 2, 4, 1 }, { 4, 4, 1 }, { 8, 1, 1 }, { 1, 8, 1 }, { 8, 2, 1 },
	{ 2, 8, 1 }, { 16, 1, 1 }, { 1, 16, 1 }, { 3, 1, 1 }, { 5, 1, 1 }, { 6, 1, 1 }, { 7, 1, 1 },
	{ 9, 1, 1 }, { 10, 1, 1 }, { 11, 1, 1 }, { 12, 1, 1 }, { 13, 1, 1 }, { 14, 1, 1 }, { 15, 1, 1 },
	{ 3, 2, 1 }, { 5, 2, 1 }, { 6, 2, 1 }, { 7, 2, 1 }, { 1, 3, 1 }, { 2, 3, 1 }, { 3, 3, 1 },
	{ 4, 3, 1 }, { 5, 3, 1 }, { 3, 4, 1 }, { 1, 5, 1 }, { 2, 5, 1 }, { 3, 5, 1 }, { 1, 6, 1 },
	{ 2, 6, 1 }, { 1, 7, 1 }, { 2, 7, 1 }, { 1, 9, 1 }, { 1, 10, 1 }, { 1, 11, 1 }, { 1, 12, 1 },
	{ 1, 13, 1 }, { 1, 14, 1 }, { 1, 15, 1 },
};

/* Returns an attribute of the configuration, of 16 or 32 bits; 0 if the library does not report it. */
static uint32_t config(const struct cublaslt_api *api, const cublasLtMatmulAlgo_t *algo,
	cublasLtMatmulAlgoConfigAttributes_t attribute, bool is_short)
{
	uint32_t value = 0;
	uint16_t half = 0;
	size_t written;
	void *to = is_short ? (void *)&half : (void *)&value;
	if (api->cublasLtMatmulAlgoConfigGetAttribute(algo, attribute, to, is_short ? 2 : 4, &written) !=
		CUBLAS_STATUS_SUCCESS)
		return 0;
	return is_short ? half : value;
}

static void add(char *name, size_t size, const char *word, uint32_t value)
{
	size_t n = strlen(name);
	snprintf(name + n, size - n, " %s%u", word, value);
}

static void add_sizes(
	char *name, size_t size, const struct cublaslt_api *api, const cublasLtMatmulAlgo_t *algo)
{
	uint32_t tile = config(api, algo, CUBLASLT_ALGO_CONFIG_TILE_ID, false);
	uint32_t stage = config(api, algo, CUBLASLT_ALGO_CONFIG_STAGES_ID, false);
	uint32_t cluster = config(api, algo, CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, true);
	size_t n = strlen(name);
	if (tile < COUNT_OF(tiles) && tiles[tile][0])
		snprintf(name + n, size - n, " tile%ux%u", tiles[tile][0], tiles[tile][1]);
	else if (tile)
		add(name, size, "tile#", tile);
	n = strlen(name);
	if (stage < COUNT_OF(stages) && stages[stage][0])
		snprintf(name + n, size - n, " stages%s", stages[stage]);
	else if (stage)
		add(name, size, "stages#", stage);
	n = strlen(name);
	if (cluster < COUNT_OF(clusters) && clusters[cluster][0])
		snprintf(name + n, size - n, " cluster%ux%ux%u", clusters[cluster][0], clusters[cluster][1],
			clusters[cluster][2]);
	else if (cluster)
		add(name, size, "cluster#", cluster);
}

void cublaslt_name(const struct cublaslt_api *api, const cublasLtMatmulAlgo_t *algo, char *name, size_t size)
{
	static const struct {
		cublasLtMatmulAlgoConfigAttributes_t attribute;
		const char *word;
		uint32_t silent; /* default value, not shown */
		bool is_short;
	} rest[] = {
		{ CUBLASLT_ALGO_CONFIG_SPLITK_NUM, "splitk", 1, false },
		{ CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, "reduce", 0, false },
		{ CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, "swizzle", 0, false },
		{ CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION, "custom", 0, false },
		{ CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID, "inner", 0, true },
	};
	snprintf(name, size, "algo%u", config(api, algo, CUBLASLT_ALGO_CONFIG_ID, false));
	add_sizes(name, size, api, algo);
	for (size_t i = 0; i < COUNT_OF(rest); i++) {
		uint32_t value = config(api, algo, rest[i].attribute, rest[i].is_short);
		if (value && value != rest[i].silent)
			add(name, size, rest[i].word, value);
	}
}

uint64_t cublaslt_flags(const struct cublaslt_api *api, const cublasLtMatmulAlgo_t *algo)
{
	uint64_t flags = 0;
	size_t written;
	if (api->cublasLtMatmulAlgoCapGetAttribute(algo, CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS, &flags,
		    sizeof(flags), &written) != CUBLAS_STATUS_SUCCESS)
		return 0;
	return flags;
}

void cublaslt_notes(uint64_t flags, char *notes, size_t size)
{
	static const struct {
		uint64_t flag;
		const char *word;
	} words[] = {
		{ CUBLASLT_NUMERICAL_IMPL_FLAGS_FMA, "fma" },
		{ CUBLASLT_NUMERICAL_IMPL_FLAGS_HMMA, "hmma" },
		{ CUBLASLT_NUMERICAL_IMPL_FLAGS_IMMA, "imma" },
		{ CUBLASLT_NUMERICAL_IMPL_FLAGS_DMMA, "dmma" },
		{ CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_16F, "in_f16" },
		{ CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_16BF, "in_bf16" },
		{ CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_TF32, "in_tf32" },
		{ CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_32F, "in_f32" },
		{ CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_64F, "in_f64" },
		{ CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_8I, "in_s8" },
		{ CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_8F_E4M3, "in_f8e4m3" },
		{ CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_8F_E5M2, "in_f8e5m2" },
		{ CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_16F, "acc_f16" },
		{ CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_32F, "acc_f32" },
		{ CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_64F, "acc_f64" },
		{ CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_32I, "acc_s32" },
		{ CUBLASLT_NUMERICAL_IMPL_FLAGS_GAUSSIAN, "gaussian" },
	};
	size_t n = 0;
	notes[0] = '\0';
	for (size_t i = 0; i < COUNT_OF(words) && n + 16 < size; i++)
		if (flags & words[i].flag)
			n += (size_t)snprintf(notes + n, size - n, "%s%s", n ? " " : "", words[i].word);
}
