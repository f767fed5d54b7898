"""Made-up data that looks like real training data: mixed lengths and scripts, code, escapes, histories."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import orjson

ENGLISH = (
    "the of and to in is that for it as was with be by on not this are or his from at which but have had you were their"
    " one all we can her has there been if more when will would who so no out up into them then its about other some"
    " model data function return value error training loss gradient batch token attention layer network dataset convert"
    " python server request query index table column string list method memory thread process cache latency evaluate"
    " explain describe summarize translate rewrite generate classify compare analyze design implement optimize debug"
).split()
CHINESE = (
    "我们 可以 使用 模型 数据 训练 方法 问题 进行 系统 通过 需要 如果 因此 结果 时间 发展 社会 经济 技术 学习 人工智能"
    " 神经网络 语言 文本 生成 翻译 总结 解释 如何 为什么 请 写 一篇 关于 的 文章 代码 函数 变量 循环 列表 错误 调试"
    " 服务器 请求 数据库 查询 健康 饮食 运动 历史 文化 教育 科学 研究 环境 城市 旅游 音乐 首先 其次 最后 总之 例如 但是"
).split()
SPICE = [
    '```python\ndef f(x):\n\treturn {"k": x ** 2, \'path\': "C:\\\\tmp\\\\a.txt"}\n```\n',
    '```json\n{"name": "test", "items": [1, 2, 3]}\n```\n',
    '<div class="row"><p>Hello &amp; welcome</p></div>\n',
    '| a | b |\n|---|---|\n| 1 | "x" |\n',
    "😀",
    "🚀",
    "👩‍💻",
]


class Texts:
    """Draws texts from a pool of sentences."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.english = [" ".join(random.choices(ENGLISH, k=random.randint(6, 18))).capitalize() for _ in range(5000)]
        self.chinese = ["".join(random.choices(CHINESE, k=random.randint(5, 16))) for _ in range(5000)]

    def make(self, chinese: bool, size: float) -> str:
        """A text of about that many bytes."""
        random, out, done = self.random, [], 0
        while done < size:
            draw = random.random()
            if draw < 0.04:
                piece = random.choice(SPICE)
            elif chinese ^ (draw < 0.12):
                piece = random.choice(self.chinese) + "。"
            else:
                piece = random.choice(self.english) + ". "
            done += len(piece.encode())
            out.append(piece + ("\n\n" if draw > 0.92 else "\n- " if draw > 0.8 else ""))
        return "".join(out).strip()


def alpaca(random: Random, texts: Texts) -> dict[str, Any]:
    """One Alpaca row; some have a system prompt, an input, a history."""
    zh = random.random() < 0.45
    row: dict[str, Any] = {
        "instruction": texts.make(zh, random.lognormvariate(4.2, 0.4)),
        "input": texts.make(zh, random.lognormvariate(4.3, 0.6)) if random.random() < 0.4 else "",
        "output": texts.make(zh, random.lognormvariate(5.1, 0.6)),
    }
    if random.random() < 0.2:
        row["system"] = "你是一个乐于助人的助手。" if zh else "You are a helpful assistant."
    if random.random() < 0.05:
        row["history"] = [[texts.make(zh, 40), texts.make(zh, 80)] for _ in range(random.randint(1, 2))]
    return row


def sharegpt(random: Random, texts: Texts) -> dict[str, Any]:
    """One ShareGPT row of four to eight turns."""
    zh = random.random() < 0.45
    turns = [
        {"from": ("human", "gpt")[i % 2], "value": texts.make(zh, random.lognormvariate(4.5 + i % 2 * 1.2, 0.5))}
        for i in range(random.choice((4, 4, 6, 6, 8)))
    ]
    row: dict[str, Any] = {"conversations": turns}
    if random.random() < 0.3:
        row["system"] = "你是一个乐于助人的助手。" if zh else "You are a helpful assistant."
    return row


def preference(random: Random, texts: Texts) -> dict[str, Any]:
    """One Alpaca preference row."""
    zh = random.random() < 0.45
    return {
        "instruction": texts.make(zh, random.lognormvariate(4.3, 0.4)),
        "input": texts.make(zh, 90) if random.random() < 0.2 else "",
        "chosen": texts.make(zh, random.lognormvariate(5.8, 0.5)),
        "rejected": texts.make(zh, random.lognormvariate(5.6, 0.5)),
    }


def tools(random: Random, texts: Texts) -> dict[str, Any]:
    """One ShareGPT row in which tools are called, one or two at a time, between questions and answers."""
    zh = random.random() < 0.45
    names = random.sample(("get_weather", "search_web", "run_python", "read_file", "send_mail", "get_time"), 3)
    turns = []
    for _ in range(random.choice((1, 1, 2))):
        turns.append({"from": "human", "value": texts.make(zh, random.lognormvariate(4.2, 0.4))})
        for name in random.sample(names, random.choice((1, 1, 2))):
            arguments = {"query": texts.make(zh, 40), "limit": random.randint(1, 50), "fresh": random.random() < 0.5}
            call = {"name": name, "arguments": arguments}
            found = {"status": "ok", "found": [texts.make(zh, 60) for _ in range(2)], "score": random.randint(0, 99)}
            turns.append({"from": "function_call", "value": json.dumps(call, ensure_ascii=False)})
            turns.append({"from": "observation", "value": json.dumps(found, ensure_ascii=False)})
        turns.append({"from": "gpt", "value": texts.make(zh, random.lognormvariate(5.2, 0.5))})
    return {"conversations": turns, "system": "", "tools": json.dumps([described(name) for name in names])}


def described(name: str) -> dict[str, Any]:
    """What a dataset says of a tool."""
    properties = {"query": {"type": "string"}, "limit": {"type": "integer"}, "fresh": {"type": "boolean"}}
    parameters = {"type": "object", "properties": properties, "required": ["query"]}
    return {"name": name, "description": f"The tool {name}, as it is.", "parameters": parameters}


KINDS = {"alpaca": alpaca, "sharegpt": sharegpt, "preference": preference, "tools": tools}
DISTINCT = 300_000
"""How many rows are made; more are the same ones again."""


def make(folder: Path, kind: str, rows: int, *, array: bool = False, seed: int = 7) -> Path:
    """The file of so many rows of a kind, made unless it is there; one row in ten has its characters escaped."""
    path = folder / f"{kind}-{rows}.{'json' if array else 'jsonl'}"
    if path.exists():
        return path
    part = path.with_suffix(".part")
    if rows > DISTINCT and not array:
        with make(folder, kind, DISTINCT, seed=seed).open("rb") as once, part.open("wb", buffering=1 << 20) as file:
            while rows:
                rows -= sum(1 for line in islice(once, rows) if file.write(line))
                once.seek(0)
        part.rename(path)
        return path
    random = Random(f"{seed}-{kind}")
    texts = Texts(random)
    with part.open("wb", buffering=1 << 20) as file:
        for i in range(rows):
            row = KINDS[kind](random, texts)
            escaped = random.random() < 0.1
            if array:
                text = json.dumps(row, ensure_ascii=escaped, indent=2).replace("\n", "\n  ")
                file.write(((",\n  " if i else "[\n  ") + text).encode())
            else:
                file.write((json.dumps(row).encode() if escaped else orjson.dumps(row)) + b"\n")
        if array:
            file.write(b"\n]\n")
    part.rename(path)
    return path
