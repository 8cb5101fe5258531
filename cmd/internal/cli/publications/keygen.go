package publications

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/files/atomicfile"
	"github.com/umbel-filters/umbel/cmd/internal/publish/signing"
	"github.com/umbel-filters/umbel/share"
)

const keygenHelp = `Create the key of a publication (umbel publish). The name of the key is the name of the
publication; by convention it is a path below a domain of yours. The private key is written to a
new file that only you can read, and the public key, which subscribers need, to a file beside it with
the ending .pub. The public key is printed too.

With --public the public key of an existing file is printed.`

const keygenExample = `  umbel keygen example.org/words                  # writes words.key and words.pub
  umbel keygen --public words.key                 # prints the public key`

// keyPair is the result of umbel keygen.
type keyPair struct {
	Name   string `json:"name"`
	Public string `json:"publicKey"`
	File   string `json:"file"`
	// PublicFile is the new file with the public key.
	PublicFile string `json:"publicFile,omitempty"`
}

// KeygenCommand is umbel keygen.
func KeygenCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "keygen NAME [-o FILE] | --public FILE",
		Short:   "create the key of a publication",
		Long:    keygenHelp,
		Example: keygenExample,
	}
	cmd.DisableFlagsInUseLine = true
	o := new(keygenOptions)
	cmd.Flags().StringVarP(&o.output, "output", "o", "", "`FILE` to write; by default the last part of the name, with .key")
	cmd.Flags().StringVar(&o.public, "public", "", "print the public key of the private key in `FILE`")
	cli.Exclusive(cmd, "output", "public")
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if o.public != "" {
			return cli.Arguments(0, 0)(cmd, args)
		}
		return cli.Arguments(1, 1)(cmd, args)
	}
	return cli.Verb(cmd, o.run)
}

// keygenOptions are the flags of umbel keygen.
type keygenOptions struct{ output, public string }

func (o *keygenOptions) run(_ context.Context, streams *cli.Streams, args []string) error {
	if o.public == "" {
		return generateKey(streams, args[0], o.output)
	}
	k, err := signing.Read(o.public)
	if err != nil {
		return err
	}
	return printKey(streams, keyPair{Name: k.Signer.Name(), Public: k.Public, File: o.public})
}

func generateKey(streams *cli.Streams, name, file string) error {
	_, private, err := share.NewKey(name)
	if err != nil {
		return err
	}
	public, err := share.PublicKey(private)
	if err != nil {
		return err
	}
	if file == "" {
		last := path.Base(name)
		if strings.HasSuffix(name, "/") || strings.Trim(last, "./") == "" || strings.HasPrefix(last, "-") {
			return fmt.Errorf("no file can have the last part of %q as its name; give the file with -o", name)
		}
		file = last + ".key"
	}
	if cli.IsStdout(file) {
		if err := atomicfile.CreateSecret(file, lineWriter(private)); err != nil {
			return err
		}
		return streams.ToErr().Answer(keyPair{Name: name, Public: public, File: file}, lineWriter(public))
	}
	publicFile := strings.TrimSuffix(file, ".key") + ".pub"
	for _, f := range []string{file, publicFile} {
		if errors.Is(atomicfile.CheckNew(f), fs.ErrExist) {
			return fmt.Errorf("%s exists; give another file with -o, or print a public key with --public", f)
		}
	}
	if err := atomicfile.CreateSecret(file, lineWriter(private)); err != nil {
		return err
	}
	if err := atomicfile.Write(publicFile, lineWriter(public)); err != nil {
		return err
	}
	if !streams.Quiet && !streams.JSON {
		fmt.Fprintf(streams.Err, "%s: the private key of %s; keep it secret\n%s: the public key:\n", file, name, publicFile)
	}
	return printKey(streams, keyPair{name, public, file, publicFile})
}

// lineWriter returns a function that writes a line.
func lineWriter(text string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := fmt.Fprintln(w, text)
		return err
	}
}

func printKey(streams *cli.Streams, k keyPair) error {
	return streams.Answer(k, lineWriter(k.Public))
}
