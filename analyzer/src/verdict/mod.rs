//! From the counts of a window to one verdict word and one plain sentence why.
