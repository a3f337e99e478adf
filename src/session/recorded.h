/* Recorded devices: in the database, and as files of results that come with the program
 * (data/recorded/NAME.jsonl.gz), so that users can inspect devices that they do not have. */
#ifndef SESSION_RECORDED_H
#define SESSION_RECORDED_H

#include "config/config.h"
#include "drive/records.h"
#include "store/results.h"

enum recorded_match {
	RECORDED_NONE,
	RECORDED_PART, /* config->device is a part of its stack or model */
	RECORDED_WHOLE /* config->device is its name, model or number, or is not set */
};

/* How well a recorded device matches config->device and config->threads. id: its number in the database; 0:
 * none, and its name, which was given on another machine, is ignored. */
enum recorded_match recorded_matches(const struct config *c, const struct device *d, int64_t id);

/* A file of the data directory: results of one device, that of its first hello. */
struct recorded {
	const char *path;
	struct device device;
};

/* Lists all files, sorted by name. A file that cannot be read or has no hello is left out and logged. Strings
 * live in the arena. Returns the count; 0 without a directory. */
int recorded_list(struct arena *a, struct recorded **list);
/* Index of the best match for config->device, at least `least`; -1: none (also if config->device is not set),
 * -2: several, which are listed in `which`. */
int recorded_choose(const struct config *c, const struct recorded *list, int count, enum recorded_match least,
	struct str *which);

/* Reads a file in parts, because it may have the results of many models. `one` must outlive the reader. */
struct recorded_file;
struct recorded_file *recorded_open(const struct recorded *one);
void recorded_close(struct recorded_file *f);
/* Loads the results of the problems that were not loaded before; fast if all were. -1: the file cannot
 * be read. Invalid lines are logged. */
int recorded_load(struct recorded_file *f, const char *const *problems, int count, struct results *r,
	struct error *err);

#endif
