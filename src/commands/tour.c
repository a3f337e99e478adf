/* A folder for the tour's database, locked while the program runs; folders whose program is gone are
 * removed at the next start. */
#include "config.h"

#include "commands/tour.h"

#include "base/exe_path.h"
#include "commands/db.h"
#include "commands/db_google.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TOUR_FILE "tour/resnet50.jsonl.gz"
#define TOUR_FOLDER "benanza-tour-"
#define LEFTOVER_S 60 /* a younger folder may be one that its program has not locked yet */

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

/* Removes what the tour keeps in its folder, and the folder. */
static void folder_remove(const char *folder)
{
	static const char *const names[] = { "tour.db", "tour.db-wal", "tour.db-shm", "tour.db-journal",
		"tour.yaml" };
	char path[TOUR_PATH_MAX + 16];
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		unlink(path);
	}
	rmdir(folder);
}

/* Locks the folder for as long as the program runs. Returns the descriptor; -1: another program holds it. */
static int folder_lock(const char *folder)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Removes the user's folders of tours that were killed: nobody locks them. */
static void leftovers_remove(const char *at)
{
	char folder[TOUR_PATH_MAX - 16];
	struct stat st;
	DIR *d = opendir(at);
	for (struct dirent *e; d && (e = readdir(d));) {
		if (strncmp(e->d_name, TOUR_FOLDER, strlen(TOUR_FOLDER)) != 0)
			continue;
		int n = snprintf(folder, sizeof(folder), "%s/%s", at, e->d_name);
		int fd = n < (int)sizeof(folder) ? folder_lock(folder) : -1;
		if (fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
			time(NULL) - st.st_mtime > LEFTOVER_S)
			folder_remove(folder);
		if (fd >= 0)
			close(fd);
	}
	if (d)
		closedir(d);
}

int tour_begin(struct tour_database *t, struct options *o, struct error *err)
{
	const char *file = exe_data_path(&o->arena, TOUR_FILE), *at = getenv("TMPDIR");
	at = at && *at ? at : "/tmp";
	*t = (struct tour_database){ .file = "", .lock = -1 };
	if (!file)
		return error_set(err, "%s/%s is missing: install benanza again", BENANZA_DATADIR, TOUR_FILE);
	char folder[TOUR_PATH_MAX - 16];
	snprintf(folder, sizeof(folder), "%s/" TOUR_FOLDER "XXXXXX", at);
	leftovers_remove(at);
	if (!mkdtemp(folder))
		return error_set(err, "%s: %s; set TMPDIR to a folder that can be written", folder,
			strerror(errno));
	t->lock = folder_lock(folder);
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
	if (!t->folder[0])
		return;
	folder_remove(t->folder);
	if (t->lock >= 0)
		close(t->lock);
}
