"""Why a move is a mistake: facts that the rules and the search have shown, and the sentences that state them."""
