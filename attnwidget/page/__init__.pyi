from .assemble import pack_example as pack_example
from .assemble import page_html as page_html
from .assemble import page_of_examples as page_of_examples
from .budget import Method as Method
from .budget import check_selection as check_selection
from .budget import layers_within as layers_within
from .frame import frame_html as frame_html
from .shown import layer_numbers as layer_numbers
