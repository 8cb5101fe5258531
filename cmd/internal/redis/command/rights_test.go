package command

import (
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/node/access"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
)

// A connection without a user, or with something that is not a user, has no rights.
func TestMayFailsClosed(t *testing.T) {
	for _, user := range []any{nil, "root", (*access.User)(nil)} {
		if May(&resp.Conn{User: user}, access.Read, []byte("a")) || May(&resp.Conn{User: user}, access.Admin, nil) {
			t.Errorf("user %v has rights", user)
		}
	}
	if !May(&resp.Conn{User: Everyone()(nil)}, access.Admin, nil) {
		t.Error("the user of a server without users has no rights")
	}
}

// The reply names the first right that is missing, and begins with the text of Redis.
func TestRequire(t *testing.T) {
	got := NeedsRight(access.Add|access.Remove, []byte("shop:1"))
	if want := NoKey + `: the right add and remove is needed for "shop:1"`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
