/*
 * The layout of every public struct and the values of every public enum, as programs know them already.
 *
 * A member that is appended adds a line and changes the size of its struct; no other line changes.
 */
#include "claims.h"

SIZE(galvo_metric, 64);
AT(galvo_metric, struct_size, 0);
AT(galvo_metric, name, 8);
AT(galvo_metric, stream, 16);
AT(galvo_metric, scope, 24);
AT(galvo_metric, type, 32);
AT(galvo_metric, unit, 40);
AT(galvo_metric, source, 48);
AT(galvo_metric, help, 56);

SIZE(galvo_counters_config, 32);
AT(galvo_counters_config, struct_size, 0);
AT(galvo_counters_config, chip, 8);
AT(galvo_counters_config, device, 16);
AT(galvo_counters_config, reserved, 20);
AT(galvo_counters_config, cupti_path, 24);

SIZE(galvo_counter, 64);
AT(galvo_counter, struct_size, 0);
AT(galvo_counter, name, 8);
AT(galvo_counter, type, 16);
AT(galvo_counter, unit, 24);
AT(galvo_counter, vendor_unit, 32);
AT(galvo_counter, hardware, 40);
AT(galvo_counter, suffixes, 48);
AT(galvo_counter, description, 56);

SIZE(galvo_counter_set, 64);
AT(galvo_counter_set, struct_size, 0);
AT(galvo_counter_set, names, 8);
AT(galvo_counter_set, names_len, 16);
AT(galvo_counter_set, dropped, 24);
AT(galvo_counter_set, reasons, 32);
AT(galvo_counter_set, dropped_len, 40);
AT(galvo_counter_set, sample_bytes, 48);
AT(galvo_counter_set, is_guess, 56);
AT(galvo_counter_set, reserved, 60);

SIZE(galvo_system_config, 120);
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
AT(galvo_system_config, stop_at_exit, 88);
AT(galvo_system_config, threads, 92);
AT(galvo_system_config, sidecar_path, 96);
AT(galvo_system_config, sidecar_cpus, 104);
AT(galvo_system_config, mode, 112);
AT(galvo_system_config, reserved, 116);

SIZE(galvo_disk_config, 120);
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
AT(galvo_disk_config, stop_at_exit, 96);
AT(galvo_disk_config, mode, 100);
AT(galvo_disk_config, sidecar_path, 104);
AT(galvo_disk_config, sidecar_cpus, 112);

SIZE(galvo_event_config, 48);
AT(galvo_event_config, struct_size, 0);
AT(galvo_event_config, flush_interval_ms, 8);
AT(galvo_event_config, output_file, 16);
AT(galvo_event_config, stop_at_exit, 24);
AT(galvo_event_config, mode, 28);
AT(galvo_event_config, sidecar_path, 32);
AT(galvo_event_config, sidecar_cpus, 40);

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

SIZE(galvo_process, 24);
AT(galvo_process, pid, 0);
AT(galvo_process, profilers, 4);
AT(galvo_process, alias, 8);
AT(galvo_process, follow, 16);
AT(galvo_process, reserved, 20);

SIZE(galvo_suite_config, 240);
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
AT(galvo_suite_config, stop_at_exit, 204);
AT(galvo_suite_config, no_kernel_events, 208);
AT(galvo_suite_config, threads, 212);
AT(galvo_suite_config, sidecar_path, 216);
AT(galvo_suite_config, sidecar_cpus, 224);
AT(galvo_suite_config, mode, 232);
AT(galvo_suite_config, reserved, 236);

SIZE(galvo_child, 96);
AT(galvo_child, struct_size, 0);
AT(galvo_child, pid, 8);
AT(galvo_child, exit_code, 12);
AT(galvo_child, term_signal, 16);
AT(galvo_child, user_ns, 24);
AT(galvo_child, system_ns, 32);
AT(galvo_child, max_rss_bytes, 40);
AT(galvo_child, minor_faults, 48);
AT(galvo_child, major_faults, 56);
AT(galvo_child, read_blocks, 64);
AT(galvo_child, write_blocks, 72);
AT(galvo_child, voluntary_switches, 80);
AT(galvo_child, involuntary_switches, 88);
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

SIZE(galvo_suite_stats, 232);
AT(galvo_suite_stats, struct_size, 0);
AT(galvo_suite_stats, ticks, 8);
AT(galvo_suite_stats, missed_ticks, 16);
AT(galvo_suite_stats, processes_alive, 24);
AT(galvo_suite_stats, roots_alive, 32);
AT(galvo_suite_stats, bytes_written, 40);
AT(galvo_suite_stats, dropped_batches, 48);
AT(galvo_suite_stats, elapsed_ns, 56);
AT(galvo_suite_stats, largest_divisor, 64);
AT(galvo_suite_stats, slowed_sources, 68);

SIZE(galvo_run_info, 112);
AT(galvo_run_info, struct_size, 0);
AT(galvo_run_info, hostname, 8);
AT(galvo_run_info, kernel, 16);
AT(galvo_run_info, boot_id, 24);
AT(galvo_run_info, galvo_version, 32);
AT(galvo_run_info, start_wall_ns, 40);
AT(galvo_run_info, start_mono_ns, 48);
AT(galvo_run_info, stop_mono_ns, 56);
AT(galvo_run_info, last_mono_ns, 64);
AT(galvo_run_info, cpu_count, 72);
AT(galvo_run_info, recorder_pid, 76);
AT(galvo_run_info, argv, 80);
AT(galvo_run_info, argv_len, 88);
AT(galvo_run_info, workload_pid, 96);
AT(galvo_run_info, workload_exited, 100);
AT(galvo_run_info, exit_code, 104);
AT(galvo_run_info, term_signal, 108);

SIZE(galvo_run_stream, 104);
AT(galvo_run_stream, struct_size, 0);
AT(galvo_run_stream, kind, 8);
AT(galvo_run_stream, is_present, 12);
AT(galvo_run_stream, file, 16);
AT(galvo_run_stream, frequency_hz, 24);
AT(galvo_run_stream, bytes, 32);
AT(galvo_run_stream, messages, 40);
AT(galvo_run_stream, rows, 48);
AT(galvo_run_stream, damaged_messages, 56);
AT(galvo_run_stream, missing_messages, 64);
AT(galvo_run_stream, dropped_rows, 72);
AT(galvo_run_stream, ticks, 80);
AT(galvo_run_stream, missed_ticks, 88);
AT(galvo_run_stream, last_mono_ns, 96);

SIZE(galvo_run_note, 40);
AT(galvo_run_note, struct_size, 0);
AT(galvo_run_note, subject, 8);
AT(galvo_run_note, text, 16);
AT(galvo_run_note, is_damage, 24);
AT(galvo_run_note, is_torn_tail, 28);
AT(galvo_run_note, offset, 32);

SIZE(galvo_run_table, 88);
AT(galvo_run_table, struct_size, 0);
AT(galvo_run_table, stream, 8);
AT(galvo_run_table, key_kind, 12);
AT(galvo_run_table, scope, 16);
AT(galvo_run_table, rows_len, 24);
AT(galvo_run_table, columns_len, 32);
AT(galvo_run_table, names_len, 40);
AT(galvo_run_table, mono_ns, 48);
AT(galvo_run_table, key, 56);
AT(galvo_run_table, names, 64);
AT(galvo_run_table, pid, 72);
AT(galvo_run_table, duration_ns, 80);

SIZE(galvo_run_column, 56);
AT(galvo_run_column, struct_size, 0);
AT(galvo_run_column, name, 8);
AT(galvo_run_column, unit, 16);
AT(galvo_run_column, type, 24);
AT(galvo_run_column, source, 32);
AT(galvo_run_column, help, 40);
AT(galvo_run_column, values, 48);

SIZE(galvo_run_process, 160);
AT(galvo_run_process, struct_size, 0);
AT(galvo_run_process, pid, 8);
AT(galvo_run_process, ppid, 12);
AT(galvo_run_process, start_ticks, 16);
AT(galvo_run_process, first_mono_ns, 24);
AT(galvo_run_process, end_mono_ns, 32);
AT(galvo_run_process, is_root, 40);
AT(galvo_run_process, alias, 48);
AT(galvo_run_process, comm, 56);
AT(galvo_run_process, command, 64);
AT(galvo_run_process, has_status, 72);
AT(galvo_run_process, exit_code, 76);
AT(galvo_run_process, term_signal, 80);
AT(galvo_run_process, has_rusage, 84);
AT(galvo_run_process, user_ns, 88);
AT(galvo_run_process, system_ns, 96);
AT(galvo_run_process, max_rss_bytes, 104);
AT(galvo_run_process, minor_faults, 112);
AT(galvo_run_process, major_faults, 120);
AT(galvo_run_process, read_blocks, 128);
AT(galvo_run_process, write_blocks, 136);
AT(galvo_run_process, voluntary_switches, 144);
AT(galvo_run_process, involuntary_switches, 152);

SIZE(galvo_run_gpu, 272);
AT(galvo_run_gpu, struct_size, 0);
AT(galvo_run_gpu, index, 8);
AT(galvo_run_gpu, parent, 12);
AT(galvo_run_gpu, name, 16);
AT(galvo_run_gpu, vendor, 24);
AT(galvo_run_gpu, chip, 32);
AT(galvo_run_gpu, uuid, 40);
AT(galvo_run_gpu, pci, 48);
AT(galvo_run_gpu, driver, 56);
AT(galvo_run_gpu, peak_dram_bytes_per_s, 64);
AT(galvo_run_gpu, peak_pcie_bytes_per_s, 72);
AT(galvo_run_gpu, peak_nvlink_bytes_per_s, 80);
AT(galvo_run_gpu, memory_bytes, 88);
AT(galvo_run_gpu, sm_count, 96);
AT(galvo_run_gpu, warps_per_sm, 100);
AT(galvo_run_gpu, compute_major, 104);
AT(galvo_run_gpu, compute_minor, 108);
AT(galvo_run_gpu, is_instance, 112);
AT(galvo_run_gpu, has_counters, 116);
AT(galvo_run_gpu, samples, 120);
AT(galvo_run_gpu, decodes, 128);
AT(galvo_run_gpu, decode_failures, 136);
AT(galvo_run_gpu, full_images, 144);
AT(galvo_run_gpu, overflows, 152);
AT(galvo_run_gpu, restarts, 160);
AT(galvo_run_gpu, stretched, 168);
AT(galvo_run_gpu, empty, 176);
AT(galvo_run_gpu, timeless, 184);
AT(galvo_run_gpu, unwritten, 192);
AT(galvo_run_gpu, not_finite, 200);
AT(galvo_run_gpu, missing_ns, 208);
AT(galvo_run_gpu, decode_ns, 216);
AT(galvo_run_gpu, evaluate_ns, 224);
AT(galvo_run_gpu, clock_steps, 232);
AT(galvo_run_gpu, interval_ns, 240);
AT(galvo_run_gpu, buffer_bytes, 248);
AT(galvo_run_gpu, sample_bytes, 256);
AT(galvo_run_gpu, reason, 264);

SIZE(galvo_run_usage, 56);
AT(galvo_run_usage, struct_size, 0);
AT(galvo_run_usage, kind, 8);
AT(galvo_run_usage, is_known, 12);
AT(galvo_run_usage, head, 16);
AT(galvo_run_usage, sampled, 24);
AT(galvo_run_usage, tail, 32);
AT(galvo_run_usage, unseen, 40);
AT(galvo_run_usage, mixed, 48);

SIZE(galvo_run_earlier_name, 24);
AT(galvo_run_earlier_name, struct_size, 0);
AT(galvo_run_earlier_name, comm, 8);
AT(galvo_run_earlier_name, until_mono_ns, 16);

SIZE(galvo_run_thread, 48);
AT(galvo_run_thread, struct_size, 0);
AT(galvo_run_thread, pid, 8);
AT(galvo_run_thread, tid, 12);
AT(galvo_run_thread, start_ticks, 16);
AT(galvo_run_thread, first_mono_ns, 24);
AT(galvo_run_thread, end_mono_ns, 32);
AT(galvo_run_thread, name, 40);

SIZE(galvo_run_region, 72);
AT(galvo_run_region, struct_size, 0);
AT(galvo_run_region, name, 8);
AT(galvo_run_region, name_len, 16);
AT(galvo_run_region, id, 24);
AT(galvo_run_region, start_mono_ns, 32);
AT(galvo_run_region, end_mono_ns, 40);
AT(galvo_run_region, pid, 48);
AT(galvo_run_region, begin_thread, 52);
AT(galvo_run_region, end_thread, 56);
AT(galvo_run_region, is_unfinished, 60);
AT(galvo_run_region, is_gpu, 64);

SIZE(galvo_run_mark, 48);
AT(galvo_run_mark, struct_size, 0);
AT(galvo_run_mark, name, 8);
AT(galvo_run_mark, name_len, 16);
AT(galvo_run_mark, mono_ns, 24);
AT(galvo_run_mark, pid, 32);
AT(galvo_run_mark, thread, 36);
AT(galvo_run_mark, is_gpu, 40);

SIZE(galvo_instance, 64);
AT(galvo_instance, struct_size, 0);
AT(galvo_instance, key, 8);
AT(galvo_instance, is_whole_disk, 12);
AT(galvo_instance, is_stacked, 16);
AT(galvo_instance, process, 24);
AT(galvo_instance, name, 32);
AT(galvo_instance, rows_len, 40);
AT(galvo_instance, rows, 48);
AT(galvo_instance, thread, 56);

SIZE(galvo_row, 48);
AT(galvo_row, struct_size, 0);
AT(galvo_row, mono_ns, 8);
AT(galvo_row, key, 16);
AT(galvo_row, instance, 24);
AT(galvo_row, values, 32);
AT(galvo_row, values_len, 40);

SIZE(galvo_follower_news, 40);
AT(galvo_follower_news, struct_size, 0);
AT(galvo_follower_news, run, 8);
AT(galvo_follower_news, messages, 16);
AT(galvo_follower_news, rows, 24);
AT(galvo_follower_news, has_restarted, 32);
AT(galvo_follower_news, has_more, 36);

SIZE(galvo_stream_kind, 4);
VALUE(GALVO_STREAM_GPU, 1);
VALUE(GALVO_STREAM_SYSTEM, 2);
VALUE(GALVO_STREAM_DISK, 3);
VALUE(GALVO_STREAM_EVENTS, 4);
VALUE(GALVO_STREAM_TELEMETRY, 100);

SIZE(galvo_key_kind, 4);
VALUE(GALVO_KEY_NONE, 0);
VALUE(GALVO_KEY_PROCESS, 1);
VALUE(GALVO_KEY_CPU, 2);
VALUE(GALVO_KEY_NAME, 3);
VALUE(GALVO_KEY_THREAD, 4);
VALUE(GALVO_KEY_GPU, 5);
VALUE(GALVO_KEY_GPU_PROCESS, 6);

SIZE(galvo_usage_kind, 4);
VALUE(GALVO_USAGE_CPU_NS, 1);
VALUE(GALVO_USAGE_RCHAR, 2);
VALUE(GALVO_USAGE_WCHAR, 3);
VALUE(GALVO_USAGE_READ_BYTES, 4);
VALUE(GALVO_USAGE_WRITE_BYTES, 5);
VALUE(GALVO_USAGE_CANCELLED_WRITE_BYTES, 6);

SIZE(galvo_domain, 4);
VALUE(GALVO_DOMAIN_HOST, 1);
VALUE(GALVO_DOMAIN_GPU, 2);

SIZE(galvo_saying, 4);
VALUE(GALVO_SAY_MARK, 1);
VALUE(GALVO_SAY_BEGIN, 2);
VALUE(GALVO_SAY_END, 3);

SIZE(galvo_finding, 64);
AT(galvo_finding, struct_size, 0);
AT(galvo_finding, id, 8);
AT(galvo_finding, group, 16);
AT(galvo_finding, title, 24);
AT(galvo_finding, verdict, 32);
AT(galvo_finding, need, 36);
AT(galvo_finding, found, 40);
AT(galvo_finding, meaning, 48);
AT(galvo_finding, remedy, 56);

SIZE(galvo_doctor_config, 24);
AT(galvo_doctor_config, struct_size, 0);
AT(galvo_doctor_config, root, 8);
AT(galvo_doctor_config, output_dir, 16);

SIZE(galvo_verdict, 4);
VALUE(GALVO_VERDICT_UNKNOWN, 0);
VALUE(GALVO_VERDICT_YES, 1);
VALUE(GALVO_VERDICT_PARTLY, 2);
VALUE(GALVO_VERDICT_NO, 3);
VALUE(GALVO_VERDICT_NOT_APPLICABLE, 4);

SIZE(galvo_need, 4);
VALUE(GALVO_NEED_NONE, 0);
VALUE(GALVO_NEED_SOME, 1);
VALUE(GALVO_NEED_ALL, 2);

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

SIZE(galvo_mode, 4);
VALUE(GALVO_IN_PROCESS, 0);
VALUE(GALVO_SIDECAR, 1);

SIZE(galvo_report_format, 4);
VALUE(GALVO_REPORT_TEXT, 1);
VALUE(GALVO_REPORT_JSON, 2);

SIZE(galvo_report_by, 4);
VALUE(GALVO_REPORT_BY_PID, 0);
VALUE(GALVO_REPORT_BY_COMM, 1);

SIZE(galvo_report_options, 16);
AT(galvo_report_options, struct_size, 0);
AT(galvo_report_options, format, 8);
AT(galvo_report_options, by, 12);
