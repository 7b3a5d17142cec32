"""The variational equations: derivatives of runs along directions, in absolute and in joint coordinates, over contacts too."""
