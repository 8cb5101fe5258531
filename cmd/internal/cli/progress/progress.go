// Package progress shows the progress of a job on a terminal.
package progress

import (
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/term"

	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
)

// patience is the time before a job shows its progress.
const patience = 500 * time.Millisecond

// interval is the time between two drawings of a bar.
const interval = 100 * time.Millisecond

// Bar is the progress of one job. Its methods may be called concurrently. A nil
// Bar shows nothing.
type Bar struct {
	w     io.Writer
	what  string
	total int64 // -1: unknown
	bytes bool  // not another kind of items
	start time.Time
	done  atomic.Int64
	next  atomic.Int64 // time since the start at which the bar is drawn again; changed with draws
	draws sync.Mutex
	shown bool
}

// Start returns the bar of a job on total bytes, or on an unknown number if total
// is -1; nil if f isn't a terminal. The bar appears after half a second, with the
// rate and the remaining time.
func Start(f *os.File, what string, total int64) *Bar {
	if f == nil || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return start(f, what, total, true)
}

// Count is [Start] for items other than bytes.
func Count(f *os.File, what string, total int64) *Bar {
	if f == nil || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return start(f, what, total, false)
}

func start(w io.Writer, what string, total int64, bytes bool) *Bar {
	b := &Bar{w: w, what: what, total: total, bytes: bytes, start: time.Now()}
	b.next.Store(int64(patience))
	return b
}

// Add advances the bar by that many bytes or items.
func (b *Bar) Add(n int64) {
	if b == nil {
		return
	}
	done, took := b.done.Add(n), time.Since(b.start)
	if int64(took) < b.next.Load() {
		return
	}
	b.draws.Lock()
	defer b.draws.Unlock()
	if int64(took) < b.next.Load() { // another call has drawn, or the bar is removed
		return
	}
	b.next.Store(int64(took + interval))
	b.shown = true
	fmt.Fprintf(b.w, "\r%s\x1b[K", b.line(done, took))
}

// blocks is the width of a bar.
const blocks = 20

// line returns what a terminal shows, as "keys [█████     ] 1.50 KiB/6 KiB, 1 KiB/s, 4s left".
func (b *Bar) line(done int64, took time.Duration) string {
	if b.total <= 0 || done <= 0 {
		return fmt.Sprintf("%s %s, %s", b.what, b.amount(done), b.rate(done, took))
	}
	part := min(float64(done)/float64(b.total), 1)
	full := int(part * blocks)
	left := time.Duration(float64(took) * (1/part - 1)).Round(time.Second)
	return fmt.Sprintf("%s [%s%s] %s/%s, %s, %s left", b.what, strings.Repeat("█", full), strings.Repeat(" ", blocks-full),
		b.amount(done), b.amount(b.total), b.rate(done, took), left)
}

func (b *Bar) rate(done int64, took time.Duration) string {
	perSecond := float64(done) / took.Seconds()
	if b.bytes {
		return quantity.Size(perSecond).String() + "/s"
	}
	if perSecond < 10 {
		return fmt.Sprintf("%.2g/s", perSecond)
	}
	return quantity.Count(perSecond).String() + "/s"
}

func (b *Bar) amount(n int64) string {
	if b.bytes {
		return quantity.Size(n).String()
	}
	return quantity.Count(n).String()
}

// File is f as a reader that moves the bar.
func (b *Bar) File(f *os.File) io.ReadSeeker {
	if b == nil {
		return f
	}
	return &watched{f, b}
}

// Writer is w as a writer that moves the bar.
func (b *Bar) Writer(w io.Writer) io.Writer {
	if b == nil {
		return w
	}
	return io.MultiWriter(w, counter{b})
}

// watched is a file whose reads move a bar.
type watched struct {
	*os.File
	bar *Bar
}

func (w *watched) Read(b []byte) (int, error) {
	n, err := w.File.Read(b)
	w.bar.Add(int64(n))
	return n, err
}

// counter is a writer that moves a bar.
type counter struct{ bar *Bar }

func (c counter) Write(b []byte) (int, error) {
	c.bar.Add(int64(len(b)))
	return len(b), nil
}

// Stop removes the bar from the terminal, and Add does not draw it again.
func (b *Bar) Stop() {
	if b == nil {
		return
	}
	b.next.Store(math.MaxInt64)
	b.draws.Lock()
	defer b.draws.Unlock()
	if b.shown {
		fmt.Fprint(b.w, "\r\x1b[K")
	}
	b.shown = false
}
