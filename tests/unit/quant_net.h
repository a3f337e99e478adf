/* Quantized nets by hand: net.h with scales, zero points and the layers between values and bytes. "s" and "z"
 * are a scale and a zero point without contents, "s2" and "z2" others. */
#ifndef QUANT_NET_H
#define QUANT_NET_H

#include "net.h"

NET_OK struct net *quant_begin(int64_t opset)
{
	struct net *n = net_begin(opset);
	net_tensor(n, "s", DTYPE_F32, "");
	net_tensor(n, "z", DTYPE_U8, "");
	net_tensor(n, "s2", DTYPE_F32, "");
	net_tensor(n, "z2", DTYPE_U8, "");
	net_tensor(n, "zw", DTYPE_S8, "");
	return n;
}

/* to = DequantizeLinear(from) */
NET_OK void quant_dq(struct net *n, const char *from, const char *to)
{
	char names[256];
	snprintf(names, sizeof(names), "%s,s,z", from);
	net_node(n, "DequantizeLinear", names, to, NULL);
}

NET_OK void quant_q(struct net *n, const char *from, const char *to)
{
	char names[256];
	snprintf(names, sizeof(names), "%s,s,z", from);
	net_node(n, "QuantizeLinear", names, to, NULL);
}

/* to: weights of s8 with a scale for each place along the axis. */
NET_OK void quant_weights(struct net *n, const char *to, const char *dims, const char *scales, int axis)
{
	char bytes[128], scale[128], names[400], attribute[32];
	snprintf(bytes, sizeof(bytes), "%s_q", to);
	snprintf(scale, sizeof(scale), "%s_s", to);
	snprintf(names, sizeof(names), "%s,%s,", bytes, scale);
	snprintf(attribute, sizeof(attribute), "axis=%d", axis);
	net_tensor(n, bytes, DTYPE_S8, dims);
	net_tensor(n, scale, DTYPE_F32, scales);
	net_node(n, "DequantizeLinear", names, to, attribute);
}

/* to: a bias of s32. */
NET_OK void quant_bias(struct net *n, const char *to, const char *dims)
{
	char sums[128], names[256];
	snprintf(sums, sizeof(sums), "%s_q", to);
	snprintf(names, sizeof(names), "%s,s,", sums);
	net_tensor(n, sums, DTYPE_S32, dims);
	net_node(n, "DequantizeLinear", names, to, NULL);
}

#endif
