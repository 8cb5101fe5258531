package message

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/share"
)

// replaced is an error with words of its own for the error that it wraps.
type replaced struct{}

func (replaced) Error() string { return "log in first" }
func (replaced) Unwrap() error { return umbel.ErrLimit }

// inUse is the error of net.Listen for an address that is in use.
func inUse() error {
	return &net.OpError{
		Op: "listen", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80}, Err: os.NewSyscallError("bind", syscall.EADDRINUSE),
	}
}

// full is the error of writing a file on a full disk.
func full(path string) error {
	return fmt.Errorf("%w", &fs.PathError{Op: "write", Path: path, Err: syscall.ENOSPC})
}

func TestOf(t *testing.T) {
	missing := &fs.PathError{Op: "open", Path: "words.umb", Err: syscall.ENOENT}
	header := fmt.Errorf("wire: byte 8: a checksum is wrong: %w", umbel.ErrCorrupt)
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"plain", errors.New("give two filters"), "give two filters"},
		{"sentinel alone", umbel.ErrCorrupt, "corrupt"},
		{"sentinel and package", header, "byte 8: a checksum is wrong"},
		{"package within", fmt.Errorf("words.umb: %w", header), "words.umb: byte 8: a checksum is wrong"},
		{"remedy after the sentinel", fmt.Errorf("%w; copy the file again", header), "byte 8: a checksum is wrong; copy the file again"},
		{"two sentinels", fmt.Errorf("a later version: %w: %w", errors.ErrUnsupported, umbel.ErrCorrupt), "a later version"},
		{"sentinel in front", fmt.Errorf("%w: 3 cells and 4", umbel.ErrMismatch), "3 cells and 4"},
		{"cause and sentinel", fmt.Errorf("%w: %w", errors.New("k is 0"), umbel.ErrGoal), "k is 0"},
		{"same words in a name", fmt.Errorf("corrupt: corrupt: 3 bytes: %w", umbel.ErrCorrupt), "corrupt: corrupt: 3 bytes"},
		{"text of a package within", errors.New(`key "wire: corrupt"`), `key "wire: corrupt"`},
		{"name of a kind", fmt.Errorf("bloom: k is 0: %w", umbel.ErrGoal), "bloom: k is 0"},
		{"expired head", fmt.Errorf("share: the head was valid until noon: %w", share.ErrStale), "the head was valid until noon"},
		{"file", missing, "words.umb: no such file or directory"},
		{"file within", fmt.Errorf("peers: %w; see --help", missing), "peers: words.umb: no such file or directory; see --help"},
		{"full disk", fmt.Errorf("share/dir: %w", full("public/head")), "public/head: no space left on device; free space on the disk of public"},
		{"full disk here", full("words.umb"), "words.umb: no space left on device; free space on the disk of the current directory"},
		{"full device", full("/dev/stdout"), "/dev/stdout: no space left on device"},
		{"port in use", fmt.Errorf("--listen: %w", inUse()), "--listen: 127.0.0.1:80 is in use by another process; stop it, or choose another address"},
		{"joined", errors.Join(header, missing), "byte 8: a checksum is wrong; words.umb: no such file or directory"},
		{"own words", fmt.Errorf("share: %w", replaced{}), "log in first"},
	} {
		if got := Of(c.err); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
