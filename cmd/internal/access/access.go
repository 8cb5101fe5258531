// Package access says who may do what on a node: users with passwords and tokens, rights
// over names of filters, limits, certificates, and a record of what administrators did.
package access

import (
	"crypto/tls"
	"errors"
	"log/slog"
)

var (
	// ErrDenied: the user's rights don't go that far. The text is for the client.
	ErrDenied = errors.New("permission denied")
	// ErrWrongPassword is what a client learns of a login that failed, whatever was wrong.
	ErrWrongPassword = errors.New("invalid username-password pair or user is disabled.")
)

// Right is what a user may do to filters whose names fit.
type Right uint8

const (
	Read   Right = 1 << iota // ask, count, dump, list
	Add                      // add, create, merge into
	Remove                   // remove, clear, fold, delete, expire, rename
	Admin                    // the node: configuration, shutdown, backup, flush
)

// ParseRight reads "read", "add", "remove", "admin".
func ParseRight(s string) (Right, error) { panic("todo") }

// User is who asks. A nil *User has no rights.
type User struct {
	Name string
}

// May reports whether u has the right over a filter's name; name is nil for what concerns
// no single filter. It allocates nothing.
func (u *User) May(r Right, name []byte) bool { panic("todo") }

// Users are those of a file. Its methods may be called concurrently.
type Users struct{ _ int }

// Load reads users from a file (YAML: docs/node.md); Reload reads it again, and keeps what was on an error.
func Load(path string) (*Users, error) { panic("todo") }
func (us *Users) Reload() error        { panic("todo") }

// Everyone is who asks where there are no users: all rights.
func Everyone() *User { panic("todo") }

// Password returns the user with that name and password; Token that of a bearer token.
// Both take as long for users that aren't there.
func (us *Users) Password(name, password string) (*User, error) { panic("todo") }
func (us *Users) Token(token string) (*User, error)             { panic("todo") }

// Certificate returns the user whose certificate a client has shown, nil if none.
func (us *Users) Certificate(s *tls.ConnectionState) *User { panic("todo") }

// TLS is a server's certificate and the authorities of its clients' ones, read again when their
// files change.
type TLS struct{ _ int }

func LoadTLS(cert, key, clientCA string, require bool) (*TLS, error) { panic("todo") }
func (t *TLS) Reload() error                                         { panic("todo") }
func (t *TLS) Config() *tls.Config                                   { panic("todo") }

// Audit records what administrators did, and refused attempts.
type Audit struct{ Log *slog.Logger }

func (a Audit) Record(user *User, from, action, target string, err error) { panic("todo") }
