package umbel

import "errors"

// Sentinels of all packages of umbel, to be tested with errors.Is. The errors
// that wrap them say what was wrong, with both values, and what to do. Where a
// kind can't do what is asked of it, errors.ErrUnsupported is wrapped instead.
var (
	// ErrGoal: what is wanted can't be had, or contradicts itself: a rate outside
	// (0, 1), no keys, a parameter out of its range, a name or a number misspelt.
	ErrGoal = errors.New("invalid goal")
	// ErrMismatch: two filters, or a filter and a factor, don't go together.
	ErrMismatch = errors.New("mismatch")
	// ErrKind: the kind isn't in the list of kinds that was asked.
	ErrKind = errors.New("unknown kind")
	// ErrCorrupt: bytes or a state that no umbel ever wrote.
	ErrCorrupt = errors.New("corrupt")
	// ErrLimit: well-formed, but larger than the caller allows or memory holds.
	ErrLimit = errors.New("limit exceeded")
)
