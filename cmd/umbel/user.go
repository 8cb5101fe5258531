package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/umbel-filters/umbel/cmd/internal/access"
	"github.com/umbel-filters/umbel/cmd/internal/atomicfile"
)

const userHelp = `Create a user with a password, and add it to the file of umbel serve --users. The password is
random and printed once; --password-stdin reads it from standard input. With --token the user
also gets a token for HTTP, which is printed. The file contains only hashes. Without --file the
user is printed in the format of the file.

The rights are read (query, count, list, get), add (make filters, add keys), remove (remove,
clear, fold, delete) and admin (the node itself; needs all names). Names are patterns: * matches
any text, ? any character.

A running node reloads the file on SIGHUP.`

const userExample = `  umbel user alice --rights read,add --names 'users:*' --file users.yaml
  umbel user root --rights read,add,remove,admin --names '*' --token --file users.yaml`

// newUser is the result of umbel user.
type newUser struct {
	Name     string `json:"name"`
	Password string `json:"password,omitempty"` // unless it was given
	Token    string `json:"token,omitempty"`
	File     string `json:"file,omitempty"`
	Entry    string `json:"entry,omitempty"` // without --file
}

func userCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "user NAME",
		Short:   "create a user of a node",
		Long:    userHelp,
		Example: userExample,
		Args:    arguments(1, 1),
	}
	flags := cmd.Flags()
	rights := flags.StringSlice("rights", []string{"read"}, "`rights` of the user: read, add, remove, admin")
	names := flags.StringSlice("names", []string{"*"}, "`patterns` of names of filters")
	file := flags.String("file", "", "`FILE` of users to add the user to")
	given := flags.Bool("password-stdin", false, "read the password from standard input")
	token := flags.Bool("token", false, "create a token for HTTP too")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		u := newUser{Name: args[0], File: *file}
		password := access.NewPassword()
		if *given {
			var err error
			if password, err = passwordLine(cmd.InOrStdin()); err != nil {
				return err
			}
		} else {
			u.Password = password
		}
		hash, err := access.HashPassword(password)
		if err != nil {
			return err
		}
		e := access.FileUser{Name: args[0], Passwords: []string{hash}, Rules: []access.FileRule{{Rights: *rights, Names: *names}}}
		if *token {
			var sum string
			u.Token, sum = access.NewToken()
			e.Tokens = []string{sum}
		}
		lines, err := usersWith(*file, e)
		if err != nil {
			return err
		}
		if *file == "" {
			u.Entry = string(lines)
		} else if err := writePrivate(*file, lines); err != nil {
			return err
		}
		return answer(cmd, u, u.write)
	}
	return cmd
}

// passwordLine reads one line.
func passwordLine(r io.Reader) (string, error) {
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	return strings.TrimRight(line, "\r\n"), nil
}

// usersWith returns the contents of the file with the user appended. The rest, with its
// comments, stays the same.
func usersWith(file string, u access.FileUser) ([]byte, error) {
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(access.File{Users: []access.FileUser{u}}); err != nil {
		return nil, err
	}
	if file != "" {
		old, err := os.ReadFile(file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, err
		default:
			_, entry, _ := bytes.Cut(b.Bytes(), []byte("\n"))
			old = append(bytes.TrimRight(old, "\n"), '\n')
			b = *bytes.NewBuffer(append(old, entry...))
		}
	}
	if _, err := access.Parse(b.Bytes()); err != nil {
		if file != "" {
			return nil, fmt.Errorf("%s with the new user: %w", file, err)
		}
		return nil, err
	}
	return b.Bytes(), nil
}

// writePrivate writes a file. A new one is readable only by its owner.
func writePrivate(file string, content []byte) error {
	return atomicfile.WriteSecret(file, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

func (u newUser) write(w io.Writer) error {
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
