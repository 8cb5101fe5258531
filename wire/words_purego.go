//go:build purego

package wire

// view reports that words are never to be taken as bytes in place.
func view([]uint64) ([]byte, bool) { return nil, false }
