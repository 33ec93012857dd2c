"""Signatures: Ed25519, in a file of its own beside the one that is signed.

A signature is of the content of a JSON file, in its canonical form, not of its bytes: whoever sets
the file otherwise does not break it. It says that somebody with the private key signed it, and
nothing about what the file claims, which is checked from the file as ever.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from mechdesign.errors import CertificateError, InputError, shown_kind
from mechdesign.files.reading import open_plain
from mechdesign.kernel import canonical, parse
from mechdesign.kernel.arithmetic import need
from mechdesign.kernel.schema import read
from mechdesign.writing.atomic import check_different, write_atomically

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (
        Ed25519PrivateKey,
        Ed25519PublicKey,
    )

    PrivateKey = str | os.PathLike[str] | Ed25519PrivateKey
    PublicKey = str | os.PathLike[str] | Ed25519PublicKey

__all__ = ["check_signature", "private_key", "sign", "signature_path"]

FORMAT = {"format": "mechdesign-signature", "version": 1, "algorithm": "ed25519"}


@dataclass(frozen=True)
class _Signature:
    """What the file of a signature holds."""

    format: Literal["mechdesign-signature"]
    version: int
    algorithm: Literal["ed25519"]
    key: str
    signature: str


MEANING = b"mechdesign signature of a file, version 1\n"
"""What stands before the content, so that a signature for another purpose is none here."""

MOST_BYTES = 10_000
"""Of a key in PEM, which takes some hundred, and of a signature."""

PRIVATE = "an Ed25519 private key in PEM, without a password"
PUBLIC = "an Ed25519 public key in PEM"


def signature_path(path: str | os.PathLike[str]) -> Path:
    """Return where the signature of a file stands: ``channel.json.sig``."""
    return Path(path).with_name(f"{Path(path).name}.sig")


def private_key(key: PrivateKey, path: str | os.PathLike[str]) -> Ed25519PrivateKey:
    """Return the private key that is to sign a file, from PEM if its name is given.

    Raises
    ------
    InputError
        If it is none, or the file or its signature would be written over it. No message tells
        anything of the key.
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    if isinstance(key, Ed25519PrivateKey):
        return key
    text = _key_text(key, PRIVATE)
    for target in (Path(path), signature_path(path)):
        check_different(Path(key), target)
    found = _of_kind(lambda: load_pem_private_key(text, None), Ed25519PrivateKey, PRIVATE)
    return cast("Ed25519PrivateKey", found)


def sign(document: dict[str, Any], path: str | os.PathLike[str], key: PrivateKey) -> None:
    """Write the signature of a document that stands in a file.

    Raises
    ------
    InputError
        If the key is none, or the signature cannot be written.
    """
    signer = private_key(key, path)
    found = {
        **FORMAT,
        "key": _fingerprint(signer.public_key()),
        "signature": base64.b64encode(signer.sign(_message(document))).decode(),
    }
    write_atomically(signature_path(path), json.dumps(found, indent=1) + "\n")


def check_signature(document: Any, path: str | os.PathLike[str], key: PublicKey) -> str:
    """Check that a document is signed with a key that the caller trusts.

    The key comes from the caller alone. The file of the signature names a key by its fingerprint,
    which serves to say that it is another one, and holds none.

    Parameters
    ----------
    document
        The content of the file, as it was parsed.
    path
        The file; its signature stands beside it.
    key
        The public key, or the name of a file of it in PEM.

    Returns
    -------
    str
        The claim that holds, in a sentence.

    Raises
    ------
    InputError
        If the key is none that can be read, or is a private one.
    CertificateError
        If there is no signature, or it is not of this document by this key.
    """
    from cryptography.exceptions import InvalidSignature

    checker, place = _public_key(key), signature_path(path)
    fingerprint, found = _fingerprint(checker), _read_signature(place)
    if found["key"] != fingerprint:
        raise CertificateError(f"{place.name} is by another key than {fingerprint}")
    try:
        checker.verify(_signature_bytes(found["signature"], place), _message(document))
    except InvalidSignature:
        raise CertificateError(f"{place.name} is no signature of this file by the key") from None
    return f"signature: by the key {fingerprint}"


def _public_key(key: PublicKey) -> Ed25519PublicKey:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    if isinstance(key, Ed25519PublicKey):
        return key
    text = _key_text(key, PUBLIC)
    if b"PRIVATE KEY" in text:
        raise InputError("key", PUBLIC, "a private key", "keep it to yourself")
    found = _of_kind(lambda: load_pem_public_key(text), Ed25519PublicKey, PUBLIC)
    return cast("Ed25519PublicKey", found)


def _key_text(key: Any, expected: str) -> bytes:
    """Return the bytes of a file of a key; no message holds any of them, nor what was given."""
    if not isinstance(key, str | os.PathLike):
        raise InputError("key", f"{expected}, or the name of its file", shown_kind(key))
    if "-----" in os.fspath(key) or "\n" in os.fspath(key):
        raise InputError("key", "the name of a file", "what is in one")
    try:
        with open_plain(Path(key)) as stream:
            text = stream.read(MOST_BYTES + 1)
    except (OSError, InputError) as error:
        given = error.given if isinstance(error, InputError) else error.strerror
        raise InputError("key", f"{expected}, in a file that can be read", given) from None
    if len(text) > MOST_BYTES:
        raise InputError("key", expected, f"more than {MOST_BYTES} bytes")
    return text


def _of_kind(load: Callable[[], object], kind: type[Any], expected: str) -> Any:
    """Return a key that is loaded, or refuse what is none, and a key for another algorithm."""
    from cryptography.exceptions import UnsupportedAlgorithm

    try:
        found = load()
    except (ValueError, TypeError, UnsupportedAlgorithm):  # TypeError: it has a password
        raise InputError("key", expected, "something else") from None
    if not isinstance(found, kind):
        raise InputError("key", expected, "a key of another kind")
    return found


def _fingerprint(key: Ed25519PublicKey) -> str:
    """Return the SHA-256 of a public key in DER, as ``openssl`` has it."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    encoded = key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return f"sha256:{hashlib.sha256(encoded).hexdigest()}"


def _message(document: Any) -> bytes:
    return MEANING + canonical(document)


def _read_signature(place: Path) -> dict[str, str]:
    """Return the file of a signature, which has exactly the keys that it must have."""
    try:
        with open_plain(place) as stream:
            text = stream.read(MOST_BYTES)  # of more, the rest is missing, and it is no JSON
    except (OSError, InputError):
        raise CertificateError(f"it is not signed: {place.name} cannot be read") from None
    try:
        found = parse(text)
        need(read(_Signature, found).version == FORMAT["version"], "another version")
    except (ValueError, RecursionError, CertificateError):
        words = f"{place.name} is no signature by Ed25519 of version 1"
        raise CertificateError(words) from None
    return cast("dict[str, str]", found)


def _signature_bytes(text: str, place: Path) -> bytes:
    """Return the 64 bytes of a signature, written in one way only."""
    try:
        found = base64.b64decode(text, validate=True)
        if len(found) == 64 and base64.b64encode(found).decode() == text:
            return found
    except ValueError:
        pass
    raise CertificateError(f"{place.name} holds no signature of 64 bytes in base64")
