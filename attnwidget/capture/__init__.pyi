from .forward import capture as capture
from .forward import captured_pass as captured_pass
from .forward import record_of as record_of
from .weights import read_attention as read_attention
from .weights import text_weights as text_weights
