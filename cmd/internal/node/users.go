package node

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/umbel-filters/umbel/cmd/internal/node/access"
	"github.com/umbel-filters/umbel/cmd/internal/redis/command"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
)

// Replies of Redis 7.
var (
	errWrongPassword = errors.New("WRONGPASS " + access.ErrWrongPassword.Error())
	errTooMany       = errors.New("ERR " + access.ErrTooMany.Error())
)

// login implements AUTH.
func (n *Node) login(c *resp.Conn, name, password string) (any, error) {
	from := c.Addr().String()
	u, err := n.users.Login(from, name, password)
	if err == nil {
		return u, nil
	}
	n.audit.Record(name, from, "login", "resp", err)
	if errors.Is(err, access.ErrTooMany) {
		return nil, errTooMany
	}
	return nil, errWrongPassword
}

// defaultUser returns the user of a client before AUTH: that of its certificate, or the default
// user.
func (n *Node) defaultUser(c *resp.Conn) any {
	if isProbe(c) {
		return prober
	}
	if u := n.users.Certificate(c.TLS()); u != nil {
		return u
	}
	if u := n.users.Default(); u != nil {
		return u
	}
	return nil // not a typed nil
}

// allow returns an error unless the client's user may run the command.
func (n *Node) allow(c *resp.Conn, cmd *resp.Command, args [][]byte) error {
	if cmd.Right == 0 {
		return nil
	}
	u, _ := c.User.(*access.User)
	err := may(u, cmd, args)
	if err != nil {
		n.audit.Record(u.String(), c.Addr().String(), cmd.Name, target(cmd, args), access.ErrDenied)
	}
	return err
}

// may returns an error unless a user has the right that a command needs: for its keys or, if it
// has none, for all names.
func may(u *access.User, cmd *resp.Command, args [][]byte) error {
	keys := 0
	var err error
	cmd.Keys(args, func(key []byte) bool {
		keys++
		if !u.May(cmd.Right, key) {
			err = errors.New(command.NeedsRight(cmd.Right, key))
		}
		return err == nil
	})
	if keys == 0 && !u.May(cmd.Right, nil) {
		return fmt.Errorf("NOPERM this user has no permissions to run the '%s' command: the right %v is needed for all names", cmd.Name, cmd.Right)
	}
	return err
}

// record records calls of administrative commands, and denials, in the audit log.
func (n *Node) record(c *resp.Conn, cmd *resp.Command) {
	failed := c.Failed()
	var err error
	switch {
	case strings.HasPrefix(failed, "NOPERM "):
		err = access.ErrDenied
	case cmd.Right != access.Admin || cmd.NotAudited:
		return
	case failed != "":
		err = errors.New(failed)
	}
	u, _ := c.User.(*access.User)
	n.audit.Record(u.String(), c.Addr().String(), cmd.Name, target(cmd, c.Args()), err)
}

// target returns the object of a command for the audit log: its key, or the word after its name.
func target(cmd *resp.Command, args [][]byte) string {
	i := max(cmd.FirstKey, strings.Count(cmd.Name, "|")+1)
	if i >= len(args) {
		return ""
	}
	const most = 256 // an argument may be large, and Record shortens it
	return string(args[i][:min(len(args[i]), most)])
}

// onlyReaders restricts h to users who may read all filters, because its responses contain names
// of filters.
func (n *Node) onlyReaders(h http.Handler) http.Handler {
	if n.users == nil {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u, claimed, err := n.users.Request(r)
		switch {
		case err == access.ErrNoCredentials:
		case err != nil:
			n.audit.Record(claimed, r.RemoteAddr, "login", "metrics", err)
		case !u.May(access.Read, nil):
			n.audit.Record(u.String(), r.RemoteAddr, "GET /metrics", "", access.ErrDenied)
			http.Error(w, access.ErrDenied.Error(), http.StatusForbidden)
			return
		}
		if err != nil {
			w.Header().Set("WWW-Authenticate", `Basic realm="umbel"`)
			http.Error(w, err.Error(), http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, r)
	})
}
