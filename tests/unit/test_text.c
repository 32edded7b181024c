/* Protobuf's text format: what is said in it, what is wrong with it and where, and back to text. */
#include <locale.h>

#include "metric_catalog.pb-c.h"
#include "profiler_config.pb-c.h"
#include "tap.h"
#include "wire/wire.h"

static const ProtobufCMessageDescriptor *const config = &galvo__profiler_suite_config__descriptor;

/* The text as protoc --decode would print what it means; the error if it means nothing. */
static const char *again(const ProtobufCMessageDescriptor *m, struct span text, char out[static 2048])
{
	galvo_error error = {0};
	struct buf bytes, printed;

	buf_init(&bytes, 1 << 20);
	buf_init(&printed, 2047);
	if (text_parse(m, "f", text, &bytes, &error) != GALVO_OK ||
	    text_print(m, span_of(bytes.p, bytes.len), &printed, &error) != GALVO_OK)
		snprintf(out, 2048, "%s", error.text);
	else
		snprintf(out, 2048, "%.*s", (int)printed.len, printed.p ? printed.p : "");
	buf_finish(&bytes);
	buf_finish(&printed);
	return out;
}

static void same(const ProtobufCMessageDescriptor *m, const char *text, const char *want)
{
	char out[2048];

	if (!OK(!strcmp(again(m, span_str(text), out), want)))
		printf("# %s\n# gives: %s\n", text, out);
}

static void forms(void)
{
	same(config, "", "");
	same(config, "# nothing\n", "");
	same(config, "output_dir: 'a' \"b\" # c\n 'd'", "output_dir: \"abd\"\n");
	same(config, "system { enabled: true sampling_frequency_hz: 0x64; flush_interval_ms: 017, }",
	     "system {\n  enabled: true\n  sampling_frequency_hz: 100\n  flush_interval_ms: 15\n}\n");
	same(config, "disk: < devices: ['a', \"b\"] devices: 'c' processes [{pid: 1}, <alias: 'x'>] >",
	     "disk {\n  devices: \"a\"\n  devices: \"b\"\n  devices: \"c\"\n  processes {\n    pid: 1\n  }\n"
	     "  processes {\n    alias: \"x\"\n  }\n}\n");
	same(config, "gpu{device_indices:[]device_indices:-1}", "gpu {\n  device_indices: -1\n}\n");
	same(config, "follow: TREE", "follow: TREE\n");
	same(config, "follow: 2", "follow: CHILDREN\n");
	same(config, "follow: -7", "follow: -7\n");
	same(config, "events {}", "events {\n}\n");
	same(config, "overwrite: t", "overwrite: true\n");
	same(config, "overwrite: False", "");
}

static void texts(void)
{
	same(config, "root: '\\a\\b\\f\\n\\r\\t\\v\\\\\\?\\'\\\"'",
	     "root: \"\\007\\010\\014\\n\\r\\t\\013\\\\?\\'\\\"\"\n");
	same(config, "root: '\\1014\\x41z\\x4aB'", "root: \"A4AzJB\"\n");
	same(config, "root: '\\u00e9\\U0001f600\\ud83d\\ude00'",
	     "root: \"\\303\\251\\360\\237\\230\\200\\360\\237\\230\\200\"\n");
	same(config, "root: 'a\\000b'", "root: \"a\\000b\"\n");
}

static void numbers(void)
{
	same(config, "budget_pct: 1e3", "budget_pct: 1000\n");
	same(config, "budget_pct: .5f", "budget_pct: 0.5\n");
	same(config, "budget_pct: 0.1", "budget_pct: 0.1\n");
	same(config, "budget_pct: 0.3333333333333333333333333333333333333333333333333333333333333333333333",
	     "budget_pct: 0.33333333333333331\n");
	same(config, "budget_pct: 99999999999999999999", "budget_pct: 1e+20\n");
	same(config, "budget_pct: - Infinity", "budget_pct: -inf\n");
	same(config, "budget_pct: NaN", "budget_pct: nan\n");
	same(config, "budget_pct: 1e999", "budget_pct: inf\n");
	same(config, "budget_pct: -0.0", "budget_pct: -0\n");
	same(config, "scan_interval_ms: 18446744073709551615", "scan_interval_ms: 18446744073709551615\n");
	same(config, "gpu { device_indices: -2147483648 }", "gpu {\n  device_indices: -2147483648\n}\n");
}

/* A comma is the decimal point where there is such a locale. */
static void locales(void)
{
	static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "cs_CZ.UTF-8"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(names) && !setlocale(LC_NUMERIC, names[i]); i++)
		;
	if (i == ARRAY_LEN(names))
		printf("# no locale with a decimal comma here\n");
	same(config, "budget_pct: 2.25", "budget_pct: 2.25\n");
	same(config, "budget_pct: 2,25", "f:1:15: expected a field, got '25'");
	setlocale(LC_NUMERIC, "C");
}

static const struct {
	const char *text, *error;
} hostile_rows[] = {
	{"system { sampling_frequency_hz: x }", "f:1:33: field 'system.sampling_frequency_hz': expected a number "
	                                        "from 0 to 18446744073709551615, got 'x'"},
	{"\n\n  nothing: 1", "f:3:3: field 'nothing': ProfilerSuiteConfig has no such field"},
	{"system {\n\thertz: 1 }", "f:2:2: field 'system.hertz': SystemProfilerConfig has no such field"},
	{"Output_Dir: 'a'", "f:1:1: field 'Output_Dir': ProfilerSuiteConfig has no such field"},
	{"output_dir: 'a' output_dir: 'b'", "f:1:17: field 'output_dir': given twice"},
	{"system {} system {}", "f:1:11: field 'system': given twice"},
	{"output_dir 'a'", "f:1:12: field 'output_dir': expected ':', got ''a''"},
	{"output_dir: a", "f:1:13: field 'output_dir': expected a text in quotes, got 'a'"},
	{"output_dir: ['a']", "f:1:13: field 'output_dir': expected a text in quotes, got '['"},
	{"output_dir: 'a", "f:1:13: field 'output_dir': expected a closing quote on the same line, got ''a'"},
	{"output_dir: 'a\n'", "f:1:13: field 'output_dir': expected a closing quote on the same line, got ''a'"},
	{"output_dir: '\\", "f:1:13: field 'output_dir': expected a closing quote on the same line, got ''\\\\'"},
	{"output_dir: '\\q'", "f:1:13: field 'output_dir': expected an escape that exists, got ''\\\\q''"},
	{"root: '\\xg'", "f:1:7: field 'root': expected hexadecimal digits after \\x, got ''\\\\xg''"},
	{"root: '\\u12'", "f:1:7: field 'root': expected four hexadecimal digits after \\u, got ''\\\\u12''"},
	{"root: '\\U00110000'", "f:1:7: field 'root': expected eight hexadecimal digits up to 10ffff after \\U, "
	                        "got ''\\\\U00110000''"},
	{"root: '\xff'", "f:1:7: field 'root': expected valid UTF-8, got ''\\xff''"},
	{"root: '\\ud83d'", "f:1:7: field 'root': expected valid UTF-8, got ''\\\\ud83d''"},
	{"root: '\xc3\xa9' \xc3\xa9", "f:1:11: expected text, got '\\xc3'"},
	{"system", "f:1:7: field 'system': expected '{', got the end"},
	{"system {", "f:1:9: field 'system': expected a field or the closing brace, got the end"},
	{"system { >", "f:1:10: field 'system': expected a field or the closing brace, got '>'"},
	{"system < }", "f:1:10: field 'system': expected a field or the closing brace, got '}'"},
	{"}", "f:1:1: expected a field, got '}'"},
	{";", "f:1:1: expected a field, got ';'"},
	{"[a.b]: 1", "f:1:1: expected a field, got '['"},
	{"overwrite: 2", "f:1:12: field 'overwrite': expected true or false, got '2'"},
	{"overwrite: TRUE", "f:1:12: field 'overwrite': expected true or false, got 'TRUE'"},
	{"follow: BRANCH", "f:1:9: field 'follow': expected UNSPECIFIED, NONE, CHILDREN or TREE, got 'BRANCH'"},
	{"follow: 2147483648", "f:1:9: field 'follow': expected a number of 32 bits, got '2147483648'"},
	{"scan_interval_ms: 18446744073709551616", "f:1:19: field 'scan_interval_ms': expected a number from 0 to "
	                                           "18446744073709551615, got '18446744073709551616'"},
	{"scan_interval_ms: -1", "f:1:19: field 'scan_interval_ms': expected a number from 0 to "
	                         "18446744073709551615, got '-'"},
	{"scan_interval_ms: 1.0", "f:1:19: field 'scan_interval_ms': expected a number from 0 to "
	                          "18446744073709551615, got '1.0'"},
	{"scan_interval_ms: 08", "f:1:19: field 'scan_interval_ms': expected octal digits after the zero, got '08'"},
	{"scan_interval_ms: 0x", "f:1:19: field 'scan_interval_ms': expected hexadecimal digits after 0x, got '0x'"},
	{"scan_interval_ms: 1s", "f:1:19: field 'scan_interval_ms': expected a blank behind the number, got '1'"},
	{"budget_pct: 1e", "f:1:13: field 'budget_pct': expected a number after its e, got '1e'"},
	{"budget_pct: 1.2.3", "f:1:13: field 'budget_pct': expected a number with one point at most, got '1.2'"},
	{"budget_pct: 0x1", "f:1:13: field 'budget_pct': expected a number, got '0x1'"},
	{"disk { devices: ['a' 'b' }", "f:1:26: field 'disk.devices': expected ',' or ']', got '}'"},
	{"disk { devices: ['a',] }", "f:1:22: field 'disk.devices': expected a text in quotes, got ']'"},
	{"/* no */", "f:1:1: expected a field, got '/'"},
	{"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa: 1",
	 "f:1:1: field 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa': ProfilerSuiteConfig "
	 "has no such field"},
};

static void hostile(void)
{
	char out[2048];
	size_t i;

	for (i = 0; i < ARRAY_LEN(hostile_rows); i++)
		same(config, hostile_rows[i].text, hostile_rows[i].error);
	OK(!strcmp(again(config, span_of("root\0", 5), out), "f:1:5: field 'root': expected text, got '\\x00'"));
	OK(!strcmp(again(config, span_of("# a\0b", 5), out), "f:1:4: expected text, got '\\x00'"));
	OK(!strcmp(again(config, span_of("root: 'a\0b'", 11), out),
	           "f:1:7: field 'root': expected a closing quote on the same line, got ''a'"));
}

/* Too little room and too little memory are told, whatever the size. */
static void limits(void)
{
	static const char text[] = "output_dir: 'abcdefghijklmnopqrstuvwxyz' system { pss: true processes { alias: 'a' } }";
	struct buf bytes, printed;
	galvo_error error;
	size_t max, whole;

	buf_init(&bytes, 1000);
	EQ(text_parse(config, "f", span_str(text), &bytes, &error), GALVO_OK);
	whole = bytes.len;
	for (max = 0; max < 150; max++) {
		buf_init(&printed, max);
		EQ(text_print(config, span_of(bytes.p, whole), &printed, NULL) == GALVO_OK, max >= 97);
		buf_finish(&printed);
	}
	buf_finish(&bytes);
	for (max = 0; max < whole; max++) {
		buf_init(&bytes, max);
		EQ(text_parse(config, "f", span_str(text), &bytes, &error), GALVO_ERR_NOMEM);
		buf_finish(&bytes);
	}
}

static void hostile_bytes(void)
{
	static const struct { const char *bytes; size_t n; const char *error; } rows[] = {
		{"\x0a\x05" "ab", 4, "ProfilerSuiteConfig: not a message"},
		{"\x0a\x01\xff", 3, "output_dir: not valid UTF-8"},
		{"\x1a\x02\x12\x01", 4, "GPUProfilerConfig: not a message"},
		{"\x1a\x03\x12\x01\x80", 5, "device_indices: not a packed list of its type"},
		{"\x0b\x0c", 2, "ProfilerSuiteConfig: not a message"},
	};
	/* An unknown number, a known one of another type, a message in two pieces, an unknown message. */
	static const char odd[] = "\x10\x01" "\x22\x02\x08\x01" "\xa0\x1f\x05" "\x22\x02\x10\x07" "\xa2\x1f\x02\x08\x01";
	galvo_error error;
	struct buf out;
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		buf_init(&out, 1000);
		EQ(text_print(config, span_of(rows[i].bytes, rows[i].n), &out, &error), GALVO_ERR_MALFORMED);
		if (!OK(!strcmp(error.text, rows[i].error)))
			printf("# row %zu: %s\n", i, error.text);
		buf_finish(&out);
	}
	buf_init(&out, 1000);
	EQ(text_print(config, span_of(odd, sizeof(odd) - 1), &out, &error), GALVO_OK);
	OK(span_eq_str(span_of(out.p, out.len),
	               "system {\n  enabled: true\n  sampling_frequency_hz: 7\n}\n2: 1\n500: 5\n500 {\n  1: 1\n}\n"));
	buf_finish(&out);
}

static void oneofs(void)
{
	const ProtobufCMessageDescriptor *catalog = &galvo__metric_catalog__descriptor;

	same(catalog, "descriptors { peak_constant: 0 }", "descriptors {\n  peak_constant: 0\n}\n");
	same(catalog, "descriptors { peak_ref: '' }", "descriptors {\n  peak_ref: \"\"\n}\n");
	same(catalog, "descriptors { peak_ref: 'a' peak_constant: 1 }",
	     "f:1:29: field 'descriptors.peak_constant': excluded by another one that is given");
	same(catalog, "descriptors { unit: UNIT_PCT } descriptors { unit: 999 }",
	     "descriptors {\n  unit: UNIT_PCT\n}\ndescriptors {\n  unit: 999\n}\n");
}

static const struct tap_test tests[] = {
	{"forms", forms},
	{"texts", texts},
	{"numbers", numbers},
	{"locales", locales},
	{"oneofs", oneofs},
	{"hostile", hostile},
	{"hostile bytes", hostile_bytes},
	{"limits", limits},
};
TAP_MAIN(tests)
