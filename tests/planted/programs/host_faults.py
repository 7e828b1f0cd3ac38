"""What a host may do too long, in any framework: each function takes the seconds that it lasts."""

import base64
import collections
import copy
import csv
import gc
import hashlib
import json
import logging
import os
import pickle
import re
import socket
import subprocess
import tempfile
import threading
import time
import zlib
from concurrent.futures import ThreadPoolExecutor

import numpy as np

RECORD = json.dumps([{"id": i, "name": f"row {i}", "values": list(range(10))} for i in range(50)])
LINES = [",".join(map(str, range(i, i + 12))) for i in range(200)]
TEXT = "a loss of 0.125 after 30 steps, then 0.5; " * 50
ROWS = [{"key": (i * 7919) % 1009, "name": str(i)} for i in range(300)]
BYTES = bytes(range(256)) * 256
PACKED, CODED = zlib.compress(BYTES), base64.b64encode(BYTES)
VALUES = np.arange(64 * 1024, dtype=np.float64).reshape(64, 1024)
LOG = logging.Logger("training")
LOG.addHandler(logging.StreamHandler(open(os.devnull, "w")))
POOL = ThreadPoolExecutor(1)
ENDS = socket.socketpair()


def again(seconds, work):
    """Work of many small pieces, for so long."""
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        work()


def sleep(seconds):
    time.sleep(seconds)


def transform(seconds):
    again(seconds, lambda: np.fft.fft(VALUES).sum())


def python_loop(seconds):
    again(seconds, lambda: sum(i * i % 7 for i in range(500)))


def parse_json(seconds):
    again(seconds, lambda: json.loads(RECORD))


def parse_table(seconds):
    again(seconds, lambda: list(csv.reader(LINES)))


def match_text(seconds):
    again(seconds, lambda: re.findall(r"(\d+\.\d+)|(\w+s)\b", TEXT))


def sort_rows(seconds):
    again(seconds, lambda: sorted(ROWS, key=lambda row: row["key"]))


def collect_garbage(seconds):
    again(seconds, gc.collect)


def decompress(seconds):
    again(seconds, lambda: zlib.decompress(PACKED))


def checksum(seconds):
    again(seconds, lambda: hashlib.sha256(BYTES).hexdigest())


def write_file(seconds):
    def write():
        with tempfile.TemporaryFile() as file:
            file.write(BYTES)
            file.flush()

    again(seconds, write)


def read_file(seconds):
    def read():
        with open(__file__, "rb") as file:
            file.read()

    again(seconds, read)


def pickle_state(seconds):
    again(seconds, lambda: pickle.dumps(ROWS))


def receive(seconds):
    threading.Timer(seconds, lambda: ENDS[0].send(b"x")).start()
    ENDS[1].recv(1)


def wait_lock(seconds):
    lock = threading.Lock()
    lock.acquire()
    threading.Timer(seconds, lock.release).start()
    with lock:
        pass


def wait_future(seconds):
    POOL.submit(time.sleep, seconds).result()


def run_command(seconds):
    subprocess.run(["sleep", str(seconds)], check=True)


def format_log(seconds):
    again(seconds, lambda: LOG.warning("step %d: loss %.4f, rate %s", 3, 0.25, {"a": 1}))


def copy_rows(seconds):
    again(seconds, lambda: copy.deepcopy(ROWS[:20]))


def draw_random(seconds):
    again(seconds, lambda: np.random.standard_normal(4096))


def decode_text(seconds):
    again(seconds, lambda: base64.b64decode(CODED).decode("latin-1"))


def count_words(seconds):
    again(seconds, lambda: collections.Counter(TEXT.split()).most_common(3))


def list_folder(seconds):
    again(seconds, lambda: list(os.walk(os.path.dirname(__file__))))
