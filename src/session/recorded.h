/* Devices that are only recorded: in the database, and as files of results in the data folder (data/recorded/NAME.jsonl.gz),
 * which come with the program so that everyone can look at devices that few have. */
#ifndef SESSION_RECORDED_H
#define SESSION_RECORDED_H

#include "config/config.h"
#include "drive/records.h"
#include "store/results.h"

enum recorded_match {
	RECORDED_NONE,
	RECORDED_PART, /* what is asked for is a part of its stack */
	RECORDED_WHOLE /* its name, model or number, or nothing is asked for */
};

/* How well a recorded device fits config->device and config->threads. id: its number in the database, 0 none: then the
 * name, which another machine gave it, does not count. */
enum recorded_match recorded_matches(const struct config *c, const struct device *d, int64_t id);

/* A file of the data folder, which holds results of one device: that of its first hello. */
struct recorded {
	const char *path;
	struct device device;
};

/* All of the folder, by file name; a file that cannot be read, or holds no hello, is left out and logged. Strings live in
 * the arena. Returns the count; 0 where there is no folder. */
int recorded_list(struct arena *a, struct recorded **list);
/* The index of the one that fits config->device best; -1: none (nothing asked for fits none), -2: several, which are listed
 * in `which`. */
int recorded_choose(const struct config *c, const struct recorded *list, int count, struct str *which);

/* Reading one, bit by bit: a file may hold the results of many models. `one` must outlive it. */
struct recorded_file;
struct recorded_file *recorded_open(const struct recorded *one);
void recorded_close(struct recorded_file *f);
/* Loads what the file holds of its device for problems that were not asked for before; quick where there is none. -1: it
 * cannot be read. Lines that mean nothing are logged. */
int recorded_load(struct recorded_file *f, const char *const *problems, int count, struct results *r, struct error *err);

#endif
