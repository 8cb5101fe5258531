package node

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/umbel-filters/umbel/cmd/internal/access"
	"github.com/umbel-filters/umbel/cmd/internal/command"
	"github.com/umbel-filters/umbel/cmd/internal/resp"
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
	switch {
	case err == nil:
		return u, nil
	case errors.Is(err, access.ErrTooMany):
		n.audit.Record(&access.User{Name: name}, from, "login", "resp", err)
		return nil, errTooMany
	}
	n.audit.Record(&access.User{Name: name}, from, "login", "resp", err)
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
		n.audit.Record(u, c.Addr().String(), cmd.Name, target(cmd, args), access.ErrDenied)
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
	case cmd.Right != access.Admin:
		return
	case failed != "":
		err = errors.New(failed)
	}
	u, _ := c.User.(*access.User)
	n.audit.Record(u, c.Addr().String(), cmd.Name, target(cmd, c.Args()), err)
}

// target returns the object of a command for the audit log: its key, or the word after its name.
func target(cmd *resp.Command, args [][]byte) string {
	i := max(cmd.FirstKey, strings.Count(cmd.Name, "|")+1)
	if i >= len(args) {
		return ""
	}
	const most = 128
	if len(args[i]) > most {
		return string(args[i][:most]) + "..."
	}
	return string(args[i])
}

// onlyReaders restricts h to users who may read all filters, because its responses contain names
// of filters.
func (n *Node) onlyReaders(h http.Handler) http.Handler {
	if n.users == nil {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u := n.users.Certificate(r.TLS)
		name, password, basic := r.BasicAuth()
		token, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		switch {
		case basic:
			u, _ = n.users.Login(r.RemoteAddr, name, password)
		case bearer:
			u, _ = n.users.LoginToken(strings.TrimSpace(token))
		case u == nil:
			u = n.users.Default()
		}
		if u == nil {
			w.Header().Set("WWW-Authenticate", `Basic realm="umbel"`)
			http.Error(w, "authentication required: bearer token, basic credentials or client certificate", http.StatusUnauthorized)
			return
		}
		if !u.May(access.Read, nil) {
			http.Error(w, access.ErrDenied.Error(), http.StatusForbidden)
			return
		}
		h.ServeHTTP(w, r)
	})
}
