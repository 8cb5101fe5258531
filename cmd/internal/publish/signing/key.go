// Package signing reads the keys that sign publications: files of umbel keygen.
package signing

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"

	"github.com/umbel-filters/umbel/share"
)

// Key is a private key with its public key. Its name is the name of the publication.
type Key struct {
	share.Key
	Public string // as subscribers need it
}

// errExposed means that users other than the owner and the group may access the file of a key.
var errExposed = errors.New("the private key can be read by other users")

// Read reads a private key. The error wraps errExposed if all users may access the file.
func Read(file string) (Key, error) {
	info, err := os.Stat(file)
	if err != nil {
		return Key{}, err
	}
	if info.IsDir() {
		return Key{}, fmt.Errorf("%s is a directory, want the file of a private key", file)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return Key{}, err
	}
	k, err := parse(file, string(bytes.TrimSpace(b)))
	if err != nil {
		return Key{}, err
	}
	if mode := info.Mode().Perm(); runtime.GOOS != "windows" && mode&0o007 != 0 {
		return Key{}, fmt.Errorf("%s: %w: its permissions are %#o; remove those of others with chmod o= %[1]s", file, errExposed, mode)
	}
	return k, nil
}

// parse returns the key in the text of a file. Errors do not contain the text.
func parse(file, text string) (Key, error) {
	k, err := share.ParseKey(text)
	if err != nil {
		return Key{}, fmt.Errorf("%s is not the file of a private key; create one with umbel keygen", file)
	}
	public, err := share.PublicKey(text)
	return Key{k, public}, err
}
