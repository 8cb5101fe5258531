package node

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/node/access"
	"github.com/umbel-filters/umbel/cmd/internal/redis/command"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
)

// A command needs its right over each of its keys, or over all names if it has none.
func TestMay(t *testing.T) {
	us, err := access.Parse([]byte(`users: [{name: default, nopass: true, rules: [{rights: [read], names: ["a*"]}, {rights: [add], names: ["*"]}]}]`))
	if err != nil {
		t.Fatal(err)
	}
	u := us.Default()
	for _, c := range []struct {
		name string
		cmd  resp.Command
		args string
		want string // how the reply begins
	}{
		{"its key", resp.Command{Name: "bf.exists", Right: access.Read, FirstKey: 1, LastKey: 1, Step: 1}, "bf.exists a b", ""},
		{"another key", resp.Command{Name: "bf.exists", Right: access.Read, FirstKey: 1, LastKey: 1, Step: 1}, "bf.exists b a", command.NoKey + `: the right read is needed for "b"`},
		{"all keys", resp.Command{Name: "exists", Right: access.Read, FirstKey: 1, LastKey: -1, Step: 1}, "exists a ab", ""},
		{"one of the keys", resp.Command{Name: "exists", Right: access.Read, FirstKey: 1, LastKey: -1, Step: 1}, "exists a b", command.NoKey + `: the right read is needed for "b"`},
		{"every second", resp.Command{Name: "x", Right: access.Read, FirstKey: 1, LastKey: -1, Step: 2}, "x a b a b", ""},
		{"no key", resp.Command{Name: "dbsize", Right: access.Read}, "dbsize", "NOPERM this user has no permissions to run the 'dbsize' command: the right read"},
		{"no key, all names", resp.Command{Name: "x", Right: access.Add}, "x", ""},
		{"a key that isn't there", resp.Command{Name: "x", Right: access.Read, FirstKey: 2, LastKey: 2}, "x a", "NOPERM this user has no permissions to run"},
		{"admin", resp.Command{Name: "flushall", Right: access.Admin}, "flushall", "NOPERM"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var args [][]byte
			for _, a := range strings.Fields(c.args) {
				args = append(args, []byte(a))
			}
			err := may(u, &c.cmd, args)
			if got := ""; err == nil && c.want != "" || err != nil && (c.want == "" || !strings.HasPrefix(err.Error(), c.want)) {
				if err != nil {
					got = err.Error()
				}
				t.Errorf("got %q, want %q", got, c.want)
			}
			if err := may(nil, &c.cmd, args); err == nil {
				t.Error("nobody may")
			}
		})
	}
}

// Who may not read a filter doesn't come to read it by giving it another name, by making another
// one of it, or in a transaction that began when it still could.
func TestNamesKeepTheirReaders(t *testing.T) {
	c := testConfig(t)
	c.Users = filepath.Join(t.TempDir(), "users.yaml")
	users := func(mover string) {
		writeFile(t, c.Users, `users:
- {name: default, nopass: true, rules: [{rights: [read, add, remove], names: ["*"]}]}
- {name: mover, passwords: ["`+cheapHash(t, "x")+`"], tokens: ["`+access.HashToken("mover")+`"], rules: [{rights: [remove], names: ["*"]}, {rights: [read, add], names: `+mover+`}]}
`)
	}
	users(`["mine:*"]`)
	n := started(t, c)
	owner := dial(t, n, nil)
	for _, line := range []string{"UM.MAKE theirs:1 bloom KEYS 100", "UM.MAKE mine:1 bloom KEYS 100", "BF.ADD theirs:2 a"} {
		if got := owner.Line(line); strings.HasPrefix(got, "-") {
			t.Fatalf("%s: %s", line, got)
		}
	}
	r := dial(t, n, nil)
	r.Want("AUTH mover x", "+OK")
	for _, line := range []string{
		"RENAME theirs:1 mine:2", "RENAMENX theirs:1 mine:2", "RENAME mine:1 theirs:3", "COPY theirs:1 mine:2", "UM.COPY theirs:1 mine:2", "UM.COPY mine:1 theirs:3",
		"UM.MERGE mine:1 theirs:1", "UM.MERGE theirs:1 mine:1", "UM.INTERSECT mine:2 mine:1 theirs:1", "UM.DIFF mine:1 FROM theirs:1", "UM.DIFF theirs:1 FROM mine:1",
		"UM.OVERLAP mine:1 theirs:1", "UM.EXPORT theirs:1", "UM.ID theirs:1", "UM.INFO theirs:1", "DUMP theirs:1", "TYPE theirs:1", "EXISTS mine:1 theirs:1", "TTL theirs:1",
		"OBJECT ENCODING theirs:1", "MEMORY USAGE theirs:1", "WATCH theirs:1", "BF.EXISTS theirs:2 a", "BF.CARD theirs:2", "BF.SCANDUMP theirs:2 0", "BF.ADD theirs:2 b", "BF.LOADCHUNK theirs:3 1 x",
	} {
		r.Want(line, "-NOPERM")
	}
	r.Want("KEYS *", `*1[$6:"mine:1"]`)
	r.Want("SCAN 0 COUNT 1000", `*2[$1:"0", *1[$6:"mine:1"]]`)
	r.Want("RANDOMKEY", `$6:"mine:1"`)
	request, err := http.NewRequest(http.MethodPatch, "http://"+n.HTTP().String()+"/v1/filters/theirs:1", strings.NewReader(`{"name":"mine:2"}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer mover")
	web := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := web.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusForbidden {
		t.Errorf("renamed over HTTP: %s", response.Status)
	}

	r.Want("MULTI", "+OK")
	r.Want("UM.INFO mine:1", "+QUEUED")
	users(`["others:*"]`)
	if err := n.Reload(c); err != nil {
		t.Fatal(err)
	}
	r.Want("EXEC", "*1[-NOPERM")
	r.Want("RESET", "+RESET")
	r.Want("UM.ID theirs:1", "$") // as everybody
	r.Want("HELLO 2 AUTH mover wrong", "-WRONGPASS")
	r.Want("UM.ID theirs:1", "$") // as before
	r.Want("HELLO 2 AUTH mover x", "*")
	r.Want("UM.ID theirs:1", "-NOPERM")
}
