// Package durable is the map of the packages that keep the filters of a node over its end. Begin with store, which
// connects the others, and with the fault table of wal.
//
//	disk       a directory of files; disktest simulates one that fails, fills and loses power
//	wal        the log of batches, in which every loss is detected; waltest damages it
//	changes    encodes changes of filters as batches; statecode encodes shapes for them and for snapshots
//	journal    queues changes and writes batches to the log
//	snapfile   pieces and manifests of snapshots in files
//	snapshot   copies filters into pieces while they are used
//	recovery   restores filters from the last snapshot and replays the log
//	backup     a snapshot and its part of the log as one stream
//	store      joins all of these, and leaves a full disk
package durable
