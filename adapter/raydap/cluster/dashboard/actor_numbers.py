"""The numbers of actors: the order in which a program has created the actors of each class."""

from collections.abc import Iterable
from typing import NamedTuple


class CreatedActor(NamedTuple):
    """An actor in a list that is in the order of creation."""

    id: str
    """Ray's hex id of the actor, which a restart does not change."""
    job: str
    """Ray's hex id of the actor's job."""
    class_name: str
    """The actor's class, without its module."""


class ActorNumbers:
    """The numbers of actors among the actors of their class and job, from 0.

    An actor keeps its number, and no other actor gets it later.
    """

    def __init__(self) -> None:
        self._numbers: dict[str, tuple[int, tuple[str, str]]] = {}
        """The number of each listed actor, with its job and class, by the actor's id."""
        self._created: dict[tuple[str, str], int] = {}
        """The number of actors that have been listed so far, by job and class."""

    def take(self, actors: Iterable[CreatedActor]) -> None:
        """Assign numbers to the new actors of a list, and forget the actors that the list no longer contains."""
        listed = {}
        for actor in actors:
            kind = actor.job, actor.class_name
            if actor.id not in self._numbers:
                self._numbers[actor.id] = self._created.get(kind, 0), kind
                self._created[kind] = self._created.get(kind, 0) + 1
            listed[actor.id] = self._numbers[actor.id]
        self._numbers = listed

    def knows(self, actor_ids: Iterable[str]) -> bool:
        """Return whether all these actors have numbers."""
        return all(actor_id in self._numbers for actor_id in actor_ids)

    def of(self, actor_id: str) -> tuple[int | None, int]:
        """Return an actor's number, and how many actors of its class its job has created so far.

        Return None and 1 for an actor that was in no list.
        """
        if actor_id not in self._numbers:
            return None, 1
        number, kind = self._numbers[actor_id]
        return number, self._created[kind]
