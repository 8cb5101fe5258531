// Package group is the map of the packages with which several nodes serve the same filters. Each node reads one log, which
// an engine keeps that the operator runs: a bucket, a stream of NATS, a directory. One of the nodes leads, and writes it.
//
//	sharedlog  the log: its entries, who leads, the lease of the leader; mediumtest tests media
//	logdir     a directory as the medium of a log
//	member     a node's part: it follows, leads, and takes snapshots of the group
package group
