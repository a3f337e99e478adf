#include "config.h"

#include "commands/db.h"
#include "commands/report.h"

#include <stdlib.h>
#include <string.h>

static void info_text(const json_t *info)
{
	char bytes[STR_QUANTITY];
	size_t i;
	const json_t *d;
	printf("database  %s\nschema    version %lld, journal %s, %s\nresults   %lld of %lld problems\n",
		json_string_at(info, "path", "?"), (long long)json_int_at(info, "schema_version", -1),
		json_string_at(info, "journal_mode", "?"),
		str_bytes(bytes, json_number_or_nan(json_object_get(info, "file_bytes"))),
		(long long)json_int_at(info, "results", 0), (long long)json_int_at(info, "problems", 0));
	if (json_string_at(info, "journal_reason", NULL))
		printf("          %s\n", json_string_at(info, "journal_reason", ""));
	json_array_foreach(json_object_get(info, "devices"), i, d)
		printf("device    %s\n          %s\n          %lld results of %lld problems, %s to %s\n",
			json_string_at(d, "model", "?"), json_string_at(d, "stack", "?"), (long long)json_int_at(d, "results", 0),
			(long long)json_int_at(d, "problems", 0), json_string_at(d, "first", "-"), json_string_at(d, "last", "-"));
}

static int db_info(struct store *s, struct options *o, struct error *err)
{
	json_t *info = store_info(s, err);
	if (!info)
		return EXIT_BAD;
	if (o->json)
		report_json_line(info, stdout);
	else {
		info_text(info);
		json_decref(info);
	}
	return EXIT_DONE;
}

static int db_check(struct store *s, struct options *o, struct error *err)
{
	struct str findings = { 0 }, path = { 0 };
	int count = store_check(s, &findings, err);
	if (count >= 0 && o->json)
		report_json_line(json_pack("{s:o, s:i, s:o}", "path", json_text(text_of(store_path(s))), "findings", count, "text",
			json_text((struct text){ findings.p, findings.n })), stdout);
	else if (count == 0) {
		str_add_clean(&path, text_of(store_path(s)));
		printf("%s: sound\n", path.p);
	} else if (count > 0)
		fputs(findings.p, stdout);
	str_free(&findings);
	str_free(&path);
	return count < 0 ? EXIT_BAD : count ? EXIT_GAPS : EXIT_DONE;
}

static const struct db_row {
	const char *name, *usage;
	int least, most; /* number of arguments, its name included */
	bool writes, json;
	int (*run)(struct store *s, struct options *o, struct error *err);
} db_rows[] = {
	{ "info", "db info [--db FILE] [--json]", 1, 1, false, true, db_info },
	{ "check", "db check [--db FILE] [--json]", 1, 1, false, true, db_check },
	{ "import", "db import FILE... [--db FILE] [--json] (- is standard input)", 2, 10000, true, true, db_import },
	{ "merge", "db merge OTHER.db... [--db FILE] [--json]", 2, 10000, true, true, db_merge },
	{ "export", "db export [-d DEVICE] [MODEL... [-b LIST] [-t LIST]] [--db FILE]", 1, 10000, false, false, db_export },
};

static int db_run(const struct db_row *row, struct options *o, struct error *err)
{
	if (options_expect(o, row->least, row->most, row->usage, err))
		return EXIT_BAD;
	if (o->json && !row->json) {
		error_set(err, "db %s has no --json: it always prints JSON, one object per line", row->name);
		return EXIT_BAD;
	}
	struct store *s = store_open(options_db(o), !row->writes, err);
	int status = s ? row->run(s, o, err) : EXIT_BAD;
	store_close(s);
	return status;
}

int cmd_db(struct options *o, struct error *err)
{
	if (options_expect(o, 1, 10000, "db info|check|import|merge|export [--db FILE]", err))
		return EXIT_BAD;
	for (size_t i = 0; i < sizeof(db_rows) / sizeof(db_rows[0]); i++)
		if (strcmp(o->argv[0], db_rows[i].name) == 0)
			return db_run(&db_rows[i], o, err);
	error_set(err, "unknown command db %s; use info, check, import, merge or export", o->argv[0]);
	return EXIT_BAD;
}
