package node

import (
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/testing/resptest"
	"github.com/umbel-filters/umbel/internal/race"
)

// words returns a command with items from..to-1 behind it.
func words(command string, from, to int) []string {
	list := strings.Fields(command)
	for i := from; i < to; i++ {
		list = append(list, strconv.Itoa(i))
	}
	return list
}

// 500 filters of unlike shapes are after a restart what they were, those of a snapshot and those
// that came behind it.
func TestManyFiltersStay(t *testing.T) {
	race.Skip(t, "uses much memory")
	overBoth(t, checkManyFiltersStay)
}

func checkManyFiltersStay(t *testing.T, loops int) {
	const filters = 500
	c := testConfig(t)
	c.loops = loops
	n, err := Start(t.Context(), c, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		t.Fatal(err)
	}
	client := dial(t, n, nil)
	for i := range filters {
		name := fmt.Sprintf("f%d", i)
		shape := fmt.Sprintf("BF.RESERVE %s 0.%03d %d EXPANSION %d", name, 1+i%200, 1+i%37, i%4)
		if got := client.Line(shape); got != "+OK" {
			t.Fatalf("%s: %s", shape, got)
		}
		client.Do(words("BF.MADD "+name, 0, i%60+1)...)
		if i == filters/2 {
			if got := client.Do("SAVE"); got != "+OK" {
				t.Fatalf("SAVE: %s", got)
			}
		}
	}
	client.Do("DEL", "f7")
	client.Do("RENAME", "f8", "renamed")
	client.Do("PEXPIREAT", "f9", "99999999999999")
	looks := func(c *resptest.Client) (all []string) {
		names := []string{"renamed"}
		for i := range filters {
			names = append(names, fmt.Sprintf("f%d", i))
		}
		for _, name := range names {
			all = append(all, name+c.Do("BF.INFO", name)+c.Do("BF.DEBUG", name)+c.Do(words("BF.MEXISTS "+name, 0, 100)...)+c.Do("PEXPIRETIME", name))
		}
		return append(all, c.Do("DBSIZE"), c.Do("INFO", "bf"))
	}
	before := looks(client)
	stopped(t, n)
	again := started(t, c)
	client = dial(t, again, nil)
	after := looks(client)
	for i := range before {
		if before[i] != after[i] {
			t.Errorf("before %s\nafter %s", before[i], after[i])
		}
	}
	client.Do("FLUSHALL")
	if got := resptest.Bulk(t, client.Do("INFO", "bf")); !strings.Contains(got, "bf_bloom_num_objects:0\r\n") || !strings.Contains(got, "bf_bloom_total_memory_bytes:0\r\n") {
		t.Errorf("without a filter: %s", got)
	}
	if used, _ := again.engine.Memory(); used != 0 {
		t.Errorf("%d bytes are used without a filter", used)
	}
}

// A filter of a thousand layers is there after a restart.
func TestLongChainStays(t *testing.T) {
	const items = 1000
	c := testConfig(t)
	n, err := Start(t.Context(), c, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		t.Fatal(err)
	}
	client := dial(t, n, nil)
	client.Line("BF.RESERVE chain 0.25 1 EXPANSION 1")
	client.Do(words("BF.MADD chain", 0, items)...)
	info := client.Line("BF.INFO chain")
	stopped(t, n)
	client = dial(t, started(t, c), nil)
	if got := client.Line("BF.INFO chain"); got != info {
		t.Errorf("after the restart %s, before %s", got, info)
	}
	if got := client.Do(words("BF.MEXISTS chain", 0, items)...); strings.Contains(got, ":0") {
		t.Error("an item is lost")
	}
}

// Beyond the memory limit nothing is made and nothing grows, and what was refused leaves no
// trace; questions go on, and there is room again when a filter goes.
func TestMemoryLimit(t *testing.T) {
	race.Skip(t, "uses much memory")
	overBoth(t, checkMemoryLimit)
}

func checkMemoryLimit(t *testing.T, loops int) {
	c := testConfig(t)
	c.loops = loops
	if err := c.MaxMemory.Set("1MiB"); err != nil {
		t.Fatal(err)
	}
	n, err := Start(t.Context(), c, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		t.Fatal(err)
	}
	client := dial(t, n, nil)
	for _, line := range []string{
		"BF.RESERVE big 0.01 10000000", "BF.INSERT big CAPACITY 10000000 ITEMS a", "UM.MAKE big bloom KEYS 10M RATE 1%",
	} {
		if got := client.Line(line); !strings.HasPrefix(got, "-ERR Insufficient memory to create filter") && !strings.HasPrefix(got, "-OOM ") {
			t.Errorf("%s: %s", line, got)
		}
	}
	if got := client.Do("EXISTS", "big"); got != ":0" {
		t.Error("a filter was made that there is no room for")
	}
	client.Line("BF.RESERVE grows 0.001 1000")
	added, refused := 0, ""
	for refused == "" && added < 10_000_000 {
		got := client.Do(words("BF.MADD grows", added, added+1000)...)
		if i := strings.Index(got, "-OOM"); i >= 0 {
			refused = got[i:]
			added += strings.Count(got[:i], ":")
		} else {
			added += 1000
		}
	}
	const oom = "-OOM command not allowed when used memory > 'maxmemory'."
	if !strings.HasPrefix(refused, oom) {
		t.Fatalf("after %d items: %s", added, refused)
	}
	info := client.Line("BF.INFO grows")
	fresh := ""
	for i := 20_000_000; fresh == ""; i++ { // one that isn't there by chance
		if client.Do("BF.EXISTS", "grows", strconv.Itoa(i)) == ":0" {
			fresh = strconv.Itoa(i)
		}
	}
	if got := client.Do("BF.ADD", "grows", fresh); got != oom {
		t.Errorf("one more: %s", got)
	}
	if got := client.Do("BF.EXISTS", "grows", fresh); got != ":0" {
		t.Errorf("what was refused: %s", got)
	}
	if got := client.Line("BF.INFO grows"); got != info {
		t.Errorf("a refused addition made %s of %s", got, info)
	}
	if got := client.Do(words("BF.MEXISTS grows", 0, min(added, 100_000))...); strings.Contains(got, ":0") {
		t.Error("an item is lost")
	}
	stopped(t, n)
	client = dial(t, started(t, c), nil)
	if got := client.Line("BF.INFO grows"); got != info {
		t.Errorf("after a restart %s, before %s", got, info)
	}
	client.Do("DEL", "grows")
	if got := client.Do("BF.ADD", "another", "a"); got != ":1" {
		t.Errorf("when there is room again: %s", got)
	}
}

// One command adds 300,000 items, and one queries them.
func TestManyItemsAtOnce(t *testing.T) {
	race.Skip(t, "uses much memory")
	const items = 300_000
	client := dial(t, started(t, testConfig(t)), nil)
	client.Line("BF.RESERVE k 0.000001 300000")
	if got := client.Do(words("BF.MADD k", 0, items)...); !strings.HasPrefix(got, "*300000[") || strings.Count(got, ":1") < items-10 {
		t.Errorf("added: %.100s, %d of them new", got, strings.Count(got, ":1"))
	}
	if got := client.Do(words("BF.MEXISTS k", 0, items)...); !strings.HasPrefix(got, "*300000[") || strings.Contains(got, ":0") {
		t.Errorf("asked: %.100s", got)
	}
	if got := client.Do(words("UM.HAS k", 0, items)...); !strings.HasPrefix(got, "*300000[") || strings.Contains(got, ":0") {
		t.Errorf("asked by UM.HAS: %.100s", got)
	}
}

// The commands for names work on filters as Redis' do on its values.
func TestNames(t *testing.T) {
	client := dial(t, started(t, testConfig(t)), nil)
	for i := 0; i < len(namesTalk); i += 2 {
		if got := client.Line(namesTalk[i]); got != namesTalk[i+1] {
			t.Errorf("%s: %s, want %s", namesTalk[i], got, namesTalk[i+1])
		}
	}
	client.Line("BF.RESERVE size 0.001 5000")
	client.Do(words("BF.MADD size", 0, 20_000)...)
	usage, size := client.Line("MEMORY USAGE size"), client.Line("BF.INFO size SIZE")
	u, _ := strconv.Atoi(strings.TrimPrefix(usage, ":"))
	s, _ := strconv.Atoi(strings.Trim(size, "*1[:]"))
	if u < s || s == 0 {
		t.Errorf("MEMORY USAGE %s, SIZE %s", usage, size)
	}
	if got := client.Do("RANDOMKEY"); !slices.Contains([]string{`$4:"size"`, `$1:"b"`, `$1:"f"`}, got) {
		t.Errorf("RANDOMKEY: %s", got)
	}
}

var namesTalk = []string{
	"BF.ADD a x", ":1", "BF.ADD b x", ":1", "UM.MAKE c bloom KEYS 100", "+OK",
	"DBSIZE", ":3", "EXISTS a b a none", ":3", "TOUCH a none", ":1", "TYPE a", "+MBbloom--", "TYPE c", "+bloom", "TYPE none", "+none",
	"RENAME a d", "+OK", "EXISTS a", ":0", "BF.EXISTS d x", ":1", "RENAMENX d b", ":0", "RENAMENX d e", ":1", "RENAME none x", "-ERR no such key",
	"COPY e f", "-ERR not supported for this module key", "COPY c f", ":1", "COPY c f", ":0", "COPY c f REPLACE", ":1",
	"EXPIRE e 100", ":1", "TTL e", ":100", "PERSIST e", ":1", "TTL e", ":-1", "PERSIST e", ":0", "TTL none", ":-2",
	"EXPIREAT e 1", ":1", "EXISTS e", ":0", "BF.ADD e y", ":1", "BF.EXISTS e x", ":0",
	"OBJECT ENCODING e", `$3:"raw"`, "OBJECT IDLETIME e", ":0", "OBJECT REFCOUNT e", ":1",
	"MULTI", "+OK", "BF.ADD e z", "+QUEUED", "BF.ADD e", "-ERR wrong number of arguments for 'bf.add' command", "EXEC", "-EXECABORT Transaction discarded because of previous errors.",
	"MULTI", "+OK", "BF.ADD e z", "+QUEUED", "BF.EXISTS e z", "+QUEUED", "DEL e", "+QUEUED", "BF.EXISTS e z", "+QUEUED", "EXEC", "*4[:1, :1, :1, :0]",
	"UNLINK c e none", ":1", "DBSIZE", ":2", "WATCH b", "+OK", "MULTI", "+OK", "EXEC", "*0[]",
}
