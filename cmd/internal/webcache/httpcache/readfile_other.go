//go:build !unix

package httpcache

import (
	"io"
	"os"
)

// readFile reads the beginning of a file.
func readFile(path string, p []byte) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	return second(io.ReadFull(file, p))
}
