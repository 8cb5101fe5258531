package redisbloom_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/umbel-filters/umbel/cmd/internal/redis/redisbloom"
)

// saturated is the number of additions from which on an item cannot be removed.
const saturated = 15

// copies is what a client knows: how often each item was added more than deleted, and what may be stuck.
type copies struct {
	n     map[string]int
	stuck bool // an item was present saturated times, or a part was added
}

// The laws of CF.* for clients that delete only what they added, against a slow model: no false negative; CF.COUNT is
// never too low, and is 0 if and only if CF.EXISTS is 0; CF.DEL returns 1 at most as often as the item was added, so a
// loop until 0 ends, and changes nothing when it returns 0. In a large filter all is exact below saturated copies.
func TestCuckooLaws(t *testing.T) {
	p := start(t, 0, redisbloom.Options{Cuckoo: true})
	number := func(t *rapid.T, words ...string) int {
		reply := p.Do(words...)
		n, err := strconv.Atoi(strings.TrimPrefix(reply, ":"))
		if err != nil {
			t.Fatalf("%v: %s", words, reply)
		}
		return n
	}
	round := 0
	rapid.Check(t, func(t *rapid.T) {
		round++
		key := fmt.Sprint("k", round)
		exact := rapid.Bool().Draw(t, "large")
		reserve := "CF.RESERVE " + key + " 100000"
		if !exact {
			reserve = "CF.RESERVE " + key + rapid.SampledFrom([]string{" 4", " 8 EXPANSION 2", " 16 EXPANSION 0", " 64 BUCKETSIZE 1", " 300"}).Draw(t, "reserve")
		}
		if got := p.Line(reserve); got != "+OK" {
			t.Fatalf("%s: %s", reserve, got)
		}
		defer p.Do("DEL", key)
		all := items(0, rapid.IntRange(1, 40).Draw(t, "items"))
		model := copies{n: map[string]int{}}
		check := func(item string) {
			n, exists, count := model.n[item], number(t, "CF.EXISTS", key, item), number(t, "CF.COUNT", key, item)
			if n > 0 && exists == 0 || count < n || (count == 0) != (exists == 0) {
				t.Fatalf("%s is present %d times: CF.EXISTS %d, CF.COUNT %d", item, n, exists, count)
			}
			if exact && n < saturated && !model.stuck && (count != n || exists != min(n, 1)) {
				t.Fatalf("%s is present %d times in a large filter: CF.EXISTS %d, CF.COUNT %d", item, n, exists, count)
			}
		}
		remove := func(item string) bool {
			before, count := model.n[item], number(t, "CF.COUNT", key, item)
			info := p.Do("CF.INFO", key)
			removed := number(t, "CF.DEL", key, item) == 1
			switch {
			case removed && before == 0:
				t.Fatalf("%s: CF.DEL of an item that is not present returns 1", item)
			case removed:
				model.n[item]--
			case p.Do("CF.INFO", key) != info || number(t, "CF.COUNT", key, item) != count:
				t.Fatalf("%s: CF.DEL returned 0 and changed the filter", item)
			case exact && before > 0 && !model.stuck:
				t.Fatalf("%s is present %d times, and CF.DEL returns 0", item, before)
			}
			return removed
		}
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				item, times := rapid.SampledFrom(all).Draw(t, "item"), rapid.SampledFrom([]int{1, 1, 1, 2, 14, 15, 16, 40}).Draw(t, "times")
				words := []string{"CF.INSERT", key, "ITEMS"}
				for range times {
					words = append(words, item)
				}
				model.n[item] += strings.Count(p.Do(words...), ":1")
				model.stuck = model.stuck || model.n[item] >= saturated
				check(item)
			},
			"add absent": func(t *rapid.T) {
				item := rapid.SampledFrom(all).Draw(t, "item")
				before := number(t, "CF.EXISTS", key, item)
				if reply := p.Do("CF.ADDNX", key, item); reply == ":1" {
					model.n[item]++
				} else if reply == ":0" && before == 0 {
					t.Fatalf("%s: CF.ADDNX returns 0 after CF.EXISTS 0", item)
				}
				check(item)
			},
			"delete": func(t *rapid.T) {
				item := rapid.SampledFrom(all).Draw(t, "item")
				if model.n[item] > 0 {
					remove(item)
				}
				check(item)
			},
			"delete until 0": func(t *rapid.T) {
				item := rapid.SampledFrom(all).Draw(t, "item")
				for model.n[item] > 0 && remove(item) {
				}
				check(item)
			},
			"": func(t *rapid.T) { check(rapid.SampledFrom(all).Draw(t, "query")) },
		})
		for _, item := range all {
			check(item)
		}
	})
}

// From 15 copies on an item stays, and all commands agree on that.
func TestCuckooSaturated(t *testing.T) {
	p := start(t, 0, redisbloom.Options{Cuckoo: true})
	for _, times := range []int{1, saturated - 1, saturated, saturated + 1, 100} {
		key := fmt.Sprint("k", times)
		p.Expect("CF.RESERVE "+key+" 1000", "+OK")
		for range times {
			p.Expect("CF.ADD "+key+" x", ":1")
		}
		p.Expect("CF.COUNT "+key+" x", fmt.Sprint(":", times), "CF.EXISTS "+key+" x", ":1", "CF.ADDNX "+key+" x", ":0")
		left := times
		if times < saturated {
			for ; left > 0; left-- {
				p.Expect("CF.DEL "+key+" x", ":1")
			}
		}
		p.Expect("CF.DEL "+key+" x", ":0", "CF.COUNT "+key+" x", fmt.Sprint(":", left), "CF.EXISTS "+key+" x", fmt.Sprint(":", min(left, 1)))
	}
}

// The dump of an empty filter is empty, also after all items were deleted.
func TestCuckooDumpOfEmptyFilter(t *testing.T) {
	p := start(t, 0, redisbloom.Options{Cuckoo: true})
	p.Expect(
		"CF.RESERVE k 100", "+OK", "CF.SCANDUMP k 0", "*2[:0, $-1]",
		"CF.ADD k a", ":1",
	)
	if got := p.Line("CF.SCANDUMP k 0"); !strings.HasPrefix(got, "*2[:1, ") {
		t.Errorf("a filter with an item: %s, want a header", got)
	}
	p.Expect("CF.DEL k a", ":1", "CF.SCANDUMP k 0", "*2[:0, $-1]")
	p.Do("HELLO", "3")
	p.Expect("CF.SCANDUMP k 0", "*2[:0, _]")
}
