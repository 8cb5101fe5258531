package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/term"
)

// ErrForced is returned by Run after a second signal.
var ErrForced = errors.New("forced shutdown (second signal)")

// Run serves until ctx is done, a client or a signal requests shutdown, or a listener fails, and
// then calls Shutdown. A second signal makes it return ErrForced at once. SIGHUP calls reload and
// applies the settings. It logs to stderr.
func Run(ctx context.Context, c Config, reload func() (Config, error)) error {
	level := new(slog.LevelVar)
	log := NewLogger(os.Stderr, c.LogFormat, level)
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, endSignals...)
	defer signal.Stop(signals)
	hangups := make(chan os.Signal, 1)
	if reloadSignal != nil {
		signal.Notify(hangups, reloadSignal)
		defer signal.Stop(hangups)
	}
	starting, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // a signal cancels the start
		select {
		case s := <-signals:
			signals <- s
			cancel()
		case <-starting.Done():
		}
	}()
	n, err := Start(starting, c, log, level)
	cancel()
	if errors.Is(err, context.Canceled) {
		return nil // cancelled by a signal
	}
	if err != nil {
		return err
	}
	if term.IsTerminal(int(os.Stderr.Fd())) {
		welcome(os.Stderr, n)
	}
	notify("READY=1")
	n.tasks.Go(n.watchdog)
	for err == nil {
		select {
		case <-hangups:
			notify("RELOADING=1")
			if c, err := reload(); err != nil {
				log.Error("reload failed; kept previous settings", "error", err)
			} else {
				_ = n.Reload(c) // it logs errors
			}
			notify("READY=1")
			continue
		case <-ctx.Done():
		case <-n.Stopping():
		case s := <-signals:
			log.Info("signal", "signal", s.String())
		case err = <-n.Failed():
			log.Error("fatal: listener failed", "error", err)
		}
		break
	}
	notify("STOPPING=1")
	ending, hurry := context.WithCancel(context.WithoutCancel(ctx))
	defer hurry()
	done, begun := make(chan error, 1), time.Now()
	go func() { done <- n.Shutdown(ending) }()
	for {
		select {
		case ended := <-done:
			return errors.Join(err, ended)
		case <-signals:
			if time.Since(begun) >= sameSignal {
				return ErrForced
			}
		}
	}
}

// sameSignal is the time in which a second signal is the first one again: timeout of GNU coreutils sends one to the
// process and then to its group.
const sameSignal = 100 * time.Millisecond

// endSignals request shutdown.
var endSignals = []os.Signal{os.Interrupt, syscall.SIGTERM}

// NewLogger returns a logger that writes to a file in the format text, json or auto.
func NewLogger(to *os.File, form string, level slog.Leveler) *slog.Logger {
	o := &slog.HandlerOptions{Level: level, ReplaceAttr: durationText}
	if form == "text" || form == "auto" && term.IsTerminal(int(to.Fd())) {
		return slog.New(eventHandler{slog.NewTextHandler(to, o)})
	}
	return slog.New(eventHandler{slog.NewJSONHandler(to, o)})
}

// welcome prints what to try next. It is for a person at a terminal.
func welcome(w io.Writer, n *Node) {
	if n.config.Replica {
		fmt.Fprintln(w, "\nThe replica is ready. Try in another terminal:")
		for _, p := range n.following.List() {
			if a := n.RESP(); a != nil {
				_, port, _ := net.SplitHostPort(a.String())
				fmt.Fprintf(w, "  redis-cli -p %s BF.EXISTS %s KEY\n", port, p.Filter)
			}
		}
		fmt.Fprintf(w, "  umbel peers\nThe versions are kept in %s. ^C stops the replica.\n\n", n.config.Cache)
		return
	}
	fmt.Fprintln(w, "\numbel is ready. Try in another terminal:")
	if a := n.RESP(); a != nil {
		_, port, _ := net.SplitHostPort(a.String())
		fmt.Fprintf(w, "  redis-cli -p %s BF.ADD users alice\n  redis-cli -p %s BF.EXISTS users alice\n", port, port)
	}
	if a := n.HTTP(); a != nil {
		_, port, _ := net.SplitHostPort(a.String())
		scheme := "http"
		if n.tls != nil {
			scheme = "https"
		}
		fmt.Fprintf(w, "  umbel list --addr %s://localhost:%s\n  curl %s://localhost:%s/v1/filters\n", scheme, port, scheme, port)
	}
	fmt.Fprintf(w, "The filters are stored in %s. ^C stops the node.\n\n", n.config.Data)
}

// durationText makes durations text in all formats, for example 1.5s: in JSON they were nanoseconds.
func durationText(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		a.Value = slog.StringValue(a.Value.Duration().String())
	}
	return a
}
