//go:build !noclients

// Speed compares a node with other servers on this machine: redis-server, and servers made
// with redcon and gnet that use the same filter.
//
//	go run ./research/interop/speed --md docs/measurements-node.md
//
// It needs redis-server and redis-benchmark on PATH. Client and servers share the cores. Each
// round makes all measurements in turn, so that a disturbance of the machine affects all of
// them. The tables contain the best round and the median.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/umbel-filters/umbel/research/interop/internal/proc"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "speed:", err)
		os.Exit(2)
	}
}

// options contains the selection of measurements and their number.
type options struct {
	rounds   int
	requests int
	only     *regexp.Regexp
	json     bool
	md       string
	program  string
	full     bool
}

func run(ctx context.Context, args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("speed", flag.ContinueOnError)
	var o options
	flags.IntVar(&o.rounds, "rounds", 3, "number of counted rounds, after a warm-up round")
	flags.IntVar(&o.requests, "requests", 0, "commands per measurement; 0 for about a second")
	only := flags.String("only", "", "measure only the sections whose names match this regular expression")
	flags.BoolVar(&o.json, "json", false, "print JSON")
	flags.StringVar(&o.md, "md", "", "write Markdown to this file, and targets to the one of the same name in the directory targets next to it")
	flags.StringVar(&o.program, "program", "", "measure this umbel instead of the one in this checkout")
	flags.BoolVar(&o.full, "full", false, "include measurements that take minutes: filters of 1 GiB, 100,000 filters")
	serve := flags.String("serve", "", "run as a server made with redcon or gnet")
	addr := flags.String("addr", "", "address of that server")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	if *serve != "" {
		return servePeer(*serve, *addr)
	}
	var err error
	if o.only, err = regexp.Compile(*only); err != nil {
		return err
	}
	report := newReport(args, o.rounds)
	if err := measure(ctx, o, report); err != nil {
		return err
	}
	if o.md != "" {
		if err := os.WriteFile(o.md, []byte(report.markdown()), 0o666); err != nil {
			return err
		}
		targets := filepath.Join(filepath.Dir(o.md), "targets", filepath.Base(o.md))
		if err := os.MkdirAll(filepath.Dir(targets), 0o777); err != nil {
			return err
		}
		return os.WriteFile(targets, []byte(report.targets()), 0o666)
	}
	if o.json {
		e := json.NewEncoder(stdout)
		e.SetIndent("", "  ")
		return e.Encode(report)
	}
	_, err = io.WriteString(stdout, report.markdown())
	return err
}

// bench contains what the measurements share.
type bench struct {
	options
	umbel, redis, benchmark string // paths of programs
	dir                     string // for data; deleted at the end
	report                  *Report
}

func measure(ctx context.Context, o options, report *Report) error {
	b := &bench{options: o, report: report}
	var err error
	if b.redis, err = exec.LookPath("redis-server"); err != nil {
		return fmt.Errorf("redis-server is not on PATH; install the Debian package redis-server: %w", err)
	}
	if b.benchmark, err = exec.LookPath("redis-benchmark"); err != nil {
		return fmt.Errorf("redis-benchmark is not on PATH; install the Debian package redis-tools: %w", err)
	}
	if b.dir, err = os.MkdirTemp("", "umbel-speed-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	if b.umbel = o.program; b.umbel == "" {
		if b.umbel, err = proc.Build(ctx, b.dir, "umbel"); err != nil {
			return err
		}
	}
	for _, section := range []struct {
		path    string
		measure func(context.Context) error
		long    bool
	}{
		{"commands", b.commands, false},
		{"durability", b.durability, false},
		{"replay", b.replay, false},
		{"snapshot", b.snapshot, false},
		{"start", b.start, true},
		{"small", b.small, true},
		{"memory", b.memory, true},
	} {
		if !o.only.MatchString(section.path) || section.long && !o.full {
			continue
		}
		fmt.Fprintln(os.Stderr, "measuring", section.path)
		if err := section.measure(ctx); err != nil {
			return fmt.Errorf("%s: %w", section.path, err)
		}
	}
	return nil
}

func newReport(args []string, rounds int) *Report {
	return &Report{
		Command: strings.Join(append([]string{"go run ./research/interop/speed"}, quoted(args)...), " "),
		Date:    time.Now().Format(time.DateOnly),
		Cores:   runtime.GOMAXPROCS(0),
		Go:      runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH,
		Rounds:  rounds,
	}
}

// quoted returns args quoted for a shell.
func quoted(args []string) []string {
	out := make([]string, len(args))
	for i, a := range args {
		if out[i] = a; strings.ContainsAny(a, " |()*^$\\'\"") {
			out[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return out
}
