//go:build !unix

package wal

// syncDir does nothing: the system syncs directories itself.
func syncDir(string) error { return nil }
