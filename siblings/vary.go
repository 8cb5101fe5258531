package siblings

import (
	"slices"
	"strings"
	"sync"
)

// maxVaries is the number of URLs whose Vary headers are kept.
const maxVaries = 1 << 16

// varies keeps which headers select the variants of a URL, for URLs with variants: siblings answer
// the bare URL with "some variant". It is safe for concurrent use.
type varies struct {
	mu    sync.Mutex
	names map[uint64][]string // by the hash of the URL's key
	lists map[string][]string // one copy of each list
}

// set keeps the names in the Vary header of a response. If there are too many URLs, one of them is dropped.
func (v *varies) set(url uint64, names []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(names) == 0 {
		delete(v.names, url)
		return
	}
	if v.names == nil {
		v.names, v.lists = map[uint64][]string{}, map[string][]string{}
	}
	text := strings.Join(names, ",")
	list := v.lists[text]
	if list == nil {
		list = slices.Clone(names)
		if len(v.lists) < maxVaryLists {
			v.lists[text] = list
		}
	}
	if _, ok := v.names[url]; !ok && len(v.names) >= maxVaries {
		for other := range v.names { // in a random order
			delete(v.names, other)
			break
		}
	}
	v.names[url] = list
}

// maxVaryLists is the number of different lists that are kept, one copy each.
const maxVaryLists = 1 << 10

// of returns the names for a URL, nil if they are unknown or there are none.
func (v *varies) of(url uint64) []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.names[url]
}
