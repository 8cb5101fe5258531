package nats_test

import (
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/umbel-filters/umbel/share"
	sharenats "github.com/umbel-filters/umbel/share/nats"
	"github.com/umbel-filters/umbel/share/sharetest"
)

// replica answers requests to the API with the prefix LAG. Two of three Direct Gets get the reply of an
// earlier time.
type replica struct {
	nc   *nats.Conn
	mu   sync.Mutex
	rand *rand.Rand
	old  map[string]*nats.Msg
	late int
}

func (r *replica) reply(m *nats.Msg) {
	subject := "$JS.API." + strings.TrimPrefix(m.Subject, "LAG.")
	now, err := r.nc.Request(subject, m.Data, nats.DefaultTimeout)
	if err != nil {
		return // The client sends the request again.
	}
	if strings.HasPrefix(subject, "$JS.API.DIRECT.GET.") {
		r.mu.Lock()
		old := r.old[subject]
		if old == nil {
			old = nats.NewMsg("")
			old.Header.Set("Status", "404")
		}
		if r.rand.IntN(3) > 0 {
			now = old
			r.late++
		} else {
			r.old[subject] = now
		}
		r.mu.Unlock()
	}
	m.RespondMsg(&nats.Msg{Header: now.Header, Data: now.Data})
}

// A source works with replicas that lag: the leader knows what they lack.
func TestLaggingReplicas(t *testing.T) {
	var r *replica
	open := func(t *testing.T) (share.Store, share.Source) {
		url := start(t, node{Store: t.TempDir(), Port: -1}).ClientURL()
		nc, js := connect(t, url)
		r = &replica{nc: nc, rand: rand.New(rand.NewPCG(1, 2)), old: make(map[string]*nats.Msg)}
		if _, err := nc.Subscribe("LAG.>", func(m *nats.Msg) { go r.reply(m) }); err != nil {
			t.Fatal(err)
		}
		if err := nc.Flush(); err != nil {
			t.Fatal(err)
		}
		lagging, _ := connect(t, url)
		js2, err := jetstream.NewWithAPIPrefix(lagging, "LAG")
		if err != nil {
			t.Fatal(err)
		}
		source, err := sharenats.Open(js2, options)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { source.Close() })
		return create(t, js, options), source
	}
	sharetest.Source(t, open)
	sharetest.Publication(t, open)
	// Without messages, the records are requested.
	store, source := open(t)
	p, verifier := sharetest.Publisher(t, store)
	f := sharetest.Set(t, 1<<18, 0, 1000)
	s := sharetest.Subscriber(t, source, verifier)
	for i := range uint64(50) {
		f.Add(f.Hasher().HashUint64(1e9 + i))
		sharetest.Publish(t, p, f)
		for s.View() == nil || s.View().Head().Version < i+1 {
			if err := s.Update(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if r.late < 50 {
		t.Errorf("%d replies were late, want at least 50", r.late)
	}
}

// A subscriber needs the rights of the package comment and no others.
func TestRights(t *testing.T) {
	o := node{Store: t.TempDir(), Port: -1}.options()
	o.Users = []*server.User{
		{Username: "publisher", Password: "secret"},
		{Username: "subscriber", Password: "secret", Permissions: &server.Permissions{
			Subscribe: &server.SubjectPermission{Allow: []string{options.Subject + ".live.*", "_INBOX.>"}},
			Publish: &server.SubjectPermission{Allow: []string{
				"$JS.API.DIRECT.GET." + options.Stream + ".>", "$JS.API.STREAM.MSG.GET." + options.Stream,
			}},
		}},
	}
	url := startOptions(t, o).ClientURL()
	_, publisher := connect(t, url, nats.UserInfo("publisher", "secret"))
	nc, subscriber := connect(t, url, nats.UserInfo("subscriber", "secret"))
	denied := make(chan error, 100)
	nc.SetErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { denied <- err })
	store := create(t, publisher, options)
	sharetest.Publication(t, func(t *testing.T) (share.Store, share.Source) { return store, open(t, subscriber) })
	if n := len(denied); n > 0 {
		t.Errorf("%d errors, such as %v", n, <-denied)
	}
}
