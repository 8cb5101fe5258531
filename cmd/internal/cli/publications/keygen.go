package publications

import (
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

func KeygenCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "keygen NAME [-o FILE] | --public FILE",
		Short:   "create the key of a publication",
		Long:    keygenHelp,
		Example: keygenExample,
	}
	cmd.DisableFlagsInUseLine = true
	output := cmd.Flags().StringP("output", "o", "", "`FILE` to write; by default the last part of the name, with .key")
	public := cmd.Flags().String("public", "", "print the public key of the private key in `FILE`")
	cli.Exclusive(cmd, "output", "public")
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if *public != "" {
			return cli.Arguments(0, 0)(cmd, args)
		}
		return cli.Arguments(1, 1)(cmd, args)
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *public != "" {
			k, err := signing.Read(*public)
			if err != nil {
				return err
			}
			return printKey(cmd, keyPair{Name: k.Signer.Name(), Public: k.Public, File: *public})
		}
		return generateKey(cmd, args[0], *output)
	}
	return cmd
}

func generateKey(cmd *cobra.Command, name, file string) error {
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
		return cli.Report(cmd, file, keyPair{Name: name, Public: public, File: file}, lineWriter(public))
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
	if !cli.IsQuiet(cmd) && !cli.WantsJSON(cmd) {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s: the private key of %s; keep it secret\n%s: the public key:\n", file, name, publicFile)
	}
	return printKey(cmd, keyPair{name, public, file, publicFile})
}

// lineWriter returns a function that writes a line.
func lineWriter(text string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := fmt.Fprintln(w, text)
		return err
	}
}

func printKey(cmd *cobra.Command, k keyPair) error {
	return cli.Answer(cmd, k, lineWriter(k.Public))
}
