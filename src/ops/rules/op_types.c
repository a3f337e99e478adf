/* Element types that the schemas of ONNX and ONNX Runtime allow for inputs. Both tables are written by
 * tools/make_types.py. */
#include "config.h"

#include "ops/op_own.h"
#include "ops/rules/op_rules.h"

#include <string.h>

/* Sets of types: bit t is `enum dtype` t. The first allows anything. */
static const uint32_t masks[] = {
	0x00000000, 0x00000016, 0x00003fd6, 0x00003fde, 0x0000001e, 0x00000012, 0x00001000, 0x00003c16,
	0x00003c1e, 0x00004000, 0x20001412, 0x00007fde, 0x0000000e, 0x00000400, 0x00000002, 0x00000406,
	0x00000006, 0x00001412, 0x1cffffde, 0x00002a80, 0x00003fc0, 0x00001400, 0x00007fd6, 0x20007fd6,
	0x20007fde, 0x20787fde, 0x2079ffde, 0x2479ffde, 0x24f9ffde, 0x24ffffde, 0x27ffffde, 0x20001000,
	0x38007fde, 0x38007fd6, 0x000000c0, 0x00003c12, 0x00000080, 0x000004c0, 0x007804c0, 0x007987c0,
	0x047987c0, 0x0080000e, 0x047f87c0, 0x077f87c0, 0x000187c0, 0x00000040, 0x0078001e, 0x0000004e,
	0x00005400, 0x3879ffde, 0x3c79ffde, 0x3cf9ffde, 0x3cffffde, 0x04798080, 0x0018000e, 0x00000004,
	0x000800ce, 0x20001002, 0x20001512, 0x00000008, 0x0000000c, 0x00080000, 0x00000300, 0x0000008e,
	0x000000d6, 0x000000de, 0x20003c12, 0x00001556, 0x0000155e, 0x000800cc, 0x00001416, 0x0000141e,
	0x007800c0, 0x00080080, 0x0088000e, 0x00000402, 0x0000040e, 0x007983c0, 0x047983c0, 0x0080040e,
	0x047f83c0, 0x077f83c0, 0x000183c0, 0x0000000a, 0x00001512, 0x0000151e, 0x00003cd6, 0x00003cde,
	0x00007cde, 0x20000000, 0x38787fde, 0x00000282, 0x0000004c, 0x20001400, 0x00005416,
};

/* Sorted by name, domain and opset. inputs: for each input the index of its types in masks (two hexadecimal
 * digits), after the type variable that it shares with other inputs ('-': none). A final '*': the last input
 * repeats. */
static const struct types_row {
	const char *name, *domain;
	int since;
	const char *inputs;
} rows[] = {
	{ "Abs", "", 1, "001" }, { "Abs", "", 6, "002" }, { "Abs", "", 13, "003" }, { "Acos", "", 7, "001" },
	{ "Acos", "", 22, "004" }, { "Acosh", "", 9, "001" }, { "Acosh", "", 22, "004" },
	{ "Adagrad", "ai.onnx.preview.training", 1, "005106-00*" },
	{ "Adam", "ai.onnx.preview.training", 1, "005106-00*" }, { "Add", "", 1, "001001" },
	{ "Add", "", 6, "007007" }, { "Add", "", 13, "008008" }, { "Add", "", 14, "003003" },
	{ "Affine", "", 1, "001" }, { "AffineGrid", "", 20, "004106" }, { "And", "", 1, "009009" },
	{ "ArgMax", "", 1, "002" }, { "ArgMax", "", 13, "003" }, { "ArgMin", "", 1, "002" },
	{ "ArgMin", "", 13, "003" }, { "ArrayFeatureExtractor", "ai.onnx.ml", 1, "00a-06" },
	{ "Asin", "", 7, "001" }, { "Asin", "", 22, "004" }, { "Asinh", "", 9, "001" },
	{ "Asinh", "", 22, "004" }, { "Atan", "", 7, "001" }, { "Atan", "", 22, "004" },
	{ "Atanh", "", 9, "001" }, { "Atanh", "", 22, "004" }, { "Attention", "", 23, "00400410420b004104" },
	{ "Attention", "", 24, "00400410420b004104-06" },
	{ "Attention", "com.microsoft", 1, "00c00c00c10d00c00c10d" },
	{ "AttnLSTM", "com.microsoft", 1, "00500500500510d00500500500500500500510d005" },
	{ "AveragePool", "", 1, "001" }, { "AveragePool", "", 22, "004" },
	{ "AveragePool", "com.microsoft.nchwc", 1, "00e" },
	{ "AveragePool", "com.ms.internal.nhwc", 7, "001" },
	{ "BatchNormalization", "", 1, "001001001001001" },
	{ "BatchNormalization", "", 14, "004004004104104" },
	{ "BatchNormalization", "", 15, "004104104204204" },
	{ "BatchNormalization", "com.ms.internal.nhwc", 7, "001001001001001" },
	{ "BatchNormalization", "com.ms.internal.nhwc", 14, "004004004104104" },
	{ "BatchNormalization", "com.ms.internal.nhwc", 15, "004104104204204" },
	{ "BeamSearch", "com.microsoft", 1, "00f10d10d10d10d21021030d30d10d10d10d" },
	{ "Bernoulli", "", 15, "001" }, { "Bernoulli", "", 22, "004" },
	{ "BiasAdd", "com.microsoft", 1, "010010010" },
	{ "BiasDropout", "com.microsoft", 1, "004004004104209" },
	{ "BiasGelu", "com.microsoft", 1, "004004" }, { "BiasSoftmax", "com.microsoft", 1, "001001" },
	{ "BiasSplitGelu", "com.microsoft", 1, "010010" },
	{ "BifurcationDetector", "com.microsoft", 1, "006006006006" },
	{ "Binarizer", "ai.onnx.ml", 1, "011" }, { "BitCast", "", 26, "012" },
	{ "BitShift", "", 11, "013013" }, { "BitShift", "", 28, "014014" },
	{ "BitmaskBiasDropout", "com.microsoft", 1, "004004004104209" },
	{ "BitmaskDropout", "com.microsoft", 1, "004104209" }, { "BitwiseAnd", "", 18, "014014" },
	{ "BitwiseNot", "", 18, "014" }, { "BitwiseOr", "", 18, "014014" },
	{ "BitwiseXor", "", 18, "014014" }, { "BlackmanWindow", "", 17, "015" },
	{ "BranchwiseRMSNorm", "com.microsoft", 1, "00c10c" }, { "CDist", "com.microsoft", 1, "005005" },
	{ "Cast", "", 1, "016" }, { "Cast", "", 9, "017" }, { "Cast", "", 13, "018" },
	{ "Cast", "", 19, "019" }, { "Cast", "", 21, "01a" }, { "Cast", "", 23, "01b" },
	{ "Cast", "", 24, "01c" }, { "Cast", "", 25, "01d" }, { "Cast", "", 28, "01e" },
	{ "CastLike", "", 15, "018118" }, { "CastLike", "", 19, "019119" }, { "CastLike", "", 21, "01a11a" },
	{ "CastLike", "", 23, "01b11b" }, { "CastLike", "", 24, "01c11c" }, { "CastLike", "", 25, "01d11d" },
	{ "CastMap", "ai.onnx.ml", 1, "000" }, { "CategoryMapper", "ai.onnx.ml", 1, "01f" },
	{ "CausalConvWithState", "", 27, "00c00c00c00c" },
	{ "CausalConvWithState", "com.microsoft", 1, "00c00c00c00c" }, { "Ceil", "", 1, "001" },
	{ "Ceil", "", 13, "004" }, { "Celu", "", 12, "00e" }, { "Celu", "", 28, "004" },
	{ "CenterCropPad", "", 18, "020115" }, { "Clip", "", 1, "001" }, { "Clip", "", 11, "001001001" },
	{ "Clip", "", 12, "002002002" }, { "Clip", "", 13, "003003003" }, { "Col2Im", "", 18, "020-06-06" },
	{ "ComplexMul", "com.microsoft", 1, "001001" }, { "ComplexMulConj", "com.microsoft", 1, "001001" },
	{ "Compress", "", 9, "021109" }, { "Compress", "", 28, "020109" }, { "Concat", "", 1, "001*" },
	{ "Concat", "", 4, "021*" }, { "Concat", "", 13, "020*" }, { "ConcatFromSequence", "", 11, "000" },
	{ "Constant", "", 1, "" }, { "ConstantOfShape", "", 9, "006" }, { "Conv", "", 1, "001001001" },
	{ "Conv", "", 22, "004004004" }, { "Conv", "com.microsoft.nchwc", 1, "00e00e00e00e" },
	{ "Conv", "com.ms.internal.nhwc", 1, "001001001" }, { "ConvInteger", "", 10, "022122022122" },
	{ "ConvStateReplay", "com.microsoft", 1, "010010010106" }, { "ConvTranspose", "", 1, "001001001" },
	{ "ConvTranspose", "", 22, "004004004" }, { "ConvTranspose", "com.ms.internal.nhwc", 1, "001001001" },
	{ "ConvTransposeWithDynamicPads", "com.microsoft", 1, "001001-06001" }, { "Cos", "", 7, "001" },
	{ "Cos", "", 22, "004" }, { "Cosh", "", 9, "001" }, { "Cosh", "", 22, "004" },
	{ "Crop", "", 1, "001" }, { "CropAndResize", "com.microsoft", 1, "00100110d10d" },
	{ "CumProd", "", 26, "008115" }, { "CumSum", "", 11, "023115" }, { "CumSum", "", 14, "008115" },
	{ "DFT", "", 17, "004115" }, { "DFT", "", 20, "004115-06" },
	{ "DecoderAttention", "com.microsoft", 1, "010010010010010109010010109109109109" },
	{ "DecoderMaskedMultiHeadAttention", "com.microsoft", 1, "01001001010d01001001010d10d10d010" },
	{ "DecoderMaskedSelfAttention", "com.microsoft", 1, "01001001010d01001010d10d10d" },
	{ "DeformConv", "", 19, "001001001001001" }, { "DeformConv", "", 22, "004004004004004" },
	{ "DepthToSpace", "", 1, "021" }, { "DepthToSpace", "", 13, "020" },
	{ "DepthToSpace", "com.ms.internal.nhwc", 1, "021" },
	{ "DepthToSpace", "com.ms.internal.nhwc", 13, "020" },
	{ "DequantizeBFP", "com.microsoft", 1, "024106106" }, { "DequantizeLinear", "", 10, "025-0e025" },
	{ "DequantizeLinear", "", 19, "02610c026" }, { "DequantizeLinear", "", 21, "02710c027" },
	{ "DequantizeLinear", "", 23, "02810c028" }, { "DequantizeLinear", "", 24, "028129028" },
	{ "DequantizeLinear", "", 25, "02a12902a" }, { "DequantizeLinear", "", 28, "02b12902b" },
	{ "DequantizeLinear", "com.microsoft", 1, "02c11002c" },
	{ "DequantizeWithOrder", "com.microsoft", 1, "02d10e" }, { "Det", "", 11, "001" },
	{ "Det", "", 22, "004" }, { "DictVectorizer", "ai.onnx.ml", 1, "000" },
	{ "DisentangledAttention_TRT", "", 1, "010010010" }, { "Div", "", 1, "001001" },
	{ "Div", "", 6, "007007" }, { "Div", "", 13, "008008" }, { "Div", "", 14, "003003" },
	{ "Dropout", "", 1, "001" }, { "Dropout", "", 12, "001101209" }, { "Dropout", "", 13, "004101209" },
	{ "Dropout", "", 22, "02e12e209" },
	{ "DynamicQuantizeLSTM", "com.microsoft", 1, "00e12212200e20d00e00e00e00e12200e122" },
	{ "DynamicQuantizeLinear", "", 11, "00e" },
	{ "DynamicQuantizeMatMul", "com.microsoft", 1, "00e12200e12200e" },
	{ "DynamicSlice", "", 1, "021115115115" },
	{ "DynamicSparseAttention", "com.microsoft", 1, "00c00c10c22f22f30c30c40d40d40d40d30c30c-0630c30c30c40d50e50e" },
	{ "DynamicTimeWarping", "com.microsoft", 1, "00e" }, { "EPContext", "com.microsoft", 1, "-00*" },
	{ "EfficientNMS_TRT", "", 1, "010010010" }, { "Einsum", "", 12, "002*" },
	{ "Einsum", "", 28, "003*" }, { "Elu", "", 1, "001" }, { "Elu", "", 22, "004" },
	{ "EmbedLayerNormalization", "com.microsoft", 1, "00d00d11011011011011000d00d" },
	{ "EngramGate", "com.microsoft", 1, "00c00c00c00c00c00c" }, { "Equal", "", 1, "030030" },
	{ "Equal", "", 11, "016016" }, { "Equal", "", 13, "00b00b" }, { "Equal", "", 19, "018018" },
	{ "Erf", "", 9, "002" }, { "Erf", "", 13, "004" }, { "Exp", "", 1, "001" }, { "Exp", "", 13, "004" },
	{ "Expand", "", 8, "021-06" }, { "Expand", "", 13, "020-06" },
	{ "ExpandDims", "com.microsoft", 1, "021-0d" }, { "EyeLike", "", 9, "016" },
	{ "EyeLike", "", 22, "00b" }, { "FastGelu", "com.microsoft", 1, "004004" },
	{ "FeatureVectorizer", "ai.onnx.ml", 1, "011*" }, { "Flatten", "", 1, "001" },
	{ "Flatten", "", 9, "021" }, { "Flatten", "", 13, "020" }, { "Flatten", "", 21, "031" },
	{ "Flatten", "", 23, "032" }, { "Flatten", "", 24, "033" }, { "Flatten", "", 25, "034" },
	{ "FlexAttention", "ai.onnx.preview", 1, "004004004" }, { "Floor", "", 1, "001" },
	{ "Floor", "", 13, "004" }, { "FusedConv", "com.microsoft", 1, "001001001001" },
	{ "FusedGemm", "com.microsoft", 1, "007007007" }, { "FusedMatMul", "com.microsoft", 1, "004004" },
	{ "FusedMatMulActivation", "com.microsoft", 1, "004004" }, { "GRU", "", 1, "00100100100110d001" },
	{ "GRU", "", 22, "00400400400410d004" }, { "GRUUnit", "", 1, "001001001001" },
	{ "GatedAdd", "com.microsoft", 1, "00c00c00c00c" },
	{ "GatedDeltaNet", "com.microsoft", 1, "00c00c00c10d20c20c30e30e30e10d10d" },
	{ "GatedDeltaNetStateReplay", "com.microsoft", 1, "00e00e00e106" },
	{ "GatedRMSNorm", "com.microsoft", 1, "00c00c00c" },
	{ "GatedRelativePositionBias", "com.microsoft", 1, "01001001001001001010d" },
	{ "Gather", "", 1, "021115" }, { "Gather", "", 13, "020115" },
	{ "GatherBlockQuantized", "com.microsoft", 1, "03511520c035" },
	{ "GatherElements", "", 11, "021115" }, { "GatherElements", "", 13, "020115" },
	{ "GatherND", "", 11, "021-06" }, { "GatherND", "", 13, "020-06" },
	{ "GatherND", "com.microsoft", 1, "021115" }, { "GatherPacked", "com.microsoft", 1, "024115" },
	{ "Gelu", "", 20, "004" }, { "Gelu", "com.microsoft", 1, "004" }, { "Gemm", "", 1, "001001001" },
	{ "Gemm", "", 9, "007007007" }, { "Gemm", "", 13, "008008008" },
	{ "GemmFastGelu", "com.microsoft", 1, "00c00c00c" },
	{ "GemmFloat8", "com.microsoft", 1, "03613620c30e30e30e" },
	{ "GemmaRotaryEmbedding", "com.microsoft", 1, "00e137137137137" },
	{ "GivenTensorFill", "", 1, "001" }, { "GlobalAveragePool", "", 1, "001" },
	{ "GlobalAveragePool", "", 22, "004" }, { "GlobalAveragePool", "com.microsoft.nchwc", 1, "00e" },
	{ "GlobalAveragePool", "com.ms.internal.nhwc", 1, "001" }, { "GlobalLpPool", "", 1, "001" },
	{ "GlobalLpPool", "", 22, "004" }, { "GlobalLpPool", "com.ms.internal.nhwc", 2, "001" },
	{ "GlobalMaxPool", "", 1, "001" }, { "GlobalMaxPool", "", 22, "004" },
	{ "GlobalMaxPool", "com.microsoft.nchwc", 1, "00e" },
	{ "GlobalMaxPool", "com.ms.internal.nhwc", 1, "001" },
	{ "Gradient", "ai.onnx.preview.training", 1, "-00*" }, { "Greater", "", 1, "001001" },
	{ "Greater", "", 9, "002002" }, { "Greater", "", 13, "003003" },
	{ "GreaterOrEqual", "", 12, "002002" }, { "GreaterOrEqual", "", 16, "003003" },
	{ "GreedySearch", "com.microsoft", 1, "00d00d00d10e00d00d00d" }, { "GridSample", "", 16, "021101" },
	{ "GridSample", "", 22, "020104" }, { "GridSample", "com.microsoft", 1, "021021" },
	{ "GridSample", "com.ms.internal.nhwc", 16, "021101" },
	{ "GroupNorm", "com.microsoft", 1, "010110110" }, { "GroupNormalization", "", 18, "004004004" },
	{ "GroupQueryAttention", "com.microsoft", 1, "00c00c00c13813820d20d00c00c-0600c00c30e30e00c00c20d" },
	{ "HammingWindow", "", 17, "015" }, { "HannWindow", "", 17, "015" }, { "HardSigmoid", "", 1, "001" },
	{ "HardSigmoid", "", 22, "004" }, { "HardSwish", "", 14, "001" }, { "HardSwish", "", 22, "004" },
	{ "Hardmax", "", 1, "001" }, { "Hardmax", "", 13, "004" },
	{ "HyperConnectionLowRankMix", "com.microsoft", 1, "00c00c00c00c00c00c00c" },
	{ "HyperConnectionPostMix", "com.microsoft", 1, "00c00c10c10c" },
	{ "HyperConnectionPreMix", "com.microsoft", 1, "00c10c" }, { "Identity", "", 1, "021" },
	{ "Identity", "", 13, "020" }, { "Identity", "", 14, "000" }, { "If", "", 1, "009" },
	{ "ImageDecoder", "", 20, "024" }, { "ImageScaler", "", 1, "001" },
	{ "Imputer", "ai.onnx.ml", 1, "011" }, { "InstanceNormalization", "", 1, "001001001" },
	{ "InstanceNormalization", "", 22, "004004004" },
	{ "InstanceNormalization", "com.ms.internal.nhwc", 6, "001001001" },
	{ "Inverse", "com.microsoft", 1, "001" }, { "Irfft", "com.microsoft", 1, "001" },
	{ "IsAllFinite", "com.microsoft", 1, "004*" }, { "IsInf", "", 10, "005" }, { "IsInf", "", 20, "02e" },
	{ "IsNaN", "", 9, "001" }, { "IsNaN", "", 13, "004" }, { "IsNaN", "", 20, "02e" },
	{ "LRN", "", 1, "001" }, { "LRN", "", 13, "004" }, { "LRN", "com.ms.internal.nhwc", 1, "001" },
	{ "LRN", "com.ms.internal.nhwc", 13, "004" }, { "LSTM", "", 1, "00100100100110d001001001" },
	{ "LSTM", "", 22, "00400400400410d004004004" }, { "LabelEncoder", "ai.onnx.ml", 1, "01f" },
	{ "LabelEncoder", "ai.onnx.ml", 2, "039" }, { "LabelEncoder", "ai.onnx.ml", 4, "03a" },
	{ "LayerNormalization", "", 1, "004104104" }, { "LayerNormalization", "", 17, "004004004" },
	{ "LeakyRelu", "", 1, "001" }, { "LeakyRelu", "", 16, "004" }, { "Less", "", 1, "001001" },
	{ "Less", "", 9, "002002" }, { "Less", "", 13, "003003" }, { "LessOrEqual", "", 12, "002002" },
	{ "LessOrEqual", "", 16, "003003" }, { "LinearAttention", "", 27, "00c00c00c10c00c00c" },
	{ "LinearAttention", "com.microsoft", 1, "00c00c00c10c00c00c" },
	{ "LinearAttentionGate", "com.microsoft", 1, "00c10e10e00c" },
	{ "LinearClassifier", "ai.onnx.ml", 1, "011" }, { "LinearRegressor", "ai.onnx.ml", 1, "011" },
	{ "Log", "", 1, "001" }, { "Log", "", 13, "004" }, { "LogSoftmax", "", 1, "001" },
	{ "LogSoftmax", "", 13, "004" },
	{ "LongformerAttention", "com.microsoft", 1, "01001001001001001010d" },
	{ "Loop", "", 1, "006109-00*" }, { "LpNormalization", "", 1, "001" },
	{ "LpNormalization", "", 22, "004" }, { "LpPool", "", 1, "001" }, { "LpPool", "", 22, "004" },
	{ "LpPool", "com.ms.internal.nhwc", 11, "001" },
	{ "MRotaryEmbedding", "com.microsoft", 1, "00c10600c00c" },
	{ "Mamba2Verify", "com.microsoft", 1, "03b03b10e03b03b10e10e10e10e20d" },
	{ "MatMul", "", 1, "001001" }, { "MatMul", "", 9, "007007" }, { "MatMul", "", 13, "008008" },
	{ "MatMulBlockQuantizedFp4Weight", "com.microsoft", 1, "03c12422430e30e03c" },
	{ "MatMulBlockQuantizedFp8Weight", "com.microsoft", 1, "03c13d20e20e03c" },
	{ "MatMulBnb4", "com.microsoft", 1, "00c12400c" }, { "MatMulFpQ4", "com.microsoft", 1, "00e124206" },
	{ "MatMulInteger", "", 10, "022122022122" }, { "MatMulInteger16", "com.microsoft", 1, "03e13e" },
	{ "MatMulIntegerToFloat", "com.microsoft", 1, "022122210210022122210" },
	{ "MatMulNBits", "com.microsoft", 1, "00c12400c23f30d00c" },
	{ "MatMulNBitsMlp", "com.microsoft", 1, "00c00c00c12400c00c12400c00c" },
	{ "MatMulNBitsQLoRA", "com.microsoft", 1, "010124010124010124010" },
	{ "MatMulNBitsQkv", "com.microsoft", 1, "00c00c00c12400c00c12400c00c12400c00c" },
	{ "MatMulPacked", "com.microsoft", 1, "03c12420e" }, { "Max", "", 1, "001*" },
	{ "Max", "", 12, "002*" }, { "Max", "", 13, "003*" }, { "MaxPool", "", 1, "001" },
	{ "MaxPool", "", 12, "040" }, { "MaxPool", "", 22, "041" },
	{ "MaxPool", "com.microsoft.nchwc", 1, "00e" }, { "MaxPool", "com.ms.internal.nhwc", 1, "001" },
	{ "MaxPool", "com.ms.internal.nhwc", 12, "040" }, { "MaxRoiPool", "", 1, "001001" },
	{ "MaxRoiPool", "", 22, "004004" }, { "MaxUnpool", "", 9, "001106106" },
	{ "MaxUnpool", "", 22, "004106106" }, { "MaxUnpool", "com.ms.internal.nhwc", 9, "001106106" },
	{ "MaxpoolWithMask", "com.microsoft", 1, "00e-0d" }, { "Mean", "", 1, "001*" },
	{ "Mean", "", 13, "004*" }, { "MeanVarianceNormalization", "", 1, "001" },
	{ "MeanVarianceNormalization", "", 13, "004" }, { "MelWeightMatrix", "", 17, "015015015104104" },
	{ "MemcpyFromHost", "", 1, "000" }, { "MemcpyToHost", "", 1, "000" }, { "Min", "", 1, "001*" },
	{ "Min", "", 12, "002*" }, { "Min", "", 13, "003*" }, { "Mish", "", 18, "001" },
	{ "Mish", "", 22, "004" }, { "MoE", "com.microsoft", 1, "00c00c00c00c00c00c00c00c" },
	{ "MoEGroupRouter", "com.microsoft", 1, "00c10e00c" },
	{ "MoEPacked", "com.microsoft", 1, "03c10c22422422410c" }, { "Mod", "", 10, "002002" },
	{ "Mod", "", 13, "003003" }, { "Momentum", "ai.onnx.preview.training", 1, "005106-00*" },
	{ "Mul", "", 1, "001001" }, { "Mul", "", 6, "007007" }, { "Mul", "", 13, "008008" },
	{ "Mul", "", 14, "003003" }, { "MulInteger", "com.microsoft", 1, "022022022022" },
	{ "MultiHeadAttention", "com.microsoft", 1, "00c00c00c00c10d00c00c00c10d10d" },
	{ "MultilevelCropAndResize_TRT", "", 1, "00e00e00e00e00e" }, { "Multinomial", "", 7, "001" },
	{ "Multinomial", "", 22, "004" }, { "MurmurHash3", "com.microsoft", 1, "042" },
	{ "NGramHashMapping", "com.microsoft", 1, "015015015015015015-0d" },
	{ "NGramRepeatBlock", "com.microsoft", 1, "00610e" }, { "Neg", "", 1, "001" },
	{ "Neg", "", 6, "043" }, { "Neg", "", 13, "044" },
	{ "NegativeLogLikelihoodLoss", "", 12, "001115001" },
	{ "NegativeLogLikelihoodLoss", "", 22, "004115004" }, { "NhwcConv", "com.microsoft", 1, "001001001" },
	{ "NhwcFusedConv", "com.microsoft", 1, "010010010010" }, { "NhwcMaxPool", "com.microsoft", 1, "022" },
	{ "NonMaxSuppression", "", 10, "-0e-0e-06-0e-0e" }, { "NonZero", "", 9, "021" },
	{ "NonZero", "", 13, "020" }, { "Normalizer", "ai.onnx.ml", 1, "011" }, { "Not", "", 1, "009" },
	{ "OneHot", "", 9, "002102221" }, { "OneHot", "", 28, "002102220" },
	{ "OneHotEncoder", "ai.onnx.ml", 1, "00a" }, { "Optional", "", 15, "000" },
	{ "OptionalGetElement", "", 15, "000" }, { "OptionalHasElement", "", 15, "000" },
	{ "Or", "", 1, "009009" }, { "PRelu", "", 1, "001001" }, { "PRelu", "", 9, "007007" },
	{ "PRelu", "", 16, "008008" }, { "PackedAttention", "com.microsoft", 1, "01001001010d10d010" },
	{ "PackedMultiHeadAttention", "com.microsoft", 1, "01001001001010d10d010" },
	{ "PackedSparseAttentionIndexer", "com.microsoft", 1, "00c00c00c00c00c00c10d10d00c00c00c20630c00c00c10d10d10d10d10d10d10d" },
	{ "PackedSparseAttentionIndexerMerge", "com.microsoft", 1, "00d00d00d00d00d00d00d" },
	{ "Pad", "", 1, "001" }, { "Pad", "", 11, "002-06002" }, { "Pad", "", 13, "020-06020" },
	{ "Pad", "", 18, "020-06020115" }, { "Pad", "", 21, "031-06031115" },
	{ "Pad", "", 23, "032-06032115" }, { "Pad", "", 24, "033-06033115" },
	{ "Pad", "", 25, "034-06034115" }, { "Pad", "com.microsoft", 1, "001-06001" },
	{ "PagedAttention", "com.microsoft", 1, "03c03c03c14514520d20d20d03c03c20d03c03c03c30e30e20d" },
	{ "ParametricSoftplus", "", 1, "001" }, { "Pow", "", 1, "001001" }, { "Pow", "", 12, "046102" },
	{ "Pow", "", 13, "047102" }, { "Pow", "", 15, "047103" },
	{ "PyramidROIAlign_TRT", "", 1, "00e00e00e00e00e" },
	{ "QAttention", "com.microsoft", 1, "02212221021021030d022122210" },
	{ "QEmbedLayerNormalization", "com.microsoft", 1, "00d00d12212212212212200d20e20e20e20e20e122122122122122" },
	{ "QGemm", "com.microsoft", 1, "02210e02222210e22230d10e422" },
	{ "QLinearAdd", "com.microsoft", 1, "022-0e022022-0e022-0e022" },
	{ "QLinearAveragePool", "com.microsoft", 1, "022-0e022-0e022" },
	{ "QLinearAveragePool", "com.ms.internal.nhwc", 1, "022-0e022-0e022" },
	{ "QLinearConcat", "com.microsoft", 1, "00e122-00*" },
	{ "QLinearConv", "", 10, "022-0e022122-0e122-0e22230d" },
	{ "QLinearConv", "com.microsoft", 1, "022-0e022122-0e122-0e22230d" },
	{ "QLinearConv", "com.ms.internal.nhwc", 10, "022-0e022122-0e122-0e22230d" },
	{ "QLinearConvTranspose", "com.ms.internal.nhwc", 1, "022-0e022122-0e122-0e22230d" },
	{ "QLinearGlobalAveragePool", "com.microsoft", 1, "022-0e022-0e022" },
	{ "QLinearLeakyRelu", "com.microsoft", 1, "022-0e022-0e022" },
	{ "QLinearMatMul", "", 10, "022-0e022122-0e122-0e222" },
	{ "QLinearMatMul", "", 21, "04810c04824810c24810c348" },
	{ "QLinearMul", "com.microsoft", 1, "022-0e022022-0e022-0e022" },
	{ "QLinearReduceMean", "com.microsoft", 1, "022-0e022-0e022" },
	{ "QLinearSigmoid", "com.microsoft", 1, "022-0e022-0e022" },
	{ "QLinearSoftmax", "com.microsoft", 1, "022-0e022-0e022" },
	{ "QLinearWhere", "com.microsoft", 1, "00912220e12212220e12220e122" },
	{ "QMoE", "com.microsoft", 1, "00c00c14924a00c14924a00c14924a00c14914914900c30e30e30e30e24a24a" },
	{ "QOrderedAttention", "com.microsoft", 1, "02d10e10e10e10e02d02d02d10e10e10e10e10e10e10e10e10e20d02d10e" },
	{ "QOrderedGelu", "com.microsoft", 1, "02d10e10e" },
	{ "QOrderedLayerNormalization", "com.microsoft", 1, "02d10e21021010e" },
	{ "QOrderedLongformerAttention", "com.microsoft", 1, "02d10e02d10e10e10e10e23702d10e10e10e30d10e" },
	{ "QOrderedMatMul", "com.microsoft", 1, "02d10e02d10e10e10e02d10e" },
	{ "QuantizeBFP", "com.microsoft", 1, "00c" }, { "QuantizeLinear", "", 10, "04b-0e122" },
	{ "QuantizeLinear", "", 19, "04c04c148" }, { "QuantizeLinear", "", 21, "04c04c14d" },
	{ "QuantizeLinear", "", 23, "04c14c24e" }, { "QuantizeLinear", "", 24, "04c14f24e" },
	{ "QuantizeLinear", "", 25, "04c14f250" }, { "QuantizeLinear", "", 28, "04c14f251" },
	{ "QuantizeLinear", "com.microsoft", 1, "010010152" },
	{ "QuantizeWithOrder", "com.microsoft", 1, "01010e" }, { "QuickGelu", "com.microsoft", 1, "004" },
	{ "RMSNormRotary", "com.microsoft", 1, "03c10e20635335340d" },
	{ "RMSNormalization", "", 23, "004104" }, { "RNN", "", 1, "00100100100110d001" },
	{ "RNN", "", 22, "00400400400410d004" }, { "RandomNormal", "", 1, "" },
	{ "RandomNormalLike", "", 1, "021" }, { "RandomNormalLike", "", 22, "020" },
	{ "RandomUniform", "", 1, "" }, { "RandomUniformLike", "", 1, "021" },
	{ "RandomUniformLike", "", 22, "020" }, { "Range", "", 11, "054054054" },
	{ "Range", "", 27, "055055055" }, { "Range", "com.microsoft", 1, "054054054" },
	{ "Reciprocal", "", 1, "001" }, { "Reciprocal", "", 13, "004" }, { "ReduceL1", "", 1, "007" },
	{ "ReduceL1", "", 13, "008" }, { "ReduceL1", "", 18, "008-06" }, { "ReduceL2", "", 1, "007" },
	{ "ReduceL2", "", 13, "008" }, { "ReduceL2", "", 18, "008-06" }, { "ReduceLogSum", "", 1, "007" },
	{ "ReduceLogSum", "", 13, "008" }, { "ReduceLogSum", "", 18, "008-06" },
	{ "ReduceLogSum", "", 28, "004-06" }, { "ReduceLogSumExp", "", 1, "007" },
	{ "ReduceLogSumExp", "", 13, "008" }, { "ReduceLogSumExp", "", 18, "008-06" },
	{ "ReduceLogSumExp", "", 28, "004-06" }, { "ReduceMax", "", 1, "007" },
	{ "ReduceMax", "", 12, "056" }, { "ReduceMax", "", 13, "057" }, { "ReduceMax", "", 18, "057-06" },
	{ "ReduceMax", "", 20, "058-06" }, { "ReduceMean", "", 1, "007" }, { "ReduceMean", "", 13, "008" },
	{ "ReduceMean", "", 18, "008-06" }, { "ReduceMin", "", 1, "007" }, { "ReduceMin", "", 12, "056" },
	{ "ReduceMin", "", 13, "057" }, { "ReduceMin", "", 18, "057-06" }, { "ReduceMin", "", 20, "058-06" },
	{ "ReduceProd", "", 1, "007" }, { "ReduceProd", "", 13, "008" }, { "ReduceProd", "", 18, "008-06" },
	{ "ReduceSum", "", 1, "007" }, { "ReduceSum", "", 13, "008-06" },
	{ "ReduceSumInteger", "com.microsoft", 1, "022" }, { "ReduceSumSquare", "", 1, "007" },
	{ "ReduceSumSquare", "", 13, "008" }, { "ReduceSumSquare", "", 18, "008-06" },
	{ "RegexFullMatch", "", 20, "059" }, { "RelativePositionBias", "com.microsoft", 1, "010106106" },
	{ "Relu", "", 1, "001" }, { "Relu", "", 13, "004" }, { "Relu", "", 14, "044" },
	{ "RemovePadding", "com.microsoft", 1, "01010d" },
	{ "ReorderInput", "com.microsoft.nchwc", 1, "00e" },
	{ "ReorderOutput", "com.microsoft.nchwc", 1, "00e" }, { "Reshape", "", 1, "001" },
	{ "Reshape", "", 5, "021-06" }, { "Reshape", "", 13, "020-06" }, { "Reshape", "", 19, "05a-06" },
	{ "Reshape", "", 21, "031-06" }, { "Reshape", "", 23, "032-06" }, { "Reshape", "", 24, "033-06" },
	{ "Reshape", "", 25, "034-06" }, { "Resize", "", 10, "021-0e" }, { "Resize", "", 11, "021101-0e-06" },
	{ "Resize", "", 13, "020101-0e-06" }, { "Resize", "com.ms.internal.nhwc", 11, "021101-0e-06" },
	{ "Resize", "com.ms.internal.nhwc", 13, "020101-0e-06" },
	{ "RestorePadding", "com.microsoft", 1, "01010d" }, { "ReverseSequence", "", 10, "021-06" },
	{ "ReverseSequence", "", 28, "020-06" }, { "Rfft", "com.microsoft", 1, "001" },
	{ "RoiAlign", "", 10, "001001106" }, { "RoiAlign", "", 22, "004004106" },
	{ "RotaryEmbedding", "", 23, "00c00c00c106" },
	{ "RotaryEmbedding", "com.microsoft", 1, "00c10600c00c" }, { "Round", "", 11, "001" },
	{ "Round", "", 22, "004" }, { "RouterGateUpProj", "com.microsoft", 1, "03c03c" },
	{ "STFT", "", 17, "004115004115" }, { "SVMClassifier", "ai.onnx.ml", 1, "011" },
	{ "SVMRegressor", "ai.onnx.ml", 1, "011" }, { "SampleOp", "com.microsoft", 1, "007" },
	{ "Sampling", "com.microsoft", 1, "00d00d00d10e00d00d00d00d00d" }, { "Scale", "", 1, "001" },
	{ "ScaledSiLU", "com.microsoft", 1, "00c10c" }, { "ScaledTanh", "", 1, "001" },
	{ "Scaler", "ai.onnx.ml", 1, "011" }, { "Scan", "", 8, "006-00*" }, { "Scan", "", 9, "-00*" },
	{ "Scatter", "", 9, "021115021" }, { "ScatterElements", "", 11, "021115021" },
	{ "ScatterElements", "", 13, "020115020" }, { "ScatterND", "", 11, "021-06021" },
	{ "ScatterND", "", 13, "020-06020" }, { "Selu", "", 1, "001" }, { "Selu", "", 22, "004" },
	{ "SequenceAt", "", 11, "000115" }, { "SequenceConstruct", "", 11, "021*" },
	{ "SequenceEmpty", "", 11, "" }, { "SequenceErase", "", 11, "000115" },
	{ "SequenceInsert", "", 11, "000121215" }, { "SequenceLength", "", 11, "000" },
	{ "SequenceMap", "", 17, "000-00*" }, { "Shape", "", 1, "021" }, { "Shape", "", 13, "020" },
	{ "Shape", "", 19, "05a" }, { "Shape", "", 21, "031" }, { "Shape", "", 23, "032" },
	{ "Shape", "", 24, "033" }, { "Shape", "", 25, "034" }, { "Shrink", "", 9, "002" },
	{ "Sigmoid", "", 1, "001" }, { "Sigmoid", "", 13, "004" }, { "Sign", "", 9, "002" },
	{ "Sign", "", 13, "003" }, { "SimplifiedLayerNormalization", "", 1, "004104" },
	{ "Sin", "", 7, "001" }, { "Sin", "", 22, "004" }, { "Sinh", "", 9, "001" },
	{ "Sinh", "", 22, "004" }, { "Size", "", 1, "021" }, { "Size", "", 13, "020" },
	{ "Size", "", 19, "05a" }, { "Size", "", 21, "031" }, { "Size", "", 23, "032" },
	{ "Size", "", 24, "033" }, { "Size", "", 25, "034" },
	{ "SkipGroupNorm", "com.microsoft", 1, "010110110010010" },
	{ "SkipLayerNormalization", "com.microsoft", 1, "00c00c00c00c00c" },
	{ "SkipSimplifiedLayerNormalization", "com.microsoft", 1, "00c00c00c00c" }, { "Slice", "", 1, "021" },
	{ "Slice", "", 10, "021115115115115" }, { "Slice", "", 13, "020115115115115" },
	{ "Snpe", "com.microsoft", 1, "05b*" }, { "Softmax", "", 1, "001" }, { "Softmax", "", 13, "004" },
	{ "SoftmaxCrossEntropyLoss", "", 12, "001115001" },
	{ "SoftmaxCrossEntropyLoss", "", 13, "004115004" }, { "Softplus", "", 1, "001" },
	{ "Softplus", "", 22, "004" }, { "Softsign", "", 1, "001" }, { "Softsign", "", 22, "004" },
	{ "SpaceToDepth", "", 1, "021" }, { "SpaceToDepth", "", 13, "020" },
	{ "SpaceToDepth", "com.ms.internal.nhwc", 1, "021" },
	{ "SpaceToDepth", "com.ms.internal.nhwc", 13, "020" },
	{ "SparseAttention", "com.microsoft", 1, "00c00c00c00c00c10d10d10d10d00c00c" },
	{ "SparseAttentionIndexer", "com.microsoft", 1, "00c00c00c00c00c00c10600c00c00c00c20630d00c" },
	{ "SparsePagedAttention", "com.microsoft", 1, "03c03c03c15c15c20d20d20d20d20d20d03c03c20d03c03c03c03c03c30e30e20d" },
	{ "SparseToDenseMatMul", "com.microsoft", 1, "000123" },
	{ "SpeculativePrefixCommit", "com.microsoft", 1, "00600610d006006006006" },
	{ "Split", "", 1, "001001" }, { "Split", "", 2, "021" }, { "Split", "", 13, "020-06" },
	{ "SplitToSequence", "", 11, "021115" }, { "SplitToSequence", "", 24, "020115" },
	{ "Sqrt", "", 1, "001" }, { "Sqrt", "", 13, "004" }, { "Squeeze", "", 1, "021" },
	{ "Squeeze", "", 13, "020-06" }, { "Squeeze", "", 21, "031-06" }, { "Squeeze", "", 23, "032-06" },
	{ "Squeeze", "", 24, "033-06" }, { "Squeeze", "", 25, "034-06" },
	{ "StringConcat", "", 20, "059059" }, { "StringNormalizer", "", 10, "-59" },
	{ "StringSplit", "", 20, "059" }, { "Sub", "", 1, "001001" }, { "Sub", "", 6, "007007" },
	{ "Sub", "", 13, "008008" }, { "Sub", "", 14, "003003" }, { "Sum", "", 1, "001*" },
	{ "Sum", "", 13, "004*" }, { "SwiGLU", "", 28, "004004" }, { "SwiGLU", "com.microsoft", 1, "00c00c" },
	{ "Swish", "", 24, "004" }, { "Tan", "", 7, "001" }, { "Tan", "", 22, "004" },
	{ "Tanh", "", 1, "001" }, { "Tanh", "", 13, "004" }, { "TensorScatter", "", 24, "033033-06" },
	{ "TfIdfVectorizer", "", 9, "05d" }, { "ThresholdedRelu", "", 1, "001" },
	{ "ThresholdedRelu", "", 22, "004" }, { "Tile", "", 1, "001001001" }, { "Tile", "", 6, "021106" },
	{ "Tile", "", 13, "020106" }, { "Tokenizer", "com.microsoft", 1, "059" }, { "TopK", "", 1, "001" },
	{ "TopK", "", 10, "001-06" }, { "TopK", "", 11, "002-06" }, { "TopK", "", 24, "003-06" },
	{ "TorchEmbedding", "com.microsoft", 1, "003-06-06-09" }, { "Transpose", "", 1, "021" },
	{ "Transpose", "", 13, "020" }, { "Transpose", "", 21, "031" }, { "Transpose", "", 23, "032" },
	{ "Transpose", "", 24, "033" }, { "Transpose", "", 25, "034" },
	{ "TransposeMatMul", "com.microsoft", 1, "004004" }, { "TreeEnsemble", "ai.onnx.ml", 5, "001" },
	{ "TreeEnsembleClassifier", "ai.onnx.ml", 1, "011" },
	{ "TreeEnsembleRegressor", "ai.onnx.ml", 1, "011" }, { "Trilu", "", 14, "020-06" },
	{ "Trilu", "com.microsoft", 1, "00b-06" }, { "UnfoldTensor", "com.microsoft", 1, "020" },
	{ "Unique", "", 11, "021" }, { "Unique", "", 28, "020" }, { "Unique", "com.microsoft", 1, "021" },
	{ "Unsqueeze", "", 1, "021" }, { "Unsqueeze", "", 13, "020-06" }, { "Unsqueeze", "", 21, "031-06" },
	{ "Unsqueeze", "", 23, "032-06" }, { "Unsqueeze", "", 24, "033-06" },
	{ "Unsqueeze", "", 25, "034-06" }, { "Upsample", "", 1, "05e" }, { "Upsample", "", 7, "021" },
	{ "Upsample", "", 9, "021-0e" }, { "Upsample", "com.microsoft.nchwc", 1, "00e" },
	{ "VarlenCausalConvWithState", "com.microsoft", 1, "00c00c10d00c00c10d00c00c" },
	{ "VarlenNGramHashMapping", "com.microsoft", 1, "01501501510d015015015-0d10d10d" },
	{ "Where", "", 9, "009121121" }, { "Where", "", 16, "009120120" },
	{ "WhisperBeamSearch", "com.microsoft", 1, "00f10d10d10d10d21021030d30d10d10d10d10d10d210" },
	{ "WordConvEmbedding", "com.microsoft", 1, "00d10e10e10e" }, { "Xor", "", 1, "009009" },
	{ "ZipMap", "ai.onnx.ml", 1, "-0e" },
};

/* The row of the call's operator with the latest opset that is not after the call's; NULL: not in the
 * table. */
static const struct types_row *types_search(const struct op_call *c)
{
	size_t low = 0, high = sizeof(rows) / sizeof(rows[0]);
	while (low < high) { /* the first row behind the operator's */
		size_t mid = (low + high) / 2;
		int order = strcmp(rows[mid].name, c->op->name);
		order = order ? order : strcmp(rows[mid].domain, c->op->domain);
		if (order < 0 || (order == 0 && rows[mid].since <= c->opset))
			low = mid + 1;
		else
			high = mid;
	}
	const struct types_row *row = low ? &rows[low - 1] : NULL;
	return row && !strcmp(row->name, c->op->name) && !strcmp(row->domain, c->op->domain) ? row : NULL;
}

/* The same from `met` if a call of this operator and opset was there before: a model has few operators. */
static const struct types_row *types_find(const struct op_call *c, struct op_types_met *met)
{
	struct op_types_slot *slot = &met->slots[(uintptr_t)c->op / sizeof(*c->op) % OP_TYPES_SLOTS];
	if (slot->op != c->op || slot->opset != c->opset)
		*slot = (struct op_types_slot){ c->op, c->opset, types_search(c) };
	return slot->row;
}

static int digit(char c)
{
	return c >= 'a' ? c - 'a' + 10 : c - '0';
}

/* Types of formal input k of a row. */
static uint32_t mask_at(const struct types_row *row, int k)
{
	return masks[16 * digit(row->inputs[3 * k + 1]) + digit(row->inputs[3 * k + 2])];
}

/* "f32, f16 or bf16" */
static const char *mask_text(struct arena *a, uint32_t mask)
{
	const char *text = "";
	for (int t = DTYPE_COUNT - 1; t > 0; t--) {
		if (!(mask >> t & 1))
			continue;
		mask &= ~(1u << t);
		const char *between = !*text ? "" : strstr(text, ", ") || strstr(text, " or ") ? ", " : " or ";
		text = arena_printf(a, "%s%s%s", dtype_name((enum dtype)t), between, text);
	}
	return text;
}

const char *op_call_mistyped(const struct op_call *c, struct op_types_met *met)
{
	const struct types_row *row = c->op && !op_own_place(c->op) ? types_find(c, met) : NULL;
	int shared[10], formals = row ? (int)strlen(row->inputs) / 3 : 0;
	for (int i = 0; i < 10; i++)
		shared[i] = -1;
	bool repeats = row && strchr(row->inputs, '*');
	for (int i = 0; i < c->input_count && formals; i++) {
		const struct op_value *v = op_in(c, i);
		int k = i < formals ? i : formals - 1;
		if (!v || v->kind != VALUE_TENSOR || v->dtype == DTYPE_UNKNOWN || (i >= formals && !repeats))
			continue;
		uint32_t mask = mask_at(row, k);
		if (mask && !(mask >> v->dtype & 1))
			return arena_printf(c->arena, "input %d is %s; %s of opset %lld takes %s", i, dtype_name(v->dtype),
				c->op->name, (long long)c->opset, mask_text(c->arena, mask));
		if (row->inputs[3 * k] == '-' || !mask)
			continue;
		int *first = &shared[row->inputs[3 * k] - '0'];
		*first = *first < 0 ? i : *first;
		if (c->inputs[*first].dtype != v->dtype)
			return arena_printf(c->arena, "inputs %d and %d are %s and %s; %s takes one type for both", *first, i,
				dtype_name(c->inputs[*first].dtype), dtype_name(v->dtype), c->op->name);
	}
	return NULL;
}
