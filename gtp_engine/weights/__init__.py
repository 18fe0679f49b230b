"""The bundled networks, each with its card; `nets.library` finds them."""
