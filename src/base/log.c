#include "config.h"

#include "base/log.h"

#include <stdarg.h>
#include <time.h>

static FILE *log_stream;

void log_to(FILE *stream)
{
	log_stream = stream;
}

void log_line(const char *fmt, ...)
{
	if (!log_stream)
		return;
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	struct tm tm;
	localtime_r(&now.tv_sec, &tm);
	fprintf(log_stream, "%02d:%02d:%02d.%03ld ", tm.tm_hour, tm.tm_min, tm.tm_sec, now.tv_nsec / 1000000);
	va_list ap;
	va_start(ap, fmt);
	vfprintf(log_stream, fmt, ap);
	va_end(ap);
	fputc('\n', log_stream);
	fflush(log_stream);
}
