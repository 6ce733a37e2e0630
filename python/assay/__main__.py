"""``python -m assay`` runs the program."""

import sys

from assay._program import main

sys.exit(main())
