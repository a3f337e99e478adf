/* Machines made of files, and what the doctor says of each: tests/doctor/machines.case. */
#include "config.h"

#include "doctor/doctor.h"
#include "store_help.h"

#include "base/str.h"

#include <errno.h>
#include <stdarg.h>

#define CPU0 "sys/devices/system/cpu/cpu0/"
#define MOST 16

static struct {
	char name[64], root[600], db[700], stacks[MOST][128], hosts[MOST][32], names[MOST][32], *texts[MOST];
	char *variables[MOST + 1];
	struct device devices[MOST];
	struct doctor_runner runners[MOST];
	int runner_count, variable_count, threads;
} machine;

static struct str base; /* lines of the files that every machine has */
static struct doctor *doctor;
static const struct doctor_finding *findings;
static int finding_count;

static void file(const char *path, const char *text)
{
	char name[700];
	snprintf(name, sizeof(name), "%s/%s", machine.name, path);
	scratch_file(name, text);
}

static void remove_file(const char *path)
{
	char whole[1400];
	snprintf(whole, sizeof(whole), "%s/%.700s", machine.root, path);
	unlink(whole);
}

/* Replaces \n, \t, \xHH and \ before another character. */
static char *unescape(char *text)
{
	char *to = text;
	for (const char *from = text; *from; from++) {
		unsigned byte;
		if (*from != '\\') {
			*to++ = *from;
		} else if (sscanf(from, "\\x%2x", &byte) == 1) {
			*to++ = (char)byte;
			from += 3;
		} else {
			from++;
			*to++ = *from == 'n' ? '\n' : *from == 't' ? '\t' : *from;
		}
	}
	*to = '\0';
	return text;
}

/* PATH "contents" */
static void write_line(char *line)
{
	char *text = strstr(line, " \""), *end = strrchr(line, '"');
	if (!text || end == text + 1)
		return;
	*text = *end = '\0';
	file(line, unescape(text + 2));
}

static void machine_open(const char *name, bool files)
{
	for (int i = 0; i < MOST; i++) {
		free(machine.texts[i]);
		free(machine.variables[i]);
	}
	memset(&machine, 0, sizeof(machine));
	snprintf(machine.name, sizeof(machine.name), "%s", name);
	snprintf(machine.root, sizeof(machine.root), "%s/%s", scratch, name);
	for (char *copy = strdup(base.p ? base.p : ""), *save, *line = strtok_r(copy, "\n", &save);;
		line = strtok_r(NULL, "\n", &save)) {
		if (!line || !files) {
			free(copy);
			break;
		}
		write_line(line);
	}
}

/* NAME DEVICE VERSION THREADS HOST "stack" JSON, or NAME: why */
static void runner(char *line)
{
	static const char *const devices[] = { "cpu", "cuda:0" }, *const versions[] = { "1.0", "1", "0.9" };
	char device[32], version[16];
	int i = machine.runner_count++, n = 0;
	struct device *d = &machine.devices[i];
	struct doctor_runner *r = &machine.runners[i];
	char *colon = strstr(line, ": ");
	r->name = machine.names[i];
	if (sscanf(line, "%31s %31s %15s %d %31s \"%127[^\"]\" %n", machine.names[i], device, version,
		    &d->threads, machine.hosts[i], machine.stacks[i], &n) < 6) {
		snprintf(machine.names[i], sizeof(machine.names[i]), "%.*s", (int)(colon - line), line);
		r->error = machine.texts[i] = strdup(colon + 2);
		return;
	}
	d->name = devices[strcmp(device, "cpu") != 0];
	for (size_t k = 0; k < 3; k++)
		d->version = strcmp(version, versions[k]) == 0 ? versions[k] : d->version;
	d->host = strcmp(machine.hosts[i], "-") == 0 ? NULL : machine.hosts[i];
	d->stack = machine.stacks[i];
	d->attributes = machine.texts[i] = strdup(line + n);
	r->device = d;
}

/* The scratch folder lies on one; what is around it does not. */
static const char *network(const char *path)
{
	return strcmp(path, scratch) == 0 ? "NFS" : NULL;
}

/* The first reading; what is written before look() happens in between. */
static void doctor_begin(void)
{
	doctor_close(doctor);
	doctor = doctor_open(&(struct doctor_options){ .root = machine.root,
		.variables = (const char *const *)machine.variables, .version = "1.0", .pid = 7,
		.network = network, .db = *machine.db ? machine.db : NULL, .threads = machine.threads,
		.runner_count = machine.runner_count, .runners = machine.runners });
}

/* Advances the clock by 100 ticks, in which others worked for the given number. */
static void pass(int busy, int steal)
{
	char text[200];
	snprintf(text, sizeof(text), "cpu  %d 0 500 %d 10 0 5 %d 0 0\n", 1000 + busy,
		8000 + 100 - busy - steal, steal);
	file("proc/stat", text);
}

static void look(void)
{
	findings = doctor_look(doctor, &finding_count);
}

/* The finding of "check", "check/subject" or "check#2". */
static const struct doctor_finding *of(const char *subject)
{
	size_t n = strcspn(subject, "/#");
	int skip = subject[n] == '#' ? atoi(subject + n + 1) - 1 : 0;
	for (int i = 0; i < finding_count; i++)
		if (strlen(findings[i].check) == n && strncmp(findings[i].check, subject, n) == 0 &&
			(subject[n] != '/' || strcmp(findings[i].subject, subject + n + 1) == 0) &&
			skip-- == 0)
			return &findings[i];
	static const struct doctor_finding none = { "", "", DOCTOR_OUTCOMES, "", "" };
	return &none;
}

static int bending(void)
{
	int count = 0;
	for (int i = 0; i < finding_count; i++)
		count += findings[i].outcome == DOCTOR_BENDS;
	return count;
}

static void all(void)
{
	for (int i = 0; i < finding_count; i++)
		printf("# %s %s %s: %s (%s)\n", doctor_outcome_name(findings[i].outcome), findings[i].check,
			findings[i].subject, findings[i].what, findings[i].cure);
}

/* ---- lines */

static bool done(char *line)
{
	int busy, steal;
	if (strncmp(line, "machine ", 8) == 0)
		machine_open(line + 8, true);
	else if (strncmp(line, "write ", 6) == 0)
		write_line(line + 6);
	else if (strncmp(line, "remove ", 7) == 0)
		remove_file(line + 7);
	else if (strncmp(line, "runner ", 7) == 0)
		runner(line + 7);
	else if (strncmp(line, "variable ", 9) == 0)
		machine.variables[machine.variable_count++] = unescape(strdup(line + 9));
	else if (strncmp(line, "db ", 3) == 0)
		snprintf(machine.db, sizeof(machine.db), "%s%.180s", line[3] == '/' ? "" : scratch_path(""),
			line + 3);
	else if (strncmp(line, "threads ", 8) == 0)
		machine.threads = atoi(line + 8);
	else if (strcmp(line, "begin") == 0)
		doctor_begin();
	else if (sscanf(line, "pass %d %d", &busy, &steal) == 2)
		pass(busy, steal);
	else if (strcmp(line, "look") == 0)
		look();
	else if (strcmp(line, "examine") == 0)
		doctor_begin(), pass(2, 0), look();
	else
		return false;
	return true;
}

/* "KEY CHECK: WORDS" holds. */
static bool holds(const char *key, const char *check, const char *words)
{
	const struct doctor_finding *f = of(check);
	const char *const outcomes[] = { "ok", "bends", "unknown", "absent" };
	const enum doctor_outcome is[] = { DOCTOR_OK, DOCTOR_BENDS, DOCTOR_UNKNOWN, DOCTOR_OUTCOMES };
	for (int i = 0; i < 4; i++)
		if (strcmp(key, outcomes[i]) == 0)
			return f->outcome == is[i] && strstr(f->what, words);
	if (strcmp(key, "only") == 0)
		return f->outcome == DOCTOR_BENDS && strstr(f->what, words) && *f->cure && bending() == 1;
	if (strcmp(key, "bending") == 0)
		return bending() == atoi(words);
	if (strcmp(key, "all ok") == 0) {
		int good = 0;
		for (int i = 0; i < finding_count; i++)
			good += findings[i].outcome == DOCTOR_OK;
		return good == finding_count && good > atoi(words + strlen("more than "));
	}
	if (strcmp(key, "count") == 0) {
		int count = 0;
		for (int i = 0; i < finding_count; i++)
			count += strcmp(findings[i].check, check) == 0;
		return count == atoi(words);
	}
	if (strcmp(key, "json") == 0) {
		json_t *json = doctor_json(f);
		char *text = json_dumps(json, JSON_COMPACT | JSON_SORT_KEYS);
		bool same = text && strcmp(text, words) == 0;
		printf(same ? "" : "# %s\n", text);
		free(text);
		json_decref(json);
		return same;
	}
	const char *text = strstr(key, "cure") ? f->cure : f->what;
	return strncmp(key, "exact", 5) == 0 ? strcmp(text, words) == 0
	       : strncmp(key, "no ", 3) == 0 ? !strstr(text, words)
					     : strstr(text, words) != NULL;
}

static void cases(const char *path)
{
	static const char *const keys[] = { "only", "ok", "bends", "unknown", "absent", "what", "cure",
		"no what", "no cure", "exact cure", "exact", "bending", "all ok", "count", "json" };
	char whole[1024], line[2048], title[128] = "";
	snprintf(whole, sizeof(whole), "%s/%s", getenv("srcdir") ? getenv("srcdir") : "..", path);
	FILE *f = fopen(whole, "r");
	ok(f != NULL, "%s is there", whole);
	for (int number = 1; f && fgets(line, sizeof(line), f); number++) {
		line[strcspn(line, "\n")] = '\0';
		char *comment = strstr(line, "   # ");
		if (comment)
			*comment = '\0';
		if (strncmp(line, "== ", 3) == 0)
			snprintf(title, sizeof(title), "%.100s", line + 3);
		if (!*line || *line == '#' || *line == '=')
			continue;
		if (strcmp(title, "base") == 0 && strncmp(line, "write ", 6) == 0) {
			str_addf(&base, "%s\n", line + 6);
			continue;
		}
		char copy[2048], check[128] = "", *colon = strstr(line, ": ");
		const char *key = NULL, *words = colon ? colon + 2 : "";
		size_t end = colon ? (size_t)(colon - line) : strlen(line) - (line[strlen(line) - 1] == ':');
		size_t n = 0;
		for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]) && !key; i++) {
			n = strlen(keys[i]);
			key = strncmp(line, keys[i], n) == 0 && strchr(" :", line[n]) ? keys[i] : NULL;
		}
		if (key && end > n)
			snprintf(check, sizeof(check), "%.*s", (int)(end - n - 1), line + n + 1);
		snprintf(copy, sizeof(copy), "%s", line);
		if (!key && done(copy))
			continue;
		if (colon && strncmp(line, "no what", 7) == 0)
			unescape(colon + 2);
		if (!ok(key && holds(key, check, words), "%s:%d: %s: %s%s", path, number, title, line,
			    comment ? comment + 2 : ""))
			all();
	}
	if (f)
		fclose(f);
}

/* Nothing there, and nonsense everywhere. */
static void hostile(void)
{
	machine_open("nothing", false);
	doctor_begin();
	look();
	ok(bending() == 0 && of("load")->outcome == DOCTOR_UNKNOWN &&
			of("governor")->outcome == DOCTOR_UNKNOWN,
		"a machine without files: nothing is known, nothing is claimed");
	static const char *const files[] = { "proc/cpuinfo", "proc/stat", "proc/loadavg", "proc/meminfo",
		"proc/vmstat", "proc/pressure/cpu", "proc/self/status", "proc/self/cgroup",
		"proc/self/limits", "proc/42/stat", "sys/fs/cgroup/cpu.max", "sys/devices/system/cpu/online",
		"sys/devices/system/node/online", CPU0 "cpufreq/scaling_governor",
		CPU0 "cpufreq/cpuinfo_max_freq", CPU0 "topology/thread_siblings_list",
		"sys/kernel/mm/transparent_hugepage/enabled" };
	static const char *const texts[] = { "", "\n", ":", "0::", "-1", "nan", "1e999 1e999",
		"0-99999999999999999999", "9-1,,", "((((", "[", "cpu  -5 nan inf 1e308 1e308",
		"0::/../../etc/", "\xff\xfe\x1b[31m", "a b c d / - \n - -\n",
		"MemAvailable: -1e300\nMemTotal:" };
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		machine_open("odd", false);
		for (size_t k = 0; k < sizeof(files) / sizeof(files[0]); k++)
			file(files[k], texts[i]);
		snprintf(machine.db, sizeof(machine.db), "/");
		doctor_begin();
		look();
		bool clean = finding_count > 0;
		for (int k = 0; k < finding_count; k++)
			clean &= !strchr(findings[k].what, '\x1b') && !strstr(findings[k].what, "nan") &&
				!strchr(findings[k].what, '\n');
		ok(clean, "nonsense %zu", i);
	}
}

int main(void)
{
	scratch_make();
	cases("tests/doctor/machines.case");
	hostile();
	doctor_close(doctor);
	machine_open("", false);
	str_free(&base);
	scratch_remove();
	return done_testing();
}
