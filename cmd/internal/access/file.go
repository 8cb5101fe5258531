package access

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// account is a user in the file.
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

// parse parses a users file. Errors contain the line.
func parse(data []byte) ([]account, error) {
	var doc yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(&doc); err == io.EOF {
		return nil, errors.New("no users")
	} else if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if err := d.Decode(new(yaml.Node)); err != io.EOF {
		return nil, errors.New("more than one document")
	}
	var accounts []account
	names := map[string]bool{}
	err := fields(doc.Content[0], map[string]func(*yaml.Node) error{
		"users": func(n *yaml.Node) error {
			return each(n, func(n *yaml.Node) error {
				a, err := parseAccount(n)
				if err != nil {
					return err
				}
				if names[a.name] {
					return nodeError(n, "duplicate user %q", a.name)
				}
				names[a.name] = true
				accounts = append(accounts, a)
				return nil
			})
		},
	})
	if err == nil && len(accounts) == 0 {
		err = errors.New("no users")
	}
	return accounts, err
}

func parseAccount(n *yaml.Node) (account, error) {
	a := account{enabled: true}
	err := fields(n, map[string]func(*yaml.Node) error{
		"name": func(n *yaml.Node) error { return text(n, &a.name) },
		"passwords": func(n *yaml.Node) error {
			return list(n, parseHash, &a.passwords)
		},
		"tokens": func(n *yaml.Node) error {
			return list(n, parseToken, &a.tokens)
		},
		"certificates": func(n *yaml.Node) error {
			return list(n, nonEmpty, &a.certificates)
		},
		"rules": func(n *yaml.Node) error {
			return each(n, func(n *yaml.Node) error {
				r, err := parseRule(n)
				a.rules = append(a.rules, r)
				return err
			})
		},
		"enabled": func(n *yaml.Node) error { return boolean(n, &a.enabled) },
		"nopass":  func(n *yaml.Node) error { return boolean(n, &a.open) },
	})
	if err != nil {
		return a, err
	}
	if a.name == "" {
		return a, nodeError(n, "user without a name")
	}
	if a.open && a.name != defaultName {
		return a, nodeError(n, "nopass is only for the user %q, which is used by clients without login", defaultName)
	}
	return a, nil
}

func parseRule(n *yaml.Node) (rule, error) {
	var r rule
	err := fields(n, map[string]func(*yaml.Node) error{
		"rights": func(n *yaml.Node) error {
			var rights []Right
			err := list(n, ParseRight, &rights)
			for _, one := range rights {
				r.rights |= one
			}
			return err
		},
		"names": func(n *yaml.Node) error {
			return list(n, func(s string) (string, error) { return s, checkPattern(s) }, &r.names)
		},
	})
	if err != nil {
		return r, err
	}
	everything := false
	for _, p := range r.names {
		everything = everything || p == all
	}
	switch {
	case r.rights == 0:
		return r, nodeError(n, "rule without rights")
	case r.rights == Admin && len(r.names) == 0:
		r.names = []string{all}
	case len(r.names) == 0:
		return r, nodeError(n, "rule without names; use [%q] for all names", all)
	case r.rights&Admin != 0 && !everything:
		return r, nodeError(n, "admin is a right for the server, not for names; put it into a rule with the name \"*\"")
	}
	return r, nil
}

// nodeError returns an error with the line of a node.
func nodeError(n *yaml.Node, format string, args ...any) error {
	return fmt.Errorf("line %d: %w", n.Line, fmt.Errorf(format, args...))
}

// fields calls the function for each key of a mapping.
func fields(n *yaml.Node, by map[string]func(*yaml.Node) error) error {
	if n.Kind != yaml.MappingNode {
		return nodeError(n, "want keys and values, got %s", kind(n))
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		read, ok := by[key.Value]
		if !ok || key.Kind != yaml.ScalarNode {
			return nodeError(key, "unknown key %.40q, want one of %s", key.Value, strings.Join(slices.Sorted(maps.Keys(by)), ", "))
		}
		if seen[key.Value] {
			return nodeError(key, "duplicate key %s", key.Value)
		}
		seen[key.Value] = true
		if err := read(n.Content[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// each calls read for each element of a list.
func each(n *yaml.Node, read func(*yaml.Node) error) error {
	if n.Kind != yaml.SequenceNode {
		return nodeError(n, "want a list, got %s", kind(n))
	}
	for _, e := range n.Content {
		if err := read(e); err != nil {
			return err
		}
	}
	return nil
}

// list parses a list of strings. Errors don't contain the strings, which could be misplaced
// secrets.
func list[T any](n *yaml.Node, read func(string) (T, error), to *[]T) error {
	return each(n, func(n *yaml.Node) error {
		var s string
		if err := text(n, &s); err != nil {
			return err
		}
		v, err := read(s)
		if err != nil {
			return nodeError(n, "%w", err)
		}
		*to = append(*to, v)
		return nil
	})
}

func text(n *yaml.Node, to *string) error {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		return nodeError(n, "want a string, got %s", kind(n))
	}
	*to = n.Value
	return nil
}

func boolean(n *yaml.Node, to *bool) error {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!bool" {
		return nodeError(n, "want true or false")
	}
	return n.Decode(to)
}

func nonEmpty(s string) (string, error) {
	if s == "" {
		return "", errors.New("empty name")
	}
	return s, nil
}

// kind names the type of a node for errors.
func kind(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "keys and values"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias, which is not supported"
	}
	if n.Tag == "!!null" {
		return "nothing"
	}
	return "a value"
}
