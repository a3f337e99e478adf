/* Reads the files of described devices; their results are only estimates. */
#include "config.h"

#include "session/described.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/exe_path.h"
#include "base/json.h"

#define SUFFIX ".json"
#define MULTIPROCESSORS_MOST 10000
#define LOAD_BYTES 64.0 /* NVIDIA's tuning guides, Volta to Hopper */

static const char *string_kept(struct arena *a, const json_t *o, const char *key)
{
	return text_clean(a, text_of(json_string_at(o, key, "")));
}

/* A number above 0, or NaN. */
static double number_kept(const json_t *o, const char *key)
{
	double n = json_number_or_nan(json_object_get(o, key));
	return n > 0 && isfinite(n) ? n : NAN;
}

/* A share of a peak; 1 if the key is missing, NaN if it is not above 0 and up to 1. */
static double share_kept(const json_t *o, const char *key)
{
	double n = json_object_get(o, key) ? number_kept(o, key) : 1;
	return n <= 1 ? n : NAN;
}

/* Sets the peak of one key, e.g. "f16_matrix": 989e12. -1: unknown type. */
static int peak_take(struct peaks *p, const char *key, const json_t *value, struct error *err)
{
	size_t n = strcspn(key, "_");
	bool matrix = strcmp(key + n, "_matrix") == 0;
	double flops = json_number_or_nan(value);
	if ((key[n] && !matrix) || peaks_set(p, (struct text){ key, n }, matrix, flops))
		return error_set(err,
			"peak_flops: %s is not a data type (f32, f16, f16_matrix ...) with a number above 0",
			key);
	return 0;
}

static int peaks_take(struct peaks *p, const json_t *o, struct error *err)
{
	const char *key;
	json_t *value;
	*p = peaks_unknown();
	p->bandwidth_bytes_s = number_kept(o, "bandwidth_bytes_s");
	json_object_foreach((json_t *)(uintptr_t)json_object_get(o, "peak_flops"), key, value)
		if (peak_take(p, key, value, err))
			return -1;
	p->clock_share = share_kept(o, "clock_share");
	p->bandwidth_share = share_kept(o, "bandwidth_share");
	if (isnan(p->clock_share) || isnan(p->bandwidth_share))
		return error_set(err, "%s is not a number above 0 and up to 1",
			isnan(p->clock_share) ? "clock_share" : "bandwidth_share");
	return isnan(p->bandwidth_bytes_s) ? error_set(err, "bandwidth_bytes_s is missing") : 0;
}

/* The L2 cache as a level: all multiprocessors together load at most 64 bytes a clock each from it. */
static void l2_take(struct described *d)
{
	double rate = LOAD_BYTES * d->multiprocessors * d->clock_mhz * 1e6;
	if (isnan(d->l2_bytes) || !(rate > d->peaks.bandwidth_bytes_s)) /* NaN compares false */
		return;
	d->peaks.level[0] = (struct peak_level){ .level = 2, .bytes = d->l2_bytes, .bandwidth_bytes_s = rate,
		.estimated = true };
	d->peaks.level_count = 1;
}

static void sources_take(struct arena *a, struct described *d, const json_t *list)
{
	d->source_count = (int)json_array_size(list);
	d->sources = ARENA_ARRAY(a, const char *, d->source_count);
	for (int i = 0; i < d->source_count; i++) {
		const char *line = json_string_value(json_array_get(list, (size_t)i));
		d->sources[i] = text_clean(a, text_of(line ? line : ""));
	}
}

static int described_take(struct arena *a, const json_t *o, struct described *d, struct error *err)
{
	d->name = string_kept(a, o, "name");
	d->arch = string_kept(a, o, "arch");
	d->caveat = string_kept(a, o, "caveat");
	d->sm = (int)json_int_at(o, "sm", 0);
	int64_t multiprocessors = json_int_at(o, "multiprocessors", 0);
	d->multiprocessors = multiprocessors > 0 && multiprocessors <= MULTIPROCESSORS_MOST ?
		(int)multiprocessors : 0;
	d->clock_mhz = number_kept(o, "clock_mhz");
	d->l2_bytes = number_kept(o, "l2_bytes");
	d->memory_bytes = number_kept(o, "memory_bytes");
	sources_take(a, d, json_object_get(o, "sources"));
	if (!*d->name)
		return error_set(err, "name is missing");
	if (json_object_get(o, "multiprocessors") && !d->multiprocessors)
		return error_set(err, "multiprocessors is not a number of 1 to %d", MULTIPROCESSORS_MOST);
	if (json_object_get(o, "clock_mhz") && !(d->clock_mhz >= 100 && d->clock_mhz <= 100000))
		return error_set(err, "clock_mhz is not a number of 100 to 100000");
	if (json_object_get(o, "l2_bytes") && isnan(d->l2_bytes))
		return error_set(err, "l2_bytes is not a number above 0");
	if (d->sm < 10 || d->sm > 999)
		return error_set(err, "sm (90 for compute capability 9.0) is missing");
	if (!json_is_object(json_object_get(o, "cudnn")))
		return error_set(err, "cudnn (the device's properties for cuDNN) is missing");
	int bad = peaks_take(&d->peaks, o, err);
	d->peaks.sm = d->sm;
	d->peaks.clock_mhz = d->clock_mhz;
	d->peaks.multiprocessors = d->multiprocessors;
	l2_take(d);
	return bad;
}

static const char *stem_of(struct arena *a, const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	size_t n = strlen(base);
	if (n > strlen(SUFFIX) && strcmp(base + n - strlen(SUFFIX), SUFFIX) == 0)
		n -= strlen(SUFFIX);
	return text_clean(a, (struct text){ base, n });
}

int described_read(struct arena *a, const char *path, struct described *d, struct error *err)
{
	json_error_t why;
	struct stat st;
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) /* a pipe would be waited for */
		return error_set(err, "%s: not a file", path);
	json_t *o = json_load_file(path, JSON_REJECT_DUPLICATES, &why);
	*d = (struct described){ .id = stem_of(a, path), .path = arena_strndup(a, path, strlen(path)) };
	if (!o)
		return why.line > 0 ? error_set(err, "%s:%d: %s", path, why.line, why.text) :
			error_set(err, "%s", why.text);
	int bad = json_is_object(o) ? described_take(a, o, d, err) : error_set(err, "not a JSON object");
	if (bad)
		error_context(err, "%s", path);
	json_decref(o);
	return bad;
}

static int is_description(const struct dirent *entry)
{
	size_t n = strlen(entry->d_name), suffix = strlen(SUFFIX);
	return n > suffix && entry->d_name[0] != '.' && strcmp(entry->d_name + n - suffix, SUFFIX) == 0;
}

/* The files of the data directory, sorted. *folder: NULL without one. The caller frees the entries. */
static int files_list(struct arena *a, const char **folder, struct dirent ***entries)
{
	*entries = NULL;
	*folder = exe_data_path(a, "devices");
	int n = *folder ? scandir(*folder, entries, is_description, alphasort) : 0;
	return n < 0 ? 0 : n;
}

int described_list(struct arena *a, struct described **list, int *count, struct error *err)
{
	const char *folder;
	struct dirent **entries;
	int n = files_list(a, &folder, &entries), bad = 0;
	*list = ARENA_ARRAY(a, struct described, n);
	*count = 0;
	for (int i = 0; i < n; i++) {
		if (!bad)
			bad = described_read(a, arena_printf(a, "%s/%s", folder, entries[i]->d_name),
				&(*list)[i], err);
		*count += !bad;
		free(entries[i]);
	}
	free(entries);
	return bad;
}

/* The file of this id, or NULL. */
static const char *file_of(struct arena *a, const char *id)
{
	const char *folder, *found = NULL;
	struct dirent **entries;
	int n = files_list(a, &folder, &entries);
	size_t size = strlen(id);
	for (int i = 0; i < n; i++) {
		const char *name = entries[i]->d_name;
		if (!found && strlen(name) == size + strlen(SUFFIX) && strncasecmp(name, id, size) == 0)
			found = arena_printf(a, "%s/%s", folder, name);
		free(entries[i]);
	}
	free(entries);
	return found;
}

int described_find(struct arena *a, const char *asked, struct described *d, struct error *err)
{
	struct described *list;
	int count;
	size_t n = strlen(asked), suffix = strlen(SUFFIX);
	/* a file name, even if the file does not exist */
	if (n > suffix && strcmp(asked + n - suffix, SUFFIX) == 0)
		return described_read(a, asked, d, err) ? -1 : 1;
	const char *file = file_of(a, asked);
	if (file)
		return described_read(a, file, d, err) ? -1 : 1;
	if (described_list(a, &list, &count, err))
		return -1;
	for (int i = 0; i < count; i++)
		if (strcasecmp(list[i].name, asked) == 0) {
			*d = list[i];
			return 1;
		}
	return 0;
}

bool described_is_named(const struct config *config)
{
	struct described d;
	struct error none = ERROR_NONE;
	struct arena scratch = { 0 };
	const char *device = config->device;
	for (int i = 0; device && i < config->runner_count; i++)
		if (strcmp(config->runners[i].name, device) == 0)
			return false;
	bool is_described = device && described_find(&scratch, device, &d, &none) > 0;
	arena_free(&scratch);
	return is_described;
}
