from .mechanisms import (
    SavedMechanism as SavedMechanism,
    load_channel as load_channel,
    load_mechanism as load_mechanism,
    save as save,
)
from .problems import load_problem as load_problem
from .reading import data_folder as data_folder

__all__: list[str]
