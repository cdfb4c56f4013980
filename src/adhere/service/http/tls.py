"""Check a certificate and its key before the service starts."""

from __future__ import annotations

import ssl
from pathlib import Path

from adhere.errors import InputError
from adhere.files import unreadable


def check_certificate(certificate: str, key: str) -> None:
    """Raise an `InputError` unless both files can be read and belong together."""
    for name, file in (("tls_certificate", certificate), ("tls_key", key)):
        try:
            Path(file).read_bytes()
        except OSError as error:
            raise unreadable(name, file, error) from None
    try:
        # With a password, even a wrong one, an encrypted key is an error; without one OpenSSL would ask the terminal.
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, password="")
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            raise InputError("tls_key", key, f"the key of {certificate}") from None
        reason = (error.reason or "unknown").lower().replace("_", " ")
        raise InputError("tls_key", key, f"a key without a password, in PEM as the certificate ({reason})") from None
