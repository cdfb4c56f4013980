"""A process whose file descriptors are used up before the compiled code of its trial is loaded.

`python starving.py DATABASE` prints, as JSON, what came of commands sent then, and afterwards.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from pathlib import Path

from adhere.store import open_store
from adhere.trial.domain.commands import ChangeStatus, Recommend, RecommendationResponse, Report
from adhere.trial.domain.events import decode
from adhere.trial.domain.log_records import walk
from adhere.trial.log.replay import replay
from adhere.trial.writing.processor import CommandProcessor
from adhere.trial.writing.snapshot import decode_snapshot, floats_from


def used_up() -> list[int]:
    """Every descriptor there is."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    taken: list[int] = []
    while True:
        try:
            taken.append(os.open(os.devnull, os.O_RDONLY))
        except OSError:
            return taken


def main(path: Path) -> None:
    """Send commands without a descriptor left, then with."""
    store = open_store(path)
    processor = CommandProcessor(store)
    processor.execute([_status("paused"), _status("open")])  # the database's files are open now; no policy is
    taken = used_up()
    starved = processor.execute([_recommend(0), _status("paused"), _status("open"), _recommend(1)])
    for descriptor in taken:
        os.close(descriptor)
    fed = processor.execute([_recommend(number) for number in range(3)])
    made = [response.recommendation_id for response in fed if isinstance(response, RecommendationResponse)]
    reports = [Report(trial="t", request_id=f"r {one}", recommendation_id=one, reward=1.0) for one in made]
    fed += processor.execute(reports)
    with store.reading() as view:
        events = [decode(record.body) for record in walk(view, 1)]
        found = replay(view, 1)
        snapshot = decode_snapshot(view.head(1).snapshot)
    assert snapshot is not None
    said = {
        "starved": [type(response).__name__ for response in starved],
        "why": str(starved[0]),
        "fed": [type(response).__name__ for response in fed],
        "kinds": [type(event).__name__ for event in events],
        "fallbacks": [getattr(event, "fallback", "") for event in events if type(event).__name__ == "Recommended"],
        "difference": str(found.difference),
        "successes": floats_from(snapshot.policy_state).tolist()[:2],
    }
    print(json.dumps(said))


def _status(status: str) -> ChangeStatus:
    return ChangeStatus(trial="t", request_id="", status=status, reason="to see")


def _recommend(number: int) -> Recommend:
    return Recommend(trial="t", request_id="", subject=f"s{number}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
