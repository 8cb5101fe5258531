package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/internal/await"
)

// member is a node of a group, and how it fares.
type member struct {
	*process
	resp, http string
	faulty     atomic.Bool // it is killed or stopped, or has just come back
}

// line sends an inline command on a connection, and returns a reply that is a line, or the last one of an array.
func line(c net.Conn, r *bufio.Reader, command string) (string, error) {
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := c.Write([]byte(command + "\r\n")); err != nil {
		return "", err
	}
	for left := 1; ; {
		reply, err := r.ReadString('\n')
		if err != nil {
			return "", err
		}
		reply = strings.TrimSpace(reply)
		if n, ok := strings.CutPrefix(reply, "*"); ok {
			left, _ = strconv.Atoi(n)
			left++
		}
		if left--; left <= 0 {
			return reply, nil
		}
	}
}

// caller is a client of Redis that finds the leader by its errors, as clients with retries do.
type caller struct {
	members []*member
	at      int
	conn    net.Conn
	reader  *bufio.Reader
}

func (c *caller) drop() {
	if c.conn != nil {
		c.conn.Close()
	}
	c.conn = nil
}

// call sends a command to the member at c.at. unknown is true if the command may have been done although there is an error.
func (c *caller) call(command string) (reply string, unknown bool, err error) {
	if c.conn == nil {
		if c.conn, err = net.DialTimeout("tcp", c.members[c.at].resp, time.Second); err != nil {
			return "", false, err
		}
		c.reader = bufio.NewReader(c.conn)
	}
	reply, err = line(c.conn, c.reader, command)
	if err != nil {
		c.drop()
		return "", true, err
	}
	if strings.HasPrefix(reply, "-") {
		return "", !strings.HasPrefix(reply, "-READONLY") && !strings.HasPrefix(reply, "-MISCONF") && !strings.HasPrefix(reply, "-LOADING") &&
			!strings.HasPrefix(reply, "-STALE"), errors.New(reply)
	}
	return reply, false, nil
}

// leader sends a command to the leader. If it may be done twice, it is sent until a reply says that it was done; otherwise until it is done or
// its result is unknown.
func (c *caller) leader(command string, twice bool, over func() bool) (reply string, unknown bool) {
	for !over() {
		reply, unknown, err := c.call(command)
		if err == nil {
			return reply, false
		}
		if unknown && !twice {
			return "", true
		}
		c.drop()
		c.at = (c.at + 1) % len(c.members)
		time.Sleep(20 * time.Millisecond) // as clients do
	}
	return "", true
}

// groupTrial is a group of three nodes under load and faults.
type groupTrial struct {
	*testing.T
	members []*member
	maxAge  time.Duration
	over    atomic.Bool

	mu      sync.Mutex
	acked   []ack
	pauses  []time.Duration // from the first attempt to the acknowledgment of each addition
	refused int             // queries that a member without a fault refused
	asked   int
	wrong   []string
	counts  map[string]*counted
}

// ack is an acknowledged key.
type ack struct {
	key string
	at  time.Time
}

// counted is what is known about a key of the counting filter.
type counted struct{ added, addedMaybe, removed, removedMaybe int }

// The leader of a group of three processes is killed or stopped again and again while clients add, remove and query. No addition that was
// acknowledged is lost, no removal is done twice, and no member answers that a key is absent that was acknowledged longer than max-age ago.
func TestGroupKill(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no process can be stopped")
	}
	faults, pace := 3, time.Second
	switch {
	case os.Getenv("UMBEL_LONG") != "":
		faults, pace = 30, 15*time.Second
	case testing.Short():
		faults = 1
	}
	g := &groupTrial{T: t, maxAge: 10 * time.Second, counts: map[string]*counted{}}
	d := t.TempDir()
	if err := os.Mkdir(filepath.Join(d, "log"), 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		m := &member{resp: freeAddress(t), http: freeAddress(t)}
		m.process = &process{t: t, program: "umbel", arguments: []string{
			"serve", "--data", filepath.Join(d, fmt.Sprint("data", i)), "--log", "file://" + filepath.ToSlash(filepath.Join(d, "log")), "--resp", m.resp, "--http", m.http,
			"--max-age", g.maxAge.String(), "--log-level", "error", "--snapshot-bytes", "256KiB",
		}, ready: func() bool { return answers("http://" + m.http + "/readyz") }}
		g.members = append(g.members, m)
		m.start()
		t.Cleanup(m.kill)
	}
	await.True(t, "a member leads", func() bool { return g.leader() != nil })
	first := g.caller()
	first.leader("BF.RESERVE keys 0.0001 200000", true, g.over.Load)
	first.leader("UM.MAKE counts counting KEYS 200000 RATE 0.000001", true, g.over.Load)
	first.drop()
	var load sync.WaitGroup
	for w := range 3 {
		load.Go(func() { g.add(w) })
	}
	load.Go(g.count)
	for i := range g.members {
		load.Go(func() { g.query(i) })
	}
	for range faults {
		time.Sleep(pace/2 + rand.N(pace)) // the clients work between the faults
		g.fault()
	}
	await.True(t, "a member leads after the last fault", func() bool { return g.leader() != nil })
	before := g.total()
	await.True(t, "clients go on after the last fault", func() bool { return g.total() > before+100 })
	g.over.Store(true)
	load.Wait()
	g.check()
}

func (g *groupTrial) total() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.acked)
}

func (g *groupTrial) caller() *caller {
	return &caller{members: g.members, at: rand.IntN(len(g.members))}
}

// state returns the state of the member in its group, nil if it does not answer.
func (m *member) state() *api.Group {
	r, err := short.Get("http://" + m.http + "/v1/status")
	if err != nil {
		return nil
	}
	defer r.Body.Close()
	var s api.Status
	if r.StatusCode != http.StatusOK || json.NewDecoder(r.Body).Decode(&s) != nil {
		return nil
	}
	return s.Group
}

// leader returns the member that leads, nil if none does.
func (g *groupTrial) leader() *member {
	for _, m := range g.members {
		if s := m.state(); s != nil && s.Role == api.RoleLeader {
			return m
		}
	}
	return nil
}

// fault kills or stops the leader, and lets it go on when another one leads.
func (g *groupTrial) fault() {
	var m *member
	await.True(g.T, "a member leads", func() bool { m = g.leader(); return m != nil })
	m.faulty.Store(true)
	defer m.faulty.Store(false)
	stop := rand.IntN(2) == 0
	if stop {
		_ = m.cmd.Process.Signal(syscall.SIGSTOP)
	} else {
		m.kill()
	}
	others := &groupTrial{T: g.T, members: slices.DeleteFunc(slices.Clone(g.members), func(o *member) bool { return o == m })}
	await.True(g.T, "another member leads", func() bool { return others.leader() != nil })
	if stop {
		_ = m.cmd.Process.Signal(syscall.SIGCONT)
	} else {
		m.start()
	}
	await.True(g.T, "the member follows", m.ready)
}

// add adds keys.
func (g *groupTrial) add(w int) {
	c := g.caller()
	defer c.drop()
	for i := 0; !g.over.Load(); i++ {
		key, began := fmt.Sprintf("k%d-%d", w, i), time.Now()
		if _, unknown := c.leader("BF.ADD keys "+key, true, g.over.Load); unknown {
			return
		}
		now := time.Now()
		g.mu.Lock()
		g.acked, g.pauses = append(g.acked, ack{key, now}), append(g.pauses, now.Sub(began))
		g.mu.Unlock()
	}
}

// count adds each key three times to a counting filter, and removes it once.
func (g *groupTrial) count() {
	c := g.caller()
	defer c.drop()
	for i := 0; !g.over.Load(); i++ {
		key, n := fmt.Sprint("c", i), &counted{}
		g.mu.Lock()
		g.counts[key] = n
		g.mu.Unlock()
		for range 3 {
			if _, unknown := c.leader("UM.ADD counts "+key, false, g.over.Load); unknown {
				n.addedMaybe++
			} else {
				n.added++
			}
		}
		if _, unknown := c.leader("UM.REMOVE counts "+key, false, g.over.Load); unknown {
			n.removedMaybe++
		} else {
			n.removed++
		}
	}
}

// query queries a member for keys that were acknowledged longer than max-age ago; the leader, too.
func (g *groupTrial) query(i int) {
	m := g.members[i]
	c := &caller{members: []*member{m}}
	defer c.drop()
	for !g.over.Load() {
		time.Sleep(time.Millisecond)
		faulty := m.faulty.Load()
		g.mu.Lock()
		old := len(g.acked)
		for old > 0 && time.Since(g.acked[old-1].at) < g.maxAge {
			old -= 1 + old/100
		}
		key := "none"
		if old > 0 {
			key = g.acked[rand.IntN(old)].key
		}
		g.asked++
		g.mu.Unlock()
		reply, _, err := c.call("BF.EXISTS keys " + key)
		g.mu.Lock()
		switch {
		case err != nil && !faulty && !m.faulty.Load():
			g.refused++
			if g.refused < 5 {
				g.Logf("a member without a fault: %v", err)
			}
		case err == nil && reply == ":0" && key != "none":
			g.wrong = append(g.wrong, fmt.Sprintf("%s answers that %s is absent", m.resp, key))
		}
		g.mu.Unlock()
		if err != nil {
			c.drop()
			time.Sleep(20 * time.Millisecond)
		}
	}
}

// check compares what the members have with what was acknowledged.
func (g *groupTrial) check() {
	for _, w := range g.wrong {
		g.Error(w)
	}
	lost, doubled := 0, 0
	await.True(g.T, "all members have the same changes", func() bool {
		position := uint64(0)
		for i, m := range g.members {
			s := m.state()
			if s == nil || i > 0 && s.Position != position {
				return false
			}
			position = s.Position
		}
		return true
	})
	for _, m := range g.members {
		c := &caller{members: []*member{m}}
		for _, a := range g.acked {
			if reply, _, err := c.call("BF.EXISTS keys " + a.key); err != nil || reply != ":1" {
				lost++
			}
		}
		for key, n := range g.counts {
			reply, _, err := c.call("UM.COUNT counts " + key)
			have, bad := strconv.Atoi(strings.TrimPrefix(reply, ":"))
			if err = errors.Join(err, bad); err != nil {
				g.Fatalf("UM.COUNT: %q, %v", reply, err)
			}
			if least, most := n.added-n.removed-n.removedMaybe, n.added+n.addedMaybe-n.removed; have < least || have > most {
				doubled++
				g.Errorf("%s: key %s counts %d, want %d to %d: %+v", m.resp, key, have, least, most, *n)
			}
		}
		c.drop()
	}
	if lost > 0 {
		g.Errorf("%d of %d acknowledged keys are lost", lost, len(g.acked))
	}
	slices.Sort(g.pauses)
	at := func(p float64) time.Duration {
		return g.pauses[int(p*float64(len(g.pauses)-1))].Round(time.Millisecond)
	}
	g.Logf("%d additions acknowledged, %d lost; %d keys counted, %d wrong; %d queries, %d wrong, %d refused by members without a fault; an addition took %v (median), %v (99 %%), %v at most",
		len(g.acked), lost, len(g.counts), doubled, g.asked, len(g.wrong), g.refused, at(.5), at(.99), at(1))
}
