package node

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"
)

// ErrImpatient is why Run returned when it was told twice to end.
var ErrImpatient = errors.New("told twice to end")

// Run serves until ctx is done, a client or SIGTERM or SIGINT asks for the end, or nothing more
// can be served, and ends as Shutdown does; a second signal ends at once, with ErrImpatient.
// SIGHUP calls reload for settings and puts them in force. It logs to stderr.
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
	go func() { // until the node runs, a signal ends the start
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
		return nil // told to end before it began
	}
	if err != nil {
		return err
	}
	notify("READY=1")
	n.tasks.Go(n.watchdog)
	for err == nil {
		select {
		case <-hangups:
			notify("RELOADING=1")
			if c, err := reload(); err != nil {
				log.Error("settings can't be read again", "error", err)
			} else {
				_ = n.Reload(c) // it has logged what went wrong
			}
			notify("READY=1")
			continue
		case <-ctx.Done():
		case <-n.Ending():
		case s := <-signals:
			log.Info("signal", "name", s.String())
		case err = <-n.Failed():
			log.Error("can't go on", "error", err)
		}
		break
	}
	notify("STOPPING=1")
	ending, hurry := context.WithCancel(context.WithoutCancel(ctx))
	defer hurry()
	done := make(chan error, 1)
	go func() { done <- n.Shutdown(ending) }()
	select {
	case ended := <-done:
		return errors.Join(err, ended)
	case <-signals:
		return ErrImpatient
	}
}

// endSignals ask for the end.
var endSignals = []os.Signal{os.Interrupt, syscall.SIGTERM}

// NewLogger returns a logger that writes to a file in a form, text, json or auto, and what its
// level says.
func NewLogger(to *os.File, form string, level slog.Leveler) *slog.Logger {
	o := &slog.HandlerOptions{Level: level}
	if form == "text" || form == "auto" && term.IsTerminal(int(to.Fd())) {
		return slog.New(slog.NewTextHandler(to, o))
	}
	return slog.New(slog.NewJSONHandler(to, o))
}
