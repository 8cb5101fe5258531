package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/redis/go-redis/v9"
	"github.com/umbel-filters/umbel/interop/internal/proc"
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
	// filters tells whether it has BF.*; redis-server of itself hasn't.
	filters bool
}

func (b *bench) contestants() []contestant {
	peer := func(name string) func(context.Context, string) (*proc.Proc, error) {
		return func(ctx context.Context, _ string) (*proc.Proc, error) {
			self, err := os.Executable()
			if err != nil {
				return nil, err
			}
			addr, err := proc.FreeAddr()
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

// scene is one row of the comparison.
type scene struct {
	name    string
	load    load
	filters bool
	per     float64 // items of one command
}

func (b *bench) scenes() []scene {
	madd := []string{"BF.MADD", "speed"}
	for range maddItems {
		madd = append(madd, "__rand_int__")
	}
	var ss []scene
	for _, p := range []int{1, 64} {
		n := 200_000
		if p > 1 {
			n = 3_000_000
		}
		if b.requests > 0 {
			n = b.requests
		}
		l := func(command ...string) load {
			return load{requests: n, clients: 50, pipeline: p, keyspace: filterKeys, command: command}
		}
		ss = append(ss,
			scene{fmt.Sprintf("PING, P=%d", p), l("PING"), false, 1},
			scene{fmt.Sprintf("BF.ADD, P=%d", p), l("BF.ADD", "speed", "__rand_int__"), true, 1},
			scene{fmt.Sprintf("BF.EXISTS, P=%d", p), l("BF.EXISTS", "speed", "__rand_int__"), true, 1},
		)
	}
	n := 50_000
	if b.requests > 0 {
		n = b.requests
	}
	return append(ss, scene{fmt.Sprintf("BF.MADD of %d, items, P=1", maddItems), load{requests: n, clients: 50, pipeline: 1, keyspace: filterKeys, command: madd}, true, maddItems})
}

// commands compares how many commands a second the servers answer, and how late the latest are.
func (b *bench) commands(ctx context.Context) error {
	contestants, scenes := b.contestants(), b.scenes()
	speed := make([][]sample, len(scenes))
	late := make([][]sample, len(scenes))
	for i := range scenes {
		speed[i], late[i] = make([]sample, len(contestants)), make([]sample, len(contestants))
	}
	for round := range b.rounds + 1 {
		for c, who := range contestants {
			if err := b.playAll(ctx, who, scenes, func(scene int, f figures) {
				if round > 0 {
					speed[scene][c] = append(speed[scene][c], f.perSecond*scenes[scene].per)
					late[scene][c] = append(late[scene][c], f.p99)
				}
			}); err != nil {
				return fmt.Errorf("%s: %w", who.name, err)
			}
		}
	}
	names := make([]string, len(contestants))
	for i, c := range contestants {
		names[i] = c.name
	}
	fast := &Table{Path: "commands/rate", Title: "Commands a second, 50 connections", Columns: names,
		Note: fmt.Sprintf("BF.* on a filter for 10^6 keys at 1 %%, keys at random out of 10^6; the node with `--durability none`. redis-server has no BF.* of itself.")}
	slow := &Table{Path: "commands/p99", Title: "The latest of a hundred, milliseconds", Columns: names}
	for i, s := range scenes {
		f, l := Row{Name: s.name}, Row{Name: s.name}
		for c := range contestants {
			f.Cells = append(f.Cells, cell(speed[i][c], sample.rate))
			l.Cells = append(l.Cells, cell(late[i][c], sample.times))
		}
		fast.Rows, slow.Rows = append(fast.Rows, f), append(slow.Rows, l)
	}
	b.report.add(fast)
	b.report.add(slow)
	b.judgeCommands(scenes, speed, late)
	return nil
}

func cell(s sample, show func(sample) string) string {
	if len(s) == 0 {
		return ""
	}
	return show(s)
}

// playAll runs the scenes against a fresh server.
func (b *bench) playAll(ctx context.Context, who contestant, scenes []scene, result func(scene int, f figures)) error {
	dir, err := os.MkdirTemp(b.dir, "server-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	p, err := who.start(ctx, dir)
	if err != nil {
		return err
	}
	defer p.Kill()
	if who.filters {
		c := redis.NewClient(&redis.Options{Addr: p.Addr, Protocol: 2, DisableIdentity: true})
		defer c.Close()
		if err := c.Do(ctx, "BF.RESERVE", "speed", filterRate, filterKeys).Err(); err != nil {
			return err
		}
	}
	for i, s := range scenes {
		if s.filters && !who.filters {
			continue
		}
		f, err := b.drive(ctx, p.Addr, s.load)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		result(i, f)
	}
	return nil
}

// judgeCommands compares the node, which is contestant 1, with redis-server, which is 0.
func (b *bench) judgeCommands(scenes []scene, speed, late [][]sample) {
	ping := map[string]int{}
	for i, s := range scenes {
		if strings.HasPrefix(s.name, "PING") {
			ping[s.name[len("PING"):]] = i
		}
	}
	for i, s := range scenes {
		ours, _ := speed[i][1].best()
		switch {
		case s.per > 1:
			b.report.want(Target{Claim: s.name + ", million a second", Want: 1.5, Measured: ours / 1e6})
		case s.filters:
			suffix := s.name[strings.Index(s.name, ","):]
			theirs, _ := speed[ping[suffix]][0].best()
			want := 1.2
			if s.load.pipeline == 1 {
				want = 0.9
				l, _ := late[i][1].least()
				r, _ := late[ping[suffix]][0].least()
				b.report.want(Target{Claim: s.name + ", p99 against redis-server's PING", Want: 1, Measured: l / r, AtMost: true, Unit: " times"})
			}
			b.report.want(Target{Claim: s.name + " against redis-server's PING", Want: want, Measured: ours / theirs, Unit: " times"})
		}
	}
}
