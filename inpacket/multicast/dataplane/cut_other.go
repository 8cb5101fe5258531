//go:build !windows && (!linux || purego)

package dataplane

// cutOff says whether an error is about a packet longer than the room for it.
func cutOff(error) bool { return false }
