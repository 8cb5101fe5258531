//go:build !amd64 || purego || race

package entropy

const haveMasks = false

func extractWords(dst, src, mask *uint64, n int) (last, count uint64)         { panic("no kernel") }
func depositWords(dst, src, mask *uint64, n, words int) (left int, at uint64) { panic("no kernel") }
