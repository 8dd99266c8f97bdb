"""The place of one frame in another, by the joints between them only."""

from __future__ import annotations

from torseur.mechanism import Frame
from torseur.spatial import Transform
from torseur.tree import Snapshot


def relative_pose(now: Snapshot, first: Frame, second: Frame) -> Transform:
    """The place of the second frame in the first: what carries both is not walked."""
    (i, here), (k, there) = now.place(first), now.place(second)
    shared = set(now.tree.path(i)) & set(now.tree.path(k))
    return _from_shared(now, i, here, shared).inverse.then(_from_shared(now, k, there, shared))


def _from_shared(now: Snapshot, link: int, place: Transform, shared: set[int]) -> Transform:
    for i in now.tree.path(link):
        if i in shared:
            break
        place = now.links[i].motion.transform.then(place)
    return place
