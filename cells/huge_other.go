//go:build !linux

package cells

func allocate(n int) []uint64 { return make([]uint64, n) }
