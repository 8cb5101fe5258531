package builtin

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/node/glob"
	"github.com/umbel-filters/umbel/cmd/internal/redis/command"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
)

// Monitor records slow commands for SLOWLOG and LATENCY, and what INFO has counted before CONFIG RESETSTAT. It is
// safe for concurrent use.
type Monitor struct {
	slower    atomic.Int64 // minimum duration of SLOWLOG in microseconds; below 0: off
	threshold atomic.Int64 // minimum duration of an event in milliseconds; 0: off
	keep      atomic.Int64 // number of slow calls to keep

	mu     sync.Mutex
	before map[*resp.Command]resp.Usage // at the last CONFIG RESETSTAT; never modified
	slow   []slowCall                   // oldest first
	nextID int64
	events map[string]*event
}

// slowCall is an entry of SLOWLOG.
type slowCall struct {
	id   int64
	at   time.Time
	took time.Duration
	args []string // of the first of the calls that ran together
	from string
}

// event contains the samples of one LATENCY event.
type event struct {
	samples []sample // oldest first, at most maxSamples
	worst   int64
}

type sample struct{ at, millis int64 }

const maxSamples = 160

// NewMonitor returns a monitor that records calls of at least 10 ms.
func NewMonitor() *Monitor {
	m := &Monitor{events: map[string]*event{}}
	m.slower.Store(10_000)
	m.keep.Store(128)
	return m
}

// Observe is for resp.Options. It does not allocate for fast calls.
func (m *Monitor) Observe(c *resp.Conn, cmd *resp.Command, _ int, took time.Duration) {
	if slower := m.slower.Load(); slower >= 0 && took.Microseconds() >= slower {
		m.keepSlow(c, cmd, took)
	}
	if t := m.threshold.Load(); t > 0 && took.Milliseconds() >= t {
		m.keepEvent(cmd, took)
	}
}

func (m *Monitor) keepSlow(c *resp.Conn, cmd *resp.Command, took time.Duration) {
	if slices.Contains(cmd.Flags, "skip_slowlog") {
		return
	}
	args := slowlogArgs(cmd, c.Args())
	m.mu.Lock()
	defer m.mu.Unlock()
	m.slow = append(m.slow, slowCall{m.nextID, time.Now(), took, args, c.Addr().String()})
	m.nextID++
	m.cut()
}

// Limits of a SLOWLOG entry.
const (
	maxShown = 32  // words
	maxWord  = 128 // bytes
)

// slowlogArgs returns the first words of a call, shortened and without passwords.
func slowlogArgs(cmd *resp.Command, args [][]byte) (list []string) {
	if cmd.Name == "auth" || cmd.Name == "hello" {
		return []string{cmd.Name, "(redacted)"}
	}
	for i, a := range args {
		if i == maxShown-1 && len(args) > maxShown {
			return append(list, fmt.Sprintf("... (%d more arguments)", len(args)-i))
		}
		if len(a) > maxWord {
			a = fmt.Appendf(nil, "%s... (%d more bytes)", a[:maxWord], len(a)-maxWord)
		}
		list = append(list, string(a))
	}
	return list
}

// cut drops surplus slow calls. The caller holds m.mu.
func (m *Monitor) cut() {
	if over := len(m.slow) - int(m.keep.Load()); over > 0 {
		m.slow = slices.Delete(m.slow, 0, over)
	}
}

func (m *Monitor) keepEvent(cmd *resp.Command, took time.Duration) {
	name := "command"
	if slices.Contains(cmd.Flags, "fast") {
		name = "fast-command"
	}
	now, millis := time.Now().Unix(), took.Milliseconds()
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.events[name]
	if e == nil {
		e = &event{}
		m.events[name] = e
	}
	e.worst = max(e.worst, millis)
	if last := len(e.samples) - 1; last >= 0 && e.samples[last].at == now {
		e.samples[last].millis = max(e.samples[last].millis, millis)
		return
	}
	if len(e.samples) == maxSamples {
		e.samples = slices.Delete(e.samples, 0, 1)
	}
	e.samples = append(e.samples, sample{now, millis})
}

// slowest returns at most n slow calls, the latest first; all if n is negative.
func (m *Monitor) slowest(n int64) []slowCall {
	m.mu.Lock()
	defer m.mu.Unlock()
	calls := slices.Clone(m.slow)
	slices.Reverse(calls)
	if n >= 0 && n < int64(len(calls)) {
		calls = calls[:n]
	}
	return calls
}

// usage calls each with the commands of a server that were called since the last CONFIG RESETSTAT.
func (m *Monitor) usage(s *resp.Server, each func(cmd *resp.Command, calls uint64, took time.Duration)) {
	m.mu.Lock()
	before := m.before
	m.mu.Unlock()
	s.Usage(func(cmd *resp.Command, u resp.Usage) {
		if b := before[cmd]; u.Calls > b.Calls {
			each(cmd, u.Calls-b.Calls, u.Took-b.Took)
		}
	})
}

// Calls returns the number of calls since the last CONFIG RESETSTAT.
func (m *Monitor) Calls(s *resp.Server) (n uint64) {
	m.usage(s, func(_ *resp.Command, calls uint64, _ time.Duration) { n += calls })
	return n
}

func (m *Monitor) resetUsage(s *resp.Server) {
	before := map[*resp.Command]resp.Usage{}
	s.Usage(func(cmd *resp.Command, u resp.Usage) { before[cmd] = u })
	m.mu.Lock()
	defer m.mu.Unlock()
	m.before = before
}

// setting is a number that CONFIG can get and set.
type setting struct {
	name  string
	value *atomic.Int64
	least int64
}

func (m *Monitor) settings() []setting {
	return []setting{
		{"slowlog-log-slower-than", &m.slower, -1},
		{"slowlog-max-len", &m.keep, 0},
		{"latency-monitor-threshold", &m.threshold, 0},
	}
}

func (m *Monitor) get(pattern string) (found [][2]string) {
	for _, s := range m.settings() {
		if glob.Match(pattern, s.name) {
			found = append(found, [2]string{s.name, strconv.FormatInt(s.value.Load(), 10)})
		}
	}
	return found
}

// set changes a setting; known is false for other names.
func (m *Monitor) set(name, value string) (known bool, err error) {
	for _, s := range m.settings() {
		if s.name != name {
			continue
		}
		n, ok := command.ParseInt([]byte(value))
		if !ok {
			return true, errors.New("argument couldn't be parsed into an integer")
		}
		if n < s.least {
			return true, errors.New("argument must be between " + strconv.FormatInt(s.least, 10) + " and 9223372036854775807 inclusive")
		}
		s.value.Store(n)
		m.mu.Lock()
		m.cut()
		m.mu.Unlock()
		return true, nil
	}
	return false, nil
}
