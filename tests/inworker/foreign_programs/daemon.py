"""A daemon: two forks, its own session, all descriptors closed. The program waits for its result in a FIFO."""

import os
import sys
import threading


def run():
    os.setsid()
    if os.fork():
        os._exit(0)
    os.umask(0o027)
    os.closerange(0, 4096)
    numbers = [os.open("/dev/null", os.O_RDWR), os.dup(0), os.dup(0)]
    result = []
    thread = threading.Thread(target=result.append, args=(os.getpid() == os.getsid(0),))
    thread.start()
    thread.join()
    mode = os.stat(os.open("made", os.O_CREAT | os.O_WRONLY, 0o666)).st_mode & 0o777
    with open("fifo", "w") as file:
        print(numbers, result, oct(mode), sorted(map(int, os.listdir("/proc/self/fd")))[:4], file=file)
    os._exit(0)


os.mkfifo("fifo")
pid = os.fork()
if pid == 0:
    run()
print(os.waitpid(pid, 0)[1])
with open("fifo") as file:
    print(file.read())
sys.exit("the text of the exit")
