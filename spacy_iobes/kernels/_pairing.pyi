from .pairing_numpy import pair as pair
