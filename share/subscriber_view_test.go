package share

import (
	"strconv"
	"testing"

	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/bloom"
)

// HasString answers from the version of View or a later one, also while a version is shown: a caller
// that has seen a version finds its keys.
func TestAnswersOfView(t *testing.T) {
	key, _, err := NewKey("example.org/words")
	if err != nil {
		t.Fatal(err)
	}
	store := new(Memory)
	p, err := NewPublisher(t.Context(), PublisherOptions{Store: store, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	f, err := bloom.New(1000, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSubscriber(t.Context(), SubscriberOptions{Source: store, Verifier: key.Verifier, Kinds: filter.All, Stale: StaleLast})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const versions = 400
	nameOf := func(version uint64) string { return "key " + strconv.FormatUint(version, 10) }
	lost := make(chan int)
	go func() {
		n := 0
		for version := uint64(0); version < versions && t.Context().Err() == nil; {
			if v := s.View(); v != nil {
				version = v.Head().Version
			}
			if found, _ := s.HasString(nameOf(version)); !found && version > 0 {
				n++
			}
		}
		lost <- n
	}()
	for version := uint64(1); version <= versions; version++ {
		f.AddString(nameOf(version))
		if _, err := p.Publish(t.Context(), f.State()); err != nil {
			t.Fatal(err)
		}
		if err := s.Update(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := <-lost; n > 0 {
		t.Errorf("%d queries did not find a key of the version in View", n)
	}
}
