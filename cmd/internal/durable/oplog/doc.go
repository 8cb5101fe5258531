// Package oplog is the log of a node: batches of changes in the write-ahead log of package wal. The
// number of a batch is its index there.
//
// The log is also where replication is added: Replicator is what the journal needs of it, and Alone is
// the implementation for a node that is not replicated. The interface follows from what a Raft group
// requires of a server that changes filters in memory before their changes are committed:
//
//   - Only a node for which Ready returns nil changes filters by itself.
//   - A batch is applied again only by others than the process that proposed it in this term. Each
//     entry contains its term.
//   - When Lost is closed, memory contains changes that may never be committed. They must not stay,
//     even in kinds that only set bits: a later addition of such a key would change nothing, would not
//     be logged, and would be acknowledged. So the process ends, and starts again from snapshot and
//     log.
//   - A batch whose Commit failed is committed again by number, never proposed a second time.
//   - A snapshot of a leader contains changes that are not committed. In a group it may be published
//     only when the last position that it contains is committed.
//   - With several voters every node syncs before it answers. Durabilities everysec and none make
//     replies early, never the sync.
//
// A position of package engine is the number of a change in the log, not of a process: the header of a
// batch contains the position of its first change. So index and offset of a change follow from its
// position, and all nodes that apply the same batches compute the same positions.
package oplog
