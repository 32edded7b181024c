/* Cuts protobuf's text format into tokens, exactly as protoc does. */
#include "text.h"

/* The next byte; 0 at the end, and a NUL in the text is wrong wherever it stands. */
static char look(const struct tokens *t)
{
	return t->at < t->text.n ? t->text.p[t->at] : '\0';
}

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_octal(char c)
{
	return c >= '0' && c <= '7';
}

static bool is_hex(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_name(char c)
{
	return is_letter(c) || is_digit(c);
}

/* Moves past one of two bytes, if it is there. */
static bool take(struct tokens *t, char a, char b)
{
	if (look(t) != a && look(t) != b)
		return false;
	t->at += t->at < t->text.n;
	return true;
}

static size_t take_all(struct tokens *t, bool (*is)(char))
{
	size_t from = t->at;

	while (is(look(t)))
		t->at++;
	return t->at - from;
}

static void wrong(struct tokens *t, const char *why)
{
	t->token.kind = TOKEN_WRONG;
	if (!t->token.wrong)
		t->token.wrong = why;
}

static void skip_blanks(struct tokens *t)
{
	for (;;) {
		take_all(t, is_blank);
		if (look(t) != '#')
			return;
		while (t->at < t->text.n && look(t) != '\n' && look(t) != '\0')
			t->at++;
	}
}

/* ---- numbers ------------------------------------------------------------------------------------ */

static void take_decimal(struct tokens *t)
{
	take_all(t, is_digit);
	if (take(t, '.', '.')) {
		t->token.kind = TOKEN_FLOAT;
		take_all(t, is_digit);
	}
	if (take(t, 'e', 'E')) {
		t->token.kind = TOKEN_FLOAT;
		if (look(t) == '+' || look(t) == '-')
			t->at++;
		if (!take_all(t, is_digit))
			wrong(t, "a number after its e");
	}
	if (take(t, 'f', 'F') && t->token.kind != TOKEN_WRONG)
		t->token.kind = TOKEN_FLOAT;
}

/* From its first digit, or the point before it. */
static void take_number(struct tokens *t)
{
	bool is_zero = look(t) == '0';

	t->token.kind = TOKEN_INTEGER;
	t->at += is_zero;
	if (is_zero && take(t, 'x', 'X')) {
		if (!take_all(t, is_hex))
			wrong(t, "hexadecimal digits after 0x");
	} else if (is_zero && is_digit(look(t))) {
		take_all(t, is_octal);
		if (take_all(t, is_digit))
			wrong(t, "octal digits after the zero");
	} else {
		take_decimal(t);
	}
	if (is_letter(look(t)))
		wrong(t, "a blank behind the number");
	else if (look(t) == '.')
		wrong(t, "a number with one point at most");
}

/* ---- strings ------------------------------------------------------------------------------------ */

static bool take_hex(struct tokens *t, size_t digits)
{
	for (; digits && is_hex(look(t)); digits--)
		t->at++;
	return digits == 0;
}

/* Behind the backslash. */
static void take_escape(struct tokens *t)
{
	static const char letters[] = "abfnrtv\\?'\"";
	char c = look(t);

	if (c == '\0' || c == '\n')
		return; /* the string is not closed, which will be said */
	t->at++;
	if (c == 'x') {
		if (!take_hex(t, 1))
			wrong(t, "hexadecimal digits after \\x");
	} else if (c == 'u') {
		if (!take_hex(t, 4))
			wrong(t, "four hexadecimal digits after \\u");
	} else if (c == 'U') {
		struct span digits = span_of(t->text.p + t->at, t->text.n - t->at);

		if (!take_hex(t, 8) || !(span_starts(digits, "0010") || span_starts(digits, "000")))
			wrong(t, "eight hexadecimal digits up to 10ffff after \\U");
	} else if (!is_octal(c) && !memchr(letters, c, sizeof(letters) - 1)) {
		wrong(t, "an escape that exists");
	}
}

static void take_string(struct tokens *t)
{
	char quote = look(t);

	t->token.kind = TOKEN_STRING;
	t->at++;
	while (look(t) != quote) {
		if (look(t) == '\0' || look(t) == '\n') {
			wrong(t, "a closing quote on the same line");
			return;
		}
		if (take(t, '\\', '\\'))
			take_escape(t);
		else
			t->at++;
	}
	t->at++;
}

/* ---- tokens ------------------------------------------------------------------------------------- */

void tokens_next(struct tokens *t)
{
	size_t from;
	char c;

	skip_blanks(t);
	from = t->at;
	c = look(t);
	t->token = (struct token){.kind = TOKEN_SYMBOL};
	if (t->at == t->text.n) {
		t->token.kind = TOKEN_END;
	} else if (is_letter(c)) {
		t->token.kind = TOKEN_NAME;
		take_all(t, is_name);
	} else if (is_digit(c) ||
	           (c == '.' && t->at + 1 < t->text.n && is_digit(t->text.p[t->at + 1]))) {
		take_number(t);
	} else if (c == '"' || c == '\'') {
		take_string(t);
	} else {
		t->at++;
		if ((unsigned char)c < ' ' || (unsigned char)c >= 0x7f)
			wrong(t, "text");
	}
	t->token.text = span_of(t->text.p + from, t->at - from);
}

void tokens_init(struct tokens *t, struct span text)
{
	*t = (struct tokens){.text = text.n ? text : span_str("")};
	tokens_next(t);
}
