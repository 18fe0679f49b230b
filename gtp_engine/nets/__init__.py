"""KataGo's family of neural networks: their files and ours, as numpy arrays and as torch modules."""
