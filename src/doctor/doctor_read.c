/* What all checks of the doctor use: reading files of the machine, and adding findings. */
#include "config.h"

#include "doctor/doctor_private.h"

#include "base/cgroup.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MOST (256 * 1024)

static void add(struct doctor *d, const char *subject, enum doctor_outcome outcome, const char *cure,
	const char *fmt, va_list ap)
{
	char what[1024];
	vsnprintf(what, sizeof(what), fmt, ap);
	if (!cure)
		cure = outcome == DOCTOR_BENDS ? d->at->cure : "";
	VEC_GROW(d->findings, d->count, d->capacity);
	d->findings[d->count++] =
		(struct doctor_finding){ d->at->name, text_clean(&d->arena, text_of(subject)), outcome,
			text_clean(&d->arena, text_of(what)), text_clean(&d->arena, text_of(cure)) };
}

void doctor_found(struct doctor *d, enum doctor_outcome outcome, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	add(d, "", outcome, NULL, fmt, ap);
	va_end(ap);
}

void doctor_found_of(struct doctor *d, const char *subject, enum doctor_outcome outcome, const char *cure,
	const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	add(d, subject, outcome, cure, fmt, ap);
	va_end(ap);
}

static const char *file_read(struct doctor *d, const char *path)
{
	FILE *f = fopen(path, "r");
	if (!f)
		return NULL;
	char *text = base_malloc(FILE_MOST);
	size_t n = fread(text, 1, FILE_MOST - 1, f);
	fclose(f);
	while (n && strchr(" \t\r\n", text[n - 1]))
		n--;
	const char *kept = arena_strndup(&d->arena, text, n);
	free(text);
	return kept;
}

static const char *path_make(struct doctor *d, const char *fmt, va_list ap)
{
	char path[4096];
	vsnprintf(path, sizeof(path), fmt, ap);
	return arena_printf(&d->arena, "%s/%s", d->o.root, path);
}

const char *doctor_file(struct doctor *d, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	const char *path = path_make(d, fmt, ap);
	va_end(ap);
	return file_read(d, path);
}

double doctor_number(struct doctor *d, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	const char *text = file_read(d, path_make(d, fmt, ap));
	va_end(ap);
	char *end;
	double n = text ? strtod(text, &end) : NAN;
	return text && end != text && isfinite(n) ? n : NAN;
}

static const char *line_find(const char *text, const char *word)
{
	size_t n = strlen(word);
	for (const char *line = text; line && *line; line = strchr(line, '\n'), line += line != NULL)
		if (strncmp(line, word, n) == 0)
			return line + n;
	return NULL;
}

double doctor_field(const char *text, const char *word)
{
	const char *at = text ? line_find(text, word) : NULL;
	char *end;
	double n = at ? strtod(at, &end) : NAN;
	return at && end != at && isfinite(n) ? n : NAN;
}

const char *doctor_line(struct doctor *d, const char *text, const char *word)
{
	const char *at = text ? line_find(text, word) : NULL;
	if (!at)
		return NULL;
	at += strspn(at, " \t:");
	return arena_strndup(&d->arena, at, strcspn(at, "\n"));
}

int doctor_list(const char *list, bool *flags, int most)
{
	int count = 0;
	while (list && *list >= '0' && *list <= '9') {
		char *end;
		long first = strtol(list, &end, 10), last = *end == '-' ? strtol(end + 1, &end, 10) : first;
		for (long i = first; i <= last && i < most; i++) {
			count += !flags[i];
			flags[i] = true;
		}
		list = *end == ',' ? end + 1 : end;
	}
	return count;
}

int doctor_cpus(struct doctor *d, bool flags[DOCTOR_CPUS])
{
	memset(flags, 0, DOCTOR_CPUS * sizeof(*flags));
	int allowed = doctor_list(doctor_line(d, doctor_file(d, "proc/self/status"), "Cpus_allowed_list:"),
		flags, DOCTOR_CPUS);
	if (!allowed)
		return doctor_list(doctor_file(d, "sys/devices/system/cpu/online"), flags, DOCTOR_CPUS);
	return allowed;
}

int doctor_groups(struct doctor *d, const char *controller, const char **folders, int most)
{
	return cgroup_folders(&d->arena, doctor_file(d, "proc/self/cgroup"), controller, folders, most);
}
