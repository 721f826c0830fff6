//! The SPANK plugin: the options, and what happens on the node.
