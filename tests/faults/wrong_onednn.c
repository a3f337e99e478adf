/* oneDNN on a bad day, loaded before it: what WRONG says happens to the destination of every execution.
 *   nothing   it is not computed
 *   values    its last 256 bytes are what they should not be
 *   last      its last four are
 *   stale     it is computed the first time alone
 *   source    right, of a source that was emptied
 *   copies    right with the first copy of the weights alone
 *   half      its second half is not computed
 *   beyond    the byte behind it is written
 * WRONG_BYTES is its size. What has one source, as conversions of layouts do, is left alone. Whoever measures
 * has to notice. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct argument { /* dnnl_exec_arg_t */
	int arg;
	void *memory;
};
#define SOURCE 1       /* DNNL_ARG_SRC */
#define DESTINATION 17 /* DNNL_ARG_DST */
#define WEIGHTS 33     /* DNNL_ARG_WEIGHTS */
#define SPOILT 256
#define LAST 4

int dnnl_primitive_execute(const void *primitive, void *stream, int count, const struct argument *args);

static char *handle_of(int arg, int count, const struct argument *args)
{
	static int (*handle)(const void *memory, void **at);
	void *at = NULL;
	if (!handle)
		*(void **)&handle = dlsym(RTLD_NEXT, "dnnl_memory_get_data_handle");
	for (int i = 0; i < count; i++)
		if (args[i].arg == arg)
			handle(args[i].memory, &at);
	return at;
}

int dnnl_primitive_execute(const void *primitive, void *stream, int count, const struct argument *args)
{
	static int (*real)(const void *primitive, void *stream, int count, const struct argument *args);
	const char *wrong = getenv("WRONG"), *size = getenv("WRONG_BYTES");
	size_t bytes = size ? strtoul(size, NULL, 10) : 0;
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "dnnl_primitive_execute");
	char *at = handle_of(DESTINATION, count, args);
	if (!wrong || !at || count < 3 || bytes < SPOILT)
		return real(primitive, stream, count, args);
	static char *first_weights;
	static bool computed;
	char *source = handle_of(SOURCE, count, args), *weights = handle_of(WEIGHTS, count, args);
	bool again = computed;
	computed = true;
	first_weights = first_weights ? first_weights : weights;
	if (strcmp(wrong, "nothing") == 0 || (strcmp(wrong, "stale") == 0 && again))
		return 0;
	if (strcmp(wrong, "source") == 0)
		memset(source, 0, bytes);
	char *half = strcmp(wrong, "half") == 0 ? malloc(bytes / 2) : NULL;
	if (half)
		memcpy(half, at + bytes / 2, bytes / 2);
	int status = real(primitive, stream, count, args);
	if (half)
		memcpy(at + bytes / 2, half, bytes / 2);
	free(half);
	if (strcmp(wrong, "values") == 0 || (strcmp(wrong, "copies") == 0 && weights != first_weights))
		memset(at + bytes - SPOILT, 0x41, SPOILT);
	if (strcmp(wrong, "last") == 0)
		memset(at + bytes - LAST, 0x41, LAST);
	if (strcmp(wrong, "beyond") == 0)
		at[bytes] = 1;
	return status;
}
