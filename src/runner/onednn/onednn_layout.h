/* Memory layouts of sources, and their names as in oneDNN (nChw8c, OIhw8i8o). */
#ifndef RUNNER_ONEDNN_LAYOUT_H
#define RUNNER_ONEDNN_LAYOUT_H

#include "runner/onednn/onednn_compat.h"

/* Replacement for layout `any`. LIBRARY: the library chooses, if its primitive allows. */
enum onednn_choice { CHOICE_LIBRARY, CHOICE_NCX, CHOICE_NXC, CHOICE_BLOCK8, CHOICE_BLOCK16, CHOICE_COUNT };

#define ONEDNN_LAYOUT_SIZE 96

/* Row-major and channels-last strides of dense tensors. */
void onednn_strides_ncx(int rank, const int64_t *dims, int64_t *strides);
void onednn_strides_nxc(int rank, const int64_t *dims, int64_t *strides);

/* Returns the descriptor of an operand: in its own layout, or in that of the choice for `any`. NULL: not
 * possible. The caller frees it. */
onednn_md onednn_layout_md(const struct operand *o, int rank, const int64_t *dims, dnnl_data_type_t type,
	enum onednn_choice choice);

/* True if tensors of these dimensions can have the layout; blocked ones need at least one block of
 * channels. */
bool onednn_choice_fits(enum onednn_choice choice, int rank, const int64_t *dims);

/* Writes the name of a descriptor's layout to buf, with `letters` for its dimensions ("nchw", "goihw",
 * "abc"); returns buf. */
char *onednn_layout_name(char buf[ONEDNN_LAYOUT_SIZE], onednn_md md, const char *letters);

#endif
