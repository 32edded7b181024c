/* The layout of what galvo/page.h has, as layout.c has that of all else. */
#include "claims.h"

SIZE(galvo_page_run, 16);
AT(galvo_page_run, run, 0);
AT(galvo_page_run, label, 8);

SIZE(galvo_page_window, 16);
AT(galvo_page_window, from_s, 0);
AT(galvo_page_window, end_s, 8);

SIZE(galvo_page_options, 56);
AT(galvo_page_options, struct_size, 0);
AT(galvo_page_options, max_bytes, 8);
AT(galvo_page_options, precision_bits, 16);
AT(galvo_page_options, reserved, 20);
AT(galvo_page_options, align, 24);
AT(galvo_page_options, details, 32);
AT(galvo_page_options, details_len, 40);
AT(galvo_page_options, title, 48);

SIZE(galvo_page_part, 4);
VALUE(GALVO_PAGE_HTML, 1);
VALUE(GALVO_PAGE_SCRIPT, 2);
VALUE(GALVO_PAGE_STYLE, 3);

SIZE(galvo_page_data_kind, 4);
VALUE(GALVO_PAGE_OVERVIEW, 1);
VALUE(GALVO_PAGE_DETAIL, 2);
VALUE(GALVO_PAGE_NEWS, 3);

SIZE(galvo_page_data_options, 88);
AT(galvo_page_data_options, struct_size, 0);
AT(galvo_page_data_options, kind, 8);
AT(galvo_page_data_options, is_live, 12);
AT(galvo_page_data_options, buckets, 16);
AT(galvo_page_data_options, precision_bits, 20);
AT(galvo_page_data_options, from_s, 24);
AT(galvo_page_data_options, end_s, 32);
AT(galvo_page_data_options, zero_mono_ns, 40);
AT(galvo_page_data_options, sequence, 48);
AT(galvo_page_data_options, summary, 56);
AT(galvo_page_data_options, label, 64);
AT(galvo_page_data_options, title, 72);
AT(galvo_page_data_options, memory, 80);
