package keys

import (
	"bytes"
	"io"
)

// Piece is a part of a file that consists of whole keys. Keys in it are those that they are in the file: what begins a file is
// only recognized at its beginning.
type Piece struct {
	*io.SectionReader
	Name      string
	Continues bool // it does not begin the file
}

// LineEnd returns the offset after the first separator that is in r at an offset or after it, and the end of r if there is
// none. It reads as much as the rest of the line, and up to 4 KiB more.
func LineEnd(r io.ReaderAt, at uint64, separator byte) (uint64, error) {
	buf := make([]byte, 4<<10)
	for {
		n, err := r.ReadAt(buf, int64(at))
		if i := bytes.IndexByte(buf[:n], separator); i >= 0 {
			return at + uint64(i) + 1, nil
		}
		at += uint64(n)
		if err == io.EOF {
			return at, nil
		}
		if err != nil {
			return at, err
		}
	}
}
