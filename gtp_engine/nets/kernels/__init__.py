"""Networks computed on a CPU by our own compiled code: kernels of vector instructions, and the layers made of them."""
