//go:build !amd64 && !(darwin && arm64)

package processor

func detect() (Features, int) { return 0, 0 }
