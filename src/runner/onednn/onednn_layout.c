/* Layouts that are tried, and names of those that the library chooses. */
#include "config.h"

#include "runner/onednn/onednn_layout.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

void onednn_strides_ncx(int rank, const int64_t *dims, int64_t *strides)
{
	int64_t step = 1;
	for (int i = rank - 1; i >= 0; i--) {
		strides[i] = step;
		step *= dims[i];
	}
}

void onednn_strides_nxc(int rank, const int64_t *dims, int64_t *strides)
{
	if (rank < 3) {
		onednn_strides_ncx(rank, dims, strides);
		return;
	}
	int64_t step = dims[1];
	strides[1] = 1;
	for (int i = rank - 1; i >= 2; i--) {
		strides[i] = step;
		step *= dims[i];
	}
	strides[0] = step;
}

bool onednn_choice_fits(enum onednn_choice choice, int rank, const int64_t *dims)
{
	if (choice == CHOICE_LIBRARY || choice == CHOICE_NCX)
		return true;
	if (rank < 3 || rank > 5)
		return false;
	return choice == CHOICE_NXC ? dims[1] > 1 : dims[1] >= (choice == CHOICE_BLOCK8 ? 8 : 16);
}

static dnnl_format_tag_t blocked_tag(enum onednn_choice choice, int rank)
{
	static const dnnl_format_tag_t tags[2][3] = {
		{ dnnl_nCw8c, dnnl_nChw8c, dnnl_nCdhw8c },
		{ dnnl_nCw16c, dnnl_nChw16c, dnnl_nCdhw16c },
	};
	return tags[choice == CHOICE_BLOCK16][rank - 3];
}

onednn_md onednn_layout_md(const struct operand *o, int rank, const int64_t *dims, dnnl_data_type_t type,
	enum onednn_choice choice)
{
	int64_t strides[ONEDNN_RANK];
	if (o->layout == LAYOUT_STRIDES)
		return o->stride_rank == rank ? onednn_md_strides(rank, dims, type, o->stride) : NULL;
	if (o->layout == LAYOUT_NCX)
		choice = CHOICE_NCX;
	else if (o->layout == LAYOUT_NXC)
		choice = CHOICE_NXC;
	if (choice == CHOICE_LIBRARY)
		return onednn_md_tag(rank, dims, type, dnnl_format_tag_any);
	/* an operand broadcast over the channels has none to block */
	bool blocked = (choice == CHOICE_BLOCK8 || choice == CHOICE_BLOCK16) && rank >= 3 && rank <= 5 &&
		dims[1] > 1;
	if (blocked)
		return onednn_md_tag(rank, dims, type, blocked_tag(choice, rank));
	if (choice == CHOICE_NXC)
		onednn_strides_nxc(rank, dims, strides);
	else
		onednn_strides_ncx(rank, dims, strides);
	return onednn_md_strides(rank, dims, type, strides);
}

/* Sorts the dimensions from the outermost in memory to the innermost; equal strides (sizes of 1) keep the
 * logical order. */
static void order_by_stride(const struct onednn_md_info *info, int *order)
{
	for (int i = 0; i < info->rank; i++) {
		int at = i;
		for (; at > 0 && info->strides[order[at - 1]] < info->strides[i]; at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
}

/* True if the memory is dense between the outer dimensions; otherwise the layout has no name, only
 * strides. */
static bool is_dense(const struct onednn_md_info *info, const int *order)
{
	int64_t step = 1, inner[ONEDNN_RANK];
	for (int i = 0; i < info->rank; i++)
		inner[i] = 1;
	for (int i = 0; i < info->blocks; i++) {
		inner[info->block_dim[i]] *= info->block_size[i];
		step *= info->block_size[i];
	}
	for (int i = info->rank - 1; i >= 0; i--) {
		int d = order[i];
		int64_t outer = (info->dims[d] + inner[d] - 1) / inner[d];
		if (outer > 1 && info->strides[d] != step)
			return false;
		step *= outer;
	}
	return true;
}

char *onednn_layout_name(char buf[ONEDNN_LAYOUT_SIZE], onednn_md md, const char *letters)
{
	struct onednn_md_info info;
	int order[ONEDNN_RANK];
	size_t n = 0;
	onednn_md_describe(md, &info);
	buf[0] = '\0';
	if (info.format != ONEDNN_FORMAT_BLOCKED || info.rank > (int)strlen(letters)) {
		snprintf(buf, ONEDNN_LAYOUT_SIZE, "%s", info.format == ONEDNN_FORMAT_ANY ? "any" : "opaque");
		return buf;
	}
	order_by_stride(&info, order);
	bool dense = is_dense(&info, order);
	for (int i = 0; i < info.rank && n + 24 < ONEDNN_LAYOUT_SIZE; i++) {
		if (!dense) {
			n += (size_t)snprintf(buf + n, ONEDNN_LAYOUT_SIZE - n, "%c%lld", i ? 'x' : 's',
				(long long)info.strides[i]);
			continue;
		}
		char letter = letters[order[i]];
		for (int j = 0; j < info.blocks; j++)
			if (info.block_dim[j] == order[i])
				letter = (char)toupper((unsigned char)letters[order[i]]);
		buf[n++] = letter;
		buf[n] = '\0';
	}
	for (int i = 0; dense && i < info.blocks && n + 24 < ONEDNN_LAYOUT_SIZE; i++)
		n += (size_t)snprintf(buf + n, ONEDNN_LAYOUT_SIZE - n, "%lld%c",
			(long long)info.block_size[i], letters[info.block_dim[i]]);
	return buf;
}
