from .forward import capture as capture
from .weights import read_attention as read_attention
from .weights import text_weights as text_weights
