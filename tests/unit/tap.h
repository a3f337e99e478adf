/* TAP for unit tests: ok(), is_str(), is_int(), near(), then done_testing() as main's value. */
#ifndef TAP_H
#define TAP_H

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static int tap_count, tap_failed;

#define ok(condition, ...) tap_ok((condition), __FILE__, __LINE__, __VA_ARGS__)
#define is_str(got, want, ...) tap_is_str((got), (want), __FILE__, __LINE__, __VA_ARGS__)
#define is_int(got, want, ...) tap_is_int((int64_t)(got), (int64_t)(want), __FILE__, __LINE__, __VA_ARGS__)
/* relative tolerance */
#define near(got, want, tolerance, ...) tap_near((got), (want), (tolerance), __FILE__, __LINE__, __VA_ARGS__)

__attribute__((format(printf, 4, 5), unused)) static bool tap_ok(
	bool good, const char *file, int line, const char *fmt, ...)
{
	printf("%sok %d - ", good ? "" : "not ", ++tap_count);
	va_list ap;
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	if (!good) {
		tap_failed++;
		printf("# at %s:%d\n", file, line);
	}
	fflush(stdout);
	return good;
}

#define TAP_NAMED(fmt, name)            \
	char name[256];                 \
	va_list ap;                     \
	va_start(ap, fmt);              \
	vsnprintf(name, sizeof(name), fmt, ap); \
	va_end(ap)

__attribute__((format(printf, 5, 6), unused)) static bool tap_is_str(
	const char *got, const char *want, const char *file, int line, const char *fmt, ...)
{
	TAP_NAMED(fmt, name);
	bool good = got && want ? strcmp(got, want) == 0 : got == want;
	if (!tap_ok(good, file, line, "%s", name))
		printf("# got  %s\n# want %s\n", got ? got : "(null)", want ? want : "(null)");
	return good;
}

__attribute__((format(printf, 5, 6), unused)) static bool tap_is_int(
	int64_t got, int64_t want, const char *file, int line, const char *fmt, ...)
{
	TAP_NAMED(fmt, name);
	if (!tap_ok(got == want, file, line, "%s", name))
		printf("# got %lld want %lld\n", (long long)got, (long long)want);
	return got == want;
}

__attribute__((format(printf, 6, 7), unused)) static bool tap_near(
	double got, double want, double tolerance, const char *file, int line, const char *fmt, ...)
{
	TAP_NAMED(fmt, name);
	bool good = (isnan(got) && isnan(want)) || fabs(got - want) <= tolerance * fabs(want);
	if (!tap_ok(good, file, line, "%s", name))
		printf("# got %.17g want %.17g\n", got, want);
	return good;
}

__attribute__((unused)) static int done_testing(void)
{
	printf("1..%d\n", tap_count);
	return tap_failed ? 1 : 0;
}

/* Whole file skipped, with a reason. */
#define skip_all(reason) do { printf("1..0 # SKIP %s\n", reason); return 0; } while (0)

#endif
