//! Statistics over plain numbers: intervals, exact tests, ratios. Every formula names its source.
