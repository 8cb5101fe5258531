// Package wire writes and reads containers: the self-describing encoding of a
// filter's state, as files and messages carry it. It knows states and no kind, so
// a program can keep, forward and inspect filters that it can't open.
//
// All integers are little-endian (spec/container.md is the full text):
//
//	container  magic 8 | state | CRC-32C of all before it, 4
//	magic      0x89 "umbel" 0x0a 0x01, the last byte being the version
//	state      kind: length 1, bytes | hasher: algorithm 1, seed 16
//	           | number of params 1 | params | number of planes 1 | planes
//	           | number of parts 2 | parts, each a state
//	param      name: length 1, bytes | type 1: 0 whole, 1 float | value 8
//	plane      width 1 | cells 8 | blocks
//	block      coding 1: 0 raw         | the words, 8 each
//	                     1 empty, 2 full
//	                     3 arithmetic  | length of payload 1-3 | payload
//	                     4 positions   | length of payload 1-3 | payload
//
// A block is 64 KiB of a plane's words, the last one of a plane what is left. In
// an empty block all bits are zero, in a full one all bits that belong to a cell
// are one. A payload is shorter than the words; its length is unsigned LEB128.
// Arithmetic coding takes cells for independent of each other, and comes to the
// entropy (spec/codings.md); positions are those of the ones among bits. With all
// blocks raw a container is in canonical form: there is exactly one such for each
// state, and its hash is the state's [ID].
//
// [Append] and [Write] make no payloads and run at the speed of copying; a [Packer]
// makes containers as small as it can. All are read by [Parse] and [Read], and by
// [Scan] without memory for planes.
//
// [Delta] makes a message of what changed from one state to another, [Apply] makes the
// other of the one. [Refine] makes a delta from the fold of a filter to the whole. They
// are laid out in deltaformat.go, and in spec/delta.md.
//
// All work is done by the caller's goroutine, unless Workers of a [Packer], a [Differ] or
// [Limits] asks for more; these have ended when the call returns.
//
// All functions may be called concurrently. States are only read, by plain loads:
// nothing may change a filter, not even atomically, while its state is written.
//
// Version 1 is read by all versions of this package.
package wire

// magic begins each container. Its first byte is no ASCII and no UTF-8, and its
// seventh is a line feed, so that what takes the container for text, or changes
// line ends, is found out (as in PNG).
const magic = "\x89umbel\n\x01"

// Codings of blocks. Numbers are never reused.
const (
	raw        = 0
	empty      = 1
	full       = 2
	arithmetic = 3
	positions  = 4
)

// blockWords is the number of words of a block, 64 KiB.
const blockWords = 8192

// crcBytes is the size of the checksum that ends a container.
const crcBytes = 4
