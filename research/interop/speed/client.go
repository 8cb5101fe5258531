package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"net"
	"os/exec"
	"strconv"
	"time"

	"github.com/umbel-filters/umbel/research/interop/internal/proc"
)

// load is what clients do in one measurement.
type load struct {
	requests, clients, pipeline int
	threads                     int // of redis-benchmark; 0 is its own way, which is one
	keyspace                    int // values of __rand_int__, each as likely as any other
	command                     []string
}

// figures are what redis-benchmark says of it, and what both sides took.
type figures struct {
	perSecond      float64 // commands
	p99            float64 // milliseconds
	server, client float64 // microseconds of processor time a command
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
