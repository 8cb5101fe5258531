//go:build !windows && (!linux || purego)

package dataplane

// cutOff reports whether an error means that a packet was longer than its buffer.
func cutOff(error) bool { return false }
