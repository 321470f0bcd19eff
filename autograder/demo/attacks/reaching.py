"""Reach out: to files, to the network, to other processes, to the kernel."""

from autograder.demo.attacks.attack import Attack

LEFT_OVER = "1811.25"
"""Seconds, more than all attacks take; by it a test knows what an attack has left running."""
TRY = f"""
import contextlib, ctypes, glob, os, shutil, signal, socket, subprocess, sys, time
libc, LEFT_OVER = ctypes.CDLL(None, use_errno=True), "{LEFT_OVER}"
"""


def _tries(name: str, held_by: str, *lines: str) -> Attack:
    """Each line is tried, whatever becomes of the one before."""
    tried = "\n".join(f"with contextlib.suppress(Exception):\n    {line}" for line in lines)
    return Attack(name, held_by, TRY + tried)


OUTSIDE = "its world is read-only"

ATTACKS = (
    _tries(
        "marks written into the gradebook",
        "the gradebook is not there",
        "import sqlite3",
        "db = sqlite3.connect(COURSE + '/gradebook.db'); "
        "db.execute('UPDATE grade SET auto_score=9, manual_score=9'); db.commit()",
        "open(COURSE + '/gradebook.db', 'r+b').write(b'x' * 4096)",
    ),
    Attack(
        "marks written later, by a process left behind",
        "it ends with the submission",
        TRY
        + """
if os.fork() == 0:
    os.setsid()
    libc.prctl(15, LEFT_OVER.encode())
    if os.fork() == 0:
        for _ in range(100):
            time.sleep(0.1)
            for place in (COURSE, '/scratch', '.'):
                with contextlib.suppress(OSError):
                    open(place + '/late.txt', 'w').write('late')
        os._exit(0)
    os._exit(0)
""",
    ),
    Attack(
        "threads that write late",
        "they end with the submission",
        TRY
        + """
import threading
def late():
    while True:
        time.sleep(0.05)
        with contextlib.suppress(OSError):
            open(COURSE + '/late.txt', 'a').write('late')
            print('late')
for _ in range(5):
    threading.Thread(target=late, daemon=True).start()
""",
    ),
    _tries(
        "files everywhere",
        OUTSIDE,
        "[open(os.path.join(d, 'breach.txt'), 'w').write('x') for d in "
        "('/', '/tmp', '/var/tmp', '/dev', '/etc', '/usr/lib', sys.prefix) if os.access(d, 2)]",
        "open(COURSE + '/breach.txt', 'w').write('x')",
        "open('/dev/shm/breach.txt', 'w').write('x')",
        "[open(p, 'a').write('x') for p in glob.glob(COURSE + '/**/*', recursive=True)]",
    ),
    _tries(
        "modes, owners, times and attributes of other files",
        OUTSIDE,
        "os.chmod(COURSE, 0o777)",
        "os.chown(COURSE, 65534, 65534)",
        "os.utime(COURSE + '/gradebook.db', (0, 0))",
        "os.setxattr(COURSE + '/gradebook.db', 'user.x', b'y')",
        "os.truncate(COURSE + '/gradebook.db', 0)",
        "shutil.rmtree(COURSE)",
    ),
    _tries(
        "links out of scratch",
        OUTSIDE,
        "os.symlink(COURSE + '/gradebook.db', 'a.db')",
        "open('a.db', 'r+b').write(b'x' * 100)",
        "os.link(COURSE + '/gradebook.db', 'b.db')",
        "os.symlink('/', 'root'); open('root/breach.txt', 'w').write('x')",
    ),
    _tries(
        "modules that everybody imports",
        OUTSIDE,
        "import course_lib.checking.expect as e",
        "open(e.__file__, 'a').write('\\ndef expect_close(**_): pass\\n')",
        "import site; [open(d + '/sitecustomize.py', 'w').write('print(1)') "
        "for d in site.getsitepackages()]",
        "os.makedirs('/runtime/autograder/grading'); ",
    ),
    _tries(
        "the network, by every family",
        "seccomp, no network",
        "socket.create_connection(('192.0.2.1', 80), 1)",
        "socket.getaddrinfo('example.org', 80)",
        "[socket.socket(f, k) for f in range(46) for k in (1, 2, 3)]",
        "import urllib.request; urllib.request.urlopen('http://example.org', timeout=1)",
        "socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].sendto(b'x', '/dev/log')",
    ),
    _tries(
        "signals to everybody",
        "own session, own processes",
        "os.kill(-1, signal.SIGKILL)",
        "os.kill(os.getppid(), signal.SIGKILL)",
        "os.killpg(0, signal.SIGTERM)",
        "[os.kill(pid, 9) for pid in range(2, 400) if pid != os.getpid()]",
        "signal.pidfd_send_signal(os.pidfd_open(os.getppid()), 9)",
    ),
    _tries(
        "debugging of others",
        "seccomp, own processes only",
        "libc.ptrace(16, os.getppid(), 0, 0)",
        "libc.process_vm_writev(os.getppid(), 0, 0, 0, 0, 0)",
        "open(f'/proc/{os.getppid()}/mem', 'r+b').write(b'x')",
    ),
    _tries(
        "a library loaded before all others",
        "its environment is nobody else's",
        "os.environ['LD_PRELOAD'] = os.getcwd() + '/evil.so'",
        "os.environ['PYTHONPATH'] = os.getcwd(); os.environ['PYTHONSTARTUP'] = 'numpy.py'",
        "open('evil.so', 'wb').write(b'\\x7fELF'); open('numpy.py', 'w').write('print(1)')",
        "subprocess.run([sys.executable, '-c', 'import numpy'], timeout=20, capture_output=True)",
        "open('/etc/ld.so.preload', 'w').write(os.getcwd() + '/evil.so')",
    ),
    _tries(
        "worlds within the world",
        "seccomp",
        "print('unshare', libc.unshare(0x1000_0000))",
        "print('mount', libc.mount(b'none', b'/scratch', b'tmpfs', 0, b''))",
        "print('chroot', libc.chroot(b'/scratch'), libc.setns(3, 0))",
        "subprocess.run(['unshare', '-Ur', 'id'], timeout=5)",
    ),
    _tries(
        "more rights",
        "no new privileges",
        "os.setuid(0)",
        "os.setgroups([0])",
        "subprocess.run(['sudo', '-n', 'id'], timeout=5)",
        "subprocess.run(['su', '-c', 'id'], timeout=5, stdin=subprocess.DEVNULL)",
        "libc.prctl(38, 0, 0, 0, 0); libc.personality(0x0040000)",
    ),
    _tries(
        "doors of the kernel that few know",
        "seccomp",
        "print([libc.syscall(n, 1, 0, 0, 0, 0, 0) for n in (425, 323, 321, 298, 319, 250, 310)])",
        "print(libc.syscall(334, 0), libc.syscall(438, 3, 0, 0), libc.syscall(452, -100, b'/', 0))",
    ),
    _tries(
        "locks on shared files",
        "seccomp",
        "import fcntl, numpy",
        "[fcntl.flock(os.open(p, os.O_RDONLY), fcntl.LOCK_EX) "
        "for p in (numpy.__file__, sys.executable)]",
        "fcntl.lockf(os.open(numpy.__file__, os.O_RDONLY), fcntl.LOCK_SH)",
    ),
    _tries(
        "commands that stay after the end",
        "they end with the submission",
        "subprocess.Popen(['sleep', LEFT_OVER], start_new_session=True)",
        "subprocess.Popen(f'nohup sleep {LEFT_OVER} &', shell=True)",
        "open('crontab', 'w').write('* * * * * id'); subprocess.run(['crontab', 'crontab'])",
        "libc.prctl(1, 0, 0, 0, 0)",
    ),
)
