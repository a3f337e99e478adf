/* benanza db: what the database has, and its check and repair. */
#include "config.h"

#include "commands/db.h"
#include "commands/db_google.h"
#include "commands/report.h"

#include <stdlib.h>
#include <string.h>

static void info_text(const json_t *info)
{
	char bytes[STR_QUANTITY];
	size_t i;
	const json_t *d;
	report_path_line(stdout, report_most(stdout), "database  ", json_string_at(info, "path", "?"), "");
	printf("schema    version %lld, journal %s, %s\nresults   %lld of %lld problems\n",
		(long long)json_int_at(info, "schema_version", -1),
		json_string_at(info, "journal_mode", "?"),
		str_bytes(bytes, json_number_or_nan(json_object_get(info, "file_bytes"))),
		(long long)json_int_at(info, "results", 0), (long long)json_int_at(info, "problems", 0));
	if (json_int_at(info, "executions", 0))
		printf("          %lld executions of whole models\n",
			(long long)json_int_at(info, "executions", 0));
	if (json_string_at(info, "journal_reason", NULL))
		printf("          %s\n", json_string_at(info, "journal_reason", ""));
	json_array_foreach(json_object_get(info, "devices"), i, d)
		printf("device    %s\n          %s\n          %lld results of %lld problems, %s to %s\n",
			json_string_at(d, "model", "?"), json_string_at(d, "stack", "?"),
			(long long)json_int_at(d, "results", 0), (long long)json_int_at(d, "problems", 0),
			json_string_at(d, "first", "-"), json_string_at(d, "last", "-"));
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
	struct str findings = { 0 };
	int count = store_check(s, &findings, err);
	if (count >= 0 && o->json)
		report_json_line(
			json_pack("{s:o, s:i, s:o}", "path", json_text(text_of(store_path(s))), "findings",
				count, "text", json_text((struct text){ findings.p, findings.n })),
			stdout);
	else if (count == 0)
		report_path_line(stdout, report_most(stdout), "", store_path(s), ": sound");
	else if (count > 0)
		fputs(findings.p, stdout);
	str_free(&findings);
	return count < 0 ? EXIT_BAD : count ? EXIT_GAPS : EXIT_DONE;
}

static int db_repair(struct store *s, struct options *o, struct error *err)
{
	struct str done = { 0 }, left = { 0 };
	int removed, count = store_repair(s, &removed, &done, &left, err);
	if (count >= 0 && o->json)
		report_json_line(
			json_pack("{s:o, s:i, s:i, s:o, s:o}", "path", json_text(text_of(store_path(s))),
				"removed", removed, "findings", count, "text",
				json_text((struct text){ left.p, left.n }), "rows",
				json_text((struct text){ done.p, done.n })), stdout);
	else if (count >= 0) {
		fputs(done.n ? done.p : "", stdout);
		fputs(left.n ? left.p : "", stdout);
		printf("%d row%s removed%s\n", removed, removed == 1 ? "" : "s", !count ? "" :
			"; benanza db merge --db NEW.db FILE saves the readable rows");
	}
	str_free(&done);
	str_free(&left);
	return count < 0 ? EXIT_BAD : count ? EXIT_GAPS : EXIT_DONE;
}

/* Opens the database for a command. */
static int db_with(int (*run)(struct store *s, struct options *o, struct error *err), bool writes,
	struct options *o, struct error *err)
{
	struct store *s = store_open(options_db(o), !writes, err);
	int status = s ? run(s, o, err) : EXIT_BAD;
	store_close(s);
	return status;
}

static int cmd_db_info(struct options *o, struct error *err)
{
	return db_with(db_info, false, o, err);
}

static int cmd_db_check(struct options *o, struct error *err)
{
	return db_with(db_check, false, o, err);
}

static int cmd_db_repair(struct options *o, struct error *err)
{
	struct store *s = store_open(options_db(o), true, err); /* a database that exists */
	store_close(s);
	return s ? db_with(db_repair, true, o, err) : EXIT_BAD;
}

static int cmd_db_import(struct options *o, struct error *err)
{
	return db_with(db_import, true, o, err);
}

static int cmd_db_merge(struct options *o, struct error *err)
{
	return db_with(db_merge, true, o, err);
}

static int cmd_db_export(struct options *o, struct error *err)
{
	return db_with(db_export, false, o, err);
}

const struct command command_db = {
	.name = "db",
	.arguments = "info|check|repair|import|merge|export",
	.text = "the database of results",
	.about = "Reads and extends the database of results, which --db names.",
};

const struct command command_db_info = {
	.name = "db info",
	.arguments = "",
	.text = "contents of the database",
	.about = "Prints the contents of the database: results, problems, devices.",
	.examples = { "benanza db info", "benanza db info --json" },
	.groups = { &options_json },
	.run = cmd_db_info,
};

const struct command command_db_check = {
	.name = "db check",
	.arguments = "",
	.text = "check the integrity of the database",
	.about = "Checks the integrity of the database. Exit status 1 if it has findings.",
	.examples = { "benanza db check" },
	.groups = { &options_json },
	.run = cmd_db_check,
};

const struct command command_db_repair = {
	.name = "db repair",
	.arguments = "",
	.text = "remove the rows that db check names",
	.about = "Removes the rows that db check finds: rows with impossible numbers or texts, and rows "
	"that refer to missing rows. Prints each of them. bench measures the removed problems again. Exit "
	"status 1 if findings remain: the file itself is damaged.",
	.examples = { "benanza db repair" },
	.groups = { &options_json },
	.run = cmd_db_repair,
};

const struct command command_db_import = {
	.name = "db import",
	.arguments = "FILE...",
	.least = 1,
	.most = COMMAND_ARGUMENTS_MAX,
	.text = "add the results of a runner",
	.about = "Adds the results that a runner or db export wrote, plain or gzipped; - is standard input. "
		 "Results that the database has are not added again. With --as google-benchmark it reads "
		 "the JSON of Google Benchmark for SCOPE and dlperf, or of db export with the same option.",
	.examples = { "benanza db export > results.jsonl", "benanza db import --db other.db results.jsonl",
		"benanza db import --as google-benchmark results.json" },
	.own = db_format_rows,
	.own_size = sizeof(struct db_format),
	.groups = { &options_json },
	.run = cmd_db_import,
};

const struct command command_db_merge = {
	.name = "db merge",
	.arguments = "OTHER.db...",
	.least = 1,
	.most = COMMAND_ARGUMENTS_MAX,
	.text = "add the contents of other databases",
	.about = "Adds the contents of other databases: results, devices, remembered dimensions.",
	.examples = { "benanza db merge --db all.db other.db" },
	.groups = { &options_json },
	.run = cmd_db_merge,
};

const struct command command_db_export = {
	.name = "db export",
	.arguments = "[MODEL...]",
	.most = COMMAND_ARGUMENTS_MAX,
	.text = "results as JSON lines, for db import",
	.about = "Prints results for db import, one JSON object per line: all results, those of the device "
		"-d, or those of the models' problems. With --as google-benchmark it prints the results of "
		 "one device as JSON for the tools of Google Benchmark.",
	.examples = { "benanza db export | gzip -9n > results.jsonl.gz",
		"benanza db export -b 1,8 model.onnx > model.jsonl",
		"benanza db export --as google-benchmark > results.json" },
	.own = db_format_rows,
	.own_size = sizeof(struct db_format),
	.groups = { &options_model, &options_scenario, &options_device, &options_threads },
	.run = cmd_db_export,
};
