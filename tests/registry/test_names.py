from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsreg.errors import UsageError
from dsreg.names import check_name, name_of, stem_of

STEMS = {
    "mydata": "mydata",
    "my data v1.2": "my data v1.2",
    "数据": "数据",
    "SWE-Play/mix": "SWE-Play%2Fmix",
    "1%": "1%25",
    "..": "%2E%2E",
    "../../etc/passwd": "%2E.%2F..%2Fetc%2Fpasswd",
    ".hidden": "%2Ehidden",
    "mathinstruct ": "mathinstruct%20",
    "con": "%63on",
    "NUL.x": "%4EUL.x",
    "console": "console",
    'a"b|c?': "a%22b%7Cc%3F",
    "a\x1b[31m": "a%1B[31m",
    "\u202eevil": "%E2%80%AEevil",
}


@pytest.mark.parametrize("name, stem", STEMS.items())
def test_file_names_of_datasets(name: str, stem: str) -> None:
    assert stem_of(name) == stem
    assert name_of(stem) == name


@pytest.mark.parametrize("stem", ["alpaca_en_1%", "50%_json", "%zz", "a%"])
def test_a_percent_sign_that_escapes_nothing_stays(stem: str) -> None:
    assert name_of(stem) == stem


@given(st.text(min_size=1, max_size=30))
def test_every_name_has_a_safe_file_name_of_its_own(name: str) -> None:
    stem = stem_of(name)
    assert name_of(stem) == name
    assert not re.search(r'[/\\<>:"|?*\x00-\x1f\x7f]', stem)
    assert not stem.startswith((".", " ")) and not stem.endswith((".", " "))


@pytest.mark.parametrize("name", ["", "a,b", " a", "a ", "a\n", "a\x1b[0m", "x" * 300, "\u202ea"])
def test_names_that_cannot_be_selected_are_refused(name: str) -> None:
    with pytest.raises(UsageError) as caught:
        check_name(name)
    assert caught.value.hint


@pytest.mark.parametrize("name", ["mydata", "a/b", "1%", "数据 集", "-x"])
def test_other_names_are_fine(name: str) -> None:
    check_name(name)
