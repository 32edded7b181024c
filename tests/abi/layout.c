/*
 * The layout of every public struct and the values of every public enum, as programs know them already.
 *
 * A member that is appended adds a line and changes the size of its struct; no other line changes.
 */
#include <galvo/galvo.h>

#ifdef __cplusplus
#define CLAIM(claim, text) static_assert(claim, text)
#else
#define CLAIM(claim, text) _Static_assert(claim, text)
#endif

/* Alike where size_t and pointers have 64 bits: x86_64, aarch64. */
#define LP64 (sizeof(void *) == 8)
#define SIZE(type, bytes) CLAIM(!LP64 || sizeof(type) == (bytes), "size of " #type)
#define AT(type, member, offset)                                                                   \
	CLAIM(!LP64 || offsetof(type, member) == (offset), "offset of " #type "." #member)
#define VALUE(name, value) CLAIM((int)(name) == (value), "value of " #name)

SIZE(galvo_metric, 64);
AT(galvo_metric, struct_size, 0);
AT(galvo_metric, name, 8);
AT(galvo_metric, stream, 16);
AT(galvo_metric, scope, 24);
AT(galvo_metric, type, 32);
AT(galvo_metric, unit, 40);
AT(galvo_metric, source, 48);
AT(galvo_metric, help, 56);

SIZE(galvo_system_config, 88);
AT(galvo_system_config, struct_size, 0);
AT(galvo_system_config, frequency_hz, 8);
AT(galvo_system_config, processes, 16);
AT(galvo_system_config, processes_len, 24);
AT(galvo_system_config, flush_interval_ms, 32);
AT(galvo_system_config, output_file, 40);
AT(galvo_system_config, root, 48);
AT(galvo_system_config, core_hz, 56);
AT(galvo_system_config, follow, 64);
AT(galvo_system_config, pss, 68);
AT(galvo_system_config, scan_interval_ms, 72);
AT(galvo_system_config, budget_pct, 80);

SIZE(galvo_disk_config, 96);
AT(galvo_disk_config, struct_size, 0);
AT(galvo_disk_config, frequency_hz, 8);
AT(galvo_disk_config, devices, 16);
AT(galvo_disk_config, devices_len, 24);
AT(galvo_disk_config, processes, 32);
AT(galvo_disk_config, processes_len, 40);
AT(galvo_disk_config, flush_interval_ms, 48);
AT(galvo_disk_config, output_file, 56);
AT(galvo_disk_config, root, 64);
AT(galvo_disk_config, follow, 72);
AT(galvo_disk_config, reserved, 76);
AT(galvo_disk_config, scan_interval_ms, 80);
AT(galvo_disk_config, budget_pct, 88);

SIZE(galvo_event_config, 24);
AT(galvo_event_config, struct_size, 0);
AT(galvo_event_config, flush_interval_ms, 8);
AT(galvo_event_config, output_file, 16);

SIZE(galvo_check_result, 48);
AT(galvo_check_result, messages, 0);
AT(galvo_check_result, rows, 8);
AT(galvo_check_result, damaged_messages, 16);
AT(galvo_check_result, missing_messages, 24);
AT(galvo_check_result, torn_bytes, 32);
AT(galvo_check_result, is_complete, 40);
AT(galvo_check_result, is_sound, 44);

SIZE(galvo_error, 256);
AT(galvo_error, status, 0);
AT(galvo_error, sys_errno, 4);
AT(galvo_error, text, 8);

SIZE(galvo_process, 16);
AT(galvo_process, pid, 0);
AT(galvo_process, profilers, 4);
AT(galvo_process, alias, 8);

SIZE(galvo_suite_config, 208);
AT(galvo_suite_config, struct_size, 0);
AT(galvo_suite_config, output_dir, 8);
AT(galvo_suite_config, root, 16);
AT(galvo_suite_config, system_hz, 24);
AT(galvo_suite_config, core_hz, 32);
AT(galvo_suite_config, disk_hz, 40);
AT(galvo_suite_config, flush_interval_ms, 48);
AT(galvo_suite_config, scan_interval_ms, 56);
AT(galvo_suite_config, budget_pct, 64);
AT(galvo_suite_config, disks, 72);
AT(galvo_suite_config, disks_len, 80);
AT(galvo_suite_config, processes, 88);
AT(galvo_suite_config, processes_len, 96);
AT(galvo_suite_config, follow, 104);
AT(galvo_suite_config, pss, 108);
AT(galvo_suite_config, overwrite, 112);
AT(galvo_suite_config, adopter_pid, 116);
AT(galvo_suite_config, is_recorder, 120);
AT(galvo_suite_config, no_events, 124);
AT(galvo_suite_config, events_file, 128);
AT(galvo_suite_config, events_flush_interval_ms, 136);
AT(galvo_suite_config, no_system, 144);
AT(galvo_suite_config, no_disk, 148);
AT(galvo_suite_config, system_file, 152);
AT(galvo_suite_config, disk_file, 160);
AT(galvo_suite_config, disk_flush_interval_ms, 168);
AT(galvo_suite_config, metric_catalog_path, 176);
AT(galvo_suite_config, notes, 184);
AT(galvo_suite_config, notes_len, 192);
AT(galvo_suite_config, require_disks, 200);

SIZE(galvo_workload, 128);
AT(galvo_workload, struct_size, 0);
AT(galvo_workload, argv, 8);
AT(galvo_workload, argv_len, 16);
AT(galvo_workload, pid, 24);
AT(galvo_workload, exited, 28);
AT(galvo_workload, exit_code, 32);
AT(galvo_workload, term_signal, 36);
AT(galvo_workload, start_mono_ns, 40);
AT(galvo_workload, end_mono_ns, 48);
AT(galvo_workload, user_ns, 56);
AT(galvo_workload, system_ns, 64);
AT(galvo_workload, max_rss_bytes, 72);
AT(galvo_workload, minor_faults, 80);
AT(galvo_workload, major_faults, 88);
AT(galvo_workload, read_blocks, 96);
AT(galvo_workload, write_blocks, 104);
AT(galvo_workload, voluntary_switches, 112);
AT(galvo_workload, involuntary_switches, 120);

SIZE(galvo_suite_stats, 64);
AT(galvo_suite_stats, struct_size, 0);
AT(galvo_suite_stats, ticks, 8);
AT(galvo_suite_stats, missed_ticks, 16);
AT(galvo_suite_stats, processes_alive, 24);
AT(galvo_suite_stats, roots_alive, 32);
AT(galvo_suite_stats, bytes_written, 40);
AT(galvo_suite_stats, dropped_batches, 48);
AT(galvo_suite_stats, elapsed_ns, 56);

SIZE(galvo_domain, 4);
VALUE(GALVO_DOMAIN_HOST, 1);
VALUE(GALVO_DOMAIN_GPU, 2);

SIZE(galvo_saying, 4);
VALUE(GALVO_SAY_MARK, 1);
VALUE(GALVO_SAY_BEGIN, 2);
VALUE(GALVO_SAY_END, 3);

SIZE(galvo_status, 4);
VALUE(GALVO_DONE, 1);
VALUE(GALVO_OK, 0);
VALUE(GALVO_ERR_NOMEM, -1);
VALUE(GALVO_ERR_INVALID, -2);
VALUE(GALVO_ERR_STATE, -3);
VALUE(GALVO_ERR_ABSENT, -4);
VALUE(GALVO_ERR_DENIED, -5);
VALUE(GALVO_ERR_MALFORMED, -6);
VALUE(GALVO_ERR_IO, -7);
VALUE(GALVO_ERR_NEWER, -8);
VALUE(GALVO_ERR_CALLBACK, -9);

SIZE(galvo_follow, 4);
VALUE(GALVO_FOLLOW_NONE, 0);
VALUE(GALVO_FOLLOW_CHILDREN, 1);
VALUE(GALVO_FOLLOW_TREE, 2);

SIZE(galvo_report_format, 4);
VALUE(GALVO_REPORT_TEXT, 1);
VALUE(GALVO_REPORT_JSON, 2);
