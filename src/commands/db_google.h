/* Results in the format of Google Benchmark, for `db import --as` and `db export --as`. */
#ifndef COMMANDS_DB_GOOGLE_H
#define COMMANDS_DB_GOOGLE_H

#include "commands/command.h"

/* The options of both commands. */
struct db_format {
	const char *as; /* NULL: results as a runner writes them */
};
extern const struct option_row db_format_rows[];

/* 1: --as names the format, 0: it is absent, -1: another name. */
int db_format_is_google(const struct options *o, struct error *err);
/* Adds the results of the files argv[0...] to the database. Returns an exit status. */
int db_google_import(struct store *s, struct options *o, struct error *err);

/* A file that is written to standard output: begin, results, end. */
struct db_google_file {
	bool begun;
	int64_t count; /* benchmarks written */
};
void db_google_begin(struct db_google_file *f, const struct device *d);
void db_google_result(struct db_google_file *f, const struct result *r, bool finished);
void db_google_end(struct db_google_file *f);

#endif
