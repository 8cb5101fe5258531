package progress

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"
)

// Note shows on a terminal what a job without measurable progress does, after half a second. The
// returned function removes it. If f isn't a terminal, Note does nothing.
func Note(f *os.File, what string) (stop func()) {
	if f == nil || !term.IsTerminal(int(f.Fd())) {
		return func() {}
	}
	return note(f, what)
}

func note(w io.Writer, what string) (stop func()) {
	var mu sync.Mutex
	var shown, over bool
	timer := time.AfterFunc(patience, func() {
		mu.Lock()
		defer mu.Unlock()
		if !over {
			fmt.Fprintf(w, "%s…", what)
			shown = true
		}
	})
	return func() {
		timer.Stop()
		mu.Lock()
		defer mu.Unlock()
		if shown && !over {
			fmt.Fprint(w, "\r\x1b[K")
		}
		over = true
	}
}
