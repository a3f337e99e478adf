/* Check of the database's disk: space, network file systems. */
#include "config.h"

#include "doctor/doctor_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#define DISK_LEAST_BYTES (100.0 * 1024 * 1024)

/* Real path of the database, or of the nearest parent directory that exists. */
static const char *existing(struct doctor *d, const char *path)
{
	char *real = realpath(path, NULL), *copy = arena_strndup(&d->arena, path, strlen(path));
	for (char *slash; !real && (slash = strrchr(copy, '/')) && slash != copy;) {
		*slash = '\0';
		real = realpath(copy, NULL);
	}
	const char *kept = real ? arena_strndup(&d->arena, real, strlen(real)) : "/";
	free(real);
	return kept;
}

static void doctor_database(struct doctor *d)
{
	struct statvfs fs;
	char room[STR_QUANTITY];
	if (!d->o.db)
		return;
	const char *path = existing(d, d->o.db), *network = d->o.network(path);
	double left = statvfs(path, &fs) ? NAN : (double)fs.f_bavail * (double)fs.f_frsize;
	if (left < DISK_LEAST_BYTES)
		doctor_found_of(d, path, DOCTOR_BENDS,
			"free disk space, or use another path (--db, BENANZA_DB): results that do not fit "
			"are lost",
			"%s left on its disk", str_bytes(room, left));
	else if (network)
		doctor_found_of(d, path, DOCTOR_BENDS, "use a local disk and merge later (benanza db merge)",
			"on a network file system (%s): storing each result waits for it", network);
	else if (isnan(left))
		doctor_found_of(d, path, DOCTOR_UNKNOWN, NULL, "free space of its file system is unknown");
	else
		doctor_found_of(d, path, DOCTOR_OK, NULL, "%s left, on a disk of this machine",
			str_bytes(room, left));
}

const struct doctor_check doctor_database_checks[] = {
	{ "database", doctor_database, "" },
	{ 0 }
};
