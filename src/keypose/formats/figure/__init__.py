"""A mesh for the skeleton, for formats whose viewers show only meshes."""
