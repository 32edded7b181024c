/* Holds the layout of public structs, which other people's programs have compiled in: 64 bits. */
#include "galvo/galvo.h"

#define AT(type, member, offset) \
	_Static_assert(offsetof(type, member) == (offset), #type "." #member " has moved")
/* At the end of what a release had; what is added comes behind it. */
#define ENDS(type, bytes) _Static_assert(sizeof(type) == (bytes), #type " has another size")

#if UINTPTR_MAX == UINT64_MAX
AT(galvo_error, status, 0);
AT(galvo_error, sys_errno, 4);
AT(galvo_error, text, 8);
ENDS(galvo_error, 256);

AT(galvo_check_result, messages, 0);
AT(galvo_check_result, rows, 8);
AT(galvo_check_result, damaged_messages, 16);
AT(galvo_check_result, missing_messages, 24);
AT(galvo_check_result, torn_bytes, 32);
AT(galvo_check_result, is_complete, 40);
AT(galvo_check_result, is_sound, 44);
ENDS(galvo_check_result, 48);

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
ENDS(galvo_run_info, 112);

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
ENDS(galvo_run_stream, 104);

AT(galvo_run_note, struct_size, 0);
AT(galvo_run_note, subject, 8);
AT(galvo_run_note, text, 16);
AT(galvo_run_note, is_damage, 24);
AT(galvo_run_note, is_torn_tail, 28);
AT(galvo_run_note, offset, 32);
ENDS(galvo_run_note, 40);

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
ENDS(galvo_run_table, 72);

AT(galvo_run_column, struct_size, 0);
AT(galvo_run_column, name, 8);
AT(galvo_run_column, unit, 16);
AT(galvo_run_column, type, 24);
AT(galvo_run_column, source, 32);
AT(galvo_run_column, help, 40);
AT(galvo_run_column, values, 48);
ENDS(galvo_run_column, 56);

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
ENDS(galvo_run_process, 72);

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
ENDS(galvo_run_region, 72);

AT(galvo_run_mark, struct_size, 0);
AT(galvo_run_mark, name, 8);
AT(galvo_run_mark, name_len, 16);
AT(galvo_run_mark, mono_ns, 24);
AT(galvo_run_mark, pid, 32);
AT(galvo_run_mark, thread, 36);
AT(galvo_run_mark, is_gpu, 40);
ENDS(galvo_run_mark, 48);

AT(galvo_instance, struct_size, 0);
AT(galvo_instance, key, 8);
AT(galvo_instance, is_whole_disk, 12);
AT(galvo_instance, is_stacked, 16);
AT(galvo_instance, process, 24);
AT(galvo_instance, name, 32);
AT(galvo_instance, rows_len, 40);
AT(galvo_instance, rows, 48);
ENDS(galvo_instance, 56);

AT(galvo_row, struct_size, 0);
AT(galvo_row, mono_ns, 8);
AT(galvo_row, key, 16);
AT(galvo_row, instance, 24);
AT(galvo_row, values, 32);
AT(galvo_row, values_len, 40);
ENDS(galvo_row, 48);

AT(galvo_follower_news, struct_size, 0);
AT(galvo_follower_news, run, 8);
AT(galvo_follower_news, messages, 16);
AT(galvo_follower_news, rows, 24);
AT(galvo_follower_news, has_restarted, 32);
AT(galvo_follower_news, has_more, 36);
ENDS(galvo_follower_news, 40);

AT(galvo_metric, struct_size, 0);
AT(galvo_metric, name, 8);
AT(galvo_metric, stream, 16);
AT(galvo_metric, scope, 24);
AT(galvo_metric, type, 32);
AT(galvo_metric, unit, 40);
AT(galvo_metric, source, 48);
AT(galvo_metric, help, 56);
ENDS(galvo_metric, 64);
#endif
