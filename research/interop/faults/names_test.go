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

// TestKillAfterChangesOfNames makes filters, renames, deletes and forgets them, and
// kills the node at random moments. A deleted filter must not come back, a renamed one must
// have its new name: each start finds what was acknowledged, with or without the change that
// was under way.
func TestKillAfterChangesOfNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	flags := []string{"--snapshot-interval", "300ms", "--snapshot-bytes", "64KiB"}
	now, next := names{}, names{}
	changes, rounds := 0, 2*few()
	for round := range rounds {
		p := start(t, dir, flags...)
		c := dial(t, p)
		now = whichIs(t, c, now, next)
		killed := make(chan struct{})
		go func() {
			defer close(killed)
			killDuringSave(p)
		}()
		for {
			var command []any
			command, next = now.change(fmt.Sprintf("%d.%d", round, changes))
			_, err := c.Do(command[0].(string), command[1:]...)
			if said := redis.Error(""); errors.As(err, &said) {
				t.Fatalf("%v: %v", command, err)
			}
			if err != nil {
				if command[0] == "BF.MADD" {
					next = next.without(now) // they may be there or not
				}
				break
			}
			now = next
			changes++
		}
		<-killed
	}
	whichIs(t, dial(t, start(t, dir, flags...)), now, next)
	t.Logf("%d kills, %d changes acknowledged, all there", rounds, changes)
}

// killDuringSave kills a node after a while, while it makes a snapshot or not.
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

// names is what a node should have.
type names map[string]content

// content is a filter as it should be.
type content struct {
	keys    []any
	gone    []any // keys of a filter that had its name before: few may be found, by chance
	expires int64 // milliseconds since 1970; -1: never
}

// change draws a change, and returns the command and what is there after it. unlike is a
// word that no other change has.
func (n names) change(unlike string) (command []any, after names) {
	after = maps.Clone(n)
	all := []string{"a", "b", "c", "d", "e"}
	name, other := all[rand.IntN(len(all))], all[rand.IntN(len(all))]
	was, there := n[name]
	what := rand.IntN(20)
	if !there || what < 8 || name == other && what < 15 {
		if !there {
			was.expires = -1
		}
		command = []any{"BF.MADD", name}
		for i := range 20 {
			command = append(command, fmt.Sprintf("%s.%d", unlike, i))
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

// without returns the names with no keys but those that were there before.
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

// whichIs returns which of the two a node has. It must be one.
func whichIs(t *testing.T, c redis.Conn, now, next names) names {
	t.Helper()
	one := now.compare(c)
	if one == "" {
		return now
	}
	if other := next.compare(c); other != "" {
		t.Fatalf("the node has neither what was acknowledged, nor that with the change that was under way:\n%s\n%s", one, other)
	}
	return next
}

// compare says what a node has otherwise; empty: nothing.
func (n names) compare(c redis.Conn) string {
	found, err := redis.Strings(c.Do("KEYS", "*"))
	if err != nil {
		return err.Error()
	}
	slices.Sort(found)
	if want := slices.Sorted(maps.Keys(n)); !slices.Equal(found, want) {
		return fmt.Sprintf("there are %s, want %s", strings.Join(found, " "), strings.Join(want, " "))
	}
	for name, want := range n {
		if expires, err := redis.Int64(c.Do("PEXPIRETIME", name)); expires != want.expires {
			return fmt.Sprintf("%s expires at %d, want %d: %v", name, expires, want.expires, err)
		}
		if k := hits(c, name, want.keys); k != len(want.keys) {
			return fmt.Sprintf("%s has %d keys of %d", name, k, len(want.keys))
		}
		if k := hits(c, name, want.gone); k > 5+len(want.gone)/10 {
			return fmt.Sprintf("%s has %d of %d keys of filters that had its name before", name, k, len(want.gone))
		}
	}
	return ""
}

// hits returns how many keys a filter has; -1 if it doesn't say.
func hits(c redis.Conn, name string, keys []any) (n int) {
	if len(keys) == 0 {
		return 0
	}
	answers, err := redis.Ints(c.Do("BF.MEXISTS", append([]any{name}, keys...)...))
	if err != nil {
		return -1
	}
	for _, yes := range answers {
		n += yes
	}
	return n
}

// TestExpiredWhileDown sees that a filter whose time is over while the node is down is gone.
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
		t.Errorf("there are %v, want long: %v", found, err)
	}
}
