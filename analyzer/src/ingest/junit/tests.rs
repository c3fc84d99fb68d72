//! Documents of every producer, written for the test.
