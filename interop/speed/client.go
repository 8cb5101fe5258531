package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"net"
	"os/exec"
	"strconv"
)

// load is what clients do in one measurement.
type load struct {
	requests, clients, pipeline int
	keyspace                    int // values of __rand_int__
	command                     []string
}

// figures are what redis-benchmark says of it.
type figures struct {
	perSecond float64 // commands
	p99       float64 // milliseconds
}

// drive runs redis-benchmark against a server.
func (b *bench) drive(ctx context.Context, addr string, l load) (figures, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return figures{}, err
	}
	args := []string{"-h", host, "-p", port, "--csv", "-n", strconv.Itoa(l.requests), "-c", strconv.Itoa(l.clients), "-P", strconv.Itoa(l.pipeline)}
	if l.keyspace > 0 {
		args = append(args, "-r", strconv.Itoa(l.keyspace))
	}
	out, err := exec.CommandContext(ctx, b.benchmark, append(args, l.command...)...).Output()
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
	return figures{perSecond: perSecond, p99: p99}, err
}
