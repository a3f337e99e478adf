/* Lists recorded devices, and reads the file of the one that is chosen. */
#include "config.h"

#include "session/recorded.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/exe_path.h"
#include "base/hash.h"
#include "base/log.h"

enum recorded_match recorded_matches(const struct config *c, const struct device *d, int64_t id)
{
	int64_t number;
	if (c->threads > 0 && d->threads > 0 && d->threads != c->threads)
		return RECORDED_NONE;
	if (!c->device || strcmp(d->model, c->device) == 0 ||
		(id > 0 &&
			(strcmp(d->name, c->device) == 0 ||
				(text_to_int64(text_of(c->device), &number) && number == id))))
		return RECORDED_WHOLE;
	return strstr(d->stack, c->device) || strstr(d->model, c->device) ? RECORDED_PART : RECORDED_NONE;
}

static int is_record(const struct dirent *entry)
{
	static const char *const suffixes[] = { ".jsonl.gz", ".jsonl" };
	size_t n = strlen(entry->d_name);
	for (int i = 0; i < 2; i++) {
		size_t suffix = strlen(suffixes[i]);
		if (entry->d_name[0] != '.' && n > suffix &&
			strcmp(entry->d_name + n - suffix, suffixes[i]) == 0)
			return 1;
	}
	return 0;
}

/* Reads up to the first hello. */
static int recorded_read(struct arena *a, const char *path, struct recorded *one, struct error *err)
{
	struct records *r = records_open(path, err);
	struct records_item item;
	if (!r)
		return -1;
	int got;
	while ((got = records_next(r, &item, err)) == 1 && item.kind != RECORDS_DEVICE)
		;
	if (got == 0)
		error_set(err, "%s: has no hello of a runner", path);
	if (got == 1)
		*one = (struct recorded){ path, device_copy(a, item.device) };
	records_close(r);
	return got == 1 ? 0 : -1;
}

int recorded_list(struct arena *a, struct recorded **list)
{
	const char *folder = exe_data_path(a, "recorded");
	struct dirent **entries = NULL;
	int n = folder ? scandir(folder, &entries, is_record, alphasort) : 0, count = 0;
	n = n < 0 ? 0 : n;
	*list = ARENA_ARRAY(a, struct recorded, n);
	for (int i = 0; i < n; i++) {
		struct error err = ERROR_NONE;
		if (recorded_read(a, arena_printf(a, "%s/%s", folder, entries[i]->d_name),
			&(*list)[count], &err))
			log_line("left out: %s", err.text);
		else
			count++;
		free(entries[i]);
	}
	free(entries);
	return count;
}

int recorded_choose(const struct config *c, const struct recorded *list, int count, enum recorded_match least,
	struct str *which)
{
	for (int wanted = RECORDED_WHOLE; wanted >= (int)least && c->device; wanted--) {
		int found = -1, matching = 0;
		str_clear(which);
		for (int i = 0; i < count; i++) {
			if ((int)recorded_matches(c, &list[i].device, 0) != wanted)
				continue;
			str_addf(which, "%s%s (%s)", matching++ ? ", " : "", list[i].device.model,
				list[i].device.stack);
			found = i;
		}
		if (matching)
			return matching == 1 ? found : -2;
	}
	return -1;
}

struct recorded_file {
	const struct recorded *one;
	struct arena arena;
	struct hash asked; /* problem -> 0: loaded, 1: being loaded */
};

struct recorded_file *recorded_open(const struct recorded *one)
{
	struct recorded_file *f = base_calloc(1, sizeof(*f));
	f->one = one;
	return f;
}

void recorded_close(struct recorded_file *f)
{
	if (!f)
		return;
	hash_free(&f->asked);
	arena_free(&f->arena);
	free(f);
}

static bool recorded_wants(const void *context, struct text problem)
{
	const struct recorded_file *f = context;
	return hash_find(&f->asked, problem) == 1;
}

static int recorded_read_on(struct recorded_file *f, struct results *r, struct error *err)
{
	const struct device *d = &f->one->device;
	struct records *file = records_open(f->one->path, err);
	struct records_item item;
	if (!file)
		return -1;
	records_set_filter(file, recorded_wants, f);
	int got;
	while ((got = records_next(file, &item, err)) == 1) {
		bool mine = item.device && strcmp(item.device->model, d->model) == 0 &&
			strcmp(item.device->stack, d->stack) == 0;
		if (item.kind == RECORDS_FAULT)
			log_line("left out: %s", item.fault);
		else if (mine && item.kind == RECORDS_RESULT)
			results_add(r, &item.result);
		else if (mine && item.kind == RECORDS_DONE &&
			(item.status == STATUS_OK || item.status == STATUS_UNSUPPORTED ||
				item.status == STATUS_MISTRUSTED))
			results_finish(r, item.problem);
	}
	records_close(file);
	return got;
}

int recorded_load(struct recorded_file *f, const char *const *problems, int count, struct results *r,
	struct error *err)
{
	int fresh = 0;
	for (int i = 0; i < count; i++) {
		if (hash_find(&f->asked, text_of(problems[i])) >= 0)
			continue;
		const char *kept = arena_strndup(&f->arena, problems[i], strlen(problems[i]));
		*hash_at(&f->asked, text_of(kept)) = 1;
		fresh++;
	}
	if (!fresh)
		return 0;
	int bad = recorded_read_on(f, r, err);
	for (int i = 0; i < count; i++)
		*hash_at(&f->asked, text_of(problems[i])) = 0; /* they are there: no key is made */
	return bad;
}
