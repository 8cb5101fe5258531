package builtin

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/testing/resptest"
	"github.com/umbel-filters/umbel/internal/await"
	"github.com/umbel-filters/umbel/internal/freeport"
)

// redis starts the redis-server of the machine, and skips the test if there is none.
func redis(t *testing.T, flags ...string) *resptest.Client {
	t.Helper()
	c, _ := redisAt(t, flags...)
	return c
}

// redisAt is redis, and returns the address of the server.
func redisAt(t *testing.T, flags ...string) (*resptest.Client, string) {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		t.Skip("there is no redis-server to compare with: apt-get install redis-server")
	}
	addr, err := freeport.Addr()
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(addr)
	cmd := exec.Command(path, append([]string{"--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", t.TempDir()}, flags...)...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	await.True(t, "redis-server listens", func() bool {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	return resptest.Dial(t, addr), addr
}

// value is what Redis keeps as it is, "raw".
var value = strings.Repeat("v", 100)

// conversation is what a client says to Redis and to a node. MAKE name makes a string
// of the one, and a filter of the other; {name} stands for what DUMP name gave last.
const conversation = `
MAKE a
MAKE b
MAKE c:1
EXISTS
EXISTS a
EXISTS a a none b
TOUCH a none
TYPE a
TYPE none
TYPE
TYPE a b
DBSIZE
DBSIZE x
RANDOMKEY x
KEYS *
KEYS c*
KEYS
SCAN 0 COUNT 1000
SCAN 0 COUNT 1000 MATCH c*
SCAN 0 MATCH c* COUNT 1000 TYPE string
SCAN 0 COUNT 1000 TYPE STRING
SCAN 0 COUNT 1000 TYPE list
SCAN 0 COUNT 0
SCAN 0 COUNT -1
SCAN 0 COUNT x
SCAN 0 COUNT
SCAN 0 MATCH
SCAN 0 FOO 1
SCAN x
SCAN
RENAME a a
RENAME none x
RENAME none none
RENAMENX a b
RENAMENX none b
RENAMENX a a
RENAME a d
EXISTS a d
RENAMENX d a
RENAME a
EXPIRE none 10
EXPIRE a x
EXPIRE a 1.5
EXPIRE a 010
EXPIRE a +1
EXPIRE a 9223372036854775807
EXPIRE a -9223372036854775807
EXPIRE a 9223372036854775808
PEXPIRE a 9223372036854775807
EXPIREAT a 9223372036854775807
PEXPIREAT a 9223372036854775807
PEXPIRETIME a
PERSIST a
EXPIRE a 10 FOO
EXPIRE a 10 NX XX
EXPIRE a 10 NX GT
EXPIRE a 10 GT LT
EXPIRE a x FOO
EXPIRE a
TTL a
PTTL a
EXPIRETIME a
PEXPIRETIME a
TTL none
PTTL none
EXPIRETIME none
PEXPIRETIME none
PERSIST a
PERSIST none
EXPIRE a 100 XX
EXPIRE a 100 GT
EXPIRE a 100 nx
TTL a
EXPIRE a 100 NX
EXPIRE a 50 GT
EXPIRE a 200 GT
TTL a
EXPIRE a 300 LT
EXPIRE a 100 LT XX
TTL a
EXPIREAT a 33177117420
EXPIRETIME a
PEXPIRETIME a
PEXPIREAT a 33177117420500
EXPIRETIME a
PEXPIRETIME a
PEXPIREAT a 33177117420499
EXPIRETIME a
RENAME a e
PEXPIRETIME e
RENAME e a
PERSIST a
PERSIST a
TTL a
EXPIRE b -1
EXISTS b
MAKE b
PEXPIREAT b 0
EXISTS b
MAKE b
EXPIREAT b 1
COPY a a
COPY none x
COPY a b
COPY a b
COPY a b REPLACE
COPY a b FOO
COPY a b DB
COPY a b DB 16
COPY a b DB x
COPY a b DB 0
COPY a
EXPIRE a 1000
COPY a f
TTL f
DEL f
PERSIST a
DUMP none
DUMP
DUMP a
RESTORE a 0 {a}
RESTORE a 0 {a} REPLACE
RESTORE g 0 {a}
RESTORE g x {a}
RESTORE h x {a}
RESTORE h -1 {a}
RESTORE h 0 garbage
RESTORE h 0 {a} FOO
RESTORE h 0 {a} IDLETIME
RESTORE h 0 {a} IDLETIME x
RESTORE h 0 {a} IDLETIME -1
RESTORE h 0 {a} FREQ 256
RESTORE h 0 {a} FREQ 1 IDLETIME 1
RESTORE h 0 {a} IDLETIME 10 REPLACE
RESTORE i 33177117420500 {a} ABSTTL
PEXPIRETIME i
RESTORE j 1 {a} ABSTTL
EXISTS j
RESTORE g 5 {a} ABSTTL REPLACE
EXISTS g
RESTORE k 100000 {a}
TTL k
RESTORE k 0
OBJECT ENCODING a
OBJECT ENCODING none
OBJECT REFCOUNT a
OBJECT FREQ a
OBJECT FREQ none
OBJECT IDLETIME a
OBJECT IDLETIME none
OBJECT FOO a
OBJECT
OBJECT ENCODING
MEMORY
MEMORY FOO
MEMORY USAGE
MEMORY USAGE none
MEMORY USAGE a SAMPLES
MEMORY USAGE a SAMPLES x
MEMORY USAGE a SAMPLES -1
MEMORY USAGE a FOO 1
MEMORY PURGE
DEL
DEL none
DEL h i none
UNLINK k
UNLINK
WAIT
WAIT x 1
WAIT 0 x
WAIT 0 -1
WAIT 0 0
ROLE
BGSAVE FOO
CLUSTER
CLUSTER INFO
CLUSTER SHARDS
REPLICAOF NO ONE
REPLICAOF a
SHUTDOWN FOO
SHUTDOWN ABORT
SHUTDOWN SAVE NOSAVE
SHUTDOWN ABORT NOW
SLOWLOG
SLOWLOG FOO
SLOWLOG GET x
SLOWLOG GET -2
SLOWLOG RESET
SLOWLOG RESET x
LATENCY
LATENCY LATEST
LATENCY HISTORY
LATENCY HISTORY command
LATENCY RESET
LATENCY RESET command
ACL
ACL WHOAMI
ACL WHOAMI x
ACL CAT nonsense
ACL CAT x y
SLOWLOG GET 1 2
ACL FOO
CONFIG
CONFIG FOO
CONFIG GET
CONFIG GET nonsense
CONFIG GET slowlog-max-len
CONFIG GET SLOWLOG-max-len slowlog-max*
CONFIG SET slowlog-max-len x
CONFIG SET slowlog-max-len -1
CONFIG SET slowlog-max-len 64
CONFIG GET slowlog-max-len
CONFIG SET nonsense 1
CONFIG SET slowlog-max-len 1 slowlog-max-len 2
CONFIG SET slowlog-max-len
CONFIG SET slowlog-max-len 1 latency-monitor-threshold
CONFIG SET latency-monitor-threshold 5 slowlog-max-len x
CONFIG GET latency-monitor-threshold
CONFIG RESETSTAT
CONFIG REWRITE
MODULE
MODULE FOO
TIME x
LASTSAVE x
SAVE x
INFO nonsense
FLUSHALL FOO
FLUSHALL SYNC ASYNC
FLUSHDB ASYNC
DBSIZE
RANDOMKEY
KEYS *
SCAN 0
FLUSHALL SYNC
FLUSHALL
`

// What Redis answers the node answers too.
func TestAsRedis(t *testing.T) {
	for _, hello := range []string{"", "HELLO 3"} {
		t.Run(hello, func(t *testing.T) {
			real, here := redis(t), start(t, nil)
			if hello != "" {
				real.Line(hello)
				here.Line(hello)
			}
			dumps := map[string][2]string{}
			for line := range strings.Lines(strings.TrimSpace(conversation)) {
				line = strings.TrimSpace(line)
				words := strings.Fields(line)
				if name, ok := strings.CutPrefix(line, "MAKE "); ok {
					real.Do("SET", name, value)
					here.add("bloom", name)
					continue
				}
				want, got := real.Do(filled(words, dumps, 0)...), here.Do(filled(words, dumps, 1)...)
				switch words[0] {
				case "DUMP":
					if len(words) == 2 && strings.Contains(want, ":") {
						dumps["{"+words[1]+"}"] = [2]string{resptest.Bulk(t, want), resptest.Bulk(t, got)}
						continue
					}
				case "TTL", "OBJECT":
					if (words[0] == "TTL" || slices.Contains(words, "IDLETIME")) && near(want, got) {
						got = want
					}
				case "KEYS", "SCAN":
					want, got = sorted(want), sorted(got)
				}
				if got != want {
					t.Errorf("%s\n got %s\nwant %s", line, got, want)
				}
			}
		})
	}
}

// filled puts the payloads of one of the servers instead of their names.
func filled(words []string, dumps map[string][2]string, server int) []string {
	words = slices.Clone(words)
	for i, w := range words {
		if d, ok := dumps[w]; ok {
			words[i] = d[server]
		}
	}
	return words
}

// near reports whether two replies are times in seconds that differ by less than the test may take.
func near(a, b string) bool {
	m, errA := strconv.Atoi(strings.TrimPrefix(a, ":"))
	n, errB := strconv.Atoi(strings.TrimPrefix(b, ":"))
	return errA == nil && errB == nil && min(m, n) >= 0 && max(m, n)-min(m, n) < 30
}

// sorted puts names in order.
func sorted(reply string) string {
	before, list, ok := strings.Cut(reply, "[")
	if strings.HasPrefix(list, `$1:"0", *`) { // SCAN's
		_, list, ok = strings.Cut(list, "[")
	}
	if !ok {
		return reply
	}
	names := strings.Split(strings.TrimRight(list, "]"), ", ")
	slices.Sort(names)
	return before + fmt.Sprint(names)
}

// Patterns mean what they mean to Redis; but a name of no letters fits "**" here too.
func TestPatternsAsRedis(t *testing.T) {
	real, here := redis(t), start(t, nil)
	random := rand.New(rand.NewPCG(1, 2))
	text := func(letters string, n int) string {
		b := make([]byte, random.IntN(n))
		for i := range b {
			b[i] = letters[random.IntN(len(letters))]
		}
		return string(b)
	}
	names := map[string]bool{}
	for range 200 {
		names["a"+text("abc]-^*\\\xff", 6)] = true
		names["\xff"+text("abc]-^*\\\xff", 6)] = true
	}
	for name := range names {
		real.Do("SET", name, value)
		here.add("bloom", name)
	}
	for range 2000 {
		pattern := text(`aabbcc**??[[]]^--\`, 10)
		if want, got := sorted(real.Do("KEYS", pattern)), sorted(here.Do("KEYS", pattern)); got != want {
			t.Errorf("KEYS %q: %s, want %s", pattern, got, want)
		}
	}
}

// COMMAND INFO describes Redis' commands as Redis does.
func TestCommandsAsRedis(t *testing.T) {
	real := redis(t)
	for name, cmd := range Commands(nil, nil, nil, nil) {
		reply := real.Do("COMMAND", "INFO", name)
		if reply == "*1[$-1]" {
			t.Logf("%s: not in this Redis", name)
			continue
		}
		flags := make([]string, len(cmd.Flags))
		for i, f := range cmd.Flags {
			flags[i] = "+" + f
		}
		categories := make([]string, len(cmd.Categories))
		for i, c := range cmd.Categories {
			categories[i] = "+" + c
		}
		want := fmt.Sprintf("$%d:%q, :%d, *%d[%s], :%d, :%d, :%d, *%d[%s]", len(name), name, cmd.Arity, len(flags), strings.Join(flags, ", "),
			cmd.FirstKey, cmd.LastKey, cmd.Step, len(categories), strings.Join(categories, ", "))
		if !strings.Contains(reply, want) {
			t.Errorf("%s: Redis says %s, the table %s", name, reply, want)
		}
	}
}
