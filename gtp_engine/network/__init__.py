"""Neural networks: KataGo's family of networks as torch modules, their files, and ours."""
