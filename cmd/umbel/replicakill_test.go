package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/files/container"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/internal/await"
	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/wire/hashtree"
)

const (
	// headValid is the validity of a head in TestReplicaKill.
	headValid = 2 * time.Second
	// edition n of its set has the keys from editionKeys*n on, setKeys of them.
	setKeys, editionKeys = 2000, 20
)

// fleet is a publisher, a carrier and a replica, each a process, and what is known about the set.
type fleet struct {
	*testing.T
	file     string // that is published
	replica  string // URL
	started  []*process
	mu       sync.Mutex
	editions map[string]int // by ID of their filters
	filters  []*bloom.Filter
	checked  int // answers that were compared
	stale    int // queries that were refused
	early    int // answers while the version changed
}

// Publisher, carrier and replica are killed at random while the set changes. Every answer that the replica
// gives is that of the version that it states, bit for bit, and no answer is given after the head of the version
// has expired. After the last kill of a round the replica has the last set again.
func TestReplicaKill(t *testing.T) {
	rounds := 5
	switch {
	case os.Getenv("UMBEL_LONG") != "":
		rounds = 100
	case testing.Short():
		rounds = 2
	}
	f := newFleet(t)
	var client sync.WaitGroup
	ended := false
	end := func() {
		f.mu.Lock()
		ended = true
		f.mu.Unlock()
		client.Wait()
	}
	defer end()
	client.Go(func() {
		for f.query(); ; f.query() {
			f.mu.Lock()
			over := ended
			f.mu.Unlock()
			if over {
				return
			}
		}
	})
	var slowest time.Duration
	for round := range rounds {
		for range 1 + rand.IntN(2) {
			f.disturb(time.Duration(20+rand.IntN(300)) * time.Millisecond)
		}
		began := time.Now()
		f.wantLast(round)
		slowest = max(slowest, time.Since(began))
		f.wait("answers of the round are compared", func() bool { return f.checked >= 100*(round+1) })
	}
	f.expire()
	end()
	f.mu.Lock()
	defer f.mu.Unlock()
	t.Logf("%d rounds, %d editions, %d answers compared, %d while the version changed, %d queries refused as stale; exact again after %v at most, heads are valid for %v",
		rounds, len(f.filters), f.checked, f.early, f.stale, slowest.Round(time.Millisecond), headValid)
}

// newFleet starts the processes. Without nginx the publisher is the carrier, too.
func newFleet(t *testing.T) *fleet {
	t.Helper()
	d := t.TempDir()
	f := &fleet{T: t, file: filepath.Join(d, "set.umb"), editions: make(map[string]int)}
	_, private, err := share.NewKey("example.org/set")
	if err != nil {
		t.Fatal(err)
	}
	keyFile := filepath.Join(d, "set.key")
	if err := os.WriteFile(keyFile, []byte(private), 0o600); err != nil {
		t.Fatal(err)
	}
	public, err := share.PublicKey(private)
	if err != nil {
		t.Fatal(err)
	}
	f.Write()
	directory, web, address := filepath.Join(d, "public"), freeAddress(t), freeAddress(t)
	publisher := &process{t: t, program: "umbel", arguments: []string{
		"publish", f.file, "--to", directory, "--key", keyFile, "--follow", "--every", "50ms", "--valid", headValid.String(), "--quiet",
	}, ready: func() bool { _, err := os.Stat(filepath.Join(directory, share.HeadName)); return err == nil }}
	source := "http://" + web + "/set"
	f.started = append(f.started, publisher)
	if carrier := f.nginx(web, directory); carrier != nil {
		f.started = append(f.started, carrier)
	} else {
		source = "http://" + web
		publisher.arguments = append(publisher.arguments, "--listen", web)
	}
	f.replica = "http://" + address
	f.started = append(f.started, &process{t: t, program: "umbel", arguments: []string{
		"replica", "set=" + source, "--public-key", public, "--stale", "error", "--cache", filepath.Join(d, "cache"),
		"--every", "200ms", "--resp", "off", "--http", address, "--log-level", "error",
	}, ready: func() bool { return answers(f.replica + "/healthz") }})
	for _, p := range f.started {
		p.start()
		t.Cleanup(p.kill)
	}
	return f
}

func (f *fleet) nginx(address, directory string) *process {
	if !hasProgram("nginx") {
		return nil
	}
	return nginxOf(f.T, address, map[string]string{"set": directory})
}

// Write writes the next edition of the set to the file.
func (f *fleet) Write() {
	f.Helper()
	b, err := bloom.New(setKeys, 0.01)
	if err != nil {
		f.Fatal(err)
	}
	f.mu.Lock()
	n := len(f.filters)
	for i := range setKeys {
		b.AddString(setKey(n*editionKeys + i))
	}
	f.filters = append(f.filters, b)
	f.editions[hashtree.Identify(b.State()).String()] = n
	f.mu.Unlock()
	if err := container.Write(f.file, b.State()); err != nil {
		f.Fatal(err)
	}
}

func setKey(i int) string { return fmt.Sprint("key ", i) }

// disturb changes the set for some time, and then kills one of the processes and starts it again.
func (f *fleet) disturb(d time.Duration) {
	f.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(30 * time.Millisecond) {
		f.Write()
	}
	victim := f.started[rand.IntN(len(f.started))]
	victim.kill()
	victim.start()
}

// subscription returns the state of the replica.
func (f *fleet) subscription() (api.Subscription, error) {
	r, err := short.Get(f.replica + "/v1/subscriptions")
	if err != nil {
		return api.Subscription{}, err
	}
	defer r.Body.Close()
	var list api.SubscriptionList
	if err := json.NewDecoder(r.Body).Decode(&list); err != nil || len(list.Subscriptions) != 1 {
		return api.Subscription{}, fmt.Errorf("%s: %d subscriptions: %v", r.Status, len(list.Subscriptions), err)
	}
	return list.Subscriptions[0], nil
}

// has queries the replica. The answers are nil if it is stale.
func (f *fleet) has(keys []string) ([]bool, error) {
	body, err := json.Marshal(api.KeyList{Keys: keys})
	if err != nil {
		return nil, err
	}
	r, err := short.Post(f.replica+"/v1/filters/set/has", api.MediaJSON, strings.NewReader(string(body)))
	if err != nil {
		return nil, err
	}
	defer r.Body.Close()
	if r.StatusCode == http.StatusServiceUnavailable {
		return nil, nil
	}
	var reply struct{ Answers []bool }
	if err := json.NewDecoder(r.Body).Decode(&reply); err != nil || len(reply.Answers) != len(keys) {
		return nil, fmt.Errorf("%s: %d answers: %v", r.Status, len(reply.Answers), err)
	}
	return reply.Answers, nil
}

// query queries keys of several editions, and checks the answers if the replica has the same version before
// and after. Requests to a replica that is being killed fail.
func (f *fleet) query() {
	f.mu.Lock()
	newest := len(f.filters) * editionKeys
	f.mu.Unlock()
	keys := make([]string, 50)
	for i := range keys {
		keys[i] = setKey(max(0, newest+rand.IntN(2*setKeys)-setKeys))
	}
	before, err := f.subscription()
	if err != nil {
		return
	}
	began := time.Now()
	got, err := f.has(keys)
	if err != nil {
		return
	}
	after, err := f.subscription()
	if err != nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case got == nil:
		f.stale++
	case before.ID != after.ID:
		f.early++
	case began.After(*after.Expires):
		f.Errorf("an answer from version %d, %v after its head had expired", after.Version, began.Sub(*after.Expires))
	default:
		f.compare(after, keys, got)
	}
}

// compare compares answers with those of the edition. The caller holds f.mu.
func (f *fleet) compare(s api.Subscription, keys []string, got []bool) {
	n, ok := f.editions[s.ID]
	if !ok {
		f.Errorf("version %d is no edition of the set", s.Version)
		return
	}
	for i, key := range keys {
		if want := f.filters[n].HasString(key); got[i] != want {
			f.Errorf("version %d answers %v for %q, want %v", s.Version, got[i], key, want)
		}
		f.checked++
	}
}

// wantLast waits until the replica has the last edition, and its head is valid.
func (f *fleet) wantLast(round int) {
	f.Helper()
	f.mu.Lock()
	last := len(f.filters) - 1
	f.mu.Unlock()
	await.True(f.T, fmt.Sprintf("the replica has edition %d after round %d", last, round), func() bool {
		s, err := f.subscription()
		f.mu.Lock()
		defer f.mu.Unlock()
		n, ok := f.editions[s.ID]
		return err == nil && s.State == api.SubscriptionExact && ok && n == last
	})
}

// expire ends the publisher, and waits until the replica refuses to answer.
func (f *fleet) expire() {
	f.Helper()
	f.started[0].kill()
	await.True(f.T, "the replica is stale", func() bool {
		answers, err := f.has([]string{"key"})
		return err == nil && answers == nil
	})
	f.wait("the client is refused", func() bool { return f.stale > 0 })
}

// wait waits for a condition, which is called with f.mu locked.
func (f *fleet) wait(what string, condition func() bool) {
	f.Helper()
	await.True(f.T, what, func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return condition()
	})
}
