/* Finds the end of an element without parsing it: quotes and brackets are compared in blocks, so that
 * traces of gigabytes are read quickly. */
#include "config.h"

#include "profile/read/scan.h"

#include "profile/read/reader.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define FIRST_BYTES (1 << 20)

/* The context of the next byte. */
enum place {
	BEFORE_ROOT, BEFORE_KEY, AFTER_KEY, BEFORE_VALUE, AFTER_VALUE, BEFORE_ELEMENT, AFTER_ELEMENT, AT_END
};

struct scan {
	struct stream *stream;
	char *bytes;
	size_t at, n, capacity; /* index of the next byte; bytes filled; bytes allocated */
	int64_t before;         /* offset of `bytes` in the file */
	enum place place;
	bool root_is_array;
	struct str key;
	int64_t count, invalid;
	const char *broken;     /* why the text ends early, or NULL */
};

struct scan *scan_open(const char *path, const struct profile_options *options, struct error *err)
{
	struct stream *stream = stream_open(path, options, err);
	if (!stream)
		return NULL;
	struct scan *s = base_calloc(1, sizeof(*s));
	s->stream = stream;
	s->capacity = FIRST_BYTES;
	s->bytes = base_malloc(s->capacity);
	return s;
}

void scan_close(struct scan *s)
{
	if (!s)
		return;
	stream_close(s->stream);
	str_free(&s->key);
	free(s->bytes);
	free(s);
}

/* Reads more; the bytes from `keep` on move to the front of the buffer. Returns 1; 0 at the end or if the
 * element is too large; -1 with an error. */
static int fill(struct scan *s, size_t *keep, struct error *err)
{
	if (s->n - *keep >= SCAN_ELEMENT_MOST) {
		s->broken = "element too large";
		return 0;
	}
	memmove(s->bytes, s->bytes + *keep, s->n - *keep);
	s->before += (int64_t)*keep;
	s->at -= *keep;
	s->n -= *keep;
	*keep = 0;
	if (s->capacity - s->n < s->capacity / 2) {
		s->capacity *= 2;
		s->bytes = base_realloc(s->bytes, s->capacity);
	}
	int64_t got = stream_read(s->stream, s->bytes + s->n, s->capacity - s->n, err);
	if (got <= 0)
		return (int)got;
	s->n += (size_t)got;
	return 1;
}

/* Returns the next byte that is not white space, without consuming it; 0 at the end, -1 with an error. */
static int peek(struct scan *s, struct error *err)
{
	for (;;) {
		for (; s->at < s->n; s->at++) {
			unsigned char c = (unsigned char)s->bytes[s->at];
			if (c != ' ' && c != '\n' && c != '\t' && c != '\r')
				return c ? c : 1;
		}
		size_t keep = s->at;
		int more = fill(s, &keep, err);
		if (more <= 0)
			return more;
	}
}

/* Progress in a value. */
struct extent {
	size_t at; /* offset from its start */
	int depth;
	bool in_string, escaped; /* escaped: after a backslash */
};

#ifdef __SSE2__
#define BLOCK 16

static unsigned equal_mask(__m128i bytes, char c)
{
	return (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)));
}

/* Skips blocks without a backslash in which no value ends. The prefix xor of the quotes' bits marks the bytes
 * in strings; brackets outside them change the depth (Langdale and Lemire, Parsing Gigabytes of JSON per
 * Second, VLDB Journal 28, 2019). 0x20 maps [ ] to { }. */
static const char *skip_blocks(const char *p, const char *end, struct extent *x)
{
	for (; end - p >= BLOCK; p += BLOCK) {
		__m128i bytes = _mm_loadu_si128((const __m128i *)p);
		__m128i brackets = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
		unsigned in = equal_mask(bytes, '"');
		in ^= in << 1;
		in ^= in << 2;
		in ^= in << 4;
		in ^= in << 8;
		in = (x->in_string ? ~in : in) & 0xffff;
		unsigned opens = equal_mask(brackets, '{') & ~in, closes = equal_mask(brackets, '}') & ~in;
		if (equal_mask(bytes, '\\') || (closes && x->depth <= __builtin_popcount(closes)))
			break;
		if (opens | closes)
			x->depth += __builtin_popcount(opens) - __builtin_popcount(closes);
		x->in_string = in >> (BLOCK - 1);
	}
	return p;
}
#else
#define BLOCK 4096

static const char *skip_blocks(const char *p, const char *end, struct extent *x)
{
	(void)end;
	(void)x;
	return p;
}
#endif

/* Processes one byte of a value. Returns 0 if the value continues, 1 if it ends with this byte, -1 if it
 * ended before this byte. */
static int take_byte(struct extent *x, char c)
{
	if (x->in_string) {
		bool quote = c == '"' && !x->escaped;
		x->escaped = c == '\\' && !x->escaped;
		x->in_string = !quote;
		return quote && x->depth == 0;
	}
	switch (c) {
	case '"':
		x->in_string = true;
		return 0;
	case '{':
	case '[':
		x->depth++;
		return 0;
	case '}':
	case ']':
		if (x->depth == 0)
			return -1; /* the end of a number or literal */
		return --x->depth == 0;
	case ',':
	case ' ':
	case '\n':
	case '\r':
	case '\t':
		return x->depth == 0 ? -1 : 0;
	default:
		return 0;
	}
}

/* Finds the end of the value that begins at `start`, from *x on; NULL, with *x moved, if it is not before
 * `end`. Brackets are counted, not matched: the parser does that. */
static const char *value_end(const char *start, const char *end, struct extent *x)
{
	const char *p = start + x->at;
	while (p < end) {
		if (x->depth && !x->escaped)
			p = skip_blocks(p, end, x);
		const char *until = end - p > BLOCK ? p + BLOCK : end;
		for (; p < until; p++) {
			int taken = take_byte(x, *p);
			if (taken)
				return p + (taken > 0);
		}
	}
	x->at = (size_t)(p - start);
	return NULL;
}

/* Consumes a value. Returns 1 with the value; 0 at the end of the file, -1 with an error. */
static int take_value(struct scan *s, struct text *value, struct error *err)
{
	struct extent x = { 0 };
	size_t start = s->at;
	const char *end;
	while (!(end = value_end(s->bytes + start, s->bytes + s->n, &x))) {
		int more = fill(s, &start, err);
		if (more <= 0)
			return more;
	}
	*value = (struct text){ s->bytes + start, (size_t)(end - s->bytes) - start };
	s->at = (size_t)(end - s->bytes);
	return 1;
}

static int stop(struct scan *s, const char *why)
{
	if (!s->broken)
		s->broken = why;
	s->place = AT_END;
	return 0;
}

/* Processes one token. Returns 1 with an item, 2 to continue, 0 at the end, -1 with an error. */
static int step(struct scan *s, struct scan_item *item, struct error *err)
{
	int c = s->place == AT_END ? 0 : peek(s, err);
	if (c < 0)
		return -1;
	if (c == 0)
		return s->place == AT_END ? 0 : stop(s, "truncated");
	bool in_array = s->place == BEFORE_ELEMENT || s->place == AFTER_ELEMENT;
	bool closes = c == (in_array ? ']' : '}');
	switch (s->place) {
	case BEFORE_ROOT:
		if (c != '[' && c != '{')
			return stop(s, "not JSON");
		s->root_is_array = c == '[';
		s->place = c == '[' ? BEFORE_ELEMENT : BEFORE_KEY;
		break;
	case AFTER_KEY:
		if (c != ':')
			return stop(s, "invalid JSON");
		s->place = BEFORE_VALUE;
		break;
	case AFTER_VALUE:
	case AFTER_ELEMENT:
		if (c != ',' && !closes)
			return stop(s, "invalid JSON");
		s->place = !closes ? (in_array ? BEFORE_ELEMENT : BEFORE_KEY)
			: in_array && !s->root_is_array ? AFTER_VALUE
							: AT_END;
		break;
	case BEFORE_VALUE:
		if (c == '[') {
			s->place = BEFORE_ELEMENT;
			break;
		}
		/* fall through */
	case BEFORE_KEY:
	case BEFORE_ELEMENT:
		if (closes && s->place != BEFORE_VALUE) { /* empty, or a comma before the bracket */
			s->place = in_array && !s->root_is_array ? AFTER_VALUE : AT_END;
			break;
		}
		if (s->place == BEFORE_KEY && c != '"')
			return stop(s, "invalid JSON");
		int got = take_value(s, &item->value, err);
		if (got <= 0)
			return got < 0 ? -1 : stop(s, "truncated");
		if (item->value.n == 0)
			return stop(s, "invalid JSON");
		if (s->place == BEFORE_KEY) {
			str_clear(&s->key);
			str_add(&s->key, item->value.p + 1, item->value.n - 2);
			s->place = AFTER_KEY;
			return 2;
		}
		s->place = in_array ? AFTER_ELEMENT : AFTER_VALUE;
		return 1;
	case AT_END:
		return 0;
	}
	s->at++;
	return 2;
}

int scan_next(struct scan *s, struct scan_item *item, struct error *err)
{
	int got;
	while ((got = step(s, item, err)) == 2)
		;
	if (got == 1) {
		s->count++;
		item->key = (struct text){ s->key.n ? s->key.p : "", s->key.n };
	}
	return got;
}

/* Returns true if valid JSON text has no string to clean: it is ASCII without escapes. */
static bool is_plain(struct text t)
{
	unsigned char all = 0;
	for (size_t i = 0; i < t.n; i++)
		all |= (unsigned char)t.p[i];
	return all < 0x80 && !memchr(t.p, '\\', t.n) && !memchr(t.p, 0x7f, t.n);
}

/* Replaces control characters in the strings of JSON text by '?'. Returns true if there were any. */
static bool replace_controls(char *p, size_t n)
{
	bool any = false, in_string = false, escaped = false;
	for (size_t i = 0; i < n; i++) {
		bool control = in_string && (unsigned char)p[i] < 0x20, quote = p[i] == '"' && !escaped;
		escaped = in_string && p[i] == '\\' && !escaped;
		in_string ^= quote;
		any |= control;
		p[i] = control ? '?' : p[i];
	}
	return any;
}

json_t *scan_json(struct text value)
{
	json_t *tree = json_loadb(value.p, value.n, JSON_DECODE_ANY, NULL);
	if (!tree) /* an integer beyond 64 bits is one as a real */
		tree = json_loadb(value.p, value.n, JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL, NULL);
	if (tree)
		return tree;
	char *text = base_malloc(value.n + 1);
	memcpy(text, value.p, value.n);
	if (replace_controls(text, value.n))
		tree = json_loadb(text, value.n, JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL, NULL);
	free(text);
	return tree;
}

json_t *scan_parse(struct scan *s, struct text value)
{
	json_t *tree = scan_json(value);
	if (!tree)
		s->invalid++;
	else if (!is_plain(value))
		json_clean(tree, NULL);
	return tree;
}

int scan_each(struct arena *a, const char *path, const struct profile_options *options, struct execution *e,
	const char *unit, void (*take)(void *user, struct text key, const json_t *value), void *user,
	struct error *err)
{
	struct scan_item item;
	struct scan *s = scan_open(path, options, err);
	int got = -1;
	if (!s)
		return -1;
	while ((got = scan_next(s, &item, err)) == 1) {
		json_t *value = scan_parse(s, item.value);
		take(user, item.key, value);
		json_decref(value);
	}
	profile_add_gap(a, e, scan_gap(s, a, unit));
	scan_close(s);
	return got;
}

void scan_reject(struct scan *s)
{
	s->invalid++;
}

static void skip_white(struct text *t)
{
	while (t->n && (*t->p == ' ' || *t->p == '\n' || *t->p == '\t' || *t->p == '\r')) {
		t->p++;
		t->n--;
	}
}

/* Takes a value off the front of a text. Returns false if the value does not end. */
static bool take(struct text *rest, struct text *value)
{
	struct extent x = { 0 };
	skip_white(rest);
	const char *end = rest->n ? value_end(rest->p, rest->p + rest->n, &x) : NULL;
	if (!end || end == rest->p)
		return false;
	*value = (struct text){ rest->p, (size_t)(end - rest->p) };
	rest->n -= value->n;
	rest->p = end;
	return true;
}

static bool take_char(struct text *rest, char c)
{
	skip_white(rest);
	if (!rest->n || *rest->p != c)
		return false;
	rest->p++;
	rest->n--;
	return true;
}

int scan_member(struct scan *s, struct text *rest, struct text *key, struct text *value)
{
	if (take_char(rest, '}'))
		return 0;
	bool good = take_char(rest, '{') || take_char(rest, ',');
	if (good && take_char(rest, '}'))
		return 0;
	skip_white(rest);
	good = good && rest->n && *rest->p == '"' && take(rest, key) && take_char(rest, ':') &&
		take(rest, value);
	if (!good) {
		s->invalid++;
		return -1;
	}
	*key = (struct text){ key->p + 1, key->n - 2 };
	return 1;
}

/* Converts decimal digits as an integer and a power of ten, which gives the nearest double; jansson parses
 * other spellings. */
double scan_number(struct text value)
{
	static const double powers[] = { 1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12,
		1e13, 1e14, 1e15 };
	int64_t digits = 0;
	size_t i = 0, point = value.n;
	for (; i < value.n && value.n <= 16; i++) {
		if (value.p[i] == '.' && point == value.n && i)
			point = i;
		else if (value.p[i] >= '0' && value.p[i] <= '9')
			digits = digits * 10 + (value.p[i] - '0');
		else
			break;
	}
	if (i && i == value.n && value.p[i - 1] != '.')
		return (double)digits / powers[point < value.n ? value.n - 1 - point : 0];
	json_t *tree = json_loadb(value.p, value.n, JSON_DECODE_ANY, NULL);
	double number = json_number_or_nan(tree);
	json_decref(tree);
	return number;
}

const char *scan_string(struct arena *a, struct text value, size_t most)
{
	if (value.n < 2 || *value.p != '"')
		return NULL;
	struct text t = { value.p + 1, value.n - 2 };
	json_t *tree = NULL;
	if (memchr(t.p, '\\', t.n)) {
		tree = scan_json(value);
		t = text_of(json_string_value(tree));
	}
	struct str clean = { 0 };
	str_add_clean(&clean, t);
	char *kept = arena_alloc(a, (clean.n < most ? clean.n : most) + 1);
	text_fit(kept, (clean.n < most ? clean.n : most) + 1, clean.n ? clean.p : "");
	bool good = tree || !memchr(value.p, '\\', value.n);
	str_free(&clean);
	json_decref(tree);
	return good ? kept : NULL;
}

const char *scan_gap(const struct scan *s, struct arena *a, const char *unit)
{
	const char *cut = !scan_is_cut(s) ? ""
					  : arena_printf(a, "%s after %" PRId64 " %ss (byte %" PRId64 ")",
						    s->broken ? s->broken : "truncated", s->count, unit,
						    s->before + (int64_t)s->at);
	if (!s->invalid)
		return cut;
	return arena_printf(a, "%s%s%" PRId64 " %s%s not valid JSON", cut, *cut ? "; " : "", s->invalid, unit,
		s->invalid == 1 ? " is" : "s are");
}

bool scan_is_cut(const struct scan *s)
{
	return s->broken || stream_is_cut(s->stream);
}

int64_t scan_count(const struct scan *s)
{
	return s->count;
}
