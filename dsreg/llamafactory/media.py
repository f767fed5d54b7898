"""Media columns: how paths are joined to the media folder (data/converter.py, `_find_medias`)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .outcome import Note, RowAbort

if TYPE_CHECKING:
    from .align import Context


def find_medias(medias: Any, column: str, context: Context) -> list[Any] | None:
    """The media of a row as the converter returns them; raises RowAbort for what cannot be a path.

    A path is joined to the media folder where that file exists and kept as it is otherwise; only the first item is
    looked at to tell paths from frames and other values; hub and cloud data is left alone.
    """
    if medias is None:
        return None
    if not isinstance(medias, list):
        medias = [medias]
    elif not medias:
        return None
    else:
        medias = medias[:]
    if context.entry.load_from not in ("script", "file"):
        return list(medias)
    if isinstance(medias[0], str):
        return [_find(media, f"{column}[{at}]", context) for at, media in enumerate(medias)]
    if isinstance(medias[0], list):
        return [_frames(frames, f"{column}[{at}]", context) for at, frames in enumerate(medias)]
    return list(medias)


def _frames(frames: Any, path: str, context: Context) -> list[Any]:
    if not isinstance(frames, list):
        raise RowAbort("media_null", path, f"TypeError: object of type {type(frames).__name__!r} has no len()")
    return [_find(frame, f"{path}[{at}]", context) for at, frame in enumerate(frames)]


def _find(media: Any, path: str, context: Context) -> str:
    try:
        joined = os.path.join(context.media_dir, media)  # noqa: PTH118 - the original's joining, absolute paths included
    except TypeError as err:
        raise RowAbort("media_null", path, f"TypeError: {err}") from None
    if Path(joined).is_file() if "\0" not in joined else False:
        return joined
    context.notes.append(Note("media_missing", f"{media} is not in the media folder", path))
    return str(media)


def placeholder_notes(aligned: dict[str, Any]) -> list[Note]:
    """Notes where the placeholders of a row and its media do not match in number (mm_plugin.py:189-216)."""
    notes: list[Note] = []
    if aligned["_images"] is aligned["_videos"] is aligned["_audios"] is None:
        return notes
    for kind, place in (("images", "<image>"), ("videos", "<video>"), ("audios", "<audio>")):
        medias = aligned[f"_{kind}"]
        if medias is None:
            continue  # without media the tag is trained as text, on text templates at least
        for answer in aligned["_response"][:2] or [None]:
            messages = [*aligned["_prompt"], *([answer] if answer else [])]
            found = sum(m["content"].count(place) for m in messages if isinstance(m["content"], str))
            if found != len(medias):
                notes.append(Note("media_count", f"{len(medias)} {kind} but {found} {place}", f"_{kind}"))
                break
    return notes
