"""A certificate authority for tests of TLS, with certificates for whichever names a test wants."""

import ssl
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


@dataclass(frozen=True)
class Authority:
    """An authority whose files lie in `folder`."""

    folder: Path
    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate

    def client(self) -> ssl.SSLContext:
        """A context that trusts this authority alone."""
        return ssl.create_default_context(cadata=self.certificate.public_bytes(serialization.Encoding.PEM).decode())

    def server(self, name: str, *, days: int = 1) -> ssl.SSLContext:
        """A context with a certificate for `name`, valid for so many days from now; below 0 it has expired."""
        key = ec.generate_private_key(ec.SECP256R1())
        now = datetime.now(UTC)
        certificate = (
            _builder(name, self.certificate.subject, key.public_key(), now - timedelta(days=30), now + timedelta(days))
            .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
            .sign(self.key, hashes.SHA256())
        )
        path = self.folder / f"{name}.pem"
        secret = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        path.write_bytes(secret + certificate.public_bytes(serialization.Encoding.PEM))
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(path)
        return context


def authority(folder: Path) -> Authority:
    """A new authority."""
    key = ec.generate_private_key(ec.SECP256R1())
    now = datetime.now(UTC)
    name = _name("Authority of the tests")
    certificate = (
        _builder("Authority of the tests", name, key.public_key(), now - timedelta(days=30), now + timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    return Authority(folder, key, certificate)


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _builder(
    subject: str, issuer: x509.Name, key: ec.EllipticCurvePublicKey, begin: datetime, end: datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(_name(subject))
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(begin)
        .not_valid_after(end)
    )
