"""Which findings are shown and counted: by code or by the beginning of a code."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dsreg.check.finding import Finding


def chosen(findings: Iterable[Finding], select: Sequence[str], ignore: Sequence[str]) -> list[Finding]:
    """The findings whose code begins with one of `select`, if there are any, and with none of `ignore`."""
    return [
        finding
        for finding in findings
        if (not select or is_among(finding.code, select)) and not is_among(finding.code, ignore)
    ]


def is_among(code: str, prefixes: Sequence[str]) -> bool:
    """Whether a code begins with one of these; case does not matter."""
    return any(prefix and code.startswith(prefix.strip().upper()) for prefix in prefixes)
