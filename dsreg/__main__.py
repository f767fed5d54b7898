"""`python -m dsreg`: the command line."""

import sys

from dsreg.cli.app import main

sys.exit(main())
