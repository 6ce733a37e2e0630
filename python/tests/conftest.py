import pytest

wp = pytest.importorskip("warp")
wp.config.quiet = True
