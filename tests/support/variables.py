"""The local variables of a function that has stopped in a real worker."""

from typing import Any

from support.entered import EnteredWorker


class Variables:
    """The local variables of the innermost function."""

    def __init__(self, worker: EnteredWorker, thread: int) -> None:
        self.worker = worker
        self.frame: int = worker.frames(thread)[0]["id"]
        scopes = worker.client.request("scopes", frameId=self.frame)["scopes"]
        self.scope: int = scopes[0]["variablesReference"]

    def of(self, reference: int) -> dict[str, Any]:
        found = self.worker.client.request("variables", variablesReference=reference)["variables"]
        return {each["name"]: each for each in found}

    def locals(self) -> dict[str, Any]:
        return self.of(self.scope)

    def parts(self, variable: dict[str, Any]) -> dict[str, Any]:
        return self.of(variable["variablesReference"])

    def texts(self) -> dict[str, str]:
        return {name: each["value"] for name, each in self.locals().items()}
