package access

import (
	"bytes"
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/umbel-filters/umbel/cmd/internal/service/yamltext"
)

// errNoUser is wrapped if a file of users has no user of a name.
var errNoUser = errors.New("no such user")

// The functions below return changed contents of a users file, which Parse accepts. Comments stay where they are.

// AddUser adds a user to the contents of a file, which may be empty. The rest stays as it is.
func AddUser(data []byte, u FileUser) ([]byte, error) {
	b, err := encode(file{Users: []FileUser{u}})
	if err != nil {
		return nil, err
	}
	if len(data) > 0 {
		_, entry, _ := bytes.Cut(b, []byte("\n"))
		b = append(append(bytes.TrimRight(data, "\n"), '\n'), entry...)
	}
	return checked(b)
}

// ReplaceUser passes the user of a name to change, and puts the result in its place. Lists of the rest keep their
// form, but not their indentation. The error wraps errNoUser.
func ReplaceUser(data []byte, name string, change func(*FileUser)) ([]byte, error) {
	return edit(data, name, func(users *yaml.Node, i int) error {
		was := users.Content[i]
		var u FileUser
		if err := was.Decode(&u); err != nil {
			return yamltext.Error(err)
		}
		change(&u)
		is := new(yaml.Node)
		if err := is.Encode(u); err != nil {
			return err
		}
		is.HeadComment, is.LineComment, is.FootComment = was.HeadComment, was.LineComment, was.FootComment
		users.Content[i] = is
		return nil
	})
}

// DeleteUser removes the user of a name, with its comments. The error wraps errNoUser. The last user cannot be
// removed: a node without users would serve everybody.
func DeleteUser(data []byte, name string) ([]byte, error) {
	return edit(data, name, func(users *yaml.Node, i int) error {
		users.Content = append(users.Content[:i:i], users.Content[i+1:]...)
		return nil
	})
}

// edit calls change with the list of users and the index of the one of a name.
func edit(data []byte, name string, change func(users *yaml.Node, i int) error) ([]byte, error) {
	if _, err := checked(data); err != nil {
		return nil, err
	}
	var document yaml.Node
	if err := yaml.Unmarshal(data, &document); err != nil {
		return nil, yamltext.Error(err)
	}
	users := valueOf(document.Content[0], "users")
	for i, u := range users.Content {
		if n := valueOf(u, "name"); n == nil || n.Value != name {
			continue
		}
		if err := change(users, i); err != nil {
			return nil, err
		}
		b, err := encode(&document)
		if err != nil {
			return nil, err
		}
		return checked(b)
	}
	return nil, fmt.Errorf("%w: %q", errNoUser, name)
}

// valueOf returns the value of a key in a mapping, or nil.
func valueOf(mapping *yaml.Node, key string) *yaml.Node {
	if mapping.Kind == yaml.AliasNode {
		mapping = mapping.Alias
	}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return mapping.Content[i+1]
		}
	}
	return nil
}

// encode returns the YAML of v.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	err := errors.Join(e.Encode(v), e.Close())
	return b.Bytes(), err
}

// checked returns the contents of a users file, or the error of Parse.
func checked(b []byte) ([]byte, error) {
	if _, err := Parse(b); err != nil {
		return nil, err
	}
	return b, nil
}
