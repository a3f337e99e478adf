/* Lines go to a file or to standard error, and the last ones are kept in memory for the explorer. */
#include "config.h"

#include "base/log.h"

#include "base/arena.h"

#include <stdarg.h>
#include <stdlib.h>
#include <time.h>

static FILE *log_stream;

/* The last lines, in a ring. */
static struct {
	char (*lines)[LOG_LINE_SIZE];
	uint64_t size, count; /* count: of all since log_keep */
} kept;

void log_keep(int lines)
{
	free(kept.lines);
	kept.lines = lines > 0 ? base_calloc((size_t)lines, LOG_LINE_SIZE) : NULL;
	kept.size = lines > 0 ? (uint64_t)lines : 0;
	kept.count = 0;
}

uint64_t log_count(void)
{
	return kept.count;
}

uint64_t log_first(void)
{
	return kept.count > kept.size ? kept.count - kept.size : 0;
}

const char *log_kept(uint64_t number)
{
	return number >= log_first() && number < kept.count ? kept.lines[number % kept.size] : NULL;
}

void log_to(FILE *stream)
{
	log_stream = stream;
}

void log_line(const char *fmt, ...)
{
	if (!log_stream && !kept.size)
		return;
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	struct tm tm;
	localtime_r(&now.tv_sec, &tm);
	char time[48];
	snprintf(time, sizeof(time), "%02d:%02d:%02d.%03ld", tm.tm_hour, tm.tm_min, tm.tm_sec,
		now.tv_nsec / 1000000);
	va_list ap;
	if (kept.size) {
		char *line = kept.lines[kept.count++ % kept.size];
		int n = snprintf(line, LOG_LINE_SIZE, "%.8s ", time);
		va_start(ap, fmt);
		vsnprintf(line + n, LOG_LINE_SIZE - (size_t)n, fmt, ap);
		va_end(ap);
	}
	if (!log_stream)
		return;
	fprintf(log_stream, "%s ", time);
	va_start(ap, fmt);
	vfprintf(log_stream, fmt, ap);
	va_end(ap);
	fputc('\n', log_stream);
	fflush(log_stream);
}
