"""A server in a process of its own that takes its time, and counts what it is asked: ``python counting_server.py LOG``.

It writes its port to standard output, and a line for each prompt to the file LOG: when it came ("asked") and when its
answer was sent ("answered"). ``--seconds`` is what an answer takes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from pathlib import Path
from typing import Any

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: %d\r\n\r\n%s"
LIST = b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\n{"data": []}'


def answer(request: dict[str, Any]) -> bytes:
    """A streamed answer, or a whole one where none is asked for."""
    said = request["messages"][-1]["content"]
    text = (said if isinstance(said, str) else "".join(part.get("text", "") for part in said)).upper()
    usage = {"prompt_tokens": len(text) // 4 + 9, "completion_tokens": len(text) // 4 + 1, "total_tokens": 0}
    if not request.get("stream"):
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        whole = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
        return json.dumps({**whole, "usage": usage}).encode()
    base = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    first = {"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": None}
    stop = {"index": 0, "delta": {}, "finish_reason": "stop"}
    chunks = ({**base, "choices": [first]}, {**base, "choices": [stop]}, {**base, "choices": [], "usage": usage})
    return b"".join(b"data: %s\n\n" % json.dumps(chunk).encode() for chunk in chunks) + b"data: [DONE]\n\n"


async def serve(log: Path, seconds: float) -> None:
    """Serve until it is killed."""
    with log.open("a", buffering=1) as noted:

        async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                while head := await reader.readuntil(b"\r\n\r\n"):
                    length = next((line for line in head.lower().split(b"\r\n") if b"content-length:" in line), b":0")
                    body = await reader.readexactly(int(length.partition(b":")[2]))
                    if head.startswith(b"GET"):
                        writer.write(LIST)
                        continue
                    request = json.loads(body)
                    prompt = request["messages"][-1]["content"]
                    noted.write(json.dumps(["asked", prompt]) + "\n")
                    await asyncio.sleep(seconds)
                    said = answer(request)
                    kind = HEAD if request.get("stream") else HEAD.replace(b"text/event-stream", b"application/json")
                    writer.write(kind % (len(said), said))
                    await writer.drain()
                    noted.write(json.dumps(["answered", prompt]) + "\n")
            except (ConnectionError, asyncio.IncompleteReadError):
                pass
            finally:
                writer.close()

        server = await asyncio.start_server(talk, "127.0.0.1", 0, backlog=500)
        print(server.sockets[0].getsockname()[1], flush=True)
        await server.serve_forever()


def main() -> None:
    """Read the arguments and serve."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("log", type=Path)
    arguments.add_argument("--seconds", type=float, default=0.1)
    given = arguments.parse_args(sys.argv[1:])
    asyncio.run(serve(given.log, given.seconds))


if __name__ == "__main__":
    main()
