package cli

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/files/container"
)

// ErrNoOutput is the error of a verb without -o.
var ErrNoOutput = errors.New("give the file to write: -o FILE")

// OutputFlag guards the existing files that a verb might replace: its inputs, files of other
// programs, and read-only files need --force.
type OutputFlag struct {
	Name    string   // of the flag, "output" by default
	Heads   []string // first bytes of the files that the verb writes, nil for filters and deltas
	Inputs  []string // flags with further files that the verb reads
	InPlace bool     // without the flag the verb replaces the file of its first argument
	Fetches bool     // the verb reads from a node, and writes a file even so
	Keep    bool     // every existing file needs --force
}

// SVGHead is how drawings begin.
const SVGHead = "<svg "

// AddOutputFlag adds -o and --force for a verb that writes a filter or a delta.
func AddOutputFlag(cmd *cobra.Command, output *string, usage string, o OutputFlag) {
	cmd.Flags().StringVarP(output, "output", "o", "", usage)
	o.Guard(cmd)
}

// Guard is [GuardOutputs] for one flag.
func (o OutputFlag) Guard(cmd *cobra.Command) { GuardOutputs(cmd, o) }

// GuardOutputs adds --force, and checks the files of flags before the verb runs.
func GuardOutputs(cmd *cobra.Command, outputs ...OutputFlag) {
	force := cmd.Flags().Bool("force", false, "replace an input, a read-only file, or a file with other contents")
	prepare(cmd, func(cmd *cobra.Command, args []string) error {
		if *force {
			return nil
		}
		for _, o := range outputs {
			if err := o.checkAll(cmd, args); err != nil {
				return err
			}
		}
		return nil
	})
}

// checkAll checks the file of the flag, or that of the first argument.
func (o OutputFlag) checkAll(cmd *cobra.Command, args []string) error {
	if onNode(cmd) && !o.Fetches {
		return nil
	}
	if path := cmd.Flag(cmp.Or(o.Name, "output")).Value.String(); path != "" {
		return o.check(cmd, path, args)
	}
	if inPlace := cmd.Flags().Lookup("in-place"); o.InPlace || inPlace != nil && inPlace.Changed {
		return o.checkWritable(args[0])
	}
	return nil
}

// onNode reports whether the filters that a verb names are on a node.
func onNode(cmd *cobra.Command) bool {
	addr := cmd.Flag(AddrFlag)
	return !addr.Hidden && flagOrEnv(addr, "UMBEL_ADDR") != ""
}

// check returns an error if the verb would replace a file that it should not.
func (o OutputFlag) check(cmd *cobra.Command, path string, args []string) error {
	old, err := os.Stat(path)
	if path == "-" || err != nil || !old.Mode().IsRegular() {
		return nil // nothing is replaced, or writing reports the error
	}
	if o.isInput(cmd, old, args) {
		if cmd.Flags().Lookup("in-place") != nil {
			return fmt.Errorf("%s is an input of this command; write another file, or replace it with --in-place", path)
		}
		return fmt.Errorf("%s is an input of this command; write another file, or replace it with --force", path)
	}
	if o.Keep && old.Size() > 0 {
		return fmt.Errorf("%s exists; choose another file, or replace it with --force", path)
	}
	if err := o.checkWritable(path); err != nil {
		return err
	}
	head, err := readHead(path)
	if err != nil {
		return err
	}
	own := slices.ContainsFunc(o.Heads, func(s string) bool { return bytes.HasPrefix(head, []byte(s)) })
	if o.Heads == nil {
		own = container.IsHead(head)
	}
	if len(head) > 0 && !own {
		return fmt.Errorf("%s exists, and %s does not write such files; write another file, or replace it with --force", path, cmd.CommandPath())
	}
	return nil
}

// isInput reports whether old is a file that the verb reads.
func (o OutputFlag) isInput(cmd *cobra.Command, old fs.FileInfo, args []string) bool {
	if in, ok := cmd.InOrStdin().(*os.File); ok {
		if info, err := in.Stat(); err == nil && os.SameFile(old, info) {
			return true
		}
	}
	var names []string
	if !o.Fetches {
		names = slices.Clone(args)
	}
	for _, flag := range o.Inputs {
		names = append(names, cmd.Flag(flag).Value.String())
	}
	return slices.ContainsFunc(names, func(name string) bool {
		info, err := os.Stat(name)
		return err == nil && os.SameFile(old, info)
	})
}

// checkWritable returns an error if nobody may write the file at path. A rename would replace it
// nevertheless, and so would the superuser.
func (o OutputFlag) checkWritable(path string) error {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o222 != 0 {
		return nil
	}
	other := "write another file with -o"
	if o.Name != "" {
		other = "use another --" + o.Name
	}
	return fmt.Errorf("%s is read-only; %s, or replace it with --force", path, other)
}

// readHead returns the first bytes of the file at path, enough to recognize its format.
func readHead(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, 16))
}
