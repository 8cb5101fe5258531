package cachelog

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/umbel-filters/umbel/internal/pause"
)

// maxLine is the maximum length of a line; longer ones are skipped.
const maxLine = 64 << 10

// interval is the time between two looks at a file that has not grown.
const interval = 200 * time.Millisecond

// Lines calls each for every line of r until it ends, without the newline. It returns the error of r.
func Lines(r io.Reader, each func(line string)) error {
	b := bufio.NewReaderSize(r, maxLine)
	for skip := false; ; {
		line, err := b.ReadSlice('\n')
		switch {
		case err == bufio.ErrBufferFull:
			skip = true
			continue
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case !skip:
			each(string(line[:len(line)-1]))
		}
		skip = false
	}
}

// Follow calls each for every line that is appended to a file from now on, until ctx ends. If the file is replaced or
// truncated, as log rotation does, it continues with the new one from its beginning. A file that does not exist yet is
// waited for. The error is that of a file that can't be read.
func Follow(ctx context.Context, name string, each func(line string)) error {
	end := true // of the first file, only what is appended
	for ctx.Err() == nil {
		f, err := os.Open(name)
		if errors.Is(err, fs.ErrNotExist) {
			end = false
			pause.For(ctx, interval)
			continue
		}
		if err != nil {
			return err
		}
		err = followFile(ctx, f, end, each)
		f.Close()
		if err != nil {
			return err
		}
		end = false
	}
	return nil
}

// followFile follows one file until it is replaced or truncated, or ctx ends.
func followFile(ctx context.Context, f *os.File, end bool, each func(string)) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	offset := int64(0)
	if end {
		offset = info.Size()
	}
	for skip := false; ctx.Err() == nil; {
		now, err := os.Stat(f.Name()) // before reading: what was appended until it was replaced is not lost
		replaced := err == nil && (!os.SameFile(info, now) || now.Size() < offset)
		read, err := appended(f, offset, &skip, each)
		if err != nil {
			return err
		}
		offset += read
		if read > 0 {
			continue
		}
		if replaced {
			return nil
		}
		pause.For(ctx, interval)
	}
	return nil
}

// appended calls each for the complete lines from an offset on, and returns their bytes. They end in a line that is too long
// and not yet complete if skip is true afterwards; then the next call begins in it.
func appended(f *os.File, offset int64, skip *bool, each func(string)) (read int64, err error) {
	section := bufio.NewReaderSize(io.NewSectionReader(f, offset, 1<<62), maxLine)
	for {
		line, err := section.ReadSlice('\n')
		switch {
		case err == bufio.ErrBufferFull:
			*skip = true
			read += int64(len(line))
			continue
		case err == io.EOF:
			return read, nil
		case err != nil:
			return read, err
		case !*skip:
			each(string(line[:len(line)-1]))
		}
		read += int64(len(line))
		*skip = false
	}
}
