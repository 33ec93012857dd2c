"""The command that exports a channel for other programs."""

from __future__ import annotations

import argparse
from pathlib import Path

from mechdesign.cli.common import DONE, Command, check_writable


def _export(options: argparse.Namespace) -> int:
    if options.client is not None:
        from mechdesign.client import LANGUAGES, export_client
        from mechdesign.files import load_mechanism

        languages = LANGUAGES if options.language is None else (options.language,)
        for file in export_client(load_mechanism(options.channel), options.client, languages):
            print(f"wrote     {file}, {file.stat().st_size} bytes")
        return DONE
    from mechdesign.errors import CertificateError
    from mechdesign.files.listing import listing
    from mechdesign.files.reading import read_document
    from mechdesign.writing.atomic import write_atomically

    path, target = options.channel, options.listing
    check_writable(None if target == "-" else target, None, path)
    try:
        text = listing(read_document(Path(path)))
    except CertificateError as error:
        raise CertificateError(f"{path}: no listing: {error}") from None
    if target == "-":
        print(text, end="")
    else:
        write_atomically(Path(target), text)
    return DONE


COMMANDS = (
    Command(
        "export",
        _export,
        "write a sampler for devices, or a listing for the checker that is proved by machine",
        """\
channel CHANNEL.json
| --client FOLDER          a table of the certified integers, a sampler that draws reports from it
                           on a device, test vectors, and, with JavaScript, a page that is a device
| --listing [FILE]         the numbers of the file, unchecked, for formal/mechdesign-check; default:
                           print them
--language {c,javascript}  of the sampler; default: both
""",
        "Write what other programs use of a saved channel or mechanism.",
    ),
)
