from .ledger import read_ledger as read_ledger, spending as spending
from .personalized import collect_numbers as collect_numbers, privatize_each as privatize_each
from .records import privatize_file as privatize_file, tally_file as tally_file
from .tables import privatize as privatize, tally as tally
from .transformer import ChannelTransformer as ChannelTransformer

__all__: list[str]
