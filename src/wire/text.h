/* Tokens of protobuf's text format and the values they stand for: what parser and printer share. */
#ifndef GALVO_WIRE_TEXT_H
#define GALVO_WIRE_TEXT_H

#include <protobuf-c/protobuf-c.h>

#include "wire.h"

enum token_kind {
	TOKEN_END,
	TOKEN_NAME,
	TOKEN_INTEGER, /* decimal, 0x hexadecimal, 0 octal; never a sign */
	TOKEN_FLOAT,
	TOKEN_STRING,  /* with its quotes, every escape in it sound */
	TOKEN_SYMBOL,  /* one byte */
	TOKEN_WRONG,   /* `wrong` says why */
};

struct token {
	enum token_kind kind;
	struct span text; /* borrows from the whole text */
	const char *wrong;
};

struct tokens {
	struct span text;
	size_t at;          /* behind the token */
	struct token token; /* the one to be consumed next */
};

void tokens_init(struct tokens *t, struct span text);
void tokens_next(struct tokens *t);

/* Of an integer token; false: larger than max. */
bool token_to_u64(struct span token, uint64_t max, uint64_t *ret);
/* Of a float or integer token; false: hexadecimal or octal, or out of memory. */
bool token_to_double(struct span token, double *ret);
/* What a string token stands for. */
void token_unquote(struct span token, struct buf *into);

void text_put_quoted(struct buf *b, struct span s);
/* Of a field that is neither string nor message. */
void text_put_scalar(struct buf *b, const ProtobufCFieldDescriptor *f, uint64_t v);

/* The wire type of one value of the field. */
enum wire_type field_wire_type(const ProtobufCFieldDescriptor *f);
/* Zero is not told from absent: a field of proto3 without a presence of its own. */
bool field_is_implicit(const ProtobufCFieldDescriptor *f);
/* Another member of the oneof that f is in. */
bool field_excludes(const ProtobufCFieldDescriptor *f, const ProtobufCFieldDescriptor *other);

/* One text on its way to wire bytes. */
struct parser {
	struct tokens tokens;
	const char *path;
	const char *fields[TEXT_DEPTH_MAX + 1]; /* names from the outermost in, for errors */
	size_t depth;
	struct buf seen;    /* a byte a field, for every message that is open */
	struct buf literal; /* of strings */
	struct buf *out;
	const char *sought; /* a field, by its names with points between them; NULL: none */
	size_t sought_nth;
	const char *found;
	galvo_status status;
	galvo_error *reterr;
};

/* All of these set the error and answer false. */
bool parser_expect(struct parser *p, const char *want); /* the token is not that */
bool parser_refuse(struct parser *p, const char *why);
bool parser_refuse_unknown(struct parser *p, const ProtobufCMessageDescriptor *m);
bool parser_no_memory(struct parser *p);

/* Line and column of a place in the text, from 1; columns are characters. */
void parser_place(const struct parser *p, const char *at, size_t *ret_line, size_t *ret_column);
/* The token begins a value: it may be the one that is sought. */
void parser_seek(struct parser *p);

bool parser_is_at(const struct parser *p, char symbol);
bool parser_take(struct parser *p, char symbol); /* moves past it, if it is there */
/* Of a field that is neither string nor message; as its wire type has it. */
bool parser_take_number(struct parser *p, const ProtobufCFieldDescriptor *f, uint64_t *ret);

#endif
