// Package oplog is the log of a node: batches of changes in the write-ahead log of package wal. The
// number of a batch is its index there.
package oplog
