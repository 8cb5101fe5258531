// Package oplog is the log of a node: a sequence of batches whose loss, reordering or alteration is
// detected. It is implemented by an embedded NATS JetStream without an open port; no other package
// depends on NATS.
//
// # On the disk
//
// A log has a directory of its own:
//
//	LOCK         locked by the process that has the log open, whose number is in it
//	head         what must be there, in 8 KiB written in place: see head
//	jetstream/   the files of the server: stream UMBEL_BATCHES (subject umbel.batches)
//
// Batches are messages, each in a frame of ours (see frame), and their numbers are the sequence of the
// stream. JetStream syncs each message before it answers. It takes a message only as the number that we expect it to have, one
// at a time: so an answer that never came can be found out about later, and nothing is
// kept twice or left out.
//
// # What is found
//
// JetStream has sums of its own, but what they tell it, it keeps to itself: it drops what is
// damaged, up to the rest of a file of 8 MiB, and the messages before and after stay. So:
//
//   - A batch has its number, a CRC-32C, and the number and the hash of the batch before it.
//     What is altered, missing, or of another time in the middle of the log, Read finds.
//   - The head has the number of the last batch. What is missing at the end, opening the log
//     finds, and Read says.
//   - A message that JetStream was about to write when the process ended was never
//     acknowledged. JetStream cuts it if it is incomplete; if it is complete, it counts.
//
// The head is synced only with purges. A power cut can make it some seconds
// older, not newer, and then a loss of the last batches in the same power cut, which would take
// a disk that lies about syncing, isn't found. If the head is missing, the log says so, since
// its end can't be trusted.
//
// # What can't go on
//
// When JetStream couldn't write, it takes nothing more. The next change looks whether the disk
// takes bytes again and if so starts a new server, in some ten milliseconds for each 30 MiB.
// Reading goes on. When a file couldn't be synced there is no way on but a new process.
package oplog
