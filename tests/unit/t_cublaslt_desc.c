/* The real cuBLASLt without a device must accept the descriptors of every group. Skipped if it is not
 * installed. */
#include "config.h"

#include "tap.h"

#include "runner/cublaslt/cublaslt_group.h"
#include "runner/gpu/cuda_context.h"

static const struct cuda_context context = { .sm = 90, .planning = true };

const struct cuda_context *cuda_context(void)
{
	return &context;
}

static const char *const texts[] = {
	"matmul:f32,f32.c,f32/f32:ba1bb1m5n7k3:ta0tb0",
	"matmul:f32,f32.c,f32/f32:ba1x6bb4x1m5n7k3:ta1tb1+bias:f32.c+add:f32+relu",
	"matmul:f16,f16.c,f16/f32:ba12bb12m128n128k64:ta0tb1+bias:f16.c+gelu_tanh",
	"matmul:f16,f16.c,f32/f32:ba1bb1m1n7k3:ta0tb0",
	"matmul:bf16,bf16.c,bf16/f32:ba2bb2m5n7k3:ta0tb1+add:bf16",
	"matmul:s8,s8.c,s32/s32:ba1bb1m16n32k64:ta0tb1",
	"matmul:s8,s8.c,s8/s32:ba1bb1m16n32k64:ta0tb1+bias:f32.c",
	"matmul:f64,f64.c,f64/f64:ba1bb1m5n7k3:ta0tb0",
	"matmul:f8e4m3,f8e5m2.c,bf16/f32:ba1bb1m16n32k64:ta0tb1+bias:bf16.c",
	"matmul:f8e4m3,f8e4m3.c,f8e4m3/f32:ba1bb1m16n32k64:ta0tb1",
	/* products with ones */
	"reduce:f16,f16:sum:64x128:64x1",
	"reduce:f32,f32:mean:4x64x128:4x1x128+relu",
	"scan:bf16,bf16:cumsum:64x128:ax1",
};

int main(void)
{
	struct error err = ERROR_NONE;
	const struct cublaslt_api *api = cublaslt_library(&err);
	if (!api)
		skip_all("no cuBLASLt");
	ok(api->cublasLtGetVersion() / 10000 == CUBLAS_VER_MAJOR, "version %zu", api->cublasLtGetVersion());
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		const struct cublaslt_group *groups[8];
		struct cublaslt_case c;
		struct problem p;
		int count = -1;
		if (problem_parse(text_of(texts[i]), &p, &err) == 0 && cublaslt_case_make(&p, &c, &err) == 0)
			count = cublaslt_groups(&c, groups, 8, &err);
		bool good = count > 0;
		for (int j = 0; j < count; j++) {
			struct cublaslt_desc desc;
			if (cublaslt_desc_open(&desc, &c, groups[j], &err) == 0)
				cublaslt_desc_close(&desc);
			else
				good = false;
		}
		if (!ok(good, "cuBLASLt takes %s, %d ways", texts[i], count))
			printf("# %s\n", err.text);
	}
	return done_testing();
}
