package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/internal/await"
	"github.com/umbel-filters/umbel/share"
)

// server is a node that publishes its filter in a directory, and the replica next to it, which follows what
// the other server publishes.
type server struct {
	t         *testing.T
	name      string
	directory string // of the publication
	public    string // key
	node      string // URL
	replica   string // URL
}

// Two servers exchange their sets through plain directories, which nginx serves: what a client adds to the node
// of one server is found by the replica of the other, in both directions, also after all have been killed.
func TestExchangeThroughDirectories(t *testing.T) {
	if !hasProgram("nginx") {
		t.Skip("nginx is not installed: apt-get install nginx")
	}
	a, b := newServer(t, "north"), newServer(t, "south")
	web := freeAddress(t)
	nginx := nginxOf(t, web, map[string]string{a.name: a.directory, b.name: b.directory})
	nodes := []*process{a.publisher(), b.publisher()}
	replicas := []*process{a.follower("http://"+web, b), b.follower("http://"+web, a)}
	all := append(append([]*process{nginx}, nodes...), replicas...)
	for _, p := range all {
		p.start()
		t.Cleanup(p.kill)
	}
	for _, s := range []*server{a, b} {
		s.request("PUT", s.node+"/v1/filters/have", `{"kind": "bloom", "keys": 10000, "fpRate": 1e-6}`)
	}
	for round := range 3 {
		key := []string{"first", "second", "third"}[round]
		for _, pair := range [][2]*server{{a, b}, {b, a}} {
			from, to := pair[0], pair[1]
			from.request("POST", from.node+"/v1/filters/have/add", `{"keys": ["`+from.name+" "+key+`"]}`)
			await.True(t, to.name+" finds the "+key+" key of "+from.name, func() bool {
				return strings.Contains(to.has(from.name, from.name+" "+key), "[true]")
			})
			if got := to.has(from.name, from.name+" never"); !strings.Contains(got, "[false]") {
				t.Errorf("a key that was never added: %s", got)
			}
		}
		for _, p := range all {
			p.kill()
		}
		for _, p := range all {
			p.start()
		}
	}
	for _, pair := range [][2]*server{{a, b}, {b, a}} {
		from, to := pair[0], pair[1]
		for _, key := range []string{" first", " second", " third"} {
			await.True(t, to.name+" has the keys of "+from.name, func() bool { return strings.Contains(to.has(from.name, from.name+key), "[true]") })
		}
	}
}

func newServer(t *testing.T, name string) *server {
	t.Helper()
	return &server{t: t, name: name, directory: filepath.Join(t.TempDir(), "public"), node: "http://" + freeAddress(t), replica: "http://" + freeAddress(t)}
}

// publisher returns the node.
func (s *server) publisher() *process {
	s.t.Helper()
	d := s.t.TempDir()
	_, private, err := share.NewKey("example.org/" + s.name)
	if err != nil {
		s.t.Fatal(err)
	}
	if s.public, err = share.PublicKey(private); err != nil {
		s.t.Fatal(err)
	}
	key := filepath.Join(d, "have.key")
	if err := os.WriteFile(key, []byte(private), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return &process{t: s.t, program: "umbel", arguments: []string{
		"serve", "--data", filepath.Join(d, "data"), "--resp", "off", "--http", strings.TrimPrefix(s.node, "http://"), "--log-level", "error",
		"--publications", `[{filter: have, key: "` + filepath.ToSlash(key) + `", directory: "` + filepath.ToSlash(s.directory) + `", period: 100ms}]`,
	}, ready: func() bool { return answers(s.node + "/readyz") }}
}

// follower returns the replica of what another server publishes.
func (s *server) follower(web string, other *server) *process {
	return &process{t: s.t, program: "umbel", arguments: []string{
		"replica", other.name + "=" + web + "/" + other.name, "--public-key", other.public, "--stale", "error",
		"--cache", filepath.Join(s.t.TempDir(), "cache"), "--every", "100ms", "--resp", "off", "--http", strings.TrimPrefix(s.replica, "http://"), "--log-level", "error",
	}, ready: func() bool { return answers(s.replica + "/healthz") }}
}

// request makes a request that must succeed.
func (s *server) request(method, url, body string) {
	s.t.Helper()
	if status, reply := send(s.t, method, url, body); status >= 300 {
		s.t.Fatalf("%s %s: %d %s", method, url, status, reply)
	}
}

// has returns the reply of the replica to a query.
func (s *server) has(filter, key string) string {
	s.t.Helper()
	_, reply := send(s.t, "POST", s.replica+api.FilterPath(filter, "has"), `{"keys": ["`+key+`"]}`)
	return reply
}
