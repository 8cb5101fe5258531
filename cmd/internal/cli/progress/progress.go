// Package progress shows the progress of a job on a terminal.
package progress

import (
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// patience is the time before a job shows its progress.
const patience = 500 * time.Millisecond

// Bar is the progress of one job. Its methods may be called concurrently. A nil
// Bar shows nothing.
type Bar struct {
	gate *gate
	bar  *progressbar.ProgressBar
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
	g := &gate{w: w, start: time.Now()}
	return &Bar{g, progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(g),
		progressbar.OptionSetDescription(what),
		progressbar.OptionShowBytes(bytes),
		progressbar.OptionUseIECUnits(true),
		progressbar.OptionShowCount(),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetSpinnerChangeInterval(0), // no goroutine: Add draws
		progressbar.OptionSetWidth(20),
	)}
}

// Add advances the bar by that many bytes or items.
func (b *Bar) Add(n int64) {
	if b != nil {
		_ = b.bar.Add64(n)
	}
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

// Stop removes the bar from the terminal.
func (b *Bar) Stop() {
	if b != nil && b.gate.open.Load() {
		_ = b.bar.Clear()
	}
}

// gate is a writer that discards output until the patience is over.
type gate struct {
	w     io.Writer
	start time.Time
	open  atomic.Bool
}

func (g *gate) Write(b []byte) (int, error) {
	if time.Since(g.start) < patience {
		return len(b), nil
	}
	g.open.Store(true)
	return g.w.Write(b)
}
