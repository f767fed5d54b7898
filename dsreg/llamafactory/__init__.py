"""What LlamaFactory 0.9.5 does with a dataset_info.json entry and every row of its data, without torch or `datasets`.

`predict` goes through the same steps as a training run: opening the registry and resolving the entry (`resolve`),
the stage's guard (`stage`), loading (`load` and the readers), aligning (`align`, `media`, `written`) and what
tokenising would stop on (`stage`). `reasons` says for every reason what LlamaFactory does.
"""

from __future__ import annotations
