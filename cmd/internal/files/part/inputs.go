package part

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"path"

	"github.com/umbel-filters/umbel/cmd/internal/files/keys"
)

// Way is how a filter is divided into parts.
type Way string

// The ways. Words describe them for a user.
const (
	Lines Way = "lines" // the bytes of all files, so that each line is in one part
	Files Way = "files" // whole files
	Cells Way = "cells" // ranges of cells: each part reads all keys
	None  Way = "none"  // the inputs are those of this part
)

// Ways are all ways.
var Ways = []Way{Lines, Files, Cells, None}

// Input is a file of keys.
type Input struct {
	Name string
	io.ReaderAt
	Size int64 // -1 if unknown, as that of a pipe, which has no ReaderAt
}

// Identity returns a number that differs for inputs of other names without directories, sizes, ends or order, another way and
// other text of the job, except by chance. It reads the first and the last 4 KiB of each file. Inputs of the way None
// differ between parts, so that only the text counts.
func Identity(inputs []Input, w Way, job string) (uint64, error) {
	h := sha256.New()
	text := func(s string) { fmt.Fprintf(h, "%d:%s", len(s), s) }
	text(string(w))
	text(job)
	if w == None {
		inputs = nil
	}
	const end = 4 << 10
	for _, in := range inputs {
		text(path.Base(in.Name))
		text(fmt.Sprint(in.Size))
		if in.Size < 0 {
			continue
		}
		for _, at := range []int64{0, max(in.Size-end, 0)} {
			if _, err := io.Copy(h, io.NewSectionReader(in, at, min(end, in.Size))); err != nil {
				return 0, fmt.Errorf("%s: %w", in.Name, err)
			}
		}
	}
	return binary.LittleEndian.Uint64(h.Sum(nil)), nil
}

// Of returns what part n of the inputs reads: pieces with whole lines. Each line of each input is in one part. A part is
// empty if there are fewer lines, or files, than parts. All inputs have a size.
func Of(inputs []Input, n Number, w Way, separator byte) (pieces []keys.Piece, err error) {
	total := uint64(0)
	for _, in := range inputs {
		total += uint64(in.Size)
	}
	from, to := share(total, n.Part-1, n.Of), share(total, n.Part, n.Of)
	first := uint64(0)
	for i, in := range inputs {
		size := uint64(in.Size)
		begin, end := uint64(0), size
		switch w {
		case Files:
			if uint64(i)%n.Of != n.Part-1 {
				continue
			}
		case Lines:
			if begin, err = lineFrom(in, clip(from, first, size), separator); err == nil {
				end, err = lineFrom(in, clip(to, first, size), separator)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", in.Name, err)
			}
		}
		first += size
		if begin < end {
			pieces = append(pieces, keys.Piece{
				SectionReader: io.NewSectionReader(in, int64(begin), int64(end-begin)), Name: in.Name, Continues: begin > 0})
		}
	}
	return pieces, nil
}

// share returns ⌊total·i/n⌋.
func share(total, i, n uint64) uint64 { return total/n*i + total%n*i/n }

// clip returns the offset at in a file that begins at first, at least 0 and at most size.
func clip(at, first, size uint64) uint64 { return min(max(at, first)-first, size) }

// lineFrom returns the offset of the first line that begins at an offset or after it, and the size if there is none.
func lineFrom(in Input, at uint64, separator byte) (uint64, error) {
	if at == 0 || at >= uint64(in.Size) {
		return min(at, uint64(in.Size)), nil
	}
	end, err := keys.LineEnd(in, at-1, separator)
	return min(end, uint64(in.Size)), err
}
