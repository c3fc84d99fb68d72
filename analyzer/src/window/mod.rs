//! Where one history is cut: permutation change points, rate change points, given times, and the windows between them.
