package redisbloom_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/redis/command"
	"github.com/umbel-filters/umbel/cmd/internal/redis/cuckoo"
	"github.com/umbel-filters/umbel/cmd/internal/redis/redisbloom"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
	"github.com/umbel-filters/umbel/cmd/internal/testing/resptest"
	"github.com/umbel-filters/umbel/filter"
	format "github.com/umbel-filters/umbel/filter/foreign/redisbloom"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// place is a server of the module's commands, and a client of it that speaks RESP2.
type place struct {
	*resptest.Client
	t      testing.TB
	addr   string
	engine *engine.Engine
	module *redisbloom.Module
}

// start serves the module with RedisBloom's hasher unless another is given.
func start(t testing.TB, maxMemory uint64, o redisbloom.Options) *place {
	t.Helper()
	if o.Hasher == (umbel.Hasher{}) {
		o.Hasher = format.RedisHasher
	}
	e := engine.New(engine.Options{
		Kinds:     append(slices.Clone(filter.All), cuckoo.Kind),
		Now:       func() int64 { return time.Now().UnixMilli() },
		MaxMemory: maxMemory,
	})
	m := redisbloom.New(e, o)
	s := resp.NewServer(resp.Options{Commands: m.Commands(), Default: command.Everyone()})
	addr := resptest.Serve(t, s)
	return &place{resptest.Dial(t, addr), t, addr, e, m}
}

// items returns the words of the numbers from..to-1.
func items(from, to int) []string {
	var ws []string
	for i := from; i < to; i++ {
		ws = append(ws, fmt.Sprint("item", i))
	}
	return ws
}

// each sends a command for a key with items and returns how many replies were yes.
func (p *place) each(command, key string, items []string) (yes int) {
	p.t.Helper()
	for some := range slices.Chunk(items, 10_000) {
		reply := p.Do(append([]string{command, key}, some...)...)
		if !strings.HasPrefix(reply, "*") || strings.Contains(reply, "-ERR") {
			p.t.Fatalf("%s %s: %.200s", command, key, reply)
		}
		yes += strings.Count(reply, ":1")
	}
	return yes
}
