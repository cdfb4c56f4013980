"""`adhere trial reveal`: reveal the secret by which a closed trial drew its arms."""

from __future__ import annotations

from typing import Annotated
from uuid import uuid4

import typer

from adhere.cli.options import Imports, import_all
from adhere.cli.trial.importing import shown, writing_into
from adhere.cli.trial.sources import SecretFileOption, TrialName
from adhere.errors import FileInUseError, InputError, listed


def reveal(
    source: Annotated[str, typer.Argument(metavar="FILE|URL", help="A file of trials, or postgresql://…")],
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why now; it is in the log.")],
    name: TrialName = None,
    secret_file: SecretFileOption = None,
    imports: Imports = None,
) -> None:
    """Reveal the secret by which a closed trial drew its arms and kits: it becomes a record of the log.

    \b
      adhere trial reveal adhere.db --trial headache --reason "the last assessor was unblinded"

    From then on anybody who has the log can draw every arm again ('adhere trial replay headache.log'). Closing does
    not do this by itself, because those who assess outcomes may still be blinded. It cannot be undone. While a
    service runs on the file, reveal through it: POST /trials/NAME/reveal, or the trial's page.
    """
    from adhere.trial.domain.commands import Reveal
    from adhere.trial.writing.processor import CommandProcessor

    import_all(imports)
    try:
        with writing_into(source, secret_file, exists=True) as store:
            with store.reading() as view:
                names = list(view.trials())
            if name is None and len(names) != 1:
                sentence = f"several trials here; choose one with --trial: {listed(names)}" if names else ""
                raise InputError("--trial", None, "one of the trials", sentence or "there is no trial here")
            asked = name or names[0]
            command = Reveal(trial=asked, request_id=f"/{uuid4()}", by="adhere trial reveal", reason=reason)
            (answer,) = CommandProcessor(store).execute([command])
            if isinstance(answer, Exception):
                raise answer
    except FileInUseError:
        raise FileInUseError(source, "POST /trials/NAME/reveal, Client.reveal") from None
    typer.echo(f"{asked}: its secret is revealed in its log, in {shown(source)}")
