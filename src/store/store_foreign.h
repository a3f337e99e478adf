/* SQLite files of other programs, read only: exports of profilers. The file may be hostile: its views,
 * triggers and virtual tables are never run, a statement has a time limit, and texts a maximum length. The
 * file is not changed, no file is created next to it, and no lock is taken. */
#ifndef STORE_STORE_FOREIGN_H
#define STORE_STORE_FOREIGN_H

#include <signal.h>

#include "base/error.h"
#include "base/str.h"

/* 0 takes the default. */
struct foreign_limits {
	int64_t file_bytes; /* 64 GiB: size of the file */
	int64_t cell_bytes; /* 16 MiB: bytes of one text or blob, and of a row */
	int query_ms;	    /* 60000: time that one query may spend in SQLite, all its rows together */
	const volatile sig_atomic_t *stop; /* NULL, or set by a signal handler to end a query */
};

struct foreign;

/* Opens a regular file. NULL on errors, which begin with the path, as all errors here. limits may be NULL. */
struct foreign *foreign_open(const char *path, const struct foreign_limits *limits, struct error *err);
void foreign_close(struct foreign *f); /* after its queries */
/* True if the file has the table; with a column (not NULL): if the table has it. A view is not a table. */
bool foreign_has(struct foreign *f, const char *table, const char *column);

enum foreign_type { FOREIGN_NULL, FOREIGN_INT, FOREIGN_REAL, FOREIGN_TEXT, FOREIGN_BLOB };

/* Only the field of the type is set. Texts may hold any bytes (text_clean before they are shown). */
struct foreign_value {
	enum foreign_type type;
	int64_t i;
	double r;
	struct text t; /* TEXT, BLOB */
};

struct foreign_query;

/* Prepares one SELECT of the caller's (not of the file's), with `count` values for its "?". At most one
 * statement; anything that is not a plain read of tables is refused. NULL on errors. */
struct foreign_query *foreign_query(
	struct foreign *f, const char *sql, const struct foreign_value *values, int count, struct error *err);
/* 1: a row; 0: no further row; -1: an error: the file is damaged, the time limit, an interrupt. */
int foreign_next(struct foreign_query *q, struct error *err);
/* Column of the current row, from 0; FOREIGN_NULL beyond the last. Its text is valid until foreign_next. */
struct foreign_value foreign_column(const struct foreign_query *q, int column);
void foreign_query_free(struct foreign_query *q);

#endif
