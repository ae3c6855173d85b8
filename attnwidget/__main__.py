"""python -m attnwidget"""

import sys

from attnwidget.cli import main

sys.exit(main())
