// Package access implements authentication and authorization: users with passwords, tokens and
// certificates, their rights for names of filters, and the audit log.
package access

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/umbel-filters/umbel/cmd/internal/node/glob"
)

var (
	// ErrDenied means that the user lacks a right. Its text is sent to the client.
	ErrDenied = errors.New("permission denied")
	// ErrWrongPassword means that a login failed, for any reason. Its text is sent to the client.
	//lint:ignore ST1005 these are Redis' words
	ErrWrongPassword = errors.New("invalid username-password pair or user is disabled.")
	// ErrTooMany means that an address failed to log in too often, or that too many logins are pending.
	ErrTooMany = errors.New("too many failed logins; try again in a few seconds")
)

// Right is a set of rights that a user has for matching names.
type Right uint8

const (
	Read   Right = 1 << iota // query, count, dump, list
	Add                      // add, create, merge into
	Remove                   // remove, clear, fold, delete, expire, rename
	Admin                    // the server: configuration, shutdown, backup, flush
)

// rightNames are the names of the rights in files and commands.
var rightNames = []struct {
	name  string
	right Right
}{{"read", Read}, {"add", Add}, {"remove", Remove}, {"admin", Admin}}

// parseRight parses "read", "add", "remove" or "admin".
func parseRight(s string) (Right, error) {
	for _, r := range rightNames {
		if r.name == s {
			return r.right, nil
		}
	}
	return 0, fmt.Errorf("%.20q, want read, add, remove or admin", s)
}

// String returns the names of the rights.
func (r Right) String() string {
	var names []string
	for _, n := range rightNames {
		if r&n.right != 0 {
			names = append(names, n.name)
		}
	}
	if names == nil {
		return "no right"
	}
	return strings.Join(names, " and ")
}

// User is a user of the server. A nil *User has no rights. Its rights follow the users file as
// last read, also for clients that logged in before. A User must not be copied.
type User struct {
	Name  string
	rules atomic.Pointer[[]rule]
}

// String returns the user's name, "" for nil.
func (u *User) String() string {
	if u == nil {
		return ""
	}
	return u.Name
}

// rule grants rights for the names that match one of the patterns.
type rule struct {
	rights Right
	names  []string
}

// May reports whether u has the right for a filter's name. A nil name stands for the right for all
// names, which operations on the whole server need. It does not allocate.
func (u *User) May(r Right, name []byte) bool {
	if u == nil {
		return false
	}
	rules := u.rules.Load()
	if rules == nil {
		return false
	}
	for i := range *rules {
		if rule := &(*rules)[i]; rule.rights&r == r && rule.matches(name) {
			return true
		}
	}
	return false
}

// matches reports whether the rule applies to name, or to all names if name is nil.
func (r *rule) matches(name []byte) bool {
	for _, p := range r.names {
		if p == all || name != nil && glob.Match(p, name) {
			return true
		}
	}
	return false
}

// all is the pattern that matches every name.
const all = "*"

// Everyone returns a user with all rights, for servers without users.
func Everyone() *User {
	u := &User{Name: "default"}
	u.rules.Store(&[]rule{{rights: Read | Add | Remove | Admin, names: []string{all}}})
	return u
}

// checkPattern returns an error for a pattern with an unclosed set or a final backslash, which
// would not mean what its author intended.
func checkPattern(pattern string) error {
	open := false
	for p := 0; p < len(pattern); p++ {
		switch c := pattern[p]; {
		case c == '\\':
			if p++; p == len(pattern) {
				return fmt.Errorf("pattern %q ends in a backslash", pattern)
			}
		case c == '[':
			open = true
		case c == ']':
			open = false
		}
	}
	if open {
		return fmt.Errorf("pattern %q has an unclosed [", pattern)
	}
	if pattern == "" {
		return fmt.Errorf("empty pattern; use %q for every name", all)
	}
	return nil
}
