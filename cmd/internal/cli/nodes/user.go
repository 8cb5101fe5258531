package nodes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/files/atomicfile"
	"github.com/umbel-filters/umbel/cmd/internal/files/keys"
	"github.com/umbel-filters/umbel/cmd/internal/node/access"
)

const userHelp = `Create a user with a password, and add it to the file of umbel serve --users. The password is
random and printed once; --password-stdin reads it from standard input. With --token the user
also gets a token for HTTP, which is printed. The file contains only hashes. Without --users the
user is printed in the format of the file.

The rights are read (query, count, list, get), add (make filters, add keys), remove (remove,
clear, fold, delete) and admin (the node itself; needs all names). Names are patterns: * matches
any text, ? any character.

With --replace an existing user gets a new password and, with --token, a new token instead of its
tokens. Its rights stay unless --rights and --names are given. With --delete the user is removed.
Both change only this user, and need --users.

A running node reloads the file on SIGHUP. Rights change at once, also for clients that have logged
in; users that are not in the file any more lose all rights.`

const userExample = `  umbel user alice --rights read,add --names 'users:*' --users users.yaml
  umbel user root --rights read,add,remove,admin --names '*' --token --users users.yaml
  umbel user alice --replace --users users.yaml
  umbel user alice --delete --users users.yaml`

// newUser is the result of umbel user.
type newUser struct {
	Name     string `json:"name"`
	Password string `json:"password,omitempty"` // unless it was given
	Token    string `json:"token,omitempty"`
	File     string `json:"file,omitempty"`
	Entry    string `json:"entry,omitempty"` // without --users
	Deleted  bool   `json:"deleted,omitempty"`
}

// userOptions are the flags of umbel user.
type userOptions struct {
	rights, names                 []string
	file                          string
	given, token, replace, remove bool
	changed                       cli.Given
}

// UserCommand is umbel user.
func UserCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "user NAME", Short: "create, replace or delete a user of a node", Long: userHelp, Example: userExample,
		Args: cli.Arguments(1, 1),
	}
	o := new(userOptions)
	flags := cmd.Flags()
	flags.StringSliceVar(&o.rights, "rights", []string{"read"}, "`RIGHTS` of the user: read, add, remove, admin")
	flags.StringSliceVar(&o.names, "names", []string{"*"}, "`PATTERNS` of names of filters")
	flags.StringVar(&o.file, "users", "", "`FILE` with users, in which the user is added or changed")
	flags.BoolVar(&o.given, "password-stdin", false, "read the password from standard input")
	flags.BoolVar(&o.token, "token", false, "create a token for HTTP too")
	flags.BoolVar(&o.replace, "replace", false, "replace an existing user's password")
	flags.BoolVar(&o.remove, "delete", false, "delete the user")
	for _, other := range []string{"replace", "rights", "names", "password-stdin", "token"} {
		cli.Exclusive(cmd, "delete", other)
	}
	o.changed = cli.GivenFlags(cmd)
	return cli.Verb(cmd, o.run)
}

// run creates, replaces or deletes a user.
func (o *userOptions) run(_ context.Context, streams *cli.Streams, args []string) error {
	e := userEdit{name: args[0], file: o.file, rule: access.FileRule{Rights: o.rights, Names: o.names}}
	switch {
	case (o.replace || o.remove) && o.file == "":
		return errors.New("--replace and --delete need the file of the user: --users FILE")
	case o.replace && o.changed["rights"] != o.changed["names"]:
		return errors.New("with --replace, give --rights and --names together, or none of them")
	case o.remove:
		return e.delete(streams)
	}
	password := access.NewPassword()
	printed := password
	if o.given {
		var err error
		if password, err = passwordLine(streams.In); err != nil {
			return err
		}
		printed = ""
	}
	e.keepRules = o.replace && !o.changed["rights"]
	return e.write(streams, password, printed, o.token, o.replace)
}

// userEdit is a change of one user in a file, or a new user without a file.
type userEdit struct {
	name, file string
	rule       access.FileRule
	keepRules  bool
}

// delete deletes the user.
func (e userEdit) delete(streams *cli.Streams) error {
	if err := e.change(false, func(old []byte) ([]byte, error) { return access.DeleteUser(old, e.name) }); err != nil {
		return err
	}
	u := newUser{Name: e.name, File: e.file, Deleted: true}
	return streams.Answer(u, u.Write)
}

// write adds or replaces the user, with a password, and prints what was generated.
func (e userEdit) write(streams *cli.Streams, password, printed string, token, replace bool) error {
	u := newUser{Name: e.name, File: e.file, Password: printed}
	hash, err := access.HashPassword(password)
	if err != nil {
		return err
	}
	sum := ""
	if token {
		u.Token, sum = access.NewToken()
	}
	set := func(f *access.FileUser) {
		f.Name, f.Passwords, f.NoPassword = e.name, []string{hash}, false
		if !e.keepRules {
			f.Rules = []access.FileRule{e.rule}
		}
		if token {
			f.Tokens = []string{sum}
		}
	}
	if replace {
		err = e.change(false, func(old []byte) ([]byte, error) { return access.ReplaceUser(old, e.name, set) })
	} else {
		err = e.add(&u, set)
	}
	if err != nil {
		return err
	}
	return streams.Answer(u, u.Write)
}

// add adds the user to the file, or without one puts its entry into u.
func (e userEdit) add(u *newUser, set func(*access.FileUser)) error {
	var f access.FileUser
	set(&f)
	if e.file != "" {
		return e.change(true, func(old []byte) ([]byte, error) { return access.AddUser(old, f) })
	}
	entry, err := access.AddUser(nil, f)
	u.Entry = string(entry)
	return err
}

// change replaces the contents of the file, which may be missing for a new user.
func (e userEdit) change(isNew bool, do func(old []byte) ([]byte, error)) error {
	old, err := os.ReadFile(e.file)
	if err != nil && !(isNew && errors.Is(err, fs.ErrNotExist)) {
		return err
	}
	lines, err := do(old)
	if err != nil {
		return fmt.Errorf("%s: %w", e.file, err)
	}
	return writePrivate(e.file, lines)
}

// passwordLine reads one line, "" if there is none.
func passwordLine(r io.Reader) (string, error) {
	chunk, err := keys.NewReader(r, keys.Lines).Next(nil)
	if err != nil && err != io.EOF {
		return "", err
	}
	line, _ := keys.Lines.Cut(chunk)
	return string(line), nil
}

// writePrivate writes a file. A new one is readable only by its owner.
func writePrivate(file string, content []byte) error {
	return atomicfile.WriteSecret(file, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

func (u newUser) Write(w io.Writer) error {
	if u.Deleted {
		fmt.Fprintf(w, "deleted  %s\n", u.Name)
	}
	if u.Entry != "" {
		fmt.Fprint(w, u.Entry)
	}
	if u.Password != "" {
		fmt.Fprintf(w, "%spassword %s\n", u.comment(), u.Password)
	}
	if u.Token != "" {
		fmt.Fprintf(w, "%stoken    %s\n", u.comment(), u.Token)
	}
	return nil
}

// comment returns the prefix that makes a secret a comment of the printed entry.
func (u newUser) comment() string {
	if u.Entry != "" {
		return "# "
	}
	return ""
}
