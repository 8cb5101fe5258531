package redisbloom_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/redis/redisbloom"
	"github.com/umbel-filters/umbel/cmd/internal/testing/resptest"
)

// episodes returns the recorded commands of BF.* by key, in their order. Keys on which other commands
// work, or transactions, are left out.
func episodes(t *testing.T, path string) [][]resptest.Exchange {
	t.Helper()
	byKey, other := map[string][]resptest.Exchange{}, map[string]bool{}
	var keys []string
	inMulti := false
	for e := range resptest.Transcript(t, path) {
		key := ""
		if len(e.Words) > 1 {
			key = e.Words[1]
		}
		switch {
		case e.Words[0] == "MULTI" || e.Words[0] == "EXEC":
			inMulti = e.Words[0] == "MULTI"
			continue
		case e.Words[0] == "SET":
			e, _ = resptest.WithoutStrings(e)
		case inMulti || !strings.HasPrefix(e.Words[0], "BF."):
			for _, w := range e.Words[1:] {
				other[w] = true
			}
		}
		if byKey[key] == nil {
			keys = append(keys, key)
		}
		byKey[key] = append(byKey[key], e)
	}
	var list [][]resptest.Exchange
	for _, k := range keys {
		if !other[k] {
			list = append(list, byKey[k])
		}
	}
	return list
}

// Real replies don't depend on how the commands arrive: in any order of the keys, in pipelines of any
// length, on any connection, within transactions, and in any case.
func TestRepliesInRandomOrder(t *testing.T) {
	rounds := 60
	if testing.Short() {
		rounds = 10
	}
	for _, version := range []string{"2", "3"} {
		recorded := episodes(t, fmt.Sprintf("testdata/bf-head-resp%s.txt", version))
		p := start(t, 0, redisbloom.Options{Cuckoo: true})
		clients := []*resptest.Client{p.Client, resptest.Dial(t, p.addr), resptest.Dial(t, p.addr)}
		for _, c := range clients {
			c.Do("HELLO", version)
		}
		sent := 0
		for seed := range uint64(rounds) {
			r := rand.New(rand.NewPCG(seed, 8))
			left := make([][]resptest.Exchange, len(recorded))
			for i, e := range recorded {
				left[i] = renamed(e, fmt.Sprintf("round%d:", seed))
			}
			for len(left) > 0 && !t.Failed() {
				var batch []resptest.Exchange
				for range 1 + r.IntN(20) {
					if len(left) == 0 {
						break
					}
					i := r.IntN(len(left))
					batch = append(batch, left[i][0])
					if left[i] = left[i][1:]; len(left[i]) == 0 {
						left = slices.Delete(left, i, i+1)
					}
				}
				sent += len(batch)
				send(t, r, clients[r.IntN(len(clients))], batch, seed)
			}
		}
		if want := rounds * 100; sent < want {
			t.Errorf("%d commands were sent, want %d", sent, want)
		}
		t.Logf("RESP%s: %d commands", version, sent)
	}
}

// renamed returns exchanges with a prefix of the key.
func renamed(es []resptest.Exchange, prefix string) []resptest.Exchange {
	es = slices.Clone(es)
	for i := range es {
		if len(es[i].Words) > 1 {
			es[i].Words = slices.Clone(es[i].Words)
			es[i].Words[1] = prefix + es[i].Words[1]
		}
	}
	return es
}

// send sends exchanges as one pipeline, perhaps as a transaction, and compares the replies.
func send(t *testing.T, r *rand.Rand, c *resptest.Client, batch []resptest.Exchange, seed uint64) {
	t.Helper()
	early := func(e resptest.Exchange) bool { // is refused before EXEC
		return strings.HasPrefix(e.Reply, "-ERR wrong number") || strings.HasPrefix(e.Reply, "-ERR unknown")
	}
	transaction := r.IntN(3) == 0 && !slices.ContainsFunc(batch, early)
	if transaction {
		c.Send("MULTI")
	}
	for _, e := range batch {
		words := slices.Clone(e.Words)
		if r.IntN(2) == 0 && !early(e) {
			words[0] = strings.ToLower(words[0])
		}
		c.Send(words...)
	}
	if !transaction {
		for _, e := range batch {
			if got := c.Reply(); got != e.Reply {
				t.Errorf("seed %d: %s\n got %s\nwant %s", seed, e.Line, got, e.Reply)
			}
		}
		return
	}
	c.Send("EXEC")
	if got := c.Reply(); got != "+OK" {
		t.Errorf("seed %d: MULTI: %s", seed, got)
	}
	var want []string
	for _, e := range batch {
		if got := c.Reply(); got != "+QUEUED" {
			t.Errorf("seed %d: %s within MULTI: %s", seed, e.Line, got)
		}
		want = append(want, e.Reply)
	}
	if got, want := c.Reply(), fmt.Sprintf("*%d[%s]", len(batch), strings.Join(want, ", ")); got != want {
		t.Errorf("seed %d: EXEC\n got %s\nwant %s", seed, got, want)
	}
}

// Differences to RedisBloom that a comparison of random commands found.
func TestComparedReplies(t *testing.T) {
	p := start(t, 0, redisbloom.Options{Cuckoo: true})
	growth := func(key string) string {
		header := resptest.Bulk(t, strings.TrimSuffix(strings.TrimPrefix(p.Do("BF.SCANDUMP", key, "0"), "*2[:1, "), "]"))
		return header[16:20] // behind the number of items, of layers, and the options
	}
	p.Expect("BF.RESERVE zero 0.01 10 EXPANSION 0", "+OK", "BF.RESERVE fixed 0.01 10 NONSCALING", "+OK",
		"BF.INSERT inserted EXPANSION 0 ITEMS a", "*1[:1]")
	for key, want := range map[string]string{"zero": "\x00\x00\x00\x00", "fixed": "\x02\x00\x00\x00", "inserted": "\x00\x00\x00\x00"} {
		if got := growth(key); got != want {
			t.Errorf("%s: the dump has growth %q, want %q", key, got, want)
		}
	}
	p.Expect("CF.RESERVE cf 100", "+OK",
		"BF.SCANDUMP none x", "-ERR not found", "BF.SCANDUMP cf x", "-WRONGTYPE Operation against a key holding the wrong kind of value",
		"BF.SCANDUMP zero x", "-Second argument must be numeric",
		"BF.INSERT none NXC ITEMS a", "-ERR not found",
		"BF.INSERT k CAPACITY 2 EXPANSION 0 EXPANSION 5 ITEMS a b c", "*3[:1, :1, :1]",
		"MULTI", "+OK", "CF.COMPACT cf x y", "+QUEUED", "EXEC", "*1[-ERR wrong number of arguments for 'cf.compact' command]",
		"EXEC x", "-EXECABORT Transaction discarded because of: wrong number of arguments for 'exec' command")
}
