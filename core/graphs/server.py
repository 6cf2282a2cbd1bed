"""The confined side: loads one graph and computes its outputs, for as long as its owner lives.

Each line on standard input is a question in JSON, each line on standard output its answer; arrays are in two pieces of
shared memory, one for each direction.
"""

import json
import mmap
import os
import sys
import threading
from queue import SimpleQueue
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from certiset.core.errors import ModelError
from certiset.core.graphs.session import GraphSession
from certiset.core.graphs.shared_memory import view


def main() -> None:
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=0)
    # What libraries print must not garble an answer.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    questions: SimpleQueue[dict[str, Any]] = SimpleQueue()
    threading.Thread(target=_listen, args=(questions,), daemon=True).start()
    first = questions.get()
    _Server(answers, first["input"], first["output"]).serve(questions, first["bytes"], first["threads"])
    # The interpreter cannot end in order while a thread listens.
    os._exit(0)


class _Server:
    def __init__(self, answers: BinaryIO, inputs: int, outputs: int) -> None:
        self._answers, self._inputs, self._outputs = answers, inputs, outputs
        self._maps: dict[int, mmap.mmap] = {}

    def serve(self, questions: "SimpleQueue[dict[str, Any]]", size: int, threads: int) -> None:
        try:
            session = GraphSession(self._array(self._inputs, np.dtype(np.uint8), (size,)).data, threads)
        except ModelError as error:
            self._say(error=str(error))
            return
        self._say(loaded=True)
        while True:
            asked = questions.get()
            try:
                self._compute(session, asked, questions)
            except ModelError as error:
                self._say(error=str(error))
            except MemoryError:
                self._say(error="The ONNX model needs more memory than it may use.")

    def _compute(self, session: GraphSession, asked: dict[str, Any], questions: "SimpleQueue[dict[str, Any]]") -> None:
        found = np.ascontiguousarray(
            session(self._array(self._inputs, np.dtype(asked["dtype"]), tuple(asked["shape"])))
        )
        if found.nbytes > os.fstat(self._outputs).st_size:
            # Only the owner can make room.
            self._say(needs=found.nbytes)
            questions.get()
        self._array(self._outputs, found.dtype, found.shape)[...] = found
        proof = session.row_proof
        self._say(dtype=found.dtype.str, shape=found.shape, proved=proof.proved, reason=proof.reason)

    def _array(self, descriptor: int, dtype: "np.dtype[Any]", shape: tuple[int, ...]) -> NDArray[Any]:
        size = os.fstat(descriptor).st_size
        if not size:
            return view(None, dtype, shape)
        if descriptor not in self._maps or len(self._maps[descriptor]) != size:
            self._maps[descriptor] = mmap.mmap(descriptor, size)
        return view(self._maps[descriptor], dtype, shape)

    def _say(self, **answer: Any) -> None:
        self._answers.write(json.dumps(answer).encode() + b"\n")


def _listen(questions: "SimpleQueue[dict[str, Any]]") -> None:
    for line in sys.stdin.buffer:
        questions.put(json.loads(line))
    # The owner is gone, and a graph may never come to an end.
    os._exit(0)


if __name__ == "__main__":
    main()
