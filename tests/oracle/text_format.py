"""Text format, ours against protoc and Python's protobuf, on generated and mutated inputs.

text_format.py HELPER PROTO-FOLDER CASES [SEED]. Exits 77 without protoc or python3-protobuf.

protoc is the reference. As it has no batch mode, sound cases go through it as one large message, and
for mutated ones Python's parser is asked first: where that and ours agree nothing is wrong, where
they differ, and for a sample of the rest, protoc decides. Deliberate differences, see `excuse`:

1. Strings must be UTF-8. protoc --encode only warns; its own readers refuse what it made.
2. Messages nest at most 100 deep. protoc's text parser has no limit; its readers have this one.
3. Groups (wire types 3 and 4) are malformed. No schema of ours has any.
4. Varints of more than 64 bits, and tags of more than 32, are malformed. protoc drops bits of them,
   but refuses lengths that are spread over more than five bytes.
5. \\U beyond 10ffff is no character. protoc takes up to 1fffff and makes something else of it.
"""
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import time
import warnings

try:
    from google.protobuf import text_format
    subprocess.run(["protoc", "--version"], check=True, stdout=subprocess.DEVNULL)
except (ImportError, OSError):
    print("skip: python3-protobuf or protoc is not installed")
    sys.exit(77)

HELPER, PROTO, CASES = sys.argv[1], sys.argv[2], int(sys.argv[3])
SEED = int(sys.argv[4]) if len(sys.argv) > 4 else int(time.time())
HERE = os.path.dirname(os.path.abspath(__file__))
rng = random.Random(SEED)
warnings.simplefilter("ignore")
warnings.simplefilter("error", RuntimeWarning)  # an unexpected end of a group is no more than a warning


class Ours:
    """The helper: all cases in, all answers out."""

    def __init__(self):
        self.cases = []

    def add(self, kind, what, data):
        self.cases.append(kind.letter + what.encode() + struct.pack("<I", len(data)) + data)

    def run(self):
        out = subprocess.run([HELPER], input=b"".join(self.cases), check=True,
                             stdout=subprocess.PIPE).stdout
        answers, at = [], 0
        for _ in self.cases:
            n, = struct.unpack_from("<I", out, at + 1)
            answers.append((out[at:at + 1] == b"y", out[at + 5:at + 5 + n]))
            at += 5 + n
        assert at == len(out)
        self.cases = []
        return answers


class Kind:
    """One message type, in the three tools."""

    def __init__(self, letter, folder, file, name, make):
        self.letter, self.folder, self.file, self.name, self.make = letter, folder, file, name, make

    def protoc(self, how, data):
        """(accepted, output) of protoc --encode or --decode."""
        done = subprocess.run(["protoc", "--proto_path", self.folder, how, self.name, self.file],
                              input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return done.returncode == 0, done.stdout


# ---- generating ------------------------------------------------------------------------------------

INTS = [0, 1, 2, 127, 128, 300, 2**31 - 1, 2**31, 2**32 - 1, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1]
DOUBLES = [0.0, -0.0, 1.0, -1.5, 0.1, 1 / 3, 1e15, 1e16, 123456789.0, 1e-5, 1e300, 5e-324, 2.0**-149,
           3.4028234663852886e38, 1e40, 16777217.0, 1e22, 123456.7, float("inf"), float("-inf"),
           float("nan"), 100.0, 1e6, 1e-7, 4.35]
TEXTS = ["", "a", "nvme0n1", "caf\u00e9", "\u20ac\U0001f600", "a\nb\t\"'\\", "\x00\x01\x7f", "?" * 30]


def value_of(field):
    """A random value that fits the field."""
    t = field.type
    if t in (field.TYPE_STRING, field.TYPE_BYTES):
        text = rng.choice(TEXTS) + rng.choice(TEXTS)
        if t == field.TYPE_STRING:
            return text
        return text.encode() + bytes(rng.randrange(256) for _ in range(rng.randrange(6)))
    if t == field.TYPE_BOOL:
        return rng.random() < 0.7
    if t in (field.TYPE_DOUBLE, field.TYPE_FLOAT):
        raw = struct.unpack("<d", struct.pack("<Q", rng.getrandbits(64)))[0]
        v = rng.choice(DOUBLES + [raw, rng.uniform(-1e4, 1e4), round(rng.uniform(0, 1e4), 3)])
        return v if v == v else float("nan")  # text has no sign and no payload for it
    if t == field.TYPE_ENUM:
        return rng.choice([v.number for v in field.enum_type.values] + [77, -77])
    bits = 64 if "64" in str(field.cpp_type) or field.cpp_type in (
        field.CPPTYPE_INT64, field.CPPTYPE_UINT64) else 32
    v = rng.choice(INTS + [rng.getrandbits(64), rng.getrandbits(20)]) % 2**bits
    if field.cpp_type in (field.CPPTYPE_INT32, field.CPPTYPE_INT64) and v >= 2**(bits - 1):
        v -= 2**bits
    return v


def fill(message, depth=0):
    """Sets random fields."""
    fields = list(message.DESCRIPTOR.fields)
    for field in rng.sample(fields, min(len(fields), rng.randrange(0 if depth else 1, 6))):
        repeated = field.label == field.LABEL_REPEATED
        for _ in range(rng.randrange(4) if repeated else 1):
            if field.type == field.TYPE_MESSAGE:
                if depth < 4:
                    at = getattr(message, field.name)
                    fill(at.add() if repeated else at, depth + 1)
                    if not repeated:
                        at.SetInParent()
            elif repeated:
                getattr(message, field.name).append(value_of(field))
            else:
                setattr(message, field.name, value_of(field))
    return message


# ---- writing text in every way that there is -------------------------------------------------------

def blank():
    return rng.choice(["", "", " ", " ", "\n", "\t ", " # a comment \" {\n", "\r\n", "\v\f"])


def quoted(data):
    """Bytes as one or more literals, each byte in one of the ways it may be written."""
    quote = rng.choice("'\"")
    out = quote
    for i, byte in enumerate(data):
        c = chr(byte)
        ways = ["\\%03o" % byte, "\\x%02x" % byte]
        if byte < 128 and c not in "'\"\\\n\0":
            ways += [c] * 8 if byte >= 32 else [c]
        if c in "'\"\\":
            ways += ["\\" + c] * 3
        if byte < 128:
            ways += ["\\u%04x" % byte, "\\U%08x" % byte]
        out += rng.choice(ways)
        if rng.random() < 0.05:
            quote, old = rng.choice("'\""), quote
            out += old + blank() + quote
    return out + quote


def scalar(field, v):
    t = field.type
    if t == field.TYPE_STRING and min(v, default=" ") >= " " and rng.random() < 0.5:
        return '"%s"' % text_format.text_encoding.CEscape(v, as_utf8=True)
    if t in (field.TYPE_STRING, field.TYPE_BYTES):
        return quoted(v if t == field.TYPE_BYTES else v.encode())
    if t == field.TYPE_BOOL:
        return rng.choice(["true", "True", "t", "1", "01", "0x1"] if v else
                          ["false", "False", "f", "0", "00"])
    if t in (field.TYPE_DOUBLE, field.TYPE_FLOAT):
        sign = "-" if str(v)[0] == "-" else ""
        text = repr(abs(v))
        if text in ("inf", "nan"):
            return sign + blank() + rng.choice([text, text.upper()])
        return sign + rng.choice([text, text + "f", text.replace("e", "E"), "%.20g" % abs(v)])
    if t == field.TYPE_ENUM:
        known = field.enum_type.values_by_number.get(v)
        return known.name if known and rng.random() < 0.6 else str(v)
    sign, v = ("-" + rng.choice(["", " "]) if v < 0 else ""), abs(v)
    return sign + rng.choice(["%d" % v, "%d" % v, "0x%x" % v, "0X%X" % v, "0%o" % v])


def write(message):
    """A message as text, at random."""
    out = blank()
    for field, value in message.ListFields():
        values = [value] if field.label != field.LABEL_REPEATED else list(value)
        is_message = field.type == field.TYPE_MESSAGE

        def one(v):
            if not is_message:
                return scalar(field, v)
            return rng.choice(["{%s}", "<%s>"]) % write(v)

        colon = rng.choice([":", ""]) if is_message else ":"
        end = rng.choice([";", ",", "\n", " "])
        if field.label == field.LABEL_REPEATED and rng.random() < 0.3:
            out += "%s%s%s[%s]%s" % (field.name, blank(), ":" if not is_message else colon,
                                     ("," + blank()).join(one(v) for v in values), end)
            continue
        for v in values:
            out += field.name + blank() + colon + blank() + one(v) + blank() + end + blank()
    return out


TOKENS = [b"{", b"}", b"<", b">", b"[", b"]", b":", b";", b",", b"-", b".", b"'", b'"', b"\\", b"#",
          b"\n", b"\0", b"\x01", b"0", b"1", b"08", b"0x", b"1e", b"1e5", b"1.5.", b"1f", b"0.5f", b"inf",
          b"infinity", b"nan", b"-nan", b"nanf", b"true", b"TRUE", b"i32", b"i32: 1", b"text", b"r_i32",
          b"sub", b"one_u32: 0", b"RED", b"99999999999999999999", b"\\u12", b"\\q", b"\\400", b"\\xg",
          b"\xff", b"\xc3\xa9", b"[a.b]", b"x", b"'a' \"b\"", b"-2147483649", b"4294967296", b"i32: 0",
          b".5", b"5.", b"1_", b"a.5", b"/* */", b"//", b"\\ud83d\\ude00", b"\\ud83d", b"\\U0010ffff",
          b"\\U00110000", b"enabled: true", b"system {", b"hertz: 1"]


def mutate(data):
    """A few edits, of bytes or of tokens."""
    out = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        at = rng.randrange(len(out) + 1)
        how = rng.randrange(6)
        if how == 0:
            del out[at:at + rng.choice([1, 1, 2, 8])]
        elif how == 1 and at < len(out):
            out[at] = rng.randrange(256)
        elif how == 2 and out:
            from_ = rng.randrange(len(out))
            out[at:at] = out[from_:from_ + rng.randrange(12)]
        else:
            out[at:at] = b" " * rng.randrange(2) + rng.choice(TOKENS) + b" " * rng.randrange(2)
    return bytes(out)


def mutate_wire(data):
    out = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 4])):
        at = rng.randrange(len(out) + 1)
        how = rng.randrange(5)
        if how == 0:
            del out[at:at + rng.choice([1, 2, 5])]
        elif how == 1 and at < len(out):
            out[at] = rng.choice([0, 1, 127, 128, 255, rng.randrange(256)])
        elif how == 2 and out:
            from_ = rng.randrange(len(out))
            out[at:at] = out[from_:from_ + rng.randrange(12)]
        elif how == 3:
            del out[at:]
        else:
            out[at:at] = bytes(rng.randrange(256) for _ in range(rng.randrange(1, 4)))
    return bytes(out)


# ---- comparing -------------------------------------------------------------------------------------

def canonical(kind, data):
    """The same bytes for the same message."""
    return kind.make.FromString(data).SerializeToString(deterministic=True)


def wrong(what, case, *more):
    print("seed %d: %s\n%r" % (SEED, what, case), *more, sep="\n")
    sys.exit(1)


def is_odd(data, depth=0):
    """Has it, or what may be a message in it, a group, a long tag or length, a varint beyond 64 bits?"""
    at = 0

    def varint():
        nonlocal at
        v = shift = 0
        while at < len(data):
            v |= (data[at] & 127) << shift
            at += 1
            shift += 7
            if data[at - 1] < 128:
                return v
        raise IndexError

    try:
        while at < len(data):
            start, tag = at, varint()
            if tag & 7 in (3, 4) or tag >> 32 or at - start > 5:
                return True
            if tag & 7 == 0:
                varint()
            elif tag & 7 == 2:
                start, n = at, varint()
                if at - start > 5:
                    return True
                if depth < 12 and is_odd(data[at:at + n], depth + 1):
                    return True
                at += n
            else:
                at += 8 if tag & 7 == 1 else 4
    except IndexError:
        pass
    return bool(re.search(rb"[\x80-\xff]{9}[\x02-\xff]", data))


def excuse(case, error):
    """Which deliberate difference lets protoc accept what we refuse; None: none of them."""
    if b"expected valid UTF-8" in error:
        return "UTF-8"
    if b"nested too deep" in error:
        return "depth"
    if b"up to 10ffff" in error and re.search(rb"\\U001", case):
        return "beyond Unicode"
    return None


def check_sound(ours, kind, pile):
    """Generated messages: our bytes are the message, our text is protoc's."""
    count = CASES // 3
    messages = [fill(kind.make()) for _ in range(count)]
    texts = [write(m) for m in messages]
    for m, text in zip(messages, texts):
        ours.add(kind, "P", text.encode())
        ours.add(kind, "R", m.SerializeToString())
    answers = ours.run()
    for m, text, (ok, data) in zip(messages, texts, answers[0::2]):
        if not ok:
            wrong("refused: %s" % data.decode(), text)
        if canonical(kind, data) != m.SerializeToString(deterministic=True):
            wrong("parsed to something else", text, m, kind.make.FromString(data))
    if not pile:
        for m, (ok, printed) in list(zip(messages, answers[1::2]))[:40]:
            want = kind.protoc("--decode", m.SerializeToString())[1]
            if not ok or printed != want:
                wrong("printed otherwise than protoc", want, printed)
        return count
    # All of them as one message, for protoc in both directions.
    whole = pile.make(items=messages)
    accepted, data = pile.protoc("--encode", "".join("items {%s}\n" % t for t in texts).encode())
    if not accepted:
        wrong("protoc refuses what we made", "the pile")
    for m, text, got in zip(messages, texts, pile.make.FromString(data).items):
        if got.SerializeToString(deterministic=True) != m.SerializeToString(deterministic=True):
            wrong("protoc parses it to something else", text)
    ours.add(pile, "R", whole.SerializeToString())
    (ok, printed), = ours.run()
    want = pile.protoc("--decode", whole.SerializeToString())[1]
    if not ok or printed != want:
        for a, b in zip(want.splitlines(), printed.splitlines()):
            if a != b:
                wrong("printed otherwise than protoc", a, b)
        wrong("printed otherwise than protoc", "in length, or refused", printed[:200])
    ours.add(pile, "P", want)
    (ok, data), = ours.run()
    if not ok or canonical(pile, data) != canonical(pile, whole.SerializeToString()):
        wrong("protoc's text is parsed to something else", "the pile", data[:200])
    return count


def python_parse(kind, text):
    """(accepted, message) of Python's parser."""
    try:
        return True, text_format.Parse(text.decode(), kind.make())
    except Exception:  # ParseError, UnicodeError and whatever slips through; protoc has the last word
        return False, None


def check_mutated(ours, kind, protoc_budget):
    """Mutated text: accepted by both or by neither, and the same message."""
    texts = [mutate(write(fill(kind.make())).encode()) for _ in range(CASES // 3)]
    for text in texts:
        ours.add(kind, "P", text)
    asked = accepts = 0
    for text, (ok, data) in zip(texts, ours.run()):
        accepts += ok
        theirs, message = python_parse(kind, text)
        same = theirs == ok and (not ok or canonical(kind, data) ==
                                 message.SerializeToString(deterministic=True))
        if same and (asked >= protoc_budget or rng.random() > 0.05):
            continue
        asked += 1
        accepted, out = kind.protoc("--encode", text)
        if accepted != ok:
            if ok or not excuse(text, data):
                wrong("protoc %s it, we do not" % ("accepts" if accepted else "refuses"), text, data)
        elif ok and canonical(kind, data) != canonical(kind, out):
            wrong("parsed otherwise than protoc", text)
    return len(texts), accepts, asked


def python_takes(kind, data):
    """Whether it is such a message; libprotobuf's complaints on stderr are not shown."""
    stderr = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        kind.make.FromString(data)
        return True
    except Exception:  # DecodeError, or its cousins in other implementations
        return False
    finally:
        os.dup2(stderr, 2)
        os.close(stderr)
        os.close(nowhere)


def check_wire(ours, kind, pile, protoc_budget):
    """Mutated bytes: printed like protoc, or refused like it."""
    cases = [mutate_wire(fill(kind.make()).SerializeToString()) for _ in range(CASES // 3)]
    for data in cases:
        ours.add(kind, "R", data)
    answers = ours.run()
    sound = []
    for data, (ok, printed) in zip(cases, answers):
        theirs = python_takes(kind, data)
        if ok != theirs and not is_odd(data):
            accepted, out = kind.protoc("--decode", data)
            if accepted != ok:
                wrong("protoc %s it, we do not" % ("accepts" if accepted else "refuses"), data, printed)
        if ok and theirs:
            sound.append((data, printed))
    if pile:
        def varint(n):
            return bytes([n & 127 | 128]) + varint(n >> 7) if n > 127 else bytes([n])

        whole = b"".join(b"\x0a" + varint(len(d)) + d for d, _ in sound)
        items = pile.protoc("--decode", whole)[1].split(b"items {\n")[1:]
        assert len(items) == len(sound)
        texts = [re.sub(rb"(?m)^  ", b"", item)[:-2] for item in items]
    else:
        sound = sound[:protoc_budget]
        texts = [kind.protoc("--decode", data)[1] for data, _ in sound]
    for (data, printed), want in zip(sound, texts):
        if want != printed and not is_odd(data):
            wrong("printed otherwise than protoc", data, want, printed)
    return len(cases), len(sound)


def check_edges(ours, kind):
    """What generating would seldom hit, each asked of protoc."""
    def nest(n):
        return b"sub{" * n + b"}" * n

    texts = [b"", b"# only", nest(99), nest(100), nest(101), b"i32:0 i32:5", b"i32:5 i32:5", b"i32:5 i32:0",
             b"dbl:-0.0 dbl:1", b"dbl:0 dbl:1", b"one_u32:0 one_yes:false", b"text:'' text:'a'",
             b"sub{} sub{}", b"dbl: 010", b"dbl: 0x10", b"dbl: 1e400", b"flt: 3.4028235677973366e38",
             b"flt: 1e-46", b"dbl: 99999999999999999999999", b"yes: 2", b"color: -5", b"color: 3000000000",
             b"i32: 1r_i32: 2", b"text: 'a\nb'", b"data: '\\777'", b"case_matters: 1", b"CASE_MATTERS_TOO: 1",
             b"Case_Matters: 1", b"i32 1", b"sub: {}", b"sub: <>", b"sub {>", b"r_i32: []", b"r_sub [{}, <>]",
             b"i32: [1]", b"i32: 1;;", b"i32: 1,;", b";", b"u32: -0", b"u32: -1", b"i32: - # c\n 5",
             b"text: \"\\ud83d\\ude00\"", b"data: \"\\ud83d\"", b"dbl: infinity", b"dbl: Inf", b"dbl: nanf",
             b"dbl: inff", b"dbl: 1.e5", b"dbl: .5", b"dbl: .", b"dbl: 1.5e", b"i32: 1.0", b"i32: 1f",
             b"\xef\xbb\xbfi32: 1", b"loose: [1, 2] loose: 3", b"i32: 0x", b"i32: 09", b"i32: 0x1.5"]
    for text in texts:
        ours.add(kind, "P", text)
    for text, (ok, data) in zip(texts, ours.run()):
        accepted, out = kind.protoc("--encode", text)
        if accepted != ok and (ok or not excuse(text, data)):
            wrong("protoc %s it, we do not" % ("accepts" if accepted else "refuses"), text, data)
        if ok and canonical(kind, data) != canonical(kind, out):
            wrong("parsed otherwise than protoc", text, data, out)


def main():
    print("seed %d" % SEED)
    with tempfile.TemporaryDirectory() as tmp:
        for folder, files in [(HERE, ["stress.proto"]), (PROTO, [
                "tracked_process.proto", "profiler_config.proto", "metric_catalog.proto"])]:
            subprocess.run(["protoc", "--proto_path", folder, "--python_out", tmp] + files, check=True)
        sys.path.insert(0, tmp)
        import metric_catalog_pb2
        import profiler_config_pb2
        import stress_pb2

        stress = Kind(b"s", HERE, "stress.proto", "galvo.test.Stress", stress_pb2.Stress)
        pile = Kind(b"p", HERE, "stress.proto", "galvo.test.Pile", stress_pb2.Pile)
        config = Kind(b"c", PROTO, "profiler_config.proto", "galvo.ProfilerSuiteConfig",
                      profiler_config_pb2.ProfilerSuiteConfig)
        catalog = Kind(b"m", PROTO, "metric_catalog.proto", "galvo.MetricCatalog",
                       metric_catalog_pb2.MetricCatalog)
        ours = Ours()
        check_edges(ours, stress)
        budget = max(20, CASES // 100)
        for kind, bag in [(stress, pile), (config, None), (catalog, None)]:
            sound = check_sound(ours, kind, bag)
            texts, accepts, asked = check_mutated(ours, kind, budget)
            wires, printed = check_wire(ours, kind, bag, budget)
            print("%s: %d generated; %d mutated texts, %d accepted, protoc asked %d times; "
                  "%d mutated messages, %d printed" % (kind.name, sound, texts, accepts, asked, wires, printed))


main()
