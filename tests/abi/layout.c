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

SIZE(galvo_suite_config, 360);
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
AT(galvo_suite_config, gpu_counters, 236);
AT(galvo_suite_config, gpu_telemetry, 240);
AT(galvo_suite_config, require_gpu_counters, 244);
AT(galvo_suite_config, gpus, 248);
AT(galvo_suite_config, gpus_len, 256);
AT(galvo_suite_config, gpu_metrics, 264);
AT(galvo_suite_config, gpu_metrics_len, 272);
AT(galvo_suite_config, gpu_hz, 280);
AT(galvo_suite_config, gpu_buffer_bytes, 288);
AT(galvo_suite_config, gpu_max_samples, 296);
AT(galvo_suite_config, gpu_decode_interval_ms, 304);
AT(galvo_suite_config, gpu_flush_interval_ms, 312);
AT(galvo_suite_config, gpu_drain_samples, 320);
AT(galvo_suite_config, gpu_file, 328);
AT(galvo_suite_config, telemetry_hz, 336);
AT(galvo_suite_config, telemetry_flush_interval_ms, 344);
AT(galvo_suite_config, telemetry_file, 352);

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

SIZE(galvo_suite_stats, 320);
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
AT(galvo_suite_stats, gpu_samples, 232);
AT(galvo_suite_stats, gpu_lost_samples, 240);
AT(galvo_suite_stats, gpu_lost_pct, 248);
AT(galvo_suite_stats, gpu_lost_why, 256);

SIZE(galvo_note, 328);
AT(galvo_note, struct_size, 0);
AT(galvo_note, subject, 8);
AT(galvo_note, text, 72);

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

SIZE(galvo_plot_format, 4);
VALUE(GALVO_PLOT_PNG, 1);
VALUE(GALVO_PLOT_SVG, 2);
VALUE(GALVO_PLOT_PDF, 3);

SIZE(galvo_plot_options, 64);
AT(galvo_plot_options, struct_size, 0);
AT(galvo_plot_options, format, 8);
AT(galvo_plot_options, is_dark, 12);
AT(galvo_plot_options, gpu_only, 16);
AT(galvo_plot_options, width, 20);
AT(galvo_plot_options, panel_height, 24);
AT(galvo_plot_options, reserved, 28);
AT(galvo_plot_options, panels, 32);
AT(galvo_plot_options, after_ns, 40);
AT(galvo_plot_options, before_ns, 48);
AT(galvo_plot_options, title, 56);
