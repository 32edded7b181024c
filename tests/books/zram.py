"""A block device for one test."""
import os
import subprocess
import tempfile

from harness import Skip, need, run


class Zram:
    """A fresh block device that nobody else uses, with a file system unless told otherwise."""

    def __init__(self, is_mounted=True):
        if os.geteuid() != 0:
            raise Skip("a zram device needs root")
        self.is_mounted = is_mounted
        if is_mounted:
            need("mkfs.ext4")
        if not os.path.exists("/sys/class/zram-control"):
            run("sh", "-c", "modprobe zram")
        try:
            with open("/sys/class/zram-control/hot_add") as file:
                self.number = int(file.read())
        except OSError as why:
            raise Skip("zram: %s" % why)
        self.name = "zram%d" % self.number
        self.device, self.mounted, self.made_node = "/dev/" + self.name, None, False

    def __enter__(self):
        try:
            with open("/sys/block/%s/disksize" % self.name, "w") as file:
                file.write("96M")
            if not os.path.exists(self.device):
                with open("/sys/block/%s/dev" % self.name) as file:
                    major, minor = map(int, file.read().split(":"))
                os.mknod(self.device, 0o60600, os.makedev(major, minor))
                self.made_node = True
            if not self.is_mounted:
                return self
            # Without journal and lazy work nothing is written but what the program writes.
            subprocess.run(["mkfs.ext4", "-q", "-O", "^has_journal", "-E", "lazy_itable_init=0",
                            self.device], check=True)
            place = tempfile.mkdtemp(prefix="galvo-zram-")
            subprocess.run(["mount", "-o", "noatime", self.device, place], check=True)
            self.mounted = place
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *why):
        if self.mounted:
            subprocess.run(["umount", self.mounted], check=True)
            os.rmdir(self.mounted)
        with open("/sys/class/zram-control/hot_remove", "w") as file:
            file.write(str(self.number))
        if self.made_node:
            os.unlink(self.device)
