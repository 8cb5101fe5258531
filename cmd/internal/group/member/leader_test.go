package member

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
)

// hears notes a call of Options.Leader.
func (p *peer) hears(a Address) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if name := cmp.Or(a.RESP, "-"); len(p.heard) == 0 || p.heard[len(p.heard)-1] != name {
		p.heard = append(p.heard, name)
	}
}

// wantHeard waits until p has heard of leaders, and of no others.
func (p *peer) wantHeard(t testing.TB, want ...string) {
	t.Helper()
	var got []string
	until(t, fmt.Sprintf("%s has heard of %v", p.name, want), func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		got = slices.Clone(p.heard)
		return len(got) >= len(want)
	})
	if !slices.Equal(got, want) {
		t.Errorf("%s has heard of %v, want %v", p.name, got, want)
	}
}

// Members say who leads: nobody between a claim and the moment at which its node leads, after a leader was deposed, and until a node that
// led before its restart hears of another one or leads again.
func TestLeaderIsAnnounced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		medium := newMemory()
		a, b := newPeer(t, "a", medium).start(t), newPeer(t, "b", medium)
		a.wantHeard(t, "-", "a")
		a.make(t, "keys", "bloom", 0, 10)
		b.start(t)
		b.wantHeard(t, "-", "a")

		a.kill()
		a.start(t)
		a.wantHeard(t, "-") // not itself
		b.link.setCut(true)
		a.wantHeard(t, "-", "a")
		b.link.setCut(false)
		same(t, a, b)

		a.link.setCut(true)
		b.wantHeard(t, "-", "a", "-", "b")
		a.link.setCut(false)
		a.wantHeard(t, "-", "a", "-") // deposed
		a.again(t)
		a.wantHeard(t, "-", "b")
		b.end(t)
		a.wantHeard(t, "-", "b", "-", "a")
		a.end(t)
	})
}
