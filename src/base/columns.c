/* Widths of text in columns of a terminal, by tables of wide and combining characters, and texts cut to a
 * width: names and paths in the middle, so that both ends stay. */
#include "config.h"

#include "base/str.h"

#include "base/arena.h"

#include <string.h>

#define PATH_LEAST 24 /* columns of a path in a sentence that is too long all the same */

struct range {
	uint32_t first, last;
};

/* clang-format off: tables stay packed */
/* Marks that sit on the character before them. */
static const struct range no_columns[] = {
	{ 0x300, 0x36f }, { 0x483, 0x489 }, { 0x591, 0x5bd }, { 0x5bf, 0x5bf }, { 0x5c1, 0x5c2 },
	{ 0x5c4, 0x5c5 }, { 0x610, 0x61a }, { 0x64b, 0x65f }, { 0x670, 0x670 }, { 0x6d6, 0x6dc },
	{ 0x6df, 0x6e4 }, { 0x6e7, 0x6e8 }, { 0x6ea, 0x6ed }, { 0x900, 0x902 }, { 0x93a, 0x93a },
	{ 0x93c, 0x93c }, { 0x941, 0x948 }, { 0x94d, 0x94d }, { 0xe31, 0xe31 }, { 0xe34, 0xe3a },
	{ 0xe47, 0xe4e }, { 0x1ab0, 0x1aff }, { 0x1dc0, 0x1dff }, { 0x200b, 0x200f }, { 0x20d0, 0x20ff },
	{ 0x302a, 0x302d }, { 0x3099, 0x309a }, { 0xfe00, 0xfe0f }, { 0xfe20, 0xfe2f },
	{ 0xe0100, 0xe01ef },
};

/* East Asian wide and full-width forms, and emoji that terminals show in two columns. */
static const struct range two_columns[] = {
	{ 0x1100, 0x115f }, { 0x231a, 0x231b }, { 0x2329, 0x232a }, { 0x23e9, 0x23ec }, { 0x23f0, 0x23f0 },
	{ 0x23f3, 0x23f3 }, { 0x25fd, 0x25fe }, { 0x2614, 0x2615 }, { 0x2648, 0x2653 }, { 0x267f, 0x267f },
	{ 0x2693, 0x2693 }, { 0x26a1, 0x26a1 }, { 0x26aa, 0x26ab }, { 0x26bd, 0x26be }, { 0x26c4, 0x26c5 },
	{ 0x26ce, 0x26ce }, { 0x26d4, 0x26d4 }, { 0x26ea, 0x26ea }, { 0x26f2, 0x26f3 }, { 0x26f5, 0x26f5 },
	{ 0x26fa, 0x26fa }, { 0x26fd, 0x26fd }, { 0x2705, 0x2705 }, { 0x270a, 0x270b }, { 0x2728, 0x2728 },
	{ 0x274c, 0x274c }, { 0x274e, 0x274e }, { 0x2753, 0x2755 }, { 0x2757, 0x2757 }, { 0x2795, 0x2797 },
	{ 0x27b0, 0x27b0 }, { 0x27bf, 0x27bf }, { 0x2b1b, 0x2b1c }, { 0x2b50, 0x2b50 }, { 0x2b55, 0x2b55 },
	{ 0x2e80, 0x303e }, { 0x3041, 0x4dbf }, { 0x4e00, 0xa4cf }, { 0xa960, 0xa97f }, { 0xac00, 0xd7a3 },
	{ 0xf900, 0xfaff }, { 0xfe10, 0xfe19 }, { 0xfe30, 0xfe6f }, { 0xff01, 0xff60 }, { 0xffe0, 0xffe6 },
	{ 0x16fe0, 0x18cff }, { 0x1aff0, 0x1b2ff }, { 0x1f004, 0x1f004 }, { 0x1f0cf, 0x1f0cf },
	{ 0x1f18e, 0x1f18e }, { 0x1f191, 0x1f19a }, { 0x1f200, 0x1f320 }, { 0x1f32d, 0x1f335 },
	{ 0x1f337, 0x1f37c }, { 0x1f37e, 0x1f393 }, { 0x1f3a0, 0x1f3ca }, { 0x1f3cf, 0x1f3d3 },
	{ 0x1f3e0, 0x1f3f0 }, { 0x1f3f4, 0x1f3f4 }, { 0x1f3f8, 0x1f43e }, { 0x1f440, 0x1f440 },
	{ 0x1f442, 0x1f4fc }, { 0x1f4ff, 0x1f53d }, { 0x1f54b, 0x1f54e }, { 0x1f550, 0x1f567 },
	{ 0x1f57a, 0x1f57a }, { 0x1f595, 0x1f596 }, { 0x1f5a4, 0x1f5a4 }, { 0x1f5fb, 0x1f64f },
	{ 0x1f680, 0x1f6c5 }, { 0x1f6cc, 0x1f6cc }, { 0x1f6d0, 0x1f6d2 }, { 0x1f6d5, 0x1f6d7 },
	{ 0x1f6dc, 0x1f6df }, { 0x1f6eb, 0x1f6ec }, { 0x1f6f4, 0x1f6fc }, { 0x1f7e0, 0x1f7eb },
	{ 0x1f7f0, 0x1f7f0 }, { 0x1f90c, 0x1f93a }, { 0x1f93c, 0x1f945 }, { 0x1f947, 0x1f9ff },
	{ 0x1fa70, 0x1faff }, { 0x20000, 0x3fffd },
};
/* clang-format on */

static bool range_has(const struct range *ranges, size_t count, uint32_t code)
{
	size_t low = 0, high = count;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (code > ranges[middle].last)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && code >= ranges[low].first;
}

int text_code_columns(uint32_t code)
{
	if (code < 0x300)
		return 1;
	if (range_has(no_columns, sizeof(no_columns) / sizeof(*no_columns), code))
		return 0;
	return range_has(two_columns, sizeof(two_columns) / sizeof(*two_columns), code) ? 2 : 1;
}

int text_columns(const char *clean)
{
	const char *from = clean;
	while (*clean > 0) /* ASCII: a column each */
		clean++;
	int columns = (int)(clean - from);
	for (uint32_t code; (code = text_decode(&clean));)
		columns += text_code_columns(code);
	return columns;
}

/* The end of as much of the text's beginning as fits in `columns`. */
static const char *head_end(const char *p, int columns)
{
	for (const char *next = p; *p; p = next) {
		columns -= text_code_columns(text_decode(&next));
		if (columns < 0)
			break;
	}
	return p;
}

/* As much of the text's end as fits in `columns`; it does not begin with a mark of what is left out. */
static const char *tail_of(const char *p, int columns)
{
	int left = text_columns(p);
	for (const char *next = p; *p; p = next) {
		int n = text_code_columns(text_decode(&next));
		if (left <= columns && n)
			break;
		left -= n;
	}
	return p;
}

const char *text_cut(struct arena *a, const char *clean, int width, bool tail)
{
	if (text_columns(clean) <= width)
		return clean;
	if (tail)
		return arena_printf(a, "..%s", tail_of(clean, width - 2));
	return arena_printf(a, "%.*s..", (int)(head_end(clean, width - 2) - clean), clean);
}

const char *text_pad(struct arena *a, const char *clean, int width, bool tail)
{
	const char *text = text_cut(a, clean, width, tail);
	return arena_printf(a, "%s%*s", text, width - text_columns(text), "");
}

const char *text_cut_path(struct arena *a, const char *clean, int width, const char *mark)
{
	int room = width - text_columns(mark);
	if (text_columns(clean) <= width)
		return clean;
	const char *slash = strrchr(clean, '/');
	int name = text_columns(slash ? slash : clean), tail = name > room * 2 / 3 ? name : room * 2 / 3;
	tail = tail < room ? tail : room;
	return arena_printf(a, "%.*s%s%s", (int)(head_end(clean, room - tail) - clean), clean, mark,
		tail_of(clean, tail));
}

/* The first `head` columns and the end of a name that has more than `width`. */
static const char *cut_after(struct arena *a, const char *clean, int width, int head)
{
	if (text_columns(clean) <= width)
		return clean;
	return arena_printf(a, "%.*s..%s", (int)(head_end(clean, head) - clean), clean,
		tail_of(clean, width - 2 - head));
}

/* Returns the number of an earlier different name that looks the same in this column, or -1. */
static int same_before(const char *const *names, const char *const *cut, int i)
{
	for (int k = 0; k < i; k++)
		if (!strcmp(cut[k], cut[i]) && strcmp(names[k], names[i]))
			return k;
	return -1;
}

void text_cut_names(struct arena *a, const char **names, int count, int width)
{
	struct arena scratch = { 0 };
	const char **cut = ARENA_ARRAY(&scratch, const char *, count + 1);
	int best = 0, least = count + 1;
	for (int d = 0; d <= width - 2 && least; d++) { /* from the middle outwards */
		int head = (width - 2) / 2 + (d % 2 ? -(d + 1) / 2 : d / 2), same = 0;
		for (int i = 0; i < count && head >= 0; i++) {
			cut[i] = cut_after(&scratch, names[i], width, head);
			same += same_before(names, cut, i) >= 0;
		}
		if (head >= 0 && same < least) {
			least = same;
			best = head;
		}
	}
	for (int i = 0; i < count; i++) {
		cut[i] = cut_after(&scratch, names[i], width, best);
		for (int n = 2; same_before(names, cut, i) >= 0; n++) {
			const char *mark = arena_printf(&scratch, "#%d", n);
			int room = width - (int)strlen(mark);
			cut[i] = arena_printf(&scratch, "%s%s",
				cut_after(&scratch, names[i], room, best < room - 2 ? best : room - 2), mark);
		}
	}
	for (int i = 0; i < count; i++)
		names[i] = cut[i] == names[i] ? names[i] : arena_printf(a, "%s", cut[i]);
	arena_free(&scratch);
}

/* Sets *p to the first path of the sentence and returns its bytes; 0: no path. A path is a word with a slash.
 * One that begins with / or ~ may contain blanks: it ends with the last word with a slash before a colon,
 * semicolon or comma. */
static size_t path_in(const char **p)
{
	const char *begin = NULL, *end = NULL, *word = *p;
	for (size_t n; *word; word += n + strspn(word + n, " ")) {
		n = strcspn(word, " ");
		if (memchr(word, '/', n)) {
			begin = begin ? begin : word;
			end = word + n;
		}
		if (begin && n && (strchr(":;,", word[n - 1]) || !strchr("/~", *begin)))
			break;
	}
	*p = begin;
	return begin ? (size_t)(end - begin) : 0;
}

const char *text_cut_paths(struct arena *a, const char *clean, int width, int most, const char *mark)
{
	int over = text_columns(clean) - width;
	struct str out = { 0 };
	const char *rest = clean, *path = rest;
	for (size_t n; (n = path_in(&path)); path = rest = path + n) {
		const char *whole = arena_strndup(a, path, n);
		int columns = text_columns(whole), room = columns - (over > 0 ? over : 0);
		room = room < PATH_LEAST ? PATH_LEAST : room;
		const char *cut = text_cut_path(a, whole, room < most ? room : most, mark);
		over -= columns - text_columns(cut);
		str_addf(&out, "%.*s%s", (int)(path - rest), rest, cut);
	}
	str_puts(&out, rest);
	clean = arena_strndup(a, out.p, out.n);
	str_free(&out);
	return clean;
}
