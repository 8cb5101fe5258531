// Package wire writes and reads containers: the self-describing encoding of a filter's
// state, for files and messages. It handles states of any kind, so a program can store,
// forward and inspect filters that it can't open. Package wire/delta encodes the
// difference between two states.
//
// [Append] and [Write] run at the speed of copying. A [Packer] writes the smallest
// containers. [Parse] and [Read] read both; [Scan] reads them without memory for arrays.
// Equal states have equal [ID]s, whatever the encoding.
//
// All functions may be called concurrently. They read states with plain loads: nothing may
// change a filter, not even atomically, while its state is written. The caller's goroutine
// does all work unless Workers asks for more goroutines, which end before the call returns.
//
// The format is spec/container.md and spec/codings.md. All versions of this package read
// version 1.
package wire
