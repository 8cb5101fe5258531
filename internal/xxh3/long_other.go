//go:build (!amd64 && !arm64) || purego || race

package xxh3

func accumulate(sums *[8]uint64, b []byte, key *[192]byte) {
	accumulatePlain(sums, b, key)
}
