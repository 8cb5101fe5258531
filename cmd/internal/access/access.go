// Package access says who may do what on a node: users with passwords, tokens and
// certificates, their rights over names of filters, and a record of what administrators did.
package access

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/umbel-filters/umbel/cmd/internal/glob"
)

var (
	// ErrDenied: the user's rights don't go that far. The text is for the client.
	ErrDenied = errors.New("permission denied")
	// ErrWrongPassword is what a client learns of a login that failed, whatever was wrong.
	//lint:ignore ST1005 these are Redis' words
	ErrWrongPassword = errors.New("invalid username-password pair or user is disabled.")
	// ErrTooMany: this address failed to log in too often, or more log in than can be checked.
	ErrTooMany = errors.New("too many logins, try again in a minute")
)

// Right is what a user may do to filters whose names fit; several are a sum.
type Right uint8

const (
	Read   Right = 1 << iota // ask, count, dump, list
	Add                      // add, create, merge into
	Remove                   // remove, clear, fold, delete, expire, rename
	Admin                    // the node: configuration, shutdown, backup, flush
)

// rightNames are the rights as files and commands spell them.
var rightNames = []struct {
	name  string
	right Right
}{{"read", Read}, {"add", Add}, {"remove", Remove}, {"admin", Admin}}

// ParseRight reads "read", "add", "remove" or "admin".
func ParseRight(s string) (Right, error) {
	for _, r := range rightNames {
		if r.name == s {
			return r.right, nil
		}
	}
	return 0, fmt.Errorf("access: right %.20q, want read, add, remove or admin", s)
}

// String returns the name of the right, or of the first of several.
func (r Right) String() string {
	for _, n := range rightNames {
		if r&n.right != 0 {
			return n.name
		}
	}
	return "no right"
}

// User is who asks. A nil *User has no rights. Its rights are those of the users file as it
// was read last, also for a client that logged in before. It must not be copied.
type User struct {
	Name  string
	rules atomic.Pointer[[]rule]
}

// rule gives rights over the names that fit one of the patterns.
type rule struct {
	rights Right
	names  []string
}

// May reports whether u has the right over a filter's name. name is nil for what concerns no
// single filter, which takes a right over all names. It allocates nothing.
func (u *User) May(r Right, name []byte) bool {
	if u == nil {
		return false
	}
	rules := u.rules.Load()
	if rules == nil {
		return false
	}
	for i := range *rules {
		if rule := &(*rules)[i]; rule.rights&r == r && rule.fits(name) {
			return true
		}
	}
	return false
}

// fits reports whether the rule is about name, or about all names if name is nil.
func (r *rule) fits(name []byte) bool {
	for _, p := range r.names {
		if p == all || name != nil && glob.Match(p, name) {
			return true
		}
	}
	return false
}

// all is the pattern of every name.
const all = "*"

// Everyone returns who asks where there are no users: all rights.
func Everyone() *User {
	u := &User{Name: "default"}
	u.rules.Store(&[]rule{{rights: Read | Add | Remove | Admin, names: []string{all}}})
	return u
}
