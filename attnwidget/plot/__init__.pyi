from .grid_plot import grid as grid
from .head_plot import head as head
from .map_plot import map as map
from .matrix_plot import matrices as matrices
from .matrix_plot import matrix as matrix
from .model_plot import model as model
from .neuron_plot import neuron as neuron
from .ranking_plot import ranking as ranking
from .text_plot import text as text

def require_matplotlib() -> None: ...
