package httpcache

import (
	"io"
	"net/http"
	"sync"
)

// memory keeps bodies in memory.
type memory struct{ largest int64 }

func (m memory) limit() int64       { return m.largest }
func (memory) unit() int64          { return 64 }
func (memory) update(*stored) error { return nil }
func (memory) keep(n int64) (keeper, error) {
	// The size is what the origin says, so that the first allocation is small.
	return &memoryKeeper{bytes: make([]byte, 0, min(max(n, 512), 64<<10))}, nil
}

// memoryBody is a body in memory. It is its own content.
type memoryBody struct{ bytes []byte }

func (b *memoryBody) size() int64            { return int64(len(b.bytes)) }
func (b *memoryBody) open() (content, error) { return b, nil }
func (*memoryBody) remove()                  {}
func (*memoryBody) close()                   {}

func (b *memoryBody) send(w http.ResponseWriter, s span) error {
	p := b.bytes[s.first : s.first+s.length]
	for len(p) > sendStep {
		extend(w)
		if _, err := w.Write(p[:sendStep]); err != nil {
			return err
		}
		p = p[sendStep:]
	}
	_, err := w.Write(p)
	return err
}

// memoryKeeper is a body that grows. Bytes that have been written never change, so that a reader needs the lock only
// to find them.
type memoryKeeper struct {
	mu    sync.Mutex
	bytes []byte
}

func (k *memoryKeeper) Write(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.bytes = append(k.bytes, p...)
	return len(p), nil
}

func (k *memoryKeeper) ReadAt(p []byte, off int64) (int, error) {
	k.mu.Lock()
	b := k.bytes
	k.mu.Unlock()
	if off >= int64(len(b)) {
		return 0, io.EOF
	}
	n := copy(p, b[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// commit gives the memory back that growing has reserved.
func (k *memoryKeeper) commit(*stored) (body, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if cap(k.bytes)-len(k.bytes) > len(k.bytes)/8 {
		k.bytes = append(make([]byte, 0, len(k.bytes)), k.bytes...)
	}
	return &memoryBody{k.bytes}, nil
}

func (k *memoryKeeper) discard() {}
func (k *memoryKeeper) close()   {}
