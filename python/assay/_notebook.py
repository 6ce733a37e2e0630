"""Names of the cells of a notebook."""

from __future__ import annotations

import sys


def cell_name(path: str) -> str | None:
    """The name of the notebook's cell that IPython compiled under this file name, such as ``In[3]``."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    name_of = getattr(shell.compile, "format_code_name", None) if shell else None  # missing in old versions
    name = name_of(path) if name_of else None
    return name[1] if name else None
