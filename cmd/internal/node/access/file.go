package access

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/umbel-filters/umbel/cmd/internal/service/yamltext"
)

// file is the contents of a users file.
type file struct {
	Users []FileUser `yaml:"users"`
}

// FileUser is a user in a file. It contains hashes of secrets, not secrets.
type FileUser struct {
	Name         string     `yaml:"name"`
	Passwords    []string   `yaml:"passwords"`
	Tokens       []string   `yaml:"tokens,omitempty"`
	Certificates []string   `yaml:"certificates,omitempty"`
	Rules        []FileRule `yaml:"rules"`
	Enabled      *bool      `yaml:"enabled,omitempty"` // nil: true
	NoPassword   bool       `yaml:"nopass,omitempty"`
}

// FileRule grants rights to filters whose names match a pattern.
type FileRule struct {
	Rights []string `yaml:"rights,flow"`
	Names  []string `yaml:"names,flow"`
}

// account is a user of a file that has been checked.
type account struct {
	name         string
	passwords    []hash
	tokens       [][sha256.Size]byte
	certificates []string
	rules        []rule
	enabled      bool
	open         bool
}

// maxFile is the maximum size of a users file in bytes.
const maxFile = 16 << 20

// parse parses a users file. Errors contain the line or the user, but no hash, password or token.
func parse(data []byte) ([]account, error) {
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	var f file
	if err := d.Decode(&f); err != nil && err != io.EOF {
		return nil, yamltext.Error(err)
	}
	if err := d.Decode(new(yaml.Node)); err != io.EOF {
		return nil, errors.New("more than one document")
	}
	if len(f.Users) == 0 {
		return nil, errors.New("the list has no users")
	}
	accounts := make([]account, len(f.Users))
	names := map[string]bool{}
	for i, u := range f.Users {
		if u.Name == "" {
			return nil, fmt.Errorf("user %d has no name", i+1)
		}
		if names[u.Name] {
			return nil, fmt.Errorf("duplicate user %q", u.Name)
		}
		names[u.Name] = true
		var err error
		if accounts[i], err = u.account(); err != nil {
			return nil, fmt.Errorf("user %q: %w", u.Name, err)
		}
	}
	return accounts, nil
}

// account checks a user.
func (u FileUser) account() (a account, err error) {
	a = account{name: u.Name, certificates: u.Certificates, enabled: u.Enabled == nil || *u.Enabled, open: u.NoPassword}
	if a.open && a.name != defaultName {
		return a, fmt.Errorf("nopass is only for the user %q, which is used by clients without login", defaultName)
	}
	if a.passwords, err = each("password", u.Passwords, parseHash); err != nil {
		return a, err
	}
	if a.tokens, err = each("token", u.Tokens, parseToken); err != nil {
		return a, err
	}
	if slices.Contains(u.Certificates, "") {
		return a, errors.New("certificates: empty name")
	}
	if a.rules, err = each("rule", u.Rules, FileRule.rule); err != nil {
		return a, err
	}
	return a, nil
}

// rule checks a rule.
func (f FileRule) rule() (r rule, err error) {
	rights, err := each("right", f.Rights, parseRight)
	if err != nil {
		return r, err
	}
	for _, right := range rights {
		r.rights |= right
	}
	for _, name := range f.Names {
		if err := checkPattern(name); err != nil {
			return r, err
		}
	}
	r.names = f.Names
	switch {
	case r.rights == 0:
		return r, errors.New("has no rights")
	case r.rights == Admin && len(r.names) == 0:
		r.names = []string{all}
	case len(r.names) == 0:
		return r, fmt.Errorf("has no names; use [%q] for all names", all)
	case r.rights&Admin != 0 && !slices.Contains(r.names, all):
		return r, errors.New("admin is a right for the server, not for names; put it into a rule with the name \"*\"")
	}
	return r, nil
}

// each applies parse to the elements of a list. Errors contain the name and the number of the element.
func each[T, U any](name string, list []T, parse func(T) (U, error)) ([]U, error) {
	parsed := make([]U, len(list))
	for i, v := range list {
		var err error
		if parsed[i], err = parse(v); err != nil {
			return nil, fmt.Errorf("%s %d: %w", name, i+1, err)
		}
	}
	return parsed, nil
}
