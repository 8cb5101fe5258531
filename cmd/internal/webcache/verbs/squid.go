package verbs

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/files/atomicfile"
	"github.com/umbel-filters/umbel/cmd/internal/files/container"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/foreign/squid"
)

const squidHelp = `Work with cache digests, the Bloom filters by which Squid caches know what their neighbors have.

fetch gets the digest of a Squid, and has queries it for URLs. info and diff describe digests. make
makes one from URLs. relay stands between Squids, so that they read each other's digests without
false negatives. import and export convert a digest to a filter of kind squid and back.`

func squidCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "squid",
		Short:   "fetch, query, make and relay Squid's cache digests",
		Long:    squidHelp,
		Example: squidFetchExample + "\n" + squidHasExample + "\n" + squidRelayExample,
		Args:    cli.NoArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(squidFetchCommand(), squidHasCommand(), squidInfoCommand(), squidDiffCommand(), squidMakeCommand(),
		squidRelayCommand())
	return cmd
}

// addDigestFlag adds -o for a digest.
func addDigestFlag(cmd *cobra.Command, output *string, o cli.OutputFlag) {
	o.Heads = []string{squid.Head}
	cli.AddOutputFlag(cmd, output, "`FILE` to write", o)
}

// readDigest returns the cache digest in the file at path; "-" is standard input. If only its fill ratio is too
// high, the error wraps squid.ErrOverfull, and the digest is returned.
func readDigest(streams *cli.Streams, path string) (squid.Digest, error) {
	in := io.Reader(streams.In)
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return squid.Digest{}, err
		}
		defer f.Close()
		in = f
	}
	b, err := io.ReadAll(io.LimitReader(in, squid.BlockBytes+squid.MaxMask+1))
	if err != nil {
		return squid.Digest{}, err
	}
	if container.IsHead(b[:min(len(b), 16)]) {
		return squid.Digest{}, fmt.Errorf("%s is a filter of umbel; convert it: umbel convert %[1]s --as squid -o DIGEST", path)
	}
	d, err := squid.Parse(b, squid.Limits{})
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return d, err
}

// readSquid returns the filter of the digest in the file at path, or the filter of kind squid in it. A digest may
// be overfull.
func readSquid(streams *cli.Streams, path string) (*squid.Filter, error) {
	if container.IsFile(path) {
		f, _, err := container.Open(path, filter.All)
		if err != nil {
			return nil, err
		}
		s, ok := f.(*squid.Filter)
		if !ok || s.Hasher() != squid.Hasher {
			return nil, fmt.Errorf("%s is a filter of kind %s with hash %v, not one of kind squid with hash %v", path, f.State().Kind, f.Hasher(), squid.Hasher)
		}
		return s, nil
	}
	d, err := readDigest(streams, path)
	if err != nil && !errors.Is(err, squid.ErrOverfull) {
		return nil, err
	}
	return d.Filter()
}

// writeDigest writes a digest that every Squid accepts.
func writeDigest(path string, d squid.Digest) error {
	b, err := d.AppendBinary(nil)
	if err != nil {
		return err
	}
	return writeBytes(path, b)
}

func writeBytes(path string, b []byte) error {
	return atomicfile.Write(path, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
}

// requestFlags are what makes a key from a URL.
type requestFlags struct {
	method string
	vary   []string
}

func (r *requestFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&r.method, "method", "GET", "`METHOD` of the requests")
	flags.StringArrayVar(&r.vary, "vary", nil, "`NAME=VALUE` of a header that the response names in Vary, or NAME if the request lacks it; in the order of Vary")
}

// keys returns the function from a URL to the digest of its key.
func (r requestFlags) keys() (func(url []byte) (umbel.Digest, error), error) {
	method, err := squid.ParseMethod(r.method)
	if err != nil {
		return nil, err
	}
	mark, err := varyMark(r.vary)
	if err != nil {
		return nil, err
	}
	var room []byte
	return func(url []byte) (umbel.Digest, error) {
		uri, err := squid.CanonicalURI(string(url))
		if err != nil {
			return umbel.Digest{}, err
		}
		room = squid.AppendKey(room[:0], method, uri, mark)
		return squid.Hasher.HashBytes(room), nil
	}, nil
}

// varyMark returns the mark of a variant from words NAME=VALUE and NAME.
func varyMark(words []string) (string, error) {
	var fields []squid.Field
	for _, w := range words {
		name, value, given := strings.Cut(w, "=")
		if name = strings.TrimSpace(name); name == "" {
			return "", fmt.Errorf("--vary %q: want NAME=VALUE, such as accept-language=de", w)
		}
		fields = append(fields, squid.Field{Name: name, Value: value, Absent: !given})
	}
	return squid.VaryMark(fields...), nil
}
