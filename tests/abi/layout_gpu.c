/* The layout of public structs about GPUs; see layout.c. */
#include "claims.h"

SIZE(galvo_gpu_config, 136);
AT(galvo_gpu_config, struct_size, 0);
AT(galvo_gpu_config, device_indices, 8);
AT(galvo_gpu_config, device_indices_len, 16);
AT(galvo_gpu_config, frequency_hz, 24);
AT(galvo_gpu_config, hw_buffer_bytes, 32);
AT(galvo_gpu_config, max_samples, 40);
AT(galvo_gpu_config, metrics, 48);
AT(galvo_gpu_config, metrics_len, 56);
AT(galvo_gpu_config, flush_interval_ms, 64);
AT(galvo_gpu_config, decode_interval_ms, 72);
AT(galvo_gpu_config, output_file, 80);
AT(galvo_gpu_config, events_file, 88);
AT(galvo_gpu_config, drain_samples, 96);
AT(galvo_gpu_config, all_devices, 104);
AT(galvo_gpu_config, stop_at_exit, 108);
AT(galvo_gpu_config, sidecar_path, 112);
AT(galvo_gpu_config, sidecar_cpus, 120);
AT(galvo_gpu_config, mode, 128);
AT(galvo_gpu_config, reserved, 132);

SIZE(galvo_gpu_device, 352);
AT(galvo_gpu_device, struct_size, 0);
AT(galvo_gpu_device, index, 8);
AT(galvo_gpu_device, sm_count, 12);
AT(galvo_gpu_device, warps_per_sm, 16);
AT(galvo_gpu_device, compute_major, 20);
AT(galvo_gpu_device, compute_minor, 24);
AT(galvo_gpu_device, reserved, 28);
AT(galvo_gpu_device, memory_bytes, 32);
AT(galvo_gpu_device, peak_dram_bytes_per_s, 40);
AT(galvo_gpu_device, peak_pcie_bytes_per_s, 48);
AT(galvo_gpu_device, peak_nvlink_bytes_per_s, 56);
AT(galvo_gpu_device, name, 64);
AT(galvo_gpu_device, chip, 160);
AT(galvo_gpu_device, uuid, 192);
AT(galvo_gpu_device, pci, 256);
AT(galvo_gpu_device, driver, 288);

SIZE(galvo_gpu_metric, 264);
AT(galvo_gpu_metric, struct_size, 0);
AT(galvo_gpu_metric, name, 8);

SIZE(galvo_gpu_sample, 1064);
AT(galvo_gpu_sample, struct_size, 0);
AT(galvo_gpu_sample, gpu_index, 8);
AT(galvo_gpu_sample, values_len, 12);
AT(galvo_gpu_sample, start_mono_ns, 16);
AT(galvo_gpu_sample, end_mono_ns, 24);
AT(galvo_gpu_sample, overwritten, 32);
AT(galvo_gpu_sample, values, 40);
