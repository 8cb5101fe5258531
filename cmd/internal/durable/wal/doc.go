// Package wal is a write-ahead log: a sequence of entries in segment files, in which every loss,
// alteration and reordering of entries that were durable is detected.
//
// # Files
//
//	LOCK                      locked by the process that has the log open, whose number it contains
//	head, head.copy           what the log must contain, twice: see head
//	00000000000000000001.wal  a segment: a header and frames; the name is the first index
//	00000000000000000001.old  an obsolete segment that will be used again
//	new.tmp                   a segment that is being made
//
// An entry may have a scope, which says what its data concerns. A segment has its full size from the
// beginning, so that writing an entry changes no metadata and does not fail on a full disk. See segment,
// scope and frame for the formats.
//
// # Writing
//
// Propose writes a batch as an entry, and Commit makes all that were proposed durable with one
// operation. Propose may be called while a Commit is in progress. A segment is synced before the next one
// begins, so only the last one contains entries that are not durable.
//
// # Torn or damaged
//
// After a power cut the last entries, which were not acknowledged, may be incomplete, in any
// combination. They are cut. An entry that was durable and is missing or altered is damage; the log
// reports it as ErrHole and accepts no new entries until the caller accepts the loss. Three records
// decide which of the two it is: the head names the last durable entry, every frame names the last
// entry that was durable when it was written, and the header of a segment names the last entry of
// the segment before.
//
//	fault                                    is detected by
//	a bit of a frame                         the CRC-32C of header or frame
//	a frame of another place or time         the index, the hash in the next frame, the salt
//	missing frames in the middle             the index and the hash in the next frame
//	missing frames or files at the end       the head
//	a missing file in the middle             the header of the next segment
//	a bit of one copy of a header or head    its CRC-32C; the other copy is used
//	one missing file of the head             the other one is used
//	both missing                             segments exist without them
//
// The scope of an entry has a sum of its own. A Hole has the scopes of its entries if they are whole.
//
// The head is exact after a process was killed. It is not synced with each entry, so after a power
// cut it may be older. If the power cut also destroys entries that had been synced (the disk lied,
// or failed at the same moment) and no whole frame names them, they are not missed.
//
// # Errors
//
// A failed write changes nothing and can be repeated. After a failed sync the state of the disk is
// unknown, and the log accepts nothing until another process opens it.
//
// # Versions
//
// Segments and head contain a version. A program reads its own version and all earlier ones, and
// refuses later ones (ErrVersion). Directories of programs that kept their log in JetStream are
// refused: a backup made with such a program can be restored.
package wal
