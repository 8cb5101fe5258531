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

// sendFile sends a part of a file. Large parts are sent by the kernel, without copies in this process.
func sendFile(w http.ResponseWriter, file *os.File, s span) error {
	if s.length <= smallFile {
		buffer := buffers.Get().(*[smallFile]byte)
		defer buffers.Put(buffer)
		n, err := file.ReadAt(buffer[:s.length], s.first)
		if int64(n) < s.length {
			return err
		}
		return second(w.Write(buffer[:n]))
	}
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
				if err := control.Flush(); err != nil {
					return err
				}
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
