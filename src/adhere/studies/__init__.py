"""The paper's figures and claims, one file each."""
