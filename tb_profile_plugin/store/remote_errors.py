"""What file systems raise, as problems that say what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..runtime.messages import Message
from ..runtime.problems import ProblemError, problem_error

_PACKAGES = {"s3": "s3fs", "s3a": "s3fs", "gs": "gcsfs", "gcs": "gcsfs", "az": "adlfs", "abfs": "adlfs"}
_PACKAGES |= {"http": "aiohttp", "https": "aiohttp", "hdfs": "pyarrow"}


@contextmanager
def translated_errors(url: str) -> Iterator[None]:
    """Raise whatever a file system raises as a `ProblemError` that says what to do."""
    scheme = url.partition("://")[0]
    try:
        yield
    except ProblemError:
        raise
    except ImportError as error:
        package = _PACKAGES.get(scheme, "fsspec")
        message = Message(
            "Reading {scheme}:// needs the package {package}, which is not installed.", scheme=scheme, package=package
        )
        remedy = Message("Run: pip install 'tb-profile-plugin[cloud]' (or just {package}).", package=package)
        raise problem_error("no_package", message, remedy, url, status=501) from error
    except FileNotFoundError as error:
        message = Message("This bucket, folder or file does not exist.")
        remedy = Message("Check the spelling and your permissions.")
        raise problem_error("no_such_path", message, remedy, url, status=404) from error
    except PermissionError as error:
        message = Message("Access is denied: {error}.", error=str(error))
        raise problem_error("unreadable", message, _credentials_remedy(scheme), url, status=403) from error
    except Exception as error:
        text = f"{type(error).__name__}: {error}".strip(": ")
        if "credential" in text.lower() or getattr(error, "status", 0) in (401, 403):
            raise problem_error("unreadable", f"{text}.", _credentials_remedy(scheme), url, status=403) from error
        if isinstance(error, ValueError) and "protocol" in text.lower():
            message = Message("No package is known that reads {scheme}://.", scheme=scheme)
            raise problem_error("unknown_scheme", message, "Use a URL that fsspec supports.", url) from error
        remedy = Message("Check the address and the network.")
        raise problem_error(
            "unreachable", Message("It cannot be read: {text}.", text=text), remedy, url, status=502
        ) from error


def _credentials_remedy(scheme: str) -> str:
    package = _PACKAGES.get(scheme, "fsspec")
    return Message(
        "Check the credentials that {package} finds: environment, configuration files or the machine's role.",
        package=package,
    )
