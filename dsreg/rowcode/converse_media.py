"""Images, videos and documents of Amazon Nova's rows: objects in S3, under the limits that all validators share."""

from __future__ import annotations

import re
from typing import Any

from dsreg.rowcode.constants import Constants
from dsreg.rowcode.errors import RowError

S3_URI = re.compile(r"s3://[A-Za-z0-9_\-/.]+")
# The format names all validators know; `jpg` is refused by two of them, `webp` and `webm` by one for lite-2.
MEDIA_FORMATS = {
    "image": {"png": "png", "jpg": "jpeg", "jpeg": "jpeg", "gif": "gif", "webp": "webp"},
    "video": {"mov": "mov", "mkv": "mkv", "mp4": "mp4", "webm": "webm"},
    "document": {"pdf": "pdf"},
}
MEDIA_LIMITS = {"image": 10, "video": 1, "document": 1}


def write_media(part: dict[str, Any], path: str, media: dict[str, int], c: Constants) -> dict[str, Any]:
    """One media block, counted in `media`; raises RowError DS305 for what a validator or the model refuses."""
    kind, model = part["type"], c.options["model"]
    if kind not in MEDIA_FORMATS or model == "micro" or (kind == "document" and model != "lite-2"):
        raise RowError("DS305", path, f"Nova {model} takes no {kind}s")
    given = part["source"]
    source: dict[str, Any] = given if isinstance(given, dict) else {"uri": given}
    uri, owner = source.get("uri", source.get("url")), source.get("bucketOwner") or c.options["bucket_owner"]
    if isinstance(uri, str) and "://" not in uri and c.options["media_prefix"]:
        uri = f"{c.options['media_prefix'].rstrip('/')}/{uri}"
    if not isinstance(uri, str) or not S3_URI.fullmatch(uri):
        message = f"Nova wants {kind}s as s3://bucket/key of letters, digits and _-/. but this is {uri!r:.80}"
        raise RowError("DS305", path, f"{message}: --option media_prefix=s3://bucket/folder")
    if not isinstance(owner, str) or not owner:
        raise RowError("DS305", path, "Nova wants the account that owns the bucket: --option bucket_owner=123456789012")
    suffix = source.get("format") or uri.rpartition(".")[2].lower()
    form = MEDIA_FORMATS[kind].get(suffix) if isinstance(suffix, str) else None
    if form is None or (model == "lite-2" and form in ("webp", "webm")):
        raise RowError("DS305", path, f"Nova {model} takes no {kind} of type {suffix!r:.20}")
    media[kind] = media.get(kind, 0) + 1
    return {kind: {"format": form, "source": {"s3Location": {"uri": uri, "bucketOwner": owner}}}}


def check_media_counts(media: dict[str, int]) -> None:
    """At most ten images, one video, one document, and one kind in a row; raises RowError DS305."""
    used = [kind for kind in MEDIA_LIMITS if kind in media]
    if len(used) > 1:
        raise RowError("DS305", "messages", f"Nova takes {used[0]}s or {used[1]}s in one row, not both")
    for kind in used:
        if media[kind] > MEDIA_LIMITS[kind]:
            raise RowError("DS305", "messages", f"{media[kind]} {kind}s; Nova takes {MEDIA_LIMITS[kind]} in a row")
