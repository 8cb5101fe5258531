// Package memory returns the available memory, so that a filter that doesn't fit is rejected
// before it is allocated.
package memory

// Available returns the bytes that a program can allocate now without swapping, and false if the
// system doesn't report them. If the system reports only the installed memory, that is returned.
func Available() (bytes uint64, ok bool) { return available() }

// Most returns the bytes that a program can have at most, including those in use now, and false
// if the system doesn't report them.
func Most() (bytes uint64, ok bool) { return most() }
