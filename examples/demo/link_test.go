package main

import (
	"errors"
	"io"
	"math"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// connect returns a connection over a link to a sender of n bytes.
func connect(l *link, n int) *conn {
	here, there := net.Pipe()
	go func() {
		there.Write(make([]byte, n))
		there.Close()
	}()
	return l.wrap(here)
}

// readAll reads with a buffer that is larger than a segment, as net/http does.
func readAll(c *conn) (n int, err error) {
	b := make([]byte, 4096)
	for {
		k, err := c.Read(b)
		n += k
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}

func TestLinkLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLink(2000, 0, 0)
		begin := time.Now()
		const first = segmentBytes // are delivered at once
		n, err := readAll(connect(l, first+10_000))
		if took := time.Since(begin); err != nil || n != first+10_000 || took.Round(time.Millisecond) != 5*time.Second {
			t.Errorf("%d bytes in %v, %v; want 10,000 bytes after the first %d in 5 s", n, took, err, first)
		}
		if got := l.received.Load(); got != first+10_000 {
			t.Errorf("received %d", got)
		}
	})
}

// A connection that is closed does not wait for the bytes of its segment.
func TestLinkClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLink(1, 0, 0)
		c := connect(l, 2*segmentBytes)
		begin := time.Now()
		time.AfterFunc(time.Second, func() { c.Close() })
		n, err := readAll(c)
		if took := time.Since(begin); took != time.Second || n != segmentBytes || !errors.Is(err, net.ErrClosed) {
			t.Errorf("%d bytes in %v, %v", n, took, err)
		}
		synctest.Wait()
	})
}

func TestLinkLoss(t *testing.T) {
	l := newLink(0, lossShare, 1)
	const conns, segments = 3000, 5
	delivered := 0
	for range conns {
		n, err := readAll(connect(l, segments*segmentBytes))
		if n == segments*segmentBytes {
			if err != nil {
				t.Fatal(err)
			}
			delivered++
			continue
		}
		if !errors.Is(err, errLost) || n%segmentBytes != 0 {
			t.Fatalf("%d bytes, %v", n, err)
		}
	}
	all, lost := float64(l.segments.Load()), float64(l.lost.Load())
	// The share of losses in runs of at most two: 4 of 13.
	const share = lossShare * (1 + lossShare) / (1 + lossShare + lossShare*lossShare)
	if sigma := math.Sqrt(all * share * (1 - share)); math.Abs(lost-all*share) > 5*sigma {
		t.Errorf("lost %v of %v segments, want %.3f within %.0f", lost, all, share, 5*sigma)
	}
	for row, i := 0, 0; i < 10_000; i++ {
		if row++; !l.loses() {
			row = 0
		}
		if row > maxLosses {
			t.Fatalf("%d segments in a row are lost", row)
		}
	}
	if lost != conns-float64(delivered) {
		t.Errorf("%v segments were lost, and %d of %d connections ended early", lost, conns-delivered, conns)
	}
	if got := l.received.Load(); got != uint64(all-lost)*segmentBytes {
		t.Errorf("received %d bytes, want those of %v segments", got, all-lost)
	}
}
