// Package memory tells how much memory there is, so that a filter that can't fit is
// refused before it is made.
package memory

// Available returns how many bytes a program can take now without pushing others
// out, and whether the system tells. Where it tells only how much is built in, that
// is the answer.
func Available() (bytes uint64, ok bool) { return available() }

// Most returns how many bytes a program can ever have, those that others hold now
// included, and whether the system tells.
func Most() (bytes uint64, ok bool) { return most() }
