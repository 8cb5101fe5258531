package faults

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
	"github.com/umbel-filters/umbel/research/interop/internal/proc"
)

// TestKillAfterChangesOfNames creates, renames, expires and deletes filters, and kills the node at
// random moments. After each start the node must have exactly the acknowledged changes, with
// or without the one that was in progress.
func TestKillAfterChangesOfNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	flags := []string{"--snapshot-interval", "300ms", "--snapshot-bytes", "64KiB"}
	now, next := names{}, names{}
	changes, rounds := 0, 2*few()
	for round := range rounds {
		p := start(t, dir, flags...)
		c := dial(t, p)
		now = currentNames(t, c, now, next)
		killed := make(chan struct{})
		go func() {
			defer close(killed)
			killDuringSave(p)
		}()
		for {
			var command []any
			command, next = now.change(fmt.Sprintf("%d.%d", round, changes))
			_, err := c.Do(command[0].(string), command[1:]...)
			if failed := redis.Error(""); errors.As(err, &failed) {
				t.Fatalf("%v: %v", command, err)
			}
			if err != nil {
				if command[0] == "BF.MADD" {
					next = next.without(now) // the keys may be present or not
				}
				break
			}
			now = next
			changes++
		}
		<-killed
	}
	currentNames(t, dial(t, start(t, dir, flags...)), now, next)
	t.Logf("%d kills, %d acknowledged changes, all present", rounds, changes)
}

// killDuringSave kills a node after a while, in half of the cases during a snapshot.
func killDuringSave(p *proc.Proc) {
	defer p.Kill()
	time.Sleep(rand.N(400 * time.Millisecond))
	c, err := redis.Dial("tcp", p.Addr)
	if err != nil {
		return
	}
	defer c.Close()
	if rand.IntN(2) == 0 {
		c.Send("SAVE")
		c.Flush()
		time.Sleep(rand.N(20 * time.Millisecond))
	}
}

// names maps names to the expected filters of a node.
type names map[string]content

// content is an expected filter.
type content struct {
	keys    []any
	gone    []any // keys of an earlier filter with the name; only false positives may be found
	expires int64 // milliseconds since 1970; -1 for never
}

// change draws a random change. It returns the command and the names after it. id must be
// different for each change.
func (n names) change(id string) (command []any, after names) {
	after = maps.Clone(n)
	all := []string{"a", "b", "c", "d", "e"}
	name, other := all[rand.IntN(len(all))], all[rand.IntN(len(all))]
	was, exists := n[name]
	what := rand.IntN(20)
	if !exists || what < 8 || name == other && what < 15 {
		if !exists {
			was.expires = -1
		}
		command = []any{"BF.MADD", name}
		for i := range 20 {
			command = append(command, fmt.Sprintf("%s.%d", id, i))
		}
		was.keys = slices.Concat(was.keys, command[2:])
		after[name] = was
		return command, after
	}
	switch {
	case what < 12:
		delete(after, name)
		after[other] = content{was.keys, slices.Concat(was.gone, n[other].keys), was.expires}
		return []any{"RENAME", name, other}, after
	case what < 15:
		was.expires = time.Now().Add(time.Hour).UnixMilli() + rand.Int64N(1000)
		after[name] = was
		return []any{"PEXPIREAT", name, was.expires}, after
	case what < 16:
		was.expires = -1
		after[name] = was
		return []any{"PERSIST", name}, after
	case what < 17:
		delete(after, name)
		return []any{"PEXPIREAT", name, 1}, after
	case what < 19:
		delete(after, name)
		return []any{"DEL", name}, after
	}
	return []any{"FLUSHALL"}, names{}
}

// without returns the names with only the keys that they had before.
func (n names) without(before names) names {
	n = maps.Clone(n)
	for name, c := range n {
		if was, ok := before[name]; !ok {
			n[name] = content{expires: c.expires}
		} else {
			n[name] = was
		}
	}
	return n
}

// currentNames returns the one of now and next that the node has. It fails the test if it has
// neither.
func currentNames(t *testing.T, c redis.Conn, now, next names) names {
	t.Helper()
	one := now.compare(c)
	if one == "" {
		return now
	}
	if other := next.compare(c); other != "" {
		t.Fatalf("the node has neither the acknowledged names nor those after the next change:\n%s\n%s", one, other)
	}
	return next
}

// compare returns the first difference between n and the node, "" if they are equal.
func (n names) compare(c redis.Conn) string {
	found, err := redis.Strings(c.Do("KEYS", "*"))
	if err != nil {
		return err.Error()
	}
	slices.Sort(found)
	if want := slices.Sorted(maps.Keys(n)); !slices.Equal(found, want) {
		return fmt.Sprintf("the filters are %s, want %s", strings.Join(found, " "), strings.Join(want, " "))
	}
	for name, want := range n {
		if expires, err := redis.Int64(c.Do("PEXPIRETIME", name)); expires != want.expires {
			return fmt.Sprintf("%s expires at %d, want %d: %v", name, expires, want.expires, err)
		}
		if k := hits(c, name, want.keys); k != len(want.keys) {
			return fmt.Sprintf("%s has %d of %d keys", name, k, len(want.keys))
		}
		if k := hits(c, name, want.gone); k > 5+len(want.gone)/10 {
			return fmt.Sprintf("%s has %d of %d keys of earlier filters with this name", name, k, len(want.gone))
		}
	}
	return ""
}

// hits returns the number of positive queries, -1 on an error.
func hits(c redis.Conn, name string, keys []any) (n int) {
	if len(keys) == 0 {
		return 0
	}
	replies, err := redis.Ints(c.Do("BF.MEXISTS", append([]any{name}, keys...)...))
	if err != nil {
		return -1
	}
	for _, present := range replies {
		n += present
	}
	return n
}

// TestExpiredWhileDown tests that a filter that expires while the node is down is deleted.
func TestExpiredWhileDown(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir)
	c := dial(t, p)
	do(t, c, "BF.ADD", "short", "a")
	do(t, c, "BF.ADD", "long", "a")
	do(t, c, "PEXPIRE", "short", 300)
	do(t, c, "PEXPIRE", "long", 3_600_000)
	p.Kill()
	time.Sleep(300 * time.Millisecond)
	c = dial(t, start(t, dir))
	if found, err := redis.Strings(c.Do("KEYS", "*")); !slices.Equal(found, []string{"long"}) {
		t.Errorf("the filters are %v, want long: %v", found, err)
	}
}
