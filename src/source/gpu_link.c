/* What goes in and out of a GPU: PCIe, NVLink, and its video engines. */
#include "gpu_raw.h"

static const struct raw_field fields[] = {
	[GPU_ENCODER_PERMILLE] = {"encoder_permille", RAW_GAUGE},
	[GPU_DECODER_PERMILLE] = {"decoder_permille", RAW_GAUGE},
	[GPU_PCIE_RX_BYTES] = {"pcie_rx_bytes", RAW_COUNTER},
	[GPU_PCIE_TX_BYTES] = {"pcie_tx_bytes", RAW_COUNTER},
	[GPU_NVLINK_RX_BYTES] = {"nvlink_rx_bytes", RAW_COUNTER},
	[GPU_NVLINK_TX_BYTES] = {"nvlink_tx_bytes", RAW_COUNTER},
	[GPU_PCIE_RX_BYTES_PER_S] = {"pcie_rx_bytes_per_s", RAW_GAUGE},
	[GPU_PCIE_TX_BYTES_PER_S] = {"pcie_tx_bytes_per_s", RAW_GAUGE},
};

#define PCIE_LIMIT 1e12 /* bytes a second; the seventh generation has a quarter of it */
#define NVLINK_LIMIT 1e13

static const struct metric metrics[] = {
	{GPU_PCT("gpu__encoder_utilization", GPU_ENCODER_PERMILLE,
	         "Part of the time in which the video encoder worked, over its driver's window.")},
	{GPU_PCT("gpu__decoder_utilization", GPU_DECODER_PERMILLE,
	         "Part of the time in which the video decoder worked, over its driver's window.")},
	{RATE("gpu__pcie_rx_bytes", UNIT_BYTES_PER_SEC, FIELD(GPU_PCIE_RX_BYTES),
	      "Bytes a second that the GPU got by PCIe."),
	 .rates = FIELD(GPU_PCIE_RX_BYTES_PER_S), .limit = PCIE_LIMIT},
	{RATE("gpu__pcie_tx_bytes", UNIT_BYTES_PER_SEC, FIELD(GPU_PCIE_TX_BYTES),
	      "Bytes a second that the GPU sent by PCIe."),
	 .rates = FIELD(GPU_PCIE_TX_BYTES_PER_S), .limit = PCIE_LIMIT},
	{RATE("gpu__nvlink_rx_bytes", UNIT_BYTES_PER_SEC, FIELD(GPU_NVLINK_RX_BYTES),
	      "Bytes a second that the GPU got by all of its NVLinks, without what the protocol adds."),
	 .limit = NVLINK_LIMIT},
	{RATE("gpu__nvlink_tx_bytes", UNIT_BYTES_PER_SEC, FIELD(GPU_NVLINK_TX_BYTES),
	      "Bytes a second that the GPU sent by all of its NVLinks, without what the protocol adds."),
	 .limit = NVLINK_LIMIT},
};

const struct source source_gpu_link = {
	.name = "gpu_link",
	.summary = "PCIe and NVLink traffic of each GPU, and load of its video engines",
	.shape = SHAPE_GPU,
	.stream = STREAM_TELEMETRY,
	.scope = SCOPE_GPU,
	TABLE(fields),
	TABLE(metrics),
	.cpu_clock_field = -1,
};
