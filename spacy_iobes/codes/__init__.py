"""Tags as data: schemes, policies, and the verbs that are derived from them."""
