package wire

import "math"

// Limits says how much a reader of containers takes on. A container that asks for
// more is refused, with an error that wraps umbel.ErrLimit, before memory is taken
// for it. A limit that is zero stands for that of [DefaultLimits].
type Limits struct {
	// Bytes is the memory of all planes together, those of parts included. A block of
	// 64 KiB may come as one byte, so that a small message may well hold a large plane.
	// What a container holds besides takes memory in proportion to its length.
	Bytes uint64
	// States is the number of states: the container's own, its parts, their parts.
	States uint64
	// Take is called with the bytes of each plane before there is memory for it; its error is the
	// reader's. nil: nothing is asked. It is for who shares memory with others that read.
	Reserve func(bytes uint64) error
	// Workers is the number of goroutines that decode blocks of a plane, each with
	// memory for some blocks; up to 1 the caller's alone does. More than twice
	// GOMAXPROCS stand for that. It is no limit, and zero stands for no other number.
	Workers int
}

// DefaultLimits are fit for containers from strangers: 1 GiB, 4096 states.
var DefaultLimits = Limits{Bytes: 1 << 30, States: 4096}

// NoLimits takes what memory holds, for containers that the program wrote itself.
var NoLimits = Limits{Bytes: math.MaxUint64, States: math.MaxUint64}

// ask calls Take, if there is one.
func (l Limits) ask(bytes uint64) error {
	if l.Reserve == nil {
		return nil
	}
	return l.Reserve(bytes)
}

func (l Limits) orDefault() Limits {
	if l.Bytes == 0 {
		l.Bytes = DefaultLimits.Bytes
	}
	if l.States == 0 {
		l.States = DefaultLimits.States
	}
	return l
}
