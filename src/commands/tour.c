#include "config.h"

#include "commands/tour.h"

#include "base/exe_path.h"
#include "commands/db.h"
#include "commands/db_google.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TOUR_FILE "tour/resnet50.jsonl.gz"

/* Adds the recorded file to the new database. */
static int import(const char *file, const char *db, struct error *err)
{
	struct db_format results = { 0 };
	struct options other = { .quiet = true, .argc = 1, .argv = &file, .own = &results };
	struct store *s = store_open(db, false, err);
	int status = s ? db_import(s, &other, err) : EXIT_BAD;
	store_close(s);
	return status == EXIT_DONE ? 0
		: status == EXIT_BAD ? -1 : error_set(err, "%s: has invalid lines", file);
}

int tour_begin(struct tour_database *t, struct options *o, struct error *err)
{
	const char *file = exe_data_path(&o->arena, TOUR_FILE), *at = getenv("TMPDIR");
	*t = (struct tour_database){ .file = "" };
	if (!file)
		return error_set(err, "%s/%s is missing: install benanza again", BENANZA_DATADIR, TOUR_FILE);
	char folder[TOUR_PATH_MAX - 16];
	snprintf(folder, sizeof(folder), "%s/benanza-tour-XXXXXX", at && *at ? at : "/tmp");
	if (!mkdtemp(folder))
		return error_set(err, "%s: %s; set TMPDIR to a folder that can be written", folder,
			strerror(errno));
	snprintf(t->folder, sizeof(t->folder), "%s", folder);
	snprintf(t->file, sizeof(t->file), "%s/tour.db", folder);
	snprintf(t->config, sizeof(t->config), "%s/tour.yaml", folder);
	FILE *empty = fopen(t->config, "w");
	if (!empty || fclose(empty))
		return error_set(err, "%s: %s", t->config, strerror(errno));
	config_free(&o->config);
	return config_load(&o->config, t->config, err) || import(file, t->file, err) ||
			config_set(&o->config, "db", t->file, err) ||
			config_set(&o->config, "device", "1", err) ||
			config_set(&o->config, "measure", "never", err)
		? -1 : 0;
}

void tour_end(struct tour_database *t)
{
	static const char *const ends[] = { "", "-wal", "-shm", "-journal" };
	char name[TOUR_PATH_MAX + 16];
	for (size_t i = 0; t->folder[0] && i < sizeof(ends) / sizeof(*ends); i++) {
		snprintf(name, sizeof(name), "%s%s", t->file, ends[i]);
		unlink(name);
	}
	if (t->config[0])
		unlink(t->config);
	if (t->folder[0])
		rmdir(t->folder);
}
