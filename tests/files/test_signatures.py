"""A signature is of the content of one file by one key, and nothing else passes for it."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed448, rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from hypothesis import given, settings, strategies as st

from mechdesign.channel import Channel
from mechdesign.cli import main
from mechdesign.designs.facade import design
from mechdesign.domain import Domain
from mechdesign.errors import CertificateError, InputError
from mechdesign.files import load_channel, load_mechanism, load_problem, save
from mechdesign.files.signatures import sign, signature_path
from mechdesign.mechanisms.randomized_response import GeneralizedRandomizedResponse

PROBLEM = """\
[domain]
values = ["a", "b"]
[privacy]
notion = "ldp"
epsilon = 1.0
[utility]
objective = "hamming"
"""

WARNER = Channel.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]])
KEY, ANOTHER = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()


def pem(key: Any, lock: KeySerializationEncryption | None = None) -> bytes:
    form = PrivateFormat.PKCS8
    return bytes(key.private_bytes(Encoding.PEM, form, lock or NoEncryption()))


def public_pem(key: Any) -> bytes:
    form = PublicFormat.SubjectPublicKeyInfo
    return bytes(key.public_key().public_bytes(Encoding.PEM, form))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("private.pem").write_bytes(pem(KEY))
    Path("public.pem").write_bytes(public_pem(KEY))
    Path("another.pem").write_bytes(public_pem(ANOTHER))
    Path("p.toml").write_text(PROBLEM, encoding="utf-8")
    return tmp_path


KINDS: dict[str, Callable[[], Any]] = {
    "solution": lambda: design(load_problem("p.toml")),
    "channel": lambda: WARNER,
    "mechanism": lambda: GeneralizedRandomizedResponse(Domain(range(5)), 1),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("by", ["file", "object"])
def test_what_is_signed_is_verified_with_the_public_key(kind: str, by: str, folder: Path) -> None:
    made = KINDS[kind]()
    private, public = ("private.pem", "public.pem") if by == "file" else (KEY, KEY.public_key())
    save(made, "c.json", key=private)
    unsigned = load_mechanism("c.json").verified.claims
    *claims, signed = load_mechanism("c.json", key=public).verified.claims
    assert tuple(claims) == unsigned
    assert re.fullmatch("signature: by the key sha256:[0-9a-f]{64}", signed)
    if kind != "mechanism":
        assert load_channel("c.json", key=public).verified.claims == (*claims, signed)
        with pytest.raises(CertificateError, match="by another key than sha256:"):
            load_channel("c.json", key="another.pem")
    with pytest.raises(CertificateError, match="by another key than sha256:"):
        load_mechanism("c.json", key="another.pem")


def test_a_file_is_the_same_whether_it_is_signed_or_not(folder: Path) -> None:
    save(WARNER, "plain.json")
    save(WARNER, "signed.json", key="private.pem")
    assert Path("plain.json").read_bytes() == Path("signed.json").read_bytes()
    assert not signature_path("plain.json").exists()
    with pytest.raises(CertificateError, match=r"it is not signed: plain\.json\.sig"):
        load_mechanism("plain.json", key="public.pem")


def test_a_file_may_be_set_otherwise_and_not_be_changed(folder: Path) -> None:
    save(WARNER, "c.json", key="private.pem")
    document = json.loads(Path("c.json").read_text())
    Path("c.json").write_text(json.dumps(dict(reversed(document.items()))))
    load_mechanism("c.json", key="public.pem")
    save(WARNER.__class__.from_matrix([["1/2", "1/2"]] * 2), "c.json")  # the signature is old
    load_mechanism("c.json")
    with pytest.raises(CertificateError, match="no signature of this file"):
        load_mechanism("c.json", key="public.pem")


def leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the places of a document, of the keys of its tables too."""
    inner: list[tuple[Any, ...]] = [path]
    if isinstance(value, dict):
        parts: list[tuple[Any, Any]] = list(value.items())
    else:
        parts = list(enumerate(value)) if isinstance(value, list) else []
    for key, entry in parts:
        inner += leaves(entry, (*path, key))
    return inner


@settings(max_examples=60)
@given(st.data())
def test_whatever_is_changed_is_not_signed(data: st.DataObject) -> None:
    """The signature covers the whole document: the digest, the certificate, every key."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "c.json"
        save(WARNER, path, key=KEY)
        document = json.loads(path.read_text())
        *place, last = data.draw(st.sampled_from([p for p in leaves(document) if p]))
        part = document
        for key in place:
            part = part[key]
        change = data.draw(st.sampled_from(["remove", "spare", "replace"]))
        if change == "replace":
            part[last] = [part[last]]
        elif change == "remove":
            del part[last]
        elif isinstance(part, dict):
            part["spare"] = 1
        else:
            part.append(1)
        path.write_text(json.dumps(document))
        with pytest.raises(CertificateError, match="no signature of this file"):
            load_mechanism(path, key=KEY.public_key())


GOOD = {"format": "mechdesign-signature", "version": 1, "algorithm": "ed25519"}

FORGED: dict[str, Callable[[dict[str, Any]], Any]] = {
    "another algorithm": lambda s: {**s, "algorithm": "none"},
    "no algorithm": lambda s: {k: v for k, v in s.items() if k != "algorithm"},
    "another version": lambda s: {**s, "version": 2},
    "version true": lambda s: {**s, "version": True},
    "version 1.0": lambda s: {**s, "version": 1.0},
    "a key beside it": lambda s: {**s, "public_key": public_pem(ANOTHER).decode()},
    "a list": lambda s: [s],
    "null": lambda s: s and None,
    "a number": len,
    "a list of pairs": lambda s: [[k, v] for k, v in s.items()],
    "no bytes": lambda s: {**s, "signature": ""},
    "short": lambda s: {**s, "signature": base64.b64encode(bytes(63)).decode()},
    "long": lambda s: {**s, "signature": base64.b64encode(bytes(65)).decode()},
    "zeros": lambda s: {**s, "signature": base64.b64encode(bytes(64)).decode()},
    "a number for text": lambda s: {**s, "signature": 7},
    "spaces in it": lambda s: {**s, "signature": s["signature"] + "\n"},
    "no fingerprint": lambda s: {**s, "key": None},
}


@pytest.mark.parametrize("forged", FORGED)
def test_a_forged_signature_is_refused(forged: str, folder: Path) -> None:
    save(WARNER, "c.json", key=KEY)
    place = signature_path("c.json")
    found = json.loads(place.read_text())
    assert set(found) == {*GOOD, "key", "signature"}
    place.write_text(json.dumps(FORGED[forged](found)))
    with pytest.raises(CertificateError):
        load_mechanism("c.json", key=KEY.public_key())


@pytest.mark.parametrize(
    "text", ["", "{", "[" * 100_000, "{}" * 10_000, "\x00", '{"key": 1, "key": 2}']
)
def test_a_file_that_is_no_signature_is_refused(text: str, folder: Path) -> None:
    save(WARNER, "c.json", key=KEY)
    signature_path("c.json").write_text(text)
    with pytest.raises(CertificateError, match=r"c\.json\.sig is no signature"):
        load_mechanism("c.json", key=KEY.public_key())


def test_a_signature_says_nothing_of_another_purpose(folder: Path) -> None:
    """The content alone, signed for something else, is not a signed file; nor is another file."""
    save(WARNER, "c.json", key=KEY)
    place = signature_path("c.json")
    found = json.loads(place.read_text())
    canonical = json.dumps(
        json.loads(Path("c.json").read_text()), sort_keys=True, separators=(",", ":")
    )
    found["signature"] = base64.b64encode(KEY.sign(canonical.encode())).decode()
    place.write_text(json.dumps(found))
    with pytest.raises(CertificateError, match="no signature of this file"):
        load_mechanism("c.json", key=KEY.public_key())


def test_who_names_the_key_of_another_is_not_believed(folder: Path) -> None:
    """The attacker signs with their own key, and writes the fingerprint of the trusted one."""
    save(WARNER, "good.json", key=KEY)
    save(WARNER, "c.json", key=ANOTHER)
    stated = json.loads(signature_path("good.json").read_text())["key"]
    found = json.loads(signature_path("c.json").read_text())
    signature_path("c.json").write_text(json.dumps({**found, "key": stated}))
    with pytest.raises(CertificateError, match="no signature of this file by the key"):
        load_mechanism("c.json", key="public.pem")


def test_a_signed_lie_is_still_a_lie(folder: Path) -> None:
    """A signature adds who said it; what is claimed is checked as ever."""
    save(design(load_problem("p.toml")), "c.json")
    document = json.loads(Path("c.json").read_text())
    document["digest"] = "sha256:" + "0" * 64
    Path("c.json").write_text(json.dumps(document))
    sign(document, "c.json", KEY)
    with pytest.raises(CertificateError, match="the digest does not match"):
        load_mechanism("c.json", key="public.pem")


# --- keys ---------------------------------------------------------------------------------------

SECRET = "MC4CAQAwBQYDK2VwBCIEI"  # how each of these keys begins in base64

WRONG_PRIVATE: dict[str, Callable[[], bytes]] = {
    "with a password": lambda: pem(KEY, BestAvailableEncryption(b"password")),
    "a public key": lambda: public_pem(KEY),
    "elliptic curve": lambda: pem(ec.generate_private_key(ec.SECP256R1())),
    "RSA": lambda: pem(rsa.generate_private_key(65537, 2048)),
    "Ed448": lambda: pem(ed448.Ed448PrivateKey.generate()),
    "cut off": lambda: pem(KEY)[:80],
    "nothing": lambda: b"",
    "no PEM": lambda: b"\xff" * 50,
    "too long": lambda: pem(KEY) * 200,
}


@pytest.mark.parametrize("wrong", WRONG_PRIVATE)
def test_a_wrong_private_key_is_refused_before_anything_is_written(
    wrong: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("k.pem").write_bytes(WRONG_PRIVATE[wrong]())
    with pytest.raises(InputError, match="key: expected an Ed25519 private key") as caught:
        save(WARNER, "c.json", key="k.pem")
    assert SECRET not in str(caught.value)
    assert main(["solve", "p.toml", "-o", "c.json", "--key", "k.pem"]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.count("\n") == 1
    assert SECRET not in output.err
    assert not Path("c.json").exists()


def test_a_wrong_public_key_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save(WARNER, "c.json", key=KEY)
    Path("ec.pem").write_bytes(public_pem(ec.generate_private_key(ec.SECP256R1())))
    for name in ("private.pem", "ec.pem", "p.toml", "none.pem", "."):
        with pytest.raises(InputError, match=r"^key: expected an Ed25519 public key in PEM"):
            load_mechanism("c.json", key=name)
        assert main(["verify", "c.json", "--key", name]) == 2
        output = capsys.readouterr()
        assert SECRET not in output.out + output.err
    with pytest.raises(InputError, match="given a private key; keep it to yourself"):
        load_mechanism("c.json", key="private.pem")
    with pytest.raises(InputError, match="key: expected an Ed25519 public key in PEM, or the name"):
        load_mechanism("c.json", key=KEY)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="key: expected an Ed25519 private key"):
        save(WARNER, "c.json", key=b"x")  # type: ignore[arg-type]


def test_what_a_key_file_holds_is_never_said(folder: Path) -> None:
    """Whoever gives the content for the name does not see it in the message, nor in a traceback."""
    text = pem(KEY).decode()
    for given_ in (text, text.replace("\n", ""), text.splitlines()[1], f"{SECRET}.pem"):
        Path("c").write_text("{}")
        for act in (partial(save, WARNER), load_mechanism):
            with pytest.raises(InputError) as caught:
                act("c", key=given_)
            error: BaseException | None = caught.value
            while error is not None:
                assert SECRET not in str(error)
                error = error.__cause__


@pytest.mark.parametrize("target", ["private.pem", "private"])
def test_a_key_is_never_written_over(target: str, folder: Path) -> None:
    if target == "private":
        Path("private.sig").write_bytes(pem(KEY))
    key = "private.pem" if target == "private.pem" else "private.sig"
    before = Path(key).read_bytes()
    with pytest.raises(InputError, match="another file than the one that is read"):
        save(WARNER, target, key=key)
    assert Path(key).read_bytes() == before


# --- the command line ---------------------------------------------------------------------------


def test_the_commands_sign_and_verify(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["mechanism", "randomized-response", "p.toml", "-o", "m.json"]
    assert main([*words, "--key", "private.pem"]) == 0
    assert main(["solve", "p.toml", "-o", "c.json", "--key", "private.pem"]) == 0
    for name in ("m.json", "c.json"):
        capsys.readouterr()
        assert main(["verify", name, "--key", "public.pem"]) == 0
        assert "verified  signature: by the key sha256:" in capsys.readouterr().out
        assert main(["verify", name, "--key", "another.pem"]) == 1
        error = capsys.readouterr().err
        assert error.startswith(f"{name}: refused: {name}.sig is by another key than sha256:")
        assert error.count("\n") == 1
    assert main(["solve", "p.toml", "-o", "c.json"]) == 0
    signature_path("c.json").unlink()
    capsys.readouterr()
    assert main(["verify", "c.json"]) == 0
    assert "signature" not in capsys.readouterr().out
    assert main(["verify", "c.json", "--key", "public.pem", "--json"]) == 1
    output = capsys.readouterr()
    assert json.loads(output.out)["verified"] is False
    assert "it is not signed" in output.err
    assert main(["solve", "p.toml", "--key", "private.pem"]) == 2
    assert "--key: expected -o with it" in capsys.readouterr().err


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not there")
def test_keys_of_openssl_are_read_and_have_its_fingerprint(folder: Path) -> None:
    for words in (
        "genpkey -algorithm ed25519 -out a.pem",
        "pkey -in a.pem -pubout -out b.pem",
        "pkey -pubin -in b.pem -outform DER -out b.der",
    ):
        subprocess.run(["openssl", *words.split()], check=True, capture_output=True, timeout=60)
    save(WARNER, "c.json", key="a.pem")
    stated = f"sha256:{hashlib.sha256(Path('b.der').read_bytes()).hexdigest()}"
    assert load_mechanism("c.json", key="b.pem").verified.claims[-1].endswith(stated)
