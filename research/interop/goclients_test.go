//go:build !noclients

package interop

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/gomodule/redigo/redis"
	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
)

func TestGoRedis(t *testing.T) {
	for protocol, name := range map[int]string{2: "RESP2", 3: "RESP3"} {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			c := goredis.NewClient(&goredis.Options{Addr: node, Protocol: protocol})
			defer c.Close()
			key, fixed := "go-redis-"+name, "go-redis-fixed-"+name
			if err := c.BFReserve(ctx, key, 0.001, 2000).Err(); err != nil {
				t.Fatal(err)
			}
			fresh, err := c.BFMAdd(ctx, key, "a", "b", "a").Result()
			if want := []bool{true, true, false}; err != nil || !slices.Equal(fresh, want) {
				t.Errorf("BFMAdd = %v, %v, want %v", fresh, err, want)
			}
			has, err := c.BFMExists(ctx, key, "b", "z").Result()
			if want := []bool{true, false}; err != nil || !slices.Equal(has, want) {
				t.Errorf("BFMExists = %v, %v, want %v", has, err, want)
			}
			info, err := c.BFInfo(ctx, key).Result()
			if want := (goredis.BFInfo{Capacity: 2000, Size: 4056, Filters: 1, ItemsInserted: 2, ExpansionRate: 2}); err != nil || info != want {
				t.Errorf("BFInfo = %+v, %v, want %+v", info, err, want)
			}
			if err := c.BFReserveNonScaling(ctx, fixed, 0.01, 2).Err(); err != nil {
				t.Fatal(err)
			}
			// go-redis fails with a real RedisBloom, too: it mistakes the null of a filter that
			// doesn't scale for a missing reply.
			if _, err := c.BFInfo(ctx, fixed).Result(); !errors.Is(err, goredis.Nil) {
				t.Errorf("BFInfo of a filter that doesn't scale: %v, want redis.Nil", err)
			}
			copyDump(t, c, key, key+"-copy")
			pipelined, err := c.Pipelined(ctx, func(p goredis.Pipeliner) error {
				for range 100 {
					p.BFAdd(ctx, key, "c")
				}
				return nil
			})
			if err != nil || len(pipelined) != 100 {
				t.Fatalf("a pipeline of 100: %d replies, %v", len(pipelined), err)
			}
			if first, last := pipelined[0].(*goredis.BoolCmd).Val(), pipelined[99].(*goredis.BoolCmd).Val(); !first || last {
				t.Errorf("first and last of the pipeline are %t and %t, want true and false", first, last)
			}
			tx, err := c.TxPipelined(ctx, func(p goredis.Pipeliner) error {
				p.BFAdd(ctx, key, "d")
				p.BFExists(ctx, key, "d")
				return nil
			})
			if err != nil || !tx[0].(*goredis.BoolCmd).Val() || !tx[1].(*goredis.BoolCmd).Val() {
				t.Errorf("a transaction: %v, %v", tx, err)
			}
		})
	}
}

// copyDump copies a filter with SCANDUMP and LOADCHUNK and compares the dump of the copy.
func copyDump(t *testing.T, c *goredis.Client, from, to string) {
	t.Helper()
	ctx := context.Background()
	dump := func(key string) (chunks []goredis.ScanDump) {
		for iter := int64(0); ; {
			chunk, err := c.BFScanDump(ctx, key, iter).Result()
			if err != nil {
				t.Fatal(err)
			}
			if chunk.Iter == 0 {
				return chunks
			}
			chunks = append(chunks, chunk)
			iter = chunk.Iter
		}
	}
	chunks := dump(from)
	for _, chunk := range chunks {
		if err := c.BFLoadChunk(ctx, to, chunk.Iter, chunk.Data).Err(); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(dump(to), chunks) {
		t.Errorf("the dump of %s differs from that of %s", to, from)
	}
}

func TestRueidis(t *testing.T) {
	ctx := context.Background()
	c, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{node}, DisableCache: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	const key = "rueidis"
	fresh, err := c.Do(ctx, c.B().BfMadd().Key(key).Item("a", "b", "a").Build()).AsBoolSlice()
	if want := []bool{true, true, false}; err != nil || !slices.Equal(fresh, want) {
		t.Errorf("BF.MADD = %v, %v, want %v", fresh, err, want)
	}
	has, err := c.Do(ctx, c.B().BfExists().Key(key).Item("a").Build()).AsBool()
	if err != nil || !has {
		t.Errorf("BF.EXISTS = %t, %v", has, err)
	}
	info, err := c.Do(ctx, c.B().BfInfo().Key(key).Build()).AsIntMap()
	if err != nil || info["Capacity"] != 100 || info["Number of items inserted"] != 2 {
		t.Errorf("BF.INFO = %v, %v", info, err)
	}
	items := rueidis.Commands{}
	for range 1000 {
		items = append(items, c.B().BfAdd().Key(key).Item("b").Build())
	}
	for _, reply := range c.DoMulti(ctx, items...) {
		if fresh, err := reply.AsBool(); err != nil || fresh {
			t.Fatalf("BF.ADD of a present key = %t, %v", fresh, err)
		}
	}
	c.Dedicated(func(d rueidis.DedicatedClient) error {
		replies := d.DoMulti(ctx,
			d.B().Watch().Key(key).Build(), d.B().Multi().Build(), d.B().BfAdd().Key(key).Item("c").Build(), d.B().Exec().Build())
		done, err := replies[3].ToArray()
		if err != nil || len(done) != 1 {
			t.Errorf("EXEC = %v, %v", done, err)
		}
		return nil
	})
}

// A rueidis client with a cache is refused, because a node doesn't track keys for clients.
// The error names the option that disables the cache.
func TestRueidisCachedClientIsRefused(t *testing.T) {
	c, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{node}})
	if err == nil {
		c.Close()
		t.Fatal("a client with a cache was accepted")
	}
	if !errors.Is(err, rueidis.ErrNoCache) {
		t.Errorf("the error is %q, want rueidis.ErrNoCache", err)
	}
}

func TestRedigo(t *testing.T) {
	c, err := redis.Dial("tcp", node)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	const key = "redigo"
	fresh, err := redis.Ints(c.Do("BF.MADD", key, "a", "b", "a"))
	if want := []int{1, 1, 0}; err != nil || !slices.Equal(fresh, want) {
		t.Errorf("BF.MADD = %v, %v, want %v", fresh, err, want)
	}
	binary := []byte{0, 0xff, '\r', '\n'}
	if fresh, err := redis.Bool(c.Do("BF.ADD", key, binary)); err != nil || !fresh {
		t.Errorf("BF.ADD of bytes = %t, %v", fresh, err)
	}
	for range 3 {
		c.Send("BF.EXISTS", key, binary)
	}
	c.Flush()
	for range 3 {
		if has, err := redis.Bool(c.Receive()); err != nil || !has {
			t.Errorf("BF.EXISTS of bytes = %t, %v", has, err)
		}
	}
	reply, err := redis.Values(c.Do("BF.SCANDUMP", key, 0))
	if err != nil || len(reply) != 2 {
		t.Fatalf("BF.SCANDUMP = %v, %v", reply, err)
	}
	if head := reply[1].([]byte); !bytes.HasPrefix(head, []byte{3, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0}) {
		t.Errorf("the header begins with % x", head[:16])
	}
	if _, err := c.Do("BF.RESERVE", key, "0.01", "100"); err == nil || err.Error() != "ERR item exists" {
		t.Errorf("BF.RESERVE of an existing key: %v", err)
	}
}
