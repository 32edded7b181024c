/* Texts that tell where galvo is: fields, lists, mounts, groups. Pure, and total on every input. */
#include "situation.h"

bool parse_field(struct span text, const char *key, struct span *ret)
{
	struct span line, head;

	while (span_take_line(&text, &line))
		if (span_cut(&line, ':', &head) && span_eq_str(span_trim(head), key)) {
			*ret = span_trim(line);
			return true;
		}
	return false;
}

bool parse_hex(struct span text, uint64_t *ret)
{
	uint64_t v = 0;
	size_t i;

	if (text.n == 0 || text.n > 16)
		return false;
	for (i = 0; i < text.n; i++) {
		const char c = text.p[i];
		unsigned digit;

		if (c >= '0' && c <= '9')
			digit = (unsigned)(c - '0');
		else if ((c | 32) >= 'a' && (c | 32) <= 'f')
			digit = (unsigned)((c | 32) - 'a') + 10;
		else
			return false;
		v = v << 4 | digit;
	}
	*ret = v;
	return true;
}

bool parse_has_number(struct span words, uint64_t number)
{
	struct span word;
	uint64_t v;

	while (span_take_word(&words, &word))
		if (span_to_u64(word, &v) && v == number)
			return true;
	return false;
}

bool parse_list(struct span text, uint64_t *ret_count)
{
	struct span rest = span_trim(text), item, low;
	uint64_t from, to, count = 0;

	while (rest.n) {
		if (!span_cut(&rest, ',', &item)) {
			item = rest;
			rest.n = 0;
		} else if (rest.n == 0) {
			return false; /* a comma, and nothing behind it */
		}
		if (!span_cut(&item, '-', &low))
			low = item;
		if (!span_to_u64(low, &from) || !span_to_u64(item, &to) || to < from || to > INT32_MAX)
			return false;
		count += to - from + 1;
		if (count > INT32_MAX)
			return false;
	}
	*ret_count = count;
	return true;
}

/* struct vfs_cap_data of linux/capability.h, which is little-endian everywhere: 12, 20 or 24 bytes. */
bool parse_file_caps(struct span bytes, uint64_t *ret)
{
	static const size_t sizes[] = {0, 12, 20, 24};
	const unsigned char *p = (const unsigned char *)bytes.p;
	const size_t revision = bytes.n >= 4 ? p[3] : 0;
	uint64_t caps = 0;
	size_t i;

	if (revision == 0 || revision >= ARRAY_LEN(sizes) || bytes.n != sizes[revision])
		return false;
	for (i = 0; i < 4; i++) {
		caps |= (uint64_t)p[4 + i] << 8 * i;
		caps |= revision > 1 ? (uint64_t)p[12 + i] << (32 + 8 * i) : 0;
	}
	*ret = caps;
	return true;
}

bool parse_namespace(struct span link, uint64_t *ret_inode)
{
	struct span kind;

	if (!span_cut(&link, '[', &kind) || link.n < 2 || link.p[link.n - 1] != ']')
		return false;
	return span_to_u64(span_of(link.p, link.n - 1), ret_inode);
}

/* 22 27 0:21 / /proc rw,relatime shared:5 - proc proc rw,hidepid=2 */
static bool mount_of(struct span line, struct mount *ret)
{
	struct span word, source;
	size_t i;

	for (i = 0; i < 3; i++)
		if (!span_take_word(&line, &word))
			return false;
	if (!span_take_word(&line, &ret->root) || !span_take_word(&line, &ret->point))
		return false;
	while (span_take_word(&line, &word))
		if (span_eq_str(word, "-"))
			return span_take_word(&line, &ret->type) && span_take_word(&line, &source) &&
			       span_take_word(&line, &ret->options);
	return false;
}

bool parse_mount(struct span *rest, struct mount *ret)
{
	struct span line;

	while (span_take_line(rest, &line))
		if (mount_of(line, ret))
			return true;
	return false;
}

void parse_proc_options(struct span options, struct proc_options *ret)
{
	static const struct { const char *word; unsigned level; } levels[] = {
		{"0", 0}, {"off", 0}, {"1", 1}, {"noaccess", 1}, {"2", 2}, {"invisible", 2},
		{"4", 4}, {"ptraceable", 4},
	};
	struct span option, value;
	size_t i;

	*ret = (struct proc_options){.is_known = true};
	while (options.n) {
		if (!span_cut(&options, ',', &option)) {
			option = options;
			options.n = 0;
		}
		if (span_starts(option, "gid=")) {
			value = span_of(option.p + 4, option.n - 4);
			ret->has_gid = span_to_u64(value, &ret->gid);
		}
		if (!span_starts(option, "hidepid="))
			continue;
		value = span_of(option.p + 8, option.n - 8);
		ret->is_known = false;
		for (i = 0; i < ARRAY_LEN(levels); i++)
			if (span_eq_str(value, levels[i].word)) {
				ret->hidepid = levels[i].level;
				ret->is_known = true;
			}
	}
}

/* 4:memory,hugetlb:/user.slice */
bool parse_cgroup(struct span text, const char *controller, struct span *ret_path)
{
	struct span line, number, names, name;

	while (span_take_line(&text, &line)) {
		if (!span_cut(&line, ':', &number) || !span_cut(&line, ':', &names) || line.n == 0 ||
		    line.p[0] != '/')
			continue;
		if (names.n == 0 && !controller[0]) {
			*ret_path = line;
			return true;
		}
		while (names.n) {
			if (!span_cut(&names, ',', &name)) {
				name = names;
				names.n = 0;
			}
			if (controller[0] && span_eq_str(name, controller)) {
				*ret_path = line;
				return true;
			}
		}
	}
	return false;
}

bool parse_cpu_max(struct span text, double *ret_cpus)
{
	struct span rest = span_trim(text), quota;
	uint64_t quota_us, period_us;

	if (!span_take_word(&rest, &quota) || !span_to_u64(quota, &quota_us) ||
	    !span_take_u64(&rest, &period_us) || span_trim(rest).n || period_us == 0)
		return false;
	*ret_cpus = (double)quota_us / (double)period_us;
	return true;
}

/* A number with a point in it, by itself: "x86_64" and "(buildd@host)" are none. */
static bool is_version(struct span word)
{
	size_t i, points = 0;

	for (i = 0; i < word.n; i++) {
		if (word.p[i] == '.')
			points++;
		else if (word.p[i] < '0' || word.p[i] > '9')
			return false;
	}
	return points > 0 && word.p[0] != '.' && word.p[word.n - 1] != '.';
}

bool parse_nvidia_version(struct span text, struct span *ret)
{
	struct span line, word;

	if (!parse_field(text, "NVRM version", &line))
		return false;
	while (span_take_word(&line, &word))
		if (is_version(word)) {
			*ret = word;
			return true;
		}
	return false;
}
