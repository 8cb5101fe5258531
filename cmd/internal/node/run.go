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

	"github.com/umbel-filters/umbel/cmd/internal/cli/table"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/group/member"
	"github.com/umbel-filters/umbel/cmd/internal/report"
	"github.com/umbel-filters/umbel/internal/event"
	"github.com/umbel-filters/umbel/internal/pause"
)

// errForced is returned by Run after a second signal.
var errForced = errors.New("forced shutdown (second signal)")

// Run serves until ctx is done, a client or a signal requests shutdown, or a listener fails, and
// then calls Shutdown. A second signal makes it return errForced at once. SIGHUP calls reload and
// applies the settings. It logs to stderr. A member of a group that has to follow instead of leading starts again in the same process.
func Run(ctx context.Context, stderr io.Writer, c Config, reload func() (Config, error)) error {
	level := new(slog.LevelVar)
	log := report.New(stderr, c.LogFormat, level)
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, endSignals...)
	defer signal.Stop(signals)
	hangups := make(chan os.Signal, 1)
	if reloadSignal != nil {
		signal.Notify(hangups, reloadSignal)
		defer signal.Stop(hangups)
	}
	for {
		err := run(ctx, stderr, c, reload, log, level, signals, hangups)
		if !errors.Is(err, member.ErrAgain) {
			return err
		}
		log.Info("starting again as a follower", event.GroupDeposed, "error", err)
		release() // the memory of the filters
		if errors.Is(err, errLeaves) {
			pause.For(ctx, leaveTime)
		}
	}
}

// run is Run for one start. The error wraps member.ErrAgain if the node has to start again.
func run(ctx context.Context, stderr io.Writer, c Config, reload func() (Config, error), log *slog.Logger, level *slog.LevelVar,
	signals chan os.Signal, hangups <-chan os.Signal) error {
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
	if file, ok := stderr.(*os.File); ok && c.LogFormat == "auto" && term.IsTerminal(int(file.Fd())) {
		welcome(stderr, n)
	} else {
		n.logReady()
	}
	notify("READY=1")
	n.tasks.Go(n.watchdog)
	for err == nil {
		select {
		case <-hangups:
			notify("RELOADING=1")
			if c, err := reload(); err != nil {
				log.Error("reload failed; kept previous settings", event.ReloadFailed, "error", err)
			} else {
				_ = n.Reload(c) // it logs errors
			}
			notify("READY=1")
			continue
		case <-ctx.Done():
		case <-n.stopping():
		case s := <-signals:
			log.Info("signal", event.Signal, "signal", s.String())
		case err = <-n.Failed():
			log.Error("fatal: listener failed", event.ListenerFailed, "error", err)
		case err = <-n.Again():
			n.abandon(err)
		}
		break
	}
	if errors.Is(err, member.ErrAgain) {
		notify("RELOADING=1")
	} else {
		notify("STOPPING=1")
	}
	ending, hurry := context.WithCancel(context.WithoutCancel(ctx))
	defer hurry()
	done := make(chan error, 1)
	go func() { done <- n.Shutdown(ending) }()
	ended := ends(done, signals)
	if errors.Is(ended, errForced) {
		return ended
	}
	return errors.Join(err, ended)
}

// ends returns the result of a shutdown that a signal may have begun, and errForced after a second signal.
func ends(done <-chan error, signals <-chan os.Signal) error {
	begun := time.Now()
	for {
		select {
		case err := <-done:
			return err
		case <-signals:
			if time.Since(begun) >= sameSignal {
				return errForced
			}
		}
	}
}

// sameSignal is the time in which a second signal is the first one again: timeout of GNU coreutils sends one to the
// process and then to its group.
const sameSignal = 100 * time.Millisecond

// endSignals request shutdown.
var endSignals = []os.Signal{os.Interrupt, syscall.SIGTERM}

// welcome prints where the node serves and what to try next. For a person at a terminal it takes the place of
// the message "ready".
func welcome(w io.Writer, n *Node) {
	c := n.config
	t := table.New("", "")
	scheme := "http://"
	if n.tls != nil {
		scheme = "https://"
	}
	web := ""
	if a := n.HTTP(); a != nil {
		web = scheme + reachable(a)
		t.Row("  HTTP, also for browsers", web+"/")
	}
	if a := n.RESP(); a != nil {
		t.Row("  Redis clients", reachable(a))
	}
	if a := n.Unix(); a != nil {
		t.Row("  Redis clients", a.String())
	}
	if a := n.Metrics(); a != nil {
		t.Row("  metrics", scheme+reachable(a)+"/metrics")
	}
	if c.Replica {
		fmt.Fprintln(w, "\nThe replica is ready.")
		t.Row("  versions", c.Cache)
	} else {
		fmt.Fprintf(w, "\numbel is ready with %v filters of %v.\n", quantity.Count(n.found.Filters), quantity.Size(n.found.Bytes))
		t.Row("  data", fmt.Sprintf("%s, durability %s", c.Data, c.Durability))
	}
	_, _ = t.WriteTo(w)
	fmt.Fprintln(w, "Try in another terminal:")
	if a := n.RESP(); a != nil {
		for _, command := range n.firstCommands() {
			_, port, _ := net.SplitHostPort(a.String())
			fmt.Fprintf(w, "  redis-cli -p %s %s\n", port, command)
		}
	}
	if c.Replica {
		fmt.Fprintln(w, "  umbel peers")
	} else if web != "" {
		fmt.Fprintf(w, "  umbel node list --addr %s\n  curl %s/v1/filters\n", web, web)
	}
	fmt.Fprint(w, "^C stops the node.\n\n")
}

// firstCommands are commands of Redis clients to try.
func (n *Node) firstCommands() (commands []string) {
	if !n.config.Replica {
		return []string{"BF.ADD users alice", "BF.EXISTS users alice"}
	}
	for _, p := range n.following.List() {
		commands = append(commands, "BF.EXISTS "+p.Filter+" KEY")
	}
	return commands
}

// reachable returns an address by which clients of this machine reach a listener: localhost if it listens on all
// addresses.
func reachable(a net.Addr) string {
	host, port, err := net.SplitHostPort(a.String())
	if err != nil {
		return a.String()
	}
	if ip := net.ParseIP(host); ip.IsUnspecified() {
		host = "localhost"
	}
	return net.JoinHostPort(host, port)
}
