"""galvo view, as users run it: where the page goes, who opens it, and that it is what was recorded."""
import base64
import hashlib
import os
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import time

import page

GALVO = os.environ["GALVO"]


def galvo(*words, want=0, **more):
    done = subprocess.run([GALVO, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)
    assert done.returncode == want, (words, done)
    return done


def record(name, script):
    galvo("record", "-o", name, "--", "sh", "-c", script)


def check_page(path):
    document = page.of_page(path)
    texts, policy = document.page.texts, document.page.policy
    for kind in ("script", "style"):
        digest = base64.b64encode(hashlib.sha256(texts[kind].encode()).digest()).decode()
        assert "%s-src 'sha256-%s'" % (kind, digest) in policy, (kind, policy)
    assert policy.startswith("default-src 'none'; ")
    assert policy.endswith("; img-src data:; base-uri 'none'; form-action 'none'"), policy
    for _, run, _, series in document.series():
        document.pieces(run, series)
    return document


def is_left_when_killed():
    """Kills galvo view as soon as it has begun a file; whether anything of it is still there then."""
    before = set(os.listdir("longer"))
    process = subprocess.Popen([GALVO, "view", "--no-open", "longer"], stdout=subprocess.DEVNULL)
    while process.poll() is None:
        if set(os.listdir("longer")) - before - {"view.html"}:
            process.kill()
    left = set(os.listdir("longer")) - before - {"view.html"}
    for name in left:
        os.unlink(os.path.join("longer", name))
    return bool(left)


def when_it_is_killed():
    galvo("record", "-q", "-o", "longer", "--hz", "1000", "--all", "--for", "300ms")
    try:
        os.close(os.open("longer", os.O_TMPFILE | os.O_WRONLY, 0o600))
    except OSError:
        return  # a file system whose files have names from the beginning
    # It has the name of a scratch file for a moment, and one may just hit that.
    assert not all(is_left_when_killed() for _ in range(3))


def where_it_goes():
    out = galvo("view", "--no-open", "run")
    assert out.stdout == "run/view.html\n" and out.stderr == "", out
    document = check_page("run/view.html")
    assert document.json["title"].startswith("sh -c"), document.json["title"]
    names = {s["metric"] for _, _, _, s in document.series()}
    assert "mem__used_bytes" in names, names
    assert "phase </script>" in document.json["runs"][0]["regions"]["names"]
    first = os.stat("run/view.html")
    galvo("view", "--no-open", "run")
    assert os.stat("run/view.html").st_ino != first.st_ino, "it is replaced, not written into"
    assert not [f for f in os.listdir("run") if f.startswith("view.html.")]
    assert first.st_mode & 0o777 == 0o666 & ~umask(), oct(first.st_mode)
    assert galvo("view", "-o", "-", "run").stdout == open("run/view.html").read()
    # A link stays one, and what is no file stays what it is.
    os.symlink("real.html", "link.html")
    open("real.html", "w").close()
    galvo("view", "--no-open", "-o", "link.html", "run")
    assert os.path.islink("link.html") and os.path.getsize("real.html") > 10000
    galvo("view", "--no-open", "-o", "/dev/null", "run")
    assert not os.path.isfile("/dev/null")
    # Where one may not write, and where nothing can be.
    os.rename("run/view.html", "kept.html")
    os.mkdir("run/view.html")
    os.mkdir("cache")
    out = galvo("view", "--no-open", "run", env={**os.environ, "XDG_CACHE_HOME": os.path.abspath("cache")})
    found = os.path.join(os.path.abspath("cache"), os.listdir("cache")[0])
    assert out.stdout == found + "\n" and re.search(r"/galvo-view-\w{6}\.html$", found), out
    assert open(found).read() == open("kept.html").read()
    out = galvo("view", "-o", "nowhere/x.html", "run", want=125)
    assert out.stderr == "galvo: nowhere/x.html: No such file or directory\n", out
    with open("/dev/full", "w") as full:
        done = subprocess.run([GALVO, "view", "-o", "-", "run"], stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 125 and b"No space left" in done.stderr, done


def umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def several():
    record("other", "true")
    out = galvo("view", "--no-open", "run", "other/")
    assert out.stdout == "view.html\n", out
    assert [r["label"] for r in check_page("view.html").json["runs"]] == ["run", "other"]
    os.mkdir("b")
    os.rename("other", "b/run")
    galvo("view", "--no-open", "-o", "two.html", "--title", "<b>", "run", "b/run")
    two = check_page("two.html").json
    assert [r["label"] for r in two["runs"]] == ["run", "b/run"] and two["title"] == "<b>"
    out = galvo("view", "--align", "phase </script>", "run", "b/run", want=125)
    assert out.stderr == "galvo: b/run: no region is called 'phase </script>': it has none\n", out
    galvo("view", "--no-open", "-o", "one.html", "--align", "phase </script>", "run")
    assert check_page("one.html").json["runs"][0]["shift_s"] > 0


def options():
    galvo("view", "-o", "wide.html", "--precision", "f64", "run")
    assert check_page("wide.html").json["bytes"] == 8
    galvo("view", "-o", "narrow.html", "run")
    small = os.path.getsize("narrow.html")
    assert os.path.getsize("wide.html") > small
    out = galvo("view", "-o", "small.html", "--max-size", "20K", "run", want=125)
    assert "does not fit into 20480 bytes" in out.stderr and not os.path.exists("small.html"), out
    galvo("view", "-o", "small.html", "--max-size", "%d" % small, "run")
    assert os.path.getsize("small.html") <= small


def on_terminal(words, env):
    """What galvo writes on a terminal of its own."""
    master, slave = pty.openpty()
    child = subprocess.Popen([GALVO, *words], stdin=slave, stdout=slave, stderr=slave, env=env)
    os.close(slave)
    said = b""
    deadline = time.monotonic() + 30
    while select.select([master], [], [], max(deadline - time.monotonic(), 0))[0]:
        try:
            part = os.read(master, 4096)
        except OSError:
            break
        if not part:
            break
        said += part
    assert child.wait(30) == 0, said
    os.close(master)
    return said.decode().replace("\r\n", "\n")


def who_opens_it():
    os.mkdir("bin")
    with open("bin/xdg-open", "w") as script:
        script.write('#!/bin/sh\necho heard; echo heard >&2\nprintf "%s\\n" "$@" >"$OPENED.new"\n'
                     'mv "$OPENED.new" "$OPENED"\n')
    os.chmod("bin/xdg-open", 0o755)
    env = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
    env.update(PATH=os.path.abspath("bin") + ":" + env["PATH"], OPENED=os.path.abspath("opened"))
    path = os.path.realpath("-page.html")
    words = ["view", "-o", "./-page.html", "run"]
    desktop = {**env, "DISPLAY": ":0"}
    assert on_terminal(words, desktop) == "./-page.html\n"
    deadline = time.monotonic() + 30
    while not os.path.exists("opened") and time.monotonic() < deadline:
        time.sleep(0.01)
    assert open("opened").read() == path + "\n"
    os.remove("opened")
    # No desktop, no terminal, no wish: the last one has a marker that shows that the others had time.
    assert on_terminal(words, env) == "./-page.html\n"
    assert on_terminal(["view", "--no-open", *words[1:]], desktop) == "./-page.html" + "\n"
    assert galvo(*words, env=desktop).stdout == "./-page.html" + "\n"
    assert on_terminal(words, {**desktop, "PATH": "/nonexistent"}) == "./-page.html" + "\n"
    assert on_terminal(words, {**env, "WAYLAND_DISPLAY": "w", "OPENED": os.path.abspath("last")}) == "./-page.html\n"
    while not os.path.exists("last") and time.monotonic() < deadline:
        time.sleep(0.01)
    assert os.path.exists("last") and not os.path.exists("opened")


def while_it_is_recorded():
    os.mkfifo("go")
    child = subprocess.Popen([GALVO, "record", "-q", "-o", "live", "--", "sh", "-c", "read x <go"],
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 30
        n = 0
        while n == 0 and time.monotonic() < deadline:
            time.sleep(0.05)
            done = subprocess.run([GALVO, "view", "-o", "live.html", "live"], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE)
            if done.returncode == 0:
                n = sum(1 for _ in check_page("live.html").series())
        assert n > 0
        head = dict(check_page("live.html").json["runs"][0]["head"])
        assert "unfinished" in head["WARNING"], head
    finally:
        with open("go", "w") as go:
            go.write("x\n")
        child.wait(30)


def main():
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        os.environ["GALVO_PROGRAM"] = GALVO
        record("run", '"$GALVO_PROGRAM" region begin "phase </script>"; i=0; '
                      'while [ $i -lt 20000 ]; do i=$((i+1)); done; "$GALVO_PROGRAM" region end "phase </script>"')
        done = subprocess.run([GALVO, "view", "-o", "-", "run"], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True)
        if done.returncode == 125 and "built without its page" in done.stderr:
            print("skip:", done.stderr.strip())
            sys.exit(77)
        where_it_goes()
        when_it_is_killed()
        several()
        options()
        who_opens_it()
        while_it_is_recorded()
    print("pages are where they should be")


main()
