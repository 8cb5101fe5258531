package redisbloom_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/redis/redisbloom"
)

func TestCuckoo(t *testing.T) {
	p := start(t, 0, redisbloom.Options{Cuckoo: true})
	p.Expect(
		"CF.ADD k a", ":1", "CF.ADD k a", ":1", "CF.COUNT k a", ":2",
		"CF.ADDNX k a", ":0", "CF.ADDNX k b", ":1",
		"CF.EXISTS k b", ":1", "CF.MEXISTS k a b c", "*3[:1, :1, :0]",
		"CF.DEL k a", ":1", "CF.DEL k a", ":1", "CF.DEL k a", ":0", "CF.EXISTS k a", ":0",
		"CF.DEL none a", "-Not found", "CF.COUNT none a", ":0", "CF.MEXISTS none a b", "*2[:0, :0]",
		"CF.DEBUG k", `$79:"bktsize:2 buckets:512 items:1 deletes:2 filters:1 max_iterations:20 expansion:1"`,
		"CF.COMPACT k", "+OK", "CF.COMPACT k x", "-ERR wrong number of arguments for 'cf.compact' command", "CF.COMPACT none", "-Cuckoo filter was not found",
		"CF.INFO none", "-ERR not found",
		"CF.DEBUG k", `$79:"bktsize:2 buckets:512 items:1 deletes:0 filters:1 max_iterations:20 expansion:1"`,
		"CF.INSERT k2 NOCREATE ITEMS a", "-ERR not found",
		"CF.INSERT k2 CAPACITY 3 ITEMS a", "-Capacity must be in the range [cf-bucket-size * 2, 1073741824]",
		"CF.INSERT k2 CAPACITY 1000 ITEMS a b", "*2[:1, :1]",
		"CF.INSERT k2 FOO ITEMS a", "-Unknown argument received",
		"CF.INSERTNX k2 ITEMS a c", "*2[:0, :1]",
		"CF.RESERVE k2 100", "-ERR item exists",
		"CF.RESERVE k3 x", "-Bad capacity",
		"CF.RESERVE k3 1", "-Capacity must be in the range [2 * BUCKETSIZE, 1073741824]",
		"CF.RESERVE k3 100 BUCKETSIZE 256", "-BUCKETSIZE: value must be in the range [1, 255]",
		"CF.RESERVE k3 100 BUCKETSIZE x", "-Couldn't parse BUCKETSIZE",
		"CF.RESERVE k3 2048 BUCKETSIZE 3 MAXITERATIONS 15 EXPANSION 2", "+OK",
	)
	p.Do("HELLO", "3")
	p.Expect(
		"CF.ADD k x", "#t", "CF.ADDNX k x", "#f", "CF.INSERT k ITEMS y z", "*2[#t, #t]",
		"CF.INSERTNX k ITEMS y new", "*2[:0, :1]", "CF.COUNT k y", ":1", "CF.DEL k y", "#t",
		"CF.INFO k3", "%8[+Size, :3128, +Number of buckets, :1024, +Number of filters, :1, +Number of items inserted, :0, +Number of items deleted, :0, +Bucket size, :3, +Expansion rate, :2, +Max iterations, :15]",
		"BF.ADD k a", "-WRONGTYPE Operation against a key holding the wrong kind of value",
		"BF.EXISTS k a", "#f",
		"BF.ADD bloom a", "#t",
		"CF.ADD bloom a", "-WRONGTYPE Operation against a key holding the wrong kind of value",
		"CF.EXISTS bloom a", "#f",
		"CF.DEL bloom a", "-Not found",
	)
	if got := p.module.Type(p.engine.Get([]byte("k"))); got != "MBbloomCF" {
		t.Errorf("type %s", got)
	}
}

func TestCuckooFull(t *testing.T) {
	p := start(t, 0, redisbloom.Options{Cuckoo: true})
	p.Expect(
		"CF.RESERVE k 4 BUCKETSIZE 1 EXPANSION 0", "+OK",
		"CF.INSERT k ITEMS a b c d e f", "*6[:1, :1, :1, :1, :-1, :-1]",
		"CF.ADD k e", "-Filter is full",
		"CF.DEL k a", ":1",
		"CF.ADD k e", ":1",
		"CF.RESERVE grows 4 BUCKETSIZE 1 EXPANSION 1", "+OK",
	)
	p.Do(append([]string{"CF.INSERT", "grows", "ITEMS"}, items(0, 128)...)...)
	p.Expect(
		"CF.ADD grows a", "-Maximum expansions reached",
	)
	if got := p.Line("CF.INFO grows"); !strings.Contains(got, "+Number of filters, :32, +Number of items inserted, :128,") {
		t.Error(got)
	}
	p.Do("HELLO", "3")
	p.Expect("CF.INSERT k ITEMS x", "*1[#f]", "CF.INSERTNX k ITEMS x", "*1[:-1]")
}

// Many items are found while others go, also in a filter that has grown, and its dump is a
// filter like it.
func TestCuckooLosesNothing(t *testing.T) {
	p := start(t, 0, redisbloom.Options{Cuckoo: true})
	p.Expect("CF.RESERVE k 1000 EXPANSION 2", "+OK")
	for i := range 5 {
		p.Do(append([]string{"CF.INSERT", "k", "ITEMS"}, items(1000*i, 1000*i+1000)...)...)
	}
	for _, item := range items(0, 2500) {
		p.Do("CF.DEL", "k", item)
	}
	if n := p.each("CF.MEXISTS", "k", items(2500, 5000)); n != 2500 {
		t.Errorf("%d items of 2500 are there", n)
	}
	if n := p.each("CF.MEXISTS", "k", items(0, 2500)); n > 500 {
		t.Errorf("%d items of 2500 are still there", n)
	}
	p.Expect("CF.EXISTS copy nothing", ":0", "CF.LOADCHUNK copy 5 x", "-ERR not found", "CF.LOADCHUNK copy 1 x", "-Invalid header: only the chunks of CF.SCANDUMP of an umbel node can be loaded, not those of RedisBloom", "CF.LOADCHUNK copy x x", "-ERR not found", "CF.LOADCHUNK copy -1 x", "-ERR not found",
		"CF.LOADCHUNK k 1 x", "-ERR item exists", "CF.LOADCHUNK k -1 x", "-Invalid position", "CF.LOADCHUNK k x x", "-Invalid position",
		"CF.SCANDUMP k -1", "-Invalid position", "CF.SCANDUMP k x", "-Invalid position", "CF.SCANDUMP none x", "-ERR not found", "CF.SCANDUMP k 99999999", "*2[:0, $-1]")
	for i, c := range p.dump("CF.SCANDUMP", "k") {
		if got := p.Do("CF.LOADCHUNK", "copy", c.iter, c.data); got != "+OK" {
			t.Fatalf("chunk %d: %s", i, got)
		}
		if i == 0 {
			p.Expect("CF.EXISTS copy nothing", ":1", "CF.ADD copy a", "-ERR bloom filter load in progress: send the chunks that are missing, or delete it")
		}
	}
	p.Expect("CF.INFO copy", p.Line("CF.INFO k"), "CF.LOADCHUNK copy 99999999 x", "-Couldn't load chunk!")
	if a, b := p.dump("CF.SCANDUMP", "k"), p.dump("CF.SCANDUMP", "copy"); fmt.Sprint(a) != fmt.Sprint(b) {
		t.Error("the copy has another dump")
	}
}
