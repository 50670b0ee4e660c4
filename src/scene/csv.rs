//! Bodies from and to CSV files.
