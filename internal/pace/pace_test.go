package pace

import (
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"
)

// source sends pieces of a size, one after each pause, until it is stopped.
type source struct {
	size    int
	pause   time.Duration
	left    int // bytes
	stopped chan struct{}
}

func (s *source) Read(b []byte) (int, error) {
	if s.left == 0 {
		return 0, io.EOF
	}
	select {
	case <-time.After(s.pause):
	case <-s.stopped:
		return 0, errors.New("canceled")
	}
	n := min(s.size, s.left, len(b))
	s.left -= n
	return n, nil
}

func TestReader(t *testing.T) {
	const window, least = 10 * time.Second, 10_000
	for _, c := range []struct {
		name  string
		size  int
		pause time.Duration
		bytes int
		ends  time.Duration // of the time in which it arrives; 0: it arrives as a whole
	}{
		{"fast", 1000, time.Millisecond, 1_000_000, 0},
		{"just fast enough", 600, 500 * time.Millisecond, 100_000, 0},
		{"pauses that are shorter than the window", least, window - 1, 5 * least, 0},
		{"short", 1, 9 * time.Second, 1, 0},
		{"a byte every 300 ms", 1, 300 * time.Millisecond, 1_000_000, window},
		{"silent", 1, time.Hour, 1, window},
		{"silent after a window", least, window + 1, 2 * least, window},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &source{c.size, c.pause, c.bytes, make(chan struct{})}
				r := NewReader(s, window, least, func() { close(s.stopped) })
				began, b, got := time.Now(), make([]byte, 32<<10), 0
				var err error
				for err == nil {
					var n int
					n, err = r.Read(b)
					got += n
					if c.ends == 0 {
						time.Sleep(time.Minute) // a slow consumer
					}
				}
				if c.ends == 0 && (err != io.EOF || got != c.bytes) {
					t.Errorf("%d of %d bytes, %v", got, c.bytes, err)
				}
				if c.ends != 0 && (err != ErrSlow || time.Since(began) != c.ends) {
					t.Errorf("%d bytes and %v after %v, want ErrSlow after %v", got, err, time.Since(began), c.ends)
				}
			})
		})
	}
}
