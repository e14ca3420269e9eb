"""The visible figure that goes along with a skeleton, for formats whose viewers show only meshes."""
