"""From StableHLO to linalg, by IREE's input pipeline and by rewrites of our own."""
