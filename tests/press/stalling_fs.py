"""A file system in memory that stalls on command, spoken over /dev/fuse: stalling_fs.py DIRECTORY.

Commands are lines on standard input, each answered by one on standard output: "hold write" and
"hold all" take such requests and do not answer them, "hold rename" too, "deaf" takes none at all, as a server does that
is stopped, "full" answers writes with ENOSPC, and "go" answers what was held and goes on. At the end
of its input it ends, and whatever waits for it fails.
"""
import ctypes
import errno
import os
import select
import stat
import struct
import sys

LOOKUP, FORGET, GETATTR, SETATTR, MKDIR, UNLINK, RMDIR = 1, 2, 3, 4, 9, 10, 11
RENAME, OPEN, READ, WRITE, STATFS, RELEASE, FSYNC = 12, 14, 15, 16, 17, 18, 20
INIT, OPENDIR, READDIR, RELEASEDIR, CREATE, INTERRUPT = 26, 27, 28, 29, 35, 36
DESTROY, BATCH_FORGET, RENAME2 = 38, 42, 45
DIRECT_IO = 1  # every read is asked of us, as of a file of /proc
SIZE_BYTES = 1 << 20

libc = ctypes.CDLL(None, use_errno=True)


class Node:
    def __init__(self, number, mode):
        self.number, self.mode, self.data, self.names = number, mode, bytearray(), {}

    def attributes(self):
        is_dir = stat.S_ISDIR(self.mode)
        return struct.pack("<6Q10I", self.number, len(self.data), len(self.data) // 512, 0, 0, 0,
                           0, 0, 0, self.mode, 2 if is_dir else 1, 0, 0, 0, 4096, 0)


def text_of(data):
    return bytes(data).split(b"\0")[0]


class FileSystem:
    def __init__(self, place):
        self.nodes = {1: Node(1, stat.S_IFDIR | 0o755)}
        self.mode, self.held = "go", []
        self.fd = os.open("/dev/fuse", os.O_RDWR)
        options = "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other" % self.fd
        if libc.mount(b"stalling", place.encode(), b"fuse.stalling", 6, options.encode()) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

    # ---- what is asked -------------------------------------------------------------------------

    def new(self, parent, name, mode):
        node = Node(max(self.nodes) + 1, mode)
        self.nodes[node.number] = parent.names[name] = node
        return node

    @staticmethod
    def entry(node):
        return struct.pack("<4Q2I", node.number, 0, 0, 0, 0, 0) + node.attributes()

    def find(self, parent, name):
        if name not in parent.names:
            raise OSError(errno.ENOENT, "")
        return parent.names[name]

    def rename(self, node, to, names):
        before, after = bytes(names).split(b"\0")[:2]
        self.nodes[to].names[after] = self.find(node, before)
        del node.names[before]
        return b""

    def write(self, node, data):
        _, at, size = struct.unpack_from("<QQI", data)
        if self.mode == "full":
            raise OSError(errno.ENOSPC, "")
        node.data.extend(bytes(max(0, at - len(node.data))))
        node.data[at:at + size] = data[40:40 + size]
        return struct.pack("<II", size, 0)

    def read_dir(self, node, data):
        _, at, size = struct.unpack_from("<QQI", data)
        answer = b""
        for i, (name, child) in enumerate(list(node.names.items())[at:], at):
            entry = struct.pack("<QQII", child.number, i + 1, len(name), child.mode >> 12) + name
            entry += bytes(-len(entry) % 8)
            if len(answer) + len(entry) > size:
                break
            answer += entry
        return answer

    def answer(self, opcode, node, data):
        if opcode == INIT:
            return struct.pack("<4I2H2I2HI7I", 7, 31, 0, 0, 12, 9, 1 << 17, 1, 32, 0, *[0] * 8)
        if opcode == LOOKUP:
            return self.entry(self.find(node, text_of(data)))
        if opcode == SETATTR and struct.unpack_from("<I", data)[0] & 8:
            size = struct.unpack_from("<Q", data, 16)[0]
            del node.data[size:]
        if opcode in (GETATTR, SETATTR):
            return struct.pack("<QII", 0, 0, 0) + node.attributes()
        if opcode in (OPEN, OPENDIR):
            return struct.pack("<QII", 0, DIRECT_IO if opcode == OPEN else 0, 0)
        if opcode == CREATE:
            child = self.new(node, text_of(data[16:]), stat.S_IFREG | 0o644)
            return self.entry(child) + struct.pack("<QII", 0, DIRECT_IO, 0)
        if opcode == MKDIR:
            return self.entry(self.new(node, text_of(data[8:]), stat.S_IFDIR | 0o755))
        if opcode == READ:
            _, at, size = struct.unpack_from("<QQI", data)
            return bytes(node.data[at:at + size])
        if opcode == WRITE:
            return self.write(node, data)
        if opcode == READDIR:
            return self.read_dir(node, data)
        if opcode in (UNLINK, RMDIR):
            self.find(node, text_of(data))
            del node.names[text_of(data)]
            return b""
        if opcode in (RENAME, RENAME2):
            to = struct.unpack_from("<Q", data)[0]
            return self.rename(node, to, data[8 if opcode == RENAME else 16:])
        if opcode == STATFS:
            return struct.pack("<5Q4I6I", 0, 0, 0, 0, 0, 4096, 255, 4096, 0, *[0] * 6)
        if opcode in (RELEASE, RELEASEDIR, FSYNC):
            return b""
        raise OSError(errno.ENOSYS, "")  # FLUSH too: whoever is killed does not wait for it

    # ---- asking --------------------------------------------------------------------------------

    def serve(self, request):
        _, opcode, unique, number = struct.unpack_from("<IIQQ", request)
        if opcode in (FORGET, BATCH_FORGET, INTERRUPT, DESTROY):
            return
        error, data = 0, b""
        try:
            data = self.answer(opcode, self.nodes.get(number), request[40:])
        except OSError as why:
            error = -why.errno
        try:
            os.write(self.fd, struct.pack("<IiQ", 16 + len(data), error, unique) + data)
        except OSError as why:
            if why.errno != errno.ENOENT:  # who asked has been killed
                raise

    def command(self, line):
        self.mode = line
        if line == "go":
            held, self.held = self.held, []
            for request in held:
                self.serve(request)
        print("done", flush=True)

    def is_held(self, opcode):
        kinds = {"hold write": (WRITE,), "hold rename": (RENAME, RENAME2)}
        return self.mode == "hold all" or opcode in kinds.get(self.mode, ())

    def run(self):
        while True:
            fds = [0] if self.mode == "deaf" else [0, self.fd]
            ready = select.select(fds, [], [])[0]
            if 0 in ready:
                line = sys.stdin.readline()
                if not line:
                    return
                self.command(line.strip())
            if self.fd in ready and self.mode != "deaf":
                try:
                    request = os.read(self.fd, SIZE_BYTES)
                except OSError as why:
                    if why.errno == errno.ENODEV:
                        return  # unmounted
                    continue
                opcode = struct.unpack_from("<I", request, 4)[0]
                if self.is_held(opcode):
                    self.held.append(request)
                else:
                    self.serve(request)


if __name__ == "__main__":
    system = FileSystem(sys.argv[1])
    print("done", flush=True)
    try:
        system.run()
    finally:
        libc.umount2(sys.argv[1].encode(), 2)
