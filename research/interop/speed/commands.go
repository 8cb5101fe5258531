//go:build !noclients

package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/umbel-filters/umbel/internal/freeport"
	"github.com/umbel-filters/umbel/research/interop/internal/proc"
)

const (
	filterKeys = 1_000_000
	filterRate = 0.01
	maddItems  = 100
)

// contestant is a server in the comparison.
type contestant struct {
	name  string
	start func(ctx context.Context, dir string) (*proc.Proc, error)
	// filters is true if the server has BF.*; redis-server alone does not.
	filters bool
}

func (b *bench) contestants() []contestant {
	peer := func(name string) func(context.Context, string) (*proc.Proc, error) {
		return func(ctx context.Context, _ string) (*proc.Proc, error) {
			self, err := os.Executable()
			if err != nil {
				return nil, err
			}
			addr, err := freeport.Addr()
			if err != nil {
				return nil, err
			}
			return proc.Start(ctx, addr, self, "--serve", name, "--addr", addr)
		}
	}
	return []contestant{
		{"redis-server", func(ctx context.Context, dir string) (*proc.Proc, error) { return proc.Redis(ctx, b.redis, dir) }, false},
		{"umbel", func(ctx context.Context, dir string) (*proc.Proc, error) {
			return proc.Node(ctx, b.umbel, dir, "--durability", "none")
		}, true},
		{"redcon", peer("redcon"), true},
		{"gnet", peer("gnet"), true},
	}
}

// scene is a row of the comparison.
type scene struct {
	name    string
	load    load
	filters bool
	per     float64 // items per command
}

// scenes returns the rows, which are the same for all servers. The filter is empty before the
// first addition. Of three million additions of a million keys, two in three are of present
// keys.
func (b *bench) scenes() []scene {
	requests := func(n int) int {
		if b.requests > 0 {
			return b.requests
		}
		return n
	}
	var ss []scene
	for _, mode := range []struct {
		name              string
		pipeline, threads int
		requests          int
	}{
		{"P=1", 1, 0, 200_000},
		{"P=64", 64, 0, 3_000_000},
		{"P=64, two client threads", 64, 2, 3_000_000},
	} {
		l := func(command ...string) load {
			return load{requests: requests(mode.requests), clients: 50, pipeline: mode.pipeline, threads: mode.threads, keyspace: filterKeys, command: command}
		}
		ss = append(ss,
			scene{"PING, " + mode.name, l("PING"), false, 1},
			scene{"BF.ADD, " + mode.name, l("BF.ADD", "speed", "__rand_int__"), true, 1},
			scene{"BF.EXISTS, " + mode.name, l("BF.EXISTS", "speed", "__rand_int__"), true, 1},
		)
	}
	madd := []string{"BF.MADD", "speed"}
	for range maddItems {
		madd = append(madd, "__rand_int__")
	}
	return append(ss, scene{
		fmt.Sprintf("BF.MADD of %d, items, P=1", maddItems),
		load{requests: requests(50_000), clients: 50, pipeline: 1, keyspace: filterKeys, command: madd}, true, maddItems,
	})
}

// play contains the results of the rounds of one scene and contestant.
type play struct{ speed, late, server, client sample }

func (p *play) add(f figures, per float64) {
	p.speed = append(p.speed, f.perSecond*per)
	p.late = append(p.late, f.p99)
	p.server = append(p.server, f.server/per)
	p.client = append(p.client, f.client/per)
}

// commands compares the commands per second of the servers, their 99th percentile of latency
// and their processor time.
func (b *bench) commands(ctx context.Context) error {
	contestants, scenes := b.contestants(), b.scenes()
	plays := make([][]play, len(scenes))
	for i := range plays {
		plays[i] = make([]play, len(contestants))
	}
	for round := range b.rounds + 1 {
		if err := b.playAll(ctx, contestants, scenes, func(scene, contestant int, f figures) {
			if round > 0 {
				plays[scene][contestant].add(f, scenes[scene].per)
			}
		}); err != nil {
			return err
		}
	}
	names := make([]string, len(contestants))
	for i, c := range contestants {
		names[i] = c.name
	}
	table := func(path, title, note string, figure func(p *play) string) {
		t := &Table{Path: path, Title: title, Note: note, Columns: names}
		for i, s := range scenes {
			row := Row{Name: s.name}
			for c := range contestants {
				text := ""
				if len(plays[i][c].speed) > 0 {
					text = figure(&plays[i][c])
				}
				row.Cells = append(row.Cells, text)
			}
			t.Rows = append(t.Rows, row)
		}
		b.report.add(t)
	}
	table("commands/rate", "Commands per second, 50 connections",
		"BF.* uses a filter for 10^6 keys at 1 % and random keys out of 10^6, so most additions are of present keys. The node runs with `--durability none`. "+
			"redis-server alone has no BF.*. redis-benchmark has one thread unless stated otherwise. If the server takes less "+
			"processor time than redis-benchmark (see below), the result is the speed of redis-benchmark.",
		func(p *play) string { return p.speed.rate() })
	table("commands/p99", "99th percentile of latency, milliseconds", "", func(p *play) string { return p.late.times() })
	table("commands/server", "Processor time of the server, microseconds per command",
		"User and system time of all threads, with a resolution of 10 ms per measurement. Other work on the machine has little influence.",
		func(p *play) string { return p.server.micros() })
	table("commands/client", "Processor time of redis-benchmark, microseconds per command", "", func(p *play) string { return p.client.micros() })
	b.judgeCommands(scenes, plays)
	return nil
}

// playAll runs each scene against one server after the other. All servers run all the time,
// but only one has work.
func (b *bench) playAll(ctx context.Context, contestants []contestant, scenes []scene, result func(scene, contestant int, f figures)) error {
	running := make([]*proc.Proc, len(contestants))
	for i, one := range contestants {
		dir, err := os.MkdirTemp(b.dir, "server-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		p, err := one.start(ctx, dir)
		if err != nil {
			return fmt.Errorf("%s: %w", one.name, err)
		}
		defer p.Kill()
		if one.filters {
			if err := reserve(ctx, p.Addr, filterKeys); err != nil {
				return fmt.Errorf("%s: %w", one.name, err)
			}
		}
		running[i] = p
	}
	for i, s := range scenes {
		for c, one := range contestants {
			if s.filters && !one.filters {
				continue
			}
			f, err := b.drive(ctx, running[c], s.load)
			if err != nil {
				return fmt.Errorf("%s: %s: %w", one.name, s.name, err)
			}
			result(i, c, f)
		}
	}
	return nil
}

// judgeCommands compares the node, contestant 1, with redis-server, contestant 0.
func (b *bench) judgeCommands(scenes []scene, plays [][]play) {
	ping := map[string]play{}
	for i, s := range scenes {
		if mode, ok := strings.CutPrefix(s.name, "PING"); ok {
			ping[mode] = plays[i][0]
		}
	}
	for i, s := range scenes {
		node := plays[i][1]
		ours, _ := node.speed.best()
		switch {
		case s.per > 1:
			b.report.want(Target{Claim: s.name + ", million per second", Want: 1.5, Measured: ours / 1e6})
		case s.filters && s.load.threads == 0:
			redis := ping[s.name[strings.Index(s.name, ","):]]
			theirs, _ := redis.speed.best()
			want, wantServer := 1.2, 0.8
			if s.load.pipeline == 1 {
				want, wantServer = 1, 1.1
				l, _ := node.late.least()
				r, _ := redis.late.least()
				b.report.want(Target{Claim: s.name + ", 99th percentile relative to redis-server's PING", Want: 1, Measured: l / r, AtMost: true, Unit: " times"})
			}
			b.report.want(Target{Claim: s.name + ", speed relative to redis-server's PING", Want: want, Measured: ours / theirs, Unit: " times"})
			used, _ := node.server.least()
			ping, _ := redis.server.least()
			b.report.want(Target{Claim: s.name + ", processor time of the server relative to redis-server's PING",
				Want: wantServer, Measured: used / ping, AtMost: true, Unit: " times"})
		}
	}
}
