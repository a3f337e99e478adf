/* Says what a file is that is no ONNX model, by its first bytes, so that the error can name the fix. */
#include "config.h"

#include "model/sniff.h"

#include <string.h>

struct sniff_row {
	size_t offset;
	const char *bytes;
	size_t n;
	struct sniff is;
};

#define ROW(offset, bytes, what, cure) { (offset), (bytes), sizeof(bytes) - 1, { (what), (cure) } }

#define EXPORT_TORCH "export it with torch.onnx.export"
#define EXPORT_TF "convert it with tf2onnx"

/* The first match counts: special formats come before general ones. */
static const struct sniff_row sniff_table[] = {
	ROW(0, "version https://git-lfs", "a Git LFS pointer, the model itself was not downloaded",
		"run git lfs pull"),
	ROW(0, "PK\003\004", "a zip archive", EXPORT_TORCH " if it is a PyTorch file, or unpack it"),
	ROW(0, "\037\213", "gzip data", "unpack it with gunzip"),
	ROW(0, "BZh", "bzip2 data", "unpack it with bunzip2"),
	ROW(0, "\3757zXZ", "xz data", "unpack it with unxz"),
	ROW(0, "\050\265\057\375", "zstd data", "unpack it with unzstd"),
	ROW(0, "7z\274\257\047\034", "a 7-Zip archive", "unpack it"),
	ROW(257, "ustar", "a tar archive", "unpack it with tar -xf"),
	ROW(0, "\211PNG", "a PNG picture", "name the .onnx file"),
	ROW(0, "\377\330\377", "a JPEG picture", "name the .onnx file"),
	ROW(0, "%PDF", "a PDF document", "name the .onnx file"),
	ROW(0, "\177ELF", "a program or library", "name the .onnx file"),
	ROW(0, "\211HDF", "an HDF5 file, perhaps Keras", EXPORT_TF),
	ROW(4, "TFL3", "a TensorFlow Lite model", EXPORT_TF),
	ROW(4, "ORTM", "an ONNX Runtime flatbuffer (.ort)", "use the ONNX model from which it was made"),
	ROW(8, "{\"", "safetensors, weights without a graph", EXPORT_TORCH),
	ROW(0, "GGUF", "a GGUF file, weights without a graph", EXPORT_TORCH),
	ROW(0, "\223NUMPY", "a NumPy array", "name the .onnx file"),
	ROW(0, "\200\002", "a Python pickle, perhaps a PyTorch checkpoint", EXPORT_TORCH),
	ROW(0, "\200\003", "a Python pickle", EXPORT_TORCH),
	ROW(0, "\200\004", "a Python pickle", EXPORT_TORCH),
	ROW(0, "\200\005", "a Python pickle", EXPORT_TORCH),
	ROW(0, "SQLite format 3", "an SQLite database", "give it with --db"),
	ROW(0, "<!DOCTYPE", "a web page", "download the file itself"),
	ROW(0, "<!doctype", "a web page", "download the file itself"),
	ROW(0, "<html", "a web page", "download the file itself"),
	ROW(0, "<?xml", "XML, perhaps an OpenVINO model", "use the ONNX model from which it was made"),
	ROW(0, "ir_version", "an ONNX model in text form", "save it in binary form with onnx.save"),
};

static const struct sniff sniff_text = { "a text file", "name the .onnx file" };
static const struct sniff sniff_zeros =
	{ "only zeros, possibly an incomplete download", "download it again" };
static const struct sniff sniff_protobuf = {
	"another protobuf file, such as a bare graph, TensorFlow or Caffe", "convert it to ONNX"
};

static size_t count_of(const unsigned char *p, size_t n, unsigned least, unsigned most)
{
	size_t count = 0;
	for (size_t i = 0; i < n; i++)
		count += p[i] >= least && p[i] <= most;
	return count;
}

const struct sniff *sniff_bytes(const void *head, size_t n)
{
	const unsigned char *p = head;
	for (size_t i = 0; i < sizeof(sniff_table) / sizeof(sniff_table[0]); i++) {
		const struct sniff_row *row = &sniff_table[i];
		if (n >= row->offset + row->n && memcmp(p + row->offset, row->bytes, row->n) == 0)
			return &row->is;
	}
	if (n >= 8 && count_of(p, n, 0, 0) == n)
		return &sniff_zeros;
	size_t control = count_of(p, n, 0, 8) + count_of(p, n, 0x0e, 0x1f) + count_of(p, n, 0x7f, 0x7f);
	if (n >= 4 && control == 0 && count_of(p, n, 0x80, 0xff) <= n / 2)
		return &sniff_text;
	/* field 1 is a string or message; in a model it is a number */
	if (n >= 2 && p[0] == 0x0a)
		return &sniff_protobuf;
	return NULL;
}
