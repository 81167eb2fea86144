"""Servers that fork or start threads, and limits of the process."""

import http.server
import logging
import logging.handlers
import multiprocessing
import os
import resource
import socketserver
import threading
import urllib.request
import xmlrpc.client
import xmlrpc.server


class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        self.wfile.write(self.rfile.readline().upper())


class Forking(socketserver.ForkingMixIn, socketserver.TCPServer):
    pass


def ask(address):
    import socket

    with socket.create_connection(address) as connection:
        connection.sendall(b"hello\n")
        return connection.makefile().readline()


def log(queue):
    logger = logging.getLogger("child")
    logger.addHandler(logging.handlers.QueueHandler(queue))
    logger.warning("from %s", multiprocessing.current_process().name)


def main():
    for kind in (socketserver.ThreadingTCPServer, Forking):
        with kind(("127.0.0.1", 0), Handler) as server:
            thread = threading.Thread(target=server.serve_forever, args=(0.01,))
            thread.start()
            print([ask(server.server_address) for _ in range(3)])
            server.shutdown()
            thread.join()
    http_server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
    http_server.RequestHandlerClass.log_message = lambda *_: None
    threading.Thread(target=http_server.serve_forever, daemon=True).start()
    open("page", "w").write("page")
    print(urllib.request.urlopen(f"http://127.0.0.1:{http_server.server_port}/page").read())
    http_server.shutdown()
    calls = xmlrpc.server.SimpleXMLRPCServer(("127.0.0.1", 0), logRequests=False)
    calls.register_function(pow)
    threading.Thread(target=calls.handle_request, daemon=True).start()
    print(xmlrpc.client.ServerProxy("http://127.0.0.1:%d" % calls.server_address[1]).pow(2, 5))
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=log, args=(queue,), name="logging")
    process.start()
    print(queue.get(timeout=60).getMessage())
    process.join()
    print(resource.getrlimit(resource.RLIMIT_CORE) is not None, os.sched_getaffinity(0) is not None)
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    opened = []
    try:
        while True:
            opened.append(os.open("/dev/null", os.O_RDONLY))
    except OSError as error:
        print(error.errno, max(opened))
        for each in opened:
            os.close(each)
    process = context.Process(target=print, args=("below the limit",))
    process.start()
    process.join()
    print(process.exitcode)


if __name__ == "__main__":
    main()
