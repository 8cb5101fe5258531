package filters

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/files/ability"
	"github.com/umbel-filters/umbel/cmd/internal/files/atomicfile"
	"github.com/umbel-filters/umbel/cmd/internal/files/container"
	"github.com/umbel-filters/umbel/cmd/internal/files/foreignfile"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/foreign/nixbloom"
	"github.com/umbel-filters/umbel/filter/foreign/squid"
	"github.com/umbel-filters/umbel/filter/sparse"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/wire"
)

const convertHelp = `Write the filter in FILE in another form. The form of FILE is recognized by its content: a filter of umbel, a cache
digest of Squid, a file NixBloom, or a dump of a filter of Redis, which may have several files. The forms to write are:

  umbel     with the cells as they are in memory; read and written fastest
  packed    in the fewest bytes: each block of 64 KiB of cells gets the coding
            that is smallest for it, about the entropy of its cells
  squid     a cache digest, for Squids to read (kind squid)
  nixbloom  the file NixBloom, which Nix reads (kind nixbloom)
  redis     BF.LOADCHUNK commands for redis-cli --pipe (kind redisbloom)

The first two are the same filter, with the same ID, and all verbs read both. Those that change a packed filter write
it packed again. A half full filter doesn't become smaller. A filter with many more cells per key does; umbel
plan --sent finds the best size for the bytes that are sent. A sparse filter becomes smaller still as the equivalent
Bloom filter: --as packed --bloom. On the other side --sparse makes the sparse filter again, from a Bloom filter with k = 1;
its cells are never expanded.

--tolerant writes a digest that all releases of Squid read without false negatives; a small one becomes up to about 50 KB
long by that. A dump for Redis creates the filter under the name of --redis-key, which must not exist there; with --json each
chunk is an object with its iterator and its data in base64. The replies to BF.SCANDUMP are read like a dump.`

const convertExample = `  umbel convert words.umb --as packed -o words.packed.umb
  umbel convert sparse.umb --as packed --bloom -o message.umb
  umbel convert message.umb --sparse -o sparse.umb
  umbel convert monday.digest -o monday.umb
  umbel convert users.umb --as redis --redis-key users -o - | redis-cli --pipe`

// conversion is one run of umbel convert.
type conversion struct {
	*cli.Streams
	output                  string
	to, key                 string
	bloom, sparse, tolerant bool
	given                   cli.Given
}

// form is a form that umbel convert writes, and the flags that belong to it.
type form struct {
	flags []string
	write func(*conversion, source) error
}

// forms are the forms by their names.
var forms = map[string]form{
	"umbel":    {[]string{"sparse"}, (*conversion).writeUnpacked},
	"packed":   {[]string{"bloom"}, (*conversion).writePacked},
	"squid":    {[]string{"tolerant"}, (*conversion).writeSquid},
	"nixbloom": {nil, (*conversion).writeNixBloom},
	"redis":    {[]string{"redis-key"}, (*conversion).writeRedis},
}

// ConvertCommand is umbel convert.
func ConvertCommand() *cobra.Command {
	r := new(conversion)
	cmd := &cobra.Command{
		Use:     "convert FILE... [--as FORM] -o FILE",
		Short:   "write a filter packed, unpacked, or for Squid, Nix or Redis",
		Long:    convertHelp,
		Example: convertExample,
		Args:    cli.Arguments(1, -1),

		DisableFlagsInUseLine: true,
	}
	flags := cmd.Flags()
	flags.StringVar(&r.to, "as", "umbel", "`FORM` of the result: umbel, packed, squid, nixbloom or redis")
	flags.BoolVar(&r.bloom, "bloom", false, "write a sparse filter as the equivalent Bloom filter")
	flags.BoolVar(&r.sparse, "sparse", false, "write a Bloom filter with k = 1 as a sparse filter")
	flags.BoolVar(&r.tolerant, "tolerant", false, "make it readable for Squids with bug 5510")
	flags.StringVar(&r.key, "redis-key", "", "`NAME` of the filter on the server")
	cli.AddOutputFlag(cmd, &r.output, "`FILE` to write", cli.OutputFlag{
		Heads: append([]string{squid.Head, foreignfile.NixHead, "*4\r\n", `{"key":`}, container.Heads...),
	})
	r.given = cli.GivenFlags(cmd)
	return cli.Verb(cmd, r.run)
}

func (r *conversion) run(_ context.Context, streams *cli.Streams, names []string) error {
	r.Streams = streams
	to, known := forms[r.to]
	if !known {
		return cli.UsageError(fmt.Errorf("--as is %q, want umbel, packed, squid, nixbloom or redis", r.to))
	}
	for name, form := range forms {
		for _, flag := range form.flags {
			if r.given[flag] && !slices.Contains(to.flags, flag) {
				return cli.UsageError(fmt.Errorf("--%s needs --as %s", flag, name))
			}
		}
	}
	switch {
	case r.output == "":
		return cli.UsageError(cli.ErrNoOutput)
	case r.to == "redis" && r.key == "":
		return cli.UsageError(errors.New("give the name on the server: --redis-key NAME"))
	}
	s, err := r.read(names)
	if err != nil {
		return err
	}
	return to.write(r, s)
}

// packing is the result of umbel convert.
type packing struct {
	File        string `json:"file"`
	Kind        string `json:"kind"`
	FileBytes   uint64 `json:"fileBytes"`
	Unpacked    uint64 `json:"unpackedBytes,omitempty"` // of the unpacked file
	*packedInfo        // of --as packed without --bloom
}

// report prints the result, as text with words.
func (r *conversion) report(p packing, format string, args ...any) error {
	p.File = r.output
	return r.Report(r.output, p, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%s: %s", p.File, fmt.Sprintf(format, args...))
		return err
	})
}

func (r *conversion) writeUnpacked(s source) error {
	size := wire.Size(s.state)
	n, err := r.WriterOf(s.state.Hasher)(r.output, int64(size), func(w io.Writer) error { return wire.Write(w, s.state) })
	if err != nil {
		return err
	}
	p := packing{Kind: s.state.Kind, Unpacked: size, FileBytes: n}
	if s.form != "" {
		return r.report(p, "converted from %s, %s; %v bytes\n", s.name, s.form, quantity.Count(n))
	}
	return r.report(p, "unpacked, %v bytes\n", quantity.Count(n))
}

func (r *conversion) writePacked(s source) (err error) {
	p := packing{Kind: s.state.Kind, Unpacked: wire.Size(s.state)}
	write := func(w io.Writer) error {
		in, err := writePacked(w, s.state)
		p.packedInfo = &in
		return err
	}
	if r.bloom {
		f, err := openSparse(s.name, s.state)
		if err != nil {
			return err
		}
		write = func(w io.Writer) error { return f.WriteBloom(w, container.Packer()) }
	}
	if p.FileBytes, err = r.WriterOf(s.state.Hasher)(r.output, -1, write); err != nil {
		return err
	}
	if r.bloom {
		return r.report(p, "packed as a Bloom filter, %v bytes; the unpacked sparse filter takes %v bytes\n", quantity.Count(p.FileBytes), quantity.Count(p.Unpacked))
	}
	words := fmt.Sprintf("packed, %v bytes instead of %v; the entropy of the cells is %v bytes\nblocks: %s\n",
		quantity.Count(p.FileBytes), quantity.Count(p.Unpacked), quantity.Count(math.Ceil(float64(p.EntropyBytes))), p.blocks())
	if p.Kind == sparse.Name {
		words += "with --bloom it may take fewer bytes\n"
	}
	return r.report(p, "%s", words)
}

func (r *conversion) writeSquid(s source) error {
	f, err := filterOf[*squid.Filter](s, squid.Name)
	if err != nil {
		return err
	}
	if f.Hasher() != squid.Hasher {
		return sentinel.Errorf(errors.ErrUnsupported, "%s has hash %v, and digests of Squid have %v; make it with --hash %[3]v", s.name, f.Hasher(), squid.Hasher)
	}
	d, err := f.Digest()
	if err == nil && r.tolerant {
		d, err = d.Relayed()
	}
	var b []byte
	if err == nil {
		b, err = d.AppendBinary(nil)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	return r.writeBytes(s, b, fmt.Sprintf("false-positive rate %s", cli.RateOf(math.Pow(d.Fill(), squid.K))))
}

func (r *conversion) writeNixBloom(s source) error {
	f, err := filterOf[*nixbloom.Filter](s, nixbloom.Name)
	if err != nil {
		return err
	}
	b, err := f.AppendFile(nil)
	if err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	return r.writeBytes(s, b, fmt.Sprintf("false-positive rate %s", cli.RateOf(f.Stats().FPRate)))
}

// writeBytes writes the file of another program.
func (r *conversion) writeBytes(s source, b []byte, words string) error {
	err := atomicfile.Write(r.output, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
	if err != nil {
		return err
	}
	return r.report(packing{Kind: s.state.Kind, FileBytes: uint64(len(b))}, "converted from %s, %v bytes; %s\n", s.name, quantity.Count(len(b)), words)
}

func (r *conversion) writeRedis(s source) error {
	f, err := filter.All.Open(s.state)
	if err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	c, err := require[ability.Chunker](s.name, f, foreignfile.LoadChunk)
	if err != nil {
		return err
	}
	chunks, err := c.Chunks()
	if err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	return atomicfile.Write(r.output, func(w io.Writer) error { return dumpChunks(w, r.key, chunks, r.JSON) })
}

// filterOf returns the filter of a source, which must be of kind name.
func filterOf[T umbel.Filter](s source, name string) (T, error) {
	f, err := filter.All.Open(s.state)
	if err != nil {
		return *new(T), fmt.Errorf("%s: %w", s.name, err)
	}
	t, ok := f.(T)
	if !ok {
		return t, sentinel.Errorf(errors.ErrUnsupported, "%s is a filter of kind %s with hash %v, not one of kind %s", s.name, s.state.Kind, f.Hasher(), name)
	}
	return t, nil
}

// dumpChunks writes one command, or one object, per chunk.
func dumpChunks(w io.Writer, key string, chunks iter.Seq2[int64, []byte], asJSON bool) error {
	for next, data := range chunks {
		var err error
		if asJSON {
			err = cli.JSONLine(w, struct {
				Key  string `json:"key"`
				Iter int64  `json:"iter"`
				Data []byte `json:"data"`
			}{key, next, data})
		} else {
			_, err = w.Write(resp.Append(nil, []byte(foreignfile.LoadChunk), []byte(key), strconv.AppendInt(nil, next, 10), data))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
