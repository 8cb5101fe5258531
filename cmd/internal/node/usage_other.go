//go:build !linux

package node

// usageNow returns nothing: it is only known on Linux.
func usageNow() usage { return usage{} }
