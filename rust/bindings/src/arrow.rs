//! Arrow across the boundary, by the PyCapsule protocols.
