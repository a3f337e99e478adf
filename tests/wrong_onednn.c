/* oneDNN on a bad day, loaded before it: what WRONG says happens to the destination of every execution.
 *   nothing   it is not computed
 *   values    its last 256 bytes are what they should not be
 *   half      its second half is not computed
 *   beyond    the byte behind it is written
 * WRONG_BYTES is its size. What has one source, as conversions of layouts do, is left alone. Whoever measures has to notice. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

struct argument { /* dnnl_exec_arg_t */
	int arg;
	void *memory;
};
#define DESTINATION 17 /* DNNL_ARG_DST */
#define SPOILT 256

int dnnl_primitive_execute(const void *primitive, void *stream, int count, const struct argument *args);

static char *destination_of(int count, const struct argument *args)
{
	static int (*handle)(const void *memory, void **at);
	void *at = NULL;
	if (!handle)
		*(void **)&handle = dlsym(RTLD_NEXT, "dnnl_memory_get_data_handle");
	for (int i = 0; i < count; i++)
		if (args[i].arg == DESTINATION)
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
	char *at = destination_of(count, args);
	if (!wrong || !at || count < 3 || bytes < SPOILT)
		return real(primitive, stream, count, args);
	if (strcmp(wrong, "nothing") == 0)
		return 0;
	char *half = strcmp(wrong, "half") == 0 ? malloc(bytes / 2) : NULL;
	if (half)
		memcpy(half, at + bytes / 2, bytes / 2);
	int status = real(primitive, stream, count, args);
	if (half)
		memcpy(at + bytes / 2, half, bytes / 2);
	free(half);
	if (strcmp(wrong, "values") == 0)
		memset(at + bytes - SPOILT, 0x41, SPOILT);
	if (strcmp(wrong, "beyond") == 0)
		at[bytes] = 1;
	return status;
}
