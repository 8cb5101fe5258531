package node

import (
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/access"
	"github.com/umbel-filters/umbel/cmd/internal/resp"
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
		{"its key", resp.Command{Name: "bf.exists", Right: "read", FirstKey: 1, LastKey: 1, Step: 1}, "bf.exists a b", ""},
		{"another key", resp.Command{Name: "bf.exists", Right: "read", FirstKey: 1, LastKey: 1, Step: 1}, "bf.exists b a", "NOPERM this user has no permissions to access one"},
		{"all keys", resp.Command{Name: "exists", Right: "read", FirstKey: 1, LastKey: -1, Step: 1}, "exists a ab", ""},
		{"one of the keys", resp.Command{Name: "exists", Right: "read", FirstKey: 1, LastKey: -1, Step: 1}, "exists a b", "NOPERM this user has no permissions to access one"},
		{"every second", resp.Command{Name: "x", Right: "read", FirstKey: 1, LastKey: -1, Step: 2}, "x a b a b", ""},
		{"no key", resp.Command{Name: "dbsize", Right: "read"}, "dbsize", "NOPERM this user has no permissions to run the 'dbsize' command"},
		{"no key, all names", resp.Command{Name: "x", Right: "add"}, "x", ""},
		{"a key that isn't there", resp.Command{Name: "x", Right: "read", FirstKey: 2, LastKey: 2}, "x a", "NOPERM this user has no permissions to run"},
		{"admin", resp.Command{Name: "flushall", Right: "admin"}, "flushall", "NOPERM"},
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
