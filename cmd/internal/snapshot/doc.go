// Package snapshot copies the filters of an engine to files, and reads the copies.
//
// A snapshot is taken while filters change. Each copy contains all changes up to one position and none
// after another; replaying the log from the lowest of these positions completes the copies. Only
// segments whose checksum differs from the last snapshot are written. The log keeps the batches that the
// previous snapshot needs, so that it can replace a damaged one.
//
// A Taker does one thing at a time, and whoever waits for it can give up. It has no lock while it waits
// for the disk, except that changes of kinds that are not monotone wait while their filter is copied.
package snapshot
