package dir_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/share/dir"
)

// killedKey is the environment variable with the private key of the publisher that is killed.
const killedKey = "UMBEL_TEST_KILLED_KEY"

// openPublisher continues a publication in a directory. It returns its filter with the keys up to the
// number of the last version.
func openPublisher(path, private string) (*dir.Store, *share.Publisher, *bloom.Filter, error) {
	key, err := share.ParseKey(private)
	if err != nil {
		return nil, nil, nil, err
	}
	s, err := dir.Create(path)
	if err != nil {
		return nil, nil, nil, err
	}
	p, err := share.NewPublisher(context.Background(), share.PublisherOptions{Store: s, Key: key})
	if err != nil {
		return nil, nil, nil, err
	}
	f, err := bloom.New(10_000, 0.01)
	if err == nil && p.Head() != nil {
		for i := range p.Head().Version {
			umbel.AddKey(f, i+1)
		}
	}
	return s, p, f, err
}

// publishForever adds a key and publishes a version, again and again, and prints the number of each.
func publishForever(path string) error {
	_, p, f, err := openPublisher(path, os.Getenv(killedKey))
	for err == nil {
		umbel.AddKey(f, p.Head().Version+1)
		var h *share.Head
		if h, err = p.Publish(context.Background(), f.State()); err == nil {
			fmt.Println(h.Version)
		}
	}
	return err
}

// After a publisher was killed, the next one continues with deltas from all versions that it offered.
func TestKilledPublisher(t *testing.T) {
	path := t.TempDir()
	_, private, err := share.NewKey("example.org/set")
	if err != nil {
		t.Fatal(err)
	}
	for round := range 5 {
		s, p, f, err := openPublisher(path, private)
		if err != nil {
			t.Fatal(err)
		}
		version := uint64(1)
		if p.Head() != nil {
			version = p.Head().Version + 1
		}
		umbel.AddKey(f, version)
		h, err := p.Publish(t.Context(), f.State())
		if err != nil {
			t.Fatal(err)
		}
		if want := min(int(version)-1, share.MaxHeadDeltas); h.Version != version || len(h.Deltas) != want {
			t.Errorf("version %d has %d deltas, want version %d and %d", h.Version, len(h.Deltas), version, want)
		}
		if err := s.Close(); err != nil { // without p.Close, as if it was killed
			t.Fatal(err)
		}
		runKilled(t, int(version)+5+3*round, killedDirectory+"="+path, killedKey+"="+private)
	}
}
