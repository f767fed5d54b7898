"""Say what LlamaFactory and every target will do with a dataset and each of its rows, before training.

One module for each level: `registry_file`, `entry`, `file`, `rows`, `media`, `overview` (all rows together),
`targets`, `bare` (a file without a registry). `codes` is the table of all codes; `dataset` puts the levels together,
`folder` and `project` say where entries come from.
"""
