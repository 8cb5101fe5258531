// Package progress shows on a terminal how far a job is.
package progress

import (
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// patience is how long a job may take without showing anything.
const patience = 500 * time.Millisecond

// Bar is the progress of one job. Its methods may be called concurrently. The nil
// Bar shows nothing.
type Bar struct {
	gate *gate
	bar  *progressbar.ProgressBar
}

// Start returns the bar of a job on total bytes, or on an unknown number if total
// is -1; nil if f isn't a terminal. The bar appears once the job has taken half a
// second, with its rate and the time that is left.
func Start(f *os.File, what string, total int64) *Bar {
	if !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return start(f, what, total, true)
}

// Count is [Start] of a job on a number of things that aren't bytes.
func Count(f *os.File, what string, total int64) *Bar {
	if !term.IsTerminal(int(f.Fd())) {
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
		progressbar.OptionShowCount(),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetSpinnerChangeInterval(0), // no goroutine: Add draws
		progressbar.OptionSetWidth(20),
	)}
}

// Add says that so many more bytes, or other things, are done.
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

// Writer is w, moving the bar.
func (b *Bar) Writer(w io.Writer) io.Writer {
	if b == nil {
		return w
	}
	return io.MultiWriter(w, counter{b})
}

// watched is a file of which a bar shows how much is read.
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

// Stop takes the bar off the terminal.
func (b *Bar) Stop() {
	if b != nil && b.gate.open.Load() {
		_ = b.bar.Clear()
	}
}

// gate is a writer that drops what comes while the job is young.
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
