package node

import (
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/node/glob"
)

// settings implements builtin.Config: the node's settings, some of Redis', and those of BF.*.
type settings struct{ *Node }

// Get returns the settings that match a pattern.
func (s settings) Get(pattern string) [][2]string {
	found := s.bloom.Config(pattern)
	add := func(name, value string) {
		known := slices.ContainsFunc(found, func(f [2]string) bool { return f[0] == name })
		if glob.Match(pattern, name) && !known {
			found = append(found, [2]string{name, value})
		}
	}
	for _, f := range s.redis() {
		add(f[0], f[1])
	}
	now := s.currentConfig()
	now.LogLevel = strings.ToLower(s.level.Level().String())
	now.MaxMemory = Memory{Bytes: quantity.Size(s.limit())}
	for name, value := range now.values() {
		add(name, value)
	}
	slices.SortFunc(found, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	return found
}

// redis returns the settings that Redis clients read.
func (s settings) redis() [][2]string {
	now := s.currentConfig()
	sync := map[string]string{"always": "always", "everysec": "everysec", "none": "no"}
	return [][2]string{
		{"appendfsync", sync[s.config.Durability]},
		{"appendonly", "yes"},
		{"databases", "1"},
		{"dir", s.config.Data},
		{"loglevel", s.level.Level().String()},
		{"maxclients", strconv.Itoa(now.MaxClients)},
		{"maxmemory", strconv.FormatUint(s.limit(), 10)},
		{"maxmemory-policy", "noeviction"},
		{"proto-max-bulk-len", strconv.FormatUint(uint64(now.MaxBulk), 10)},
		{"save", ""},
		{"timeout", strconv.Itoa(int(now.IdleTimeout / time.Second))},
	}
}

// Set changes a setting until the process ends.
func (s settings) Set(name, value string) error {
	if known, err := s.bloom.SetConfig(name, value); known {
		return err
	}
	switch name {
	case "log-level", "loglevel":
		return s.setLevel(strings.ToLower(value))
	case "max-memory", "maxmemory":
		var m Memory
		if n, ok := redisSize(value); ok && name == "maxmemory" {
			m.Bytes = n
		} else if err := m.Set(value); err != nil {
			return err
		}
		s.setMemory(m)
		return nil
	}
	return fmt.Errorf("%s can't be changed at run time", name)
}

// redisUnits are the units of sizes in Redis' configuration, in lower case.
var redisUnits = map[string]quantity.Size{"b": 1, "k": 1e3, "kb": 1 << 10, "m": 1e6, "mb": 1 << 20, "g": 1e9, "gb": 1 << 30}

// redisSize parses a size as Redis does, for example "64mb", which is 64 MiB.
func redisSize(s string) (quantity.Size, bool) {
	digits := strings.TrimRight(s, "bkmgBKMG")
	unit, known := redisUnits[strings.ToLower(s[len(digits):])]
	n, err := strconv.ParseUint(digits, 10, 64)
	if !known || err != nil || n > math.MaxUint64/uint64(unit) {
		return 0, false
	}
	return quantity.Size(n) * unit, true
}

// setLevel sets the minimum level of the log.
func (n *Node) setLevel(name string) error {
	var l slog.Level
	if err := l.UnmarshalText([]byte(name)); err != nil {
		return fmt.Errorf("want debug, info, warn or error")
	}
	n.level.Set(l)
	return nil
}

// setMemory sets the memory limit of all filters.
func (n *Node) setMemory(m Memory) {
	used, _ := n.engine.Memory()
	limit := memoryLimit(m, used)
	setGoMemoryLimit(limit)
	n.engine.SetMaxMemory(limit)
	n.budget.SetLimit(clientMemory(n.limits.Load().MaxClientMemory, limit))
}

// values yields all settings as text.
func (c Config) values() func(yield func(name, value string) bool) {
	now := c // flags resets it to the defaults
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	now.flags(fs)
	now = c
	return func(yield func(name, value string) bool) {
		more := true
		fs.VisitAll(func(f *pflag.Flag) {
			more = more && yield(f.Name, f.Value.String())
		})
	}
}
