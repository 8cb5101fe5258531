package oplog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"syscall"
	"testing"
)

func FuzzFrame(f *testing.F) {
	f.Fuzz(func(t *testing.T, b []byte, number uint64) {
		for _, k := range []kind{kindBatch, kindVoid} {
			parsed, err := parseFrame(b, k, number)
			if err != nil {
				if !errors.Is(err, errFrame) {
					t.Fatalf("error %v, want %v", err, errFrame)
				}
				continue
			}
			if again := appendFrame(nil, parsed); parsed.number != number || !bytes.Equal(again, b) {
				t.Fatalf("%x is %x when it is written again", b, again)
			}
		}
	})
}

func TestEveryBitOfAFrameCounts(t *testing.T) {
	whole := appendFrame(nil, frame{kind: kindBatch, number: 7, data: []byte("data")})
	for bit := range len(whole) * 8 {
		flipped := bytes.Clone(whole)
		flipped[bit/8] ^= 1 << (bit % 8)
		if _, err := parseFrame(flipped, kindBatch, 7); !errors.Is(err, errFrame) {
			t.Errorf("bit %d: error %v", bit, err)
		}
	}
	for n := range whole {
		if _, err := parseFrame(whole[:n], kindBatch, 7); !errors.Is(err, errFrame) {
			t.Errorf("%d bytes: error %v", n, err)
		}
	}
	for _, k := range []kind{kindVoid + 1, kindBatch + 1} {
		if _, err := parseFrame(whole, k, 7); !errors.Is(err, errFrame) {
			t.Errorf("a blob passes for %c", k)
		}
	}
	if _, err := parseFrame(whole, kindBatch, 8); !errors.Is(err, errFrame) {
		t.Error("blob 7 passes for 8")
	}
}

// memoryFile is a file of marks.
type memoryFile []byte

func (f memoryFile) ReadAt(b []byte, at int64) (int, error) {
	if at >= int64(len(f)) {
		return 0, io.EOF
	}
	n := copy(b, f[at:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (f memoryFile) WriteAt(b []byte, at int64) (int, error) { return copy(f[at:], b), nil }
func (f memoryFile) Sync() error                             { return nil }

func TestHead(t *testing.T) {
	file := make(memoryFile, headStride+headBytes)
	if _, err := readHead(memoryFile{}); !errors.Is(err, errNoHead) {
		t.Errorf("an empty file: error %v", err)
	}
	older := head{writes: 1, first: 2, batch: linkTo(3, []byte("three")), cut: 4}
	newer := older
	newer.writes, newer.batch = 2, linkTo(4, []byte("four"))
	for _, h := range []head{older, newer} {
		if err := writeHead(file, h); err != nil {
			t.Fatal(err)
		}
		if got, err := readHead(file); err != nil || got != h {
			t.Fatalf("head %+v, %v, want %+v", got, err, h)
		}
	}
	for bit := range len(file) * 8 {
		file[bit/8] ^= 1 << (bit % 8)
		if got, err := readHead(file); err != nil || got != newer {
			t.Fatalf("bit %d: head %+v, %v", bit, got, err)
		}
		file[bit/8] ^= 1 << (bit % 8)
	}
	// A write broken off in either copy leaves the other.
	for n := range headBytes {
		torn := bytes.Clone(file)
		copy(torn, older.append(nil)[:n])
		if got, err := readHead(memoryFile(torn)); err != nil || got != newer {
			t.Fatalf("%d bytes: head %+v, %v", n, got, err)
		}
	}
	if _, err := readHead(file[:10]); !errors.Is(err, errNoHead) {
		t.Errorf("a cut file: error %v", err)
	}
}

func FuzzHead(f *testing.F) {
	f.Fuzz(func(t *testing.T, b []byte) {
		if h, ok := parseHead(b); ok && !bytes.Equal(h.append(nil), b) {
			t.Fatalf("%x is %x when it is written again", b, h.append(nil))
		}
	})
}

func TestUnsynced(t *testing.T) {
	for _, c := range []struct {
		why  error
		want bool
	}{
		{nil, false},
		{errors.New("sync"), false},
		{&fs.PathError{Op: "write", Path: "1.blk", Err: syscall.ENOSPC}, false},
		{&fs.PathError{Op: "sync", Path: "1.blk", Err: syscall.EIO}, true},
	} {
		log := &serverLog{}
		var said error
		log.watch(func(err error) { said = err })
		log.Errorf("Filestore [%s] Critical write error: %v", "UMBEL_BATCHES", c.why)
		if got := unsynced(fmt.Errorf("append: %w", said)); got != c.want {
			t.Errorf("%v: %v, want %v", c.why, got, c.want)
		}
	}
}
