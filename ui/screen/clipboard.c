/* The text in base64, in one escape sequence. */
#include "config.h"

#include "ui/screen/clipboard.h"

void clipboard_sequence(struct str *out, struct text t)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t n = t.n < CLIPBOARD_BYTES ? t.n : CLIPBOARD_BYTES;
	str_puts(out, "\033]52;c;");
	for (size_t i = 0; i < n; i += 3) {
		uint32_t bits = 0;
		for (size_t k = 0; k < 3; k++)
			bits = bits << 8 | (i + k < n ? (unsigned char)t.p[i + k] : 0);
		for (size_t k = 0; k < 4; k++)
			str_add(out, k > n - i ? "=" : &digits[bits >> (18 - 6 * k) & 63], 1);
	}
	str_puts(out, "\a");
}
