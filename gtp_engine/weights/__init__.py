"""The bundled networks, each with its card; `network.library` finds them."""
