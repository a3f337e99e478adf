/* Growing texts, cleaning of untrusted bytes, and numbers for people. Numbers are formatted by hand:
 * problem texts are mostly integers, and printf took most of the time of a large model. */
#include "config.h"

#include "base/str.h"

#include "base/arena.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct text text_of(const char *s)
{
	return s ? (struct text){ s, strlen(s) } : (struct text){ "", 0 };
}

bool text_equal(struct text a, struct text b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

bool text_is(struct text a, const char *s)
{
	return text_equal(a, text_of(s));
}

int text_compare(struct text a, struct text b)
{
	size_t n = a.n < b.n ? a.n : b.n;
	int c = n ? memcmp(a.p, b.p, n) : 0;
	return c ? c : (a.n > b.n) - (a.n < b.n);
}

static char ascii_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

bool text_contains(struct text a, struct text b)
{
	for (size_t i = 0; i + b.n <= a.n; i++) {
		size_t j = 0;
		while (j < b.n && ascii_lower(a.p[i + j]) == ascii_lower(b.p[j]))
			j++;
		if (j == b.n)
			return true;
	}
	return false;
}

struct text text_trim(struct text t)
{
	for (; t.n && (*t.p == ' ' || *t.p == '\t'); t.p++)
		t.n--;
	while (t.n && (t.p[t.n - 1] == ' ' || t.p[t.n - 1] == '\t'))
		t.n--;
	return t;
}

bool text_begins(struct text t, const char *with)
{
	size_t n = strlen(with);
	return t.n >= n && !memcmp(t.p, with, n);
}

double text_number(struct text t)
{
	char word[64], *end;
	if (!t.n || t.n >= sizeof(word))
		return NAN;
	memcpy(word, t.p, t.n);
	word[t.n] = '\0';
	double value = strtod(word, &end);
	return *end || !isfinite(value) ? NAN : value;
}

static void str_reserve(struct str *s, size_t more)
{
	size_t need = s->n + more + 1;
	if (need <= s->capacity)
		return;
	size_t capacity = s->capacity ? s->capacity : 64;
	while (capacity < need)
		capacity *= 2;
	s->p = base_realloc(s->p, capacity);
	s->capacity = capacity;
}

void str_add(struct str *s, const char *bytes, size_t n)
{
	str_reserve(s, n);
	if (n)
		memcpy(s->p + s->n, bytes, n);
	s->n += n;
	s->p[s->n] = '\0';
}

void str_puts(struct str *s, const char *words)
{
	str_add(s, words, strlen(words));
}

/* Hand-written: problem texts and shapes are mostly integers, and with printf they took most of the time of a
 * large model. */
void str_add_int(struct str *s, int64_t value)
{
	char digits[24], *end = digits + sizeof(digits), *p = end;
	uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
	do {
		*--p = (char)('0' + left % 10);
		left /= 10;
	} while (left);
	if (value < 0)
		*--p = '-';
	str_add(s, p, (size_t)(end - p));
}

/* Formats into the free space first, and a second time only if that was too small. */
void str_addf(struct str *s, const char *fmt, ...)
{
	va_list ap, again;
	va_start(ap, fmt);
	va_copy(again, ap);
	str_reserve(s, 31);
	size_t room = s->capacity - s->n;
	int n = vsnprintf(s->p + s->n, room, fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n >= room) {
		str_reserve(s, (size_t)n);
		vsnprintf(s->p + s->n, (size_t)n + 1, fmt, again);
	}
	va_end(again);
	s->n += n > 0 ? (size_t)n : 0;
}

void str_clear(struct str *s)
{
	s->n = 0;
	if (s->p)
		s->p[0] = '\0';
}

void str_free(struct str *s)
{
	free(s->p);
	*s = (struct str){ 0 };
}

/* Returns the length of the UTF-8 sequence at p (n bytes left) and sets its code point; 0 if it is invalid
 * (RFC 3629: overlong, a surrogate, above U+10FFFF, incomplete). */
static size_t utf8_decode(const unsigned char *p, size_t n, uint32_t *code)
{
	static const uint32_t least[5] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t length = p[0] < 0x80 ? 1 : p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : p[0] >= 0xc2 ? 2 : 0;
	if (length == 0 || length > n || p[0] > 0xf4)
		return 0;
	uint32_t c = length == 1 ? p[0] : p[0] & (0xffu >> (length + 1));
	for (size_t i = 1; i < length; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	if (c < least[length] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	*code = c;
	return length;
}

uint32_t text_decode(const char **p)
{
	uint32_t code = 0;
	if (!**p)
		return 0;
	size_t n = utf8_decode((const unsigned char *)*p, 4, &code); /* stops at the end of the text */
	*p += n ? n : 1;
	return n == 0 || code < 0x20 || (code >= 0x7f && code < 0xa0) ? '?' : code;
}

static bool utf8_is_harmful(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x061c || (c >= 0x200b && c <= 0x200f) ||
		(c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff ||
		(c >= 0xfff9 && c <= 0xfffb) || (c >= 0xe0000 && c <= 0xe007f);
}

/* Copies t to out and replaces harmful characters by '?'; lines: keep newlines. Returns the length. */
static size_t clean_to(char *out, struct text t, bool lines)
{
	size_t used = 0;
	for (size_t i = 0; i < t.n;) {
		if ((t.p[i] >= ' ' && t.p[i] <= '~') || (lines && t.p[i] == '\n')) { /* fast path */
			out[used++] = t.p[i++];
			continue;
		}
		uint32_t code = 0;
		size_t n = utf8_decode((const unsigned char *)t.p + i, t.n - i, &code);
		if (n == 0 || utf8_is_harmful(code)) {
			out[used++] = '?';
			i += n ? n : 1;
		} else {
			memmove(out + used, t.p + i, n);
			used += n;
			i += n;
		}
	}
	out[used] = '\0';
	return used;
}

size_t text_clean_to(char *out, struct text t)
{
	return clean_to(out, t, false);
}

size_t text_clean_lines_to(char *out, struct text t)
{
	return clean_to(out, t, true);
}

char *text_fit(char *out, size_t size, const char *clean)
{
	size_t n = strlen(clean);
	if (n >= size)
		for (n = size - 1; n && (clean[n] & 0xc0) == 0x80;)
			n--;
	memcpy(out, clean, n);
	out[n] = '\0';
	return out;
}

/* True if all 8 bytes are printable ASCII (0x20 to 0x7e). If bit 7 is clear in every byte, adding 0x60 sets
 * it in each byte of at least 0x20, adding 1 sets it only in 0x7f, and neither addition carries into the next
 * byte. */
static bool word_is_plain(uint64_t w)
{
	const uint64_t high = UINT64_C(0x8080808080808080), ones = high >> 7;
	return ((w | (w + ones)) & high) == 0 && ((w + 0x60 * ones) & high) == high;
}

bool text_is_clean(struct text t)
{
	for (size_t i = 0; i < t.n;) {
		uint64_t word;
		if (i + sizeof(word) <= t.n) {
			memcpy(&word, t.p + i, sizeof(word));
			if (word_is_plain(word)) {
				i += sizeof(word);
				continue;
			}
		}
		uint32_t code = 0;
		size_t n = utf8_decode((const unsigned char *)t.p + i, t.n - i, &code);
		if (n == 0 || utf8_is_harmful(code))
			return false;
		i += n;
	}
	return true;
}

void str_add_clean(struct str *s, struct text t)
{
	str_reserve(s, t.n);
	s->n += text_clean_to(s->p + s->n, t);
}

void str_add_word(struct str *s, const char *clean)
{
	size_t plain = strspn(
		clean, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+");
	if (plain && clean[plain] == '\0') {
		str_puts(s, clean);
		return;
	}
	/* a quote ends the quoted text, stands escaped, and begins it again */
	for (str_puts(s, "'"); *clean; clean++)
		str_puts(s, *clean == '\'' ? "'\\''" : (char[]){ *clean, '\0' });
	str_puts(s, "'");
}

char *text_clean(struct arena *a, struct text t)
{
	char *out = arena_alloc(a, t.n + 1);
	text_clean_to(out, t);
	return out;
}

/* Writes value as printf's %.*f does, for 0 to 2 digits; faster, because listing a large model is mostly
 * formatting. Scales to an integer and rounds half to even. fma gives the exact distance to the midpoint,
 * since size * scale was rounded. */
static size_t decimal_write(char *buf, double value, int digits)
{
	static const double scales[] = { 1, 10, 100 };
	double size = fabs(value), whole = floor(size * scales[digits]);
	if (!(size < 1e12))
		return (size_t)snprintf(buf, STR_QUANTITY - 8, "%.*f", digits, value);
	double over = fma(size, scales[digits], -(whole + 0.5));
	uint64_t left = (uint64_t)whole;
	left += over > 0 || (!(over < 0) && left % 2);
	char text[STR_QUANTITY], *end = text + sizeof(text), *p = end;
	for (int i = 0; left || i <= digits; i++, left /= 10) {
		if (digits && i == digits)
			*--p = '.';
		*--p = (char)('0' + left % 10);
	}
	if (signbit(value))
		*--p = '-';
	memcpy(buf, p, (size_t)(end - p));
	return (size_t)(end - p);
}

const struct quantity quantity_duration = { 1, 1000, 4, { " ns", " us", " ms", " s" } };
const struct quantity quantity_bytes = { 1, 1024, 5, { " B", " KiB", " MiB", " GiB", " TiB" } };
const struct quantity quantity_count = { 1, 1000, 6, { "", " K", " M", " G", " T", " P" } };

/* The next unit is used from 0.9995 of its size on: 999.6 us prints as 1.00 ms, not as 1000 us. */
int quantity_unit(const struct quantity *q, double *value)
{
	int unit = 0;
	double v = *value / q->first, left = fabs(v);
	while (unit + 1 < q->count && left >= q->step * (1 - 0.0005)) {
		left /= q->step;
		v /= q->step;
		unit++;
	}
	*value = v;
	return unit;
}

char *str_quantity(char *buf, const struct quantity *q, double value)
{
	if (isnan(value)) {
		memcpy(buf, "-", 2);
		return buf;
	}
	int unit = quantity_unit(q, &value);
	double left = fabs(value);
	int digits = left >= 99.95 || (unit == 0 && left == floor(left)) ? 0 : left >= 9.995 ? 1 : 2;
	size_t n = decimal_write(buf, value, digits);
	if (n >= STR_QUANTITY - 8) /* absurdly large: truncate */
		n = STR_QUANTITY - 9;
	memcpy(buf + n, q->units[unit], strlen(q->units[unit]) + 1);
	return buf;
}

char *str_duration(char *buf, double ns)
{
	return str_quantity(buf, &quantity_duration, ns);
}

char *str_bytes(char *buf, double bytes)
{
	return str_quantity(buf, &quantity_bytes, bytes);
}

char *str_count(char *buf, double count)
{
	return str_quantity(buf, &quantity_count, count);
}

char *str_ratio(char *buf, double ratio)
{
	double size = fabs(ratio);
	snprintf(buf, STR_QUANTITY, "%.*f", size >= 0.0995 ? 2 : size >= 0.00995 ? 3 : 4, ratio);
	return buf;
}

char *str_flops(char *buf, double flops)
{
	str_count(buf, flops);
	size_t n = strlen(buf);
	snprintf(buf + n, STR_QUANTITY - n, "%sFLOP", strchr(buf, ' ') ? "" : " ");
	return buf;
}

char *str_float(char *buf, float value)
{
	for (int digits = 1; digits <= 9; digits++) {
		snprintf(buf, STR_QUANTITY, "%.*g", digits, (double)value);
		if (strtof(buf, NULL) == value)
			break;
	}
	char *out = buf;
	for (const char *in = buf; *in; in++)
		if (*in != '+')
			*out++ = *in == ',' ? '.' : *in;
	*out = '\0';
	return buf;
}

bool text_to_int64(struct text t, int64_t *value)
{
	bool negative = t.n && t.p[0] == '-';
	size_t i = negative;
	if (i == t.n)
		return false;
	int64_t v = 0;
	for (; i < t.n; i++) {
		if (t.p[i] < '0' || t.p[i] > '9')
			return false;
		int digit = t.p[i] - '0';
		if (__builtin_mul_overflow(v, 10, &v) || __builtin_sub_overflow(v, digit, &v))
			return false;
	}
	if (!negative && v == INT64_MIN)
		return false;
	*value = negative ? v : -v;
	return true;
}
