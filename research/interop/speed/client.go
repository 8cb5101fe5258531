//go:build !noclients

package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/umbel-filters/umbel/research/interop/internal/proc"
)

// load is the work of the clients in one measurement.
type load struct {
	requests, clients, pipeline int
	threads                     int // threads of redis-benchmark; 0 is its default, one thread
	keyspace                    int // number of values of __rand_int__, with equal probabilities
	command                     []string
}

// figures contains the results of redis-benchmark, and the processor time of both sides.
type figures struct {
	perSecond      float64 // commands per second
	p99            float64 // milliseconds
	server, client float64 // microseconds of processor time per command
}

// drive runs redis-benchmark against a server.
func (b *bench) drive(ctx context.Context, p *proc.Proc, l load) (figures, error) {
	host, port, err := net.SplitHostPort(p.Addr)
	if err != nil {
		return figures{}, err
	}
	args := []string{"-h", host, "-p", port, "--csv", "-n", strconv.Itoa(l.requests), "-c", strconv.Itoa(l.clients), "-P", strconv.Itoa(l.pipeline)}
	if l.keyspace > 0 {
		args = append(args, "-r", strconv.Itoa(l.keyspace))
	}
	if l.threads > 0 {
		args = append(args, "--threads", strconv.Itoa(l.threads))
	}
	before, err := processorTime(p.PID())
	if err != nil {
		return figures{}, err
	}
	client := exec.CommandContext(ctx, b.benchmark, append(args, l.command...)...)
	out, err := client.Output()
	if err != nil {
		return figures{}, fmt.Errorf("redis-benchmark %v: %w", args, err)
	}
	rows, err := csv.NewReader(bytes.NewReader(out)).ReadAll()
	if err != nil || len(rows) < 2 || len(rows[1]) < 7 {
		return figures{}, fmt.Errorf("redis-benchmark printed %q: %v", out, err)
	}
	last := rows[len(rows)-1]
	perSecond, err := strconv.ParseFloat(last[1], 64)
	if err != nil {
		return figures{}, err
	}
	p99, err := strconv.ParseFloat(last[6], 64)
	if err != nil {
		return figures{}, err
	}
	after, err := processorTime(p.PID())
	if err != nil {
		return figures{}, err
	}
	each := func(d time.Duration) float64 { return d.Seconds() * 1e6 / float64(l.requests) }
	return figures{
		perSecond: perSecond, p99: p99,
		server: each(after - before), client: each(client.ProcessState.UserTime() + client.ProcessState.SystemTime()),
	}, nil
}

// resident returns the resident memory of a process in bytes, and peakResident its maximum.
// They read /proc of Linux.
func resident(pid int) (int64, error)     { return status(pid, "VmRSS:") }
func peakResident(pid int) (int64, error) { return status(pid, "VmHWM:") }

func status(pid int, field string) (int64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(b) {
		if rest, ok := bytes.CutPrefix(line, []byte(field)); ok {
			kib, err := strconv.ParseInt(string(bytes.Fields(rest)[0]), 10, 64)
			return kib << 10, err
		}
	}
	return 0, fmt.Errorf("no %s in the status of process %d", field, pid)
}

// processorTime returns the user and system time of a process, in steps of 10 ms, the clock of
// Linux.
func processorTime(pid int) (time.Duration, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	// The name, in brackets, may contain spaces. The state follows it, and utime and stime are
	// 11 and 12 fields after the state.
	fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(fields) < 13 {
		return 0, fmt.Errorf("unexpected status of process %d: %q", pid, b)
	}
	user, err1 := strconv.ParseInt(string(fields[11]), 10, 64)
	system, err2 := strconv.ParseInt(string(fields[12]), 10, 64)
	return time.Duration(user+system) * (10 * time.Millisecond), errors.Join(err1, err2)
}
