package httpcache

import (
	"io"
	"net/http"
	"os"
	"sync"
	"time"
)

// sendStep is the number of bytes that a client has to take within sendPatience.
const sendStep = 1 << 20

// sendPatience is the time after which a client that takes no bytes is disconnected.
const sendPatience = time.Minute

// smallFile is the number of bytes up to which a file is read into a buffer: one call for reading and one for sending
// together with the header cost less than sendfile.
const smallFile = 64 << 10

var buffers = sync.Pool{New: func() any { return new([smallFile]byte) }}

// smallContent is the body of a small file.
type smallContent struct {
	bytes  []byte
	buffer *[smallFile]byte
}

var smallContents = sync.Pool{New: func() any { return new(smallContent) }}

// openSmall reads a file of at least size bytes up to there.
func openSmall(path string, size int) (content, error) {
	c := smallContents.Get().(*smallContent)
	c.buffer = buffers.Get().(*[smallFile]byte)
	c.bytes = c.buffer[:size]
	if err := readFile(path, c.bytes); err != nil {
		c.close()
		return nil, errGone
	}
	return c, nil
}

func (c *smallContent) send(w http.ResponseWriter, s span) error {
	return second(w.Write(c.bytes[s.first : s.first+s.length]))
}

func (c *smallContent) close() {
	buffers.Put(c.buffer)
	c.bytes, c.buffer = nil, nil
	smallContents.Put(c)
}

// sendFile sends a part of a file. The kernel sends it, without copies in this process.
func sendFile(w http.ResponseWriter, file *os.File, s span) error {
	if _, err := file.Seek(s.first, io.SeekStart); err != nil {
		return err
	}
	for left := s.length; left > 0; {
		extend(w)
		n, err := io.Copy(w, &io.LimitedReader{R: file, N: min(left, sendStep)})
		if err != nil {
			return err
		}
		if n == 0 {
			return io.ErrUnexpectedEOF
		}
		left -= n
	}
	return nil
}

// extend gives a client sendPatience for the next bytes.
func extend(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(sendPatience))
}

// stream copies a body that arrives, and flushes when nothing more has arrived.
func stream(w http.ResponseWriter, r io.Reader, caughtUp func() bool) error {
	buffer := buffers.Get().(*[smallFile]byte)
	defer buffers.Put(buffer)
	control := http.NewResponseController(w)
	for {
		n, err := r.Read(buffer[:32<<10])
		if n > 0 {
			extend(w)
			if _, err := w.Write(buffer[:n]); err != nil {
				return err
			}
			if caughtUp() {
				_ = control.Flush() // the next write reports what is wrong
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
