/* The list of libraries in a runner's hello. */
#include "config.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "runner/gpu/cuda_folders.h"
#include "runner/gpu/cuda_library.h"

#define LOADER "the loader's search (LD_LIBRARY_PATH, ldconfig)"

static void list_add(json_t *attributes, json_t *entry)
{
	json_t *list = json_object_get(attributes, "libraries");
	if (!list) {
		list = json_array();
		json_object_set_new(attributes, "libraries", list);
	}
	json_array_append_new(list, entry);
}

void cuda_library_present(json_t *attributes, const char *name, const char *version, const void *symbol)
{
	Dl_info info;
	char *real = dladdr(symbol, &info) && info.dli_fname ? realpath(info.dli_fname, NULL) : NULL;
	list_add(attributes, json_pack("{s:s, s:b, s:s, s:o}", "name", name, "present", true, "version",
		version, "path", real ? json_text(text_of(real)) : json_null()));
	free(real);
}

static json_t *tried(void)
{
	struct cuda_folders *f = base_malloc(sizeof(*f));
	json_t *list = json_array();
	json_array_append_new(list, json_string(LOADER));
	cuda_folders_find(f);
	for (int i = 0; i < f->count; i++)
		json_array_append_new(list, json_text(text_of(f->path[i])));
	free(f);
	return list;
}

void cuda_library_missing(json_t *attributes, const char *name, const char *why)
{
	const char *fix = NULL;
	for (const char *at = why; (at = strstr(at, "; ")); at += 2)
		fix = at;
	size_t n = fix ? (size_t)(fix - why) : strlen(why);
	list_add(attributes, json_pack("{s:s, s:b, s:o, s:o, s:o}", "name", name, "present", false, "why",
		json_text((struct text){ why, n }), "tried", tried(), "fix",
		json_text(text_of(fix ? fix + 2 : ""))));
}
