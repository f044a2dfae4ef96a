"""One module per rule, in folders by category; the registry in ``ptxlint.engine`` finds them."""
