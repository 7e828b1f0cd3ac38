"""A process on 127.0.0.1 that answers each request after some time, as a service of rewards or features does."""

import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

_SERVER = """
import socket, sys, time
with socket.create_server(("127.0.0.1", 0)) as server:
    print(server.getsockname()[1], flush=True)
    connection, _ = server.accept()
    while connection.recv(1):
        time.sleep(float(sys.argv[1]))
        connection.sendall(b"1")
"""


class Remote:
    """Answers within ``seconds``."""

    def __init__(self, seconds):
        self._process = subprocess.Popen([sys.executable, "-c", _SERVER, str(seconds)], stdout=subprocess.PIPE)
        self._socket = socket.create_connection(("127.0.0.1", int(self._process.stdout.readline())))
        self._pool, self._waiting = ThreadPoolExecutor(1), None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._pool.shutdown()
        self._socket.close()
        self._process.wait()

    def request(self):
        """Wait for an answer."""
        self._socket.sendall(b"1")
        return int(self._socket.recv(1))

    def next_ahead(self):
        """The answer to what was requested the last time, while the next one is on its way."""
        waiting = self._waiting or self._pool.submit(self.request)
        answer = waiting.result()
        self._waiting = self._pool.submit(self.request)
        return answer
