//go:build purego

package block

// littleEndian is unknown without package unsafe.
const littleEndian = false

// View returns false: without package unsafe the memory of words isn't visible as bytes.
func View([]uint64) ([]byte, bool) { return nil, false }

// Borrow returns false, for the same reason.
func Borrow([]byte) ([]uint64, bool) { return nil, false }
