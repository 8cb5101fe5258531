package verbs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/filter/foreign/squid"
)

const squidMakeHelp = `Make a cache digest from URLs, for Squids to read: those given, those in the files of -f, or those on
standard input. Its capacity is their number, or --capacity. URLs are changed to the form in which
Squid stores them.

A digest has --bits-per-object bits per object, by default 5 as in Squid; Squid refuses digests in which more
than 65% of the bits are set. With --tolerant the digest is one that all releases of Squid read
without false negatives; then the default is the least number of bits with which the rate is as low
as with 5 bits otherwise, up to 10.`

const squidMakeExample = `  umbel-cache squid make -o site.digest -f urls.txt --tolerant`

// digestSize is what sizes a digest.
type digestSize struct {
	capacity quantity.Count
	bits     uint8
	tolerant bool
}

func squidMakeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "make -o FILE [URL...]",
		Short:   "make a cache digest from URLs",
		Long:    squidMakeHelp,
		Example: squidMakeExample,
		Args:    cli.Arguments(0, -1),

		DisableFlagsInUseLine: true,
	}
	o := new(squidMakeOptions)
	size := &o.size
	flags := cmd.Flags()
	addDigestFlag(cmd, &o.output, cli.OutputFlag{})
	flags.Var(&size.capacity, "capacity", "`NUMBER` of objects that the digest is made for")
	flags.Uint8Var(&size.bits, "bits-per-object", 0, "`NUMBER` of bits per object, 1 to 127 (default 5)")
	flags.BoolVar(&size.tolerant, "tolerant", false, "make it readable for Squids with bug 5510")
	o.request.add(flags)
	cli.AddKeyFlags(cmd, &o.keys)
	return cli.Verb(cmd, o.run)
}

// squidMakeOptions are the flags of umbel-cache squid make.
type squidMakeOptions struct {
	output  string
	size    digestSize
	request requestFlags
	keys    cli.KeyOptions
}

func (o *squidMakeOptions) run(ctx context.Context, streams *cli.Streams, args []string) error {
	if o.output == "" {
		return cli.UsageError(cli.ErrNoOutput)
	}
	key, err := o.request.keys()
	if err != nil {
		return cli.UsageError(err)
	}
	list, err := o.keys.Keys(streams, o.output, args)
	if err != nil {
		return err
	}
	ds, err := digestsOf(list(ctx), key)
	if err != nil {
		return err
	}
	d, err := o.size.make(ds)
	if err != nil {
		return err
	}
	if err := writeDigest(o.output, d); err != nil {
		return err
	}
	in, err := describeDigest(o.output, d)
	if err != nil {
		return err
	}
	return streams.Report(o.output, in, in.writeMade)
}

// digestsOf returns the keys of URLs.
func digestsOf(list iter.Seq2[[][]byte, error], key func([]byte) (umbel.Digest, error)) ([]umbel.Digest, error) {
	var ds []umbel.Digest
	for batch, err := range list {
		if err != nil {
			return nil, err
		}
		for _, url := range batch {
			d, err := key(url)
			if err != nil {
				return nil, err
			}
			ds = append(ds, d)
		}
	}
	return ds, nil
}

// writeMade writes the summary of a digest that was made.
func (in digestInfo) writeMade(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%s: %s at %d bits, %v bytes; false-positive rate %s\n",
		in.File, quantity.Count(in.Count).Of("object"), in.BitsPerEntry, quantity.Count(in.Bytes), cli.RateOf(float64(in.FPRate)))
	return err
}

// make returns the digest of some keys.
func (s digestSize) make(ds []umbel.Digest) (squid.Digest, error) {
	capacity := max(uint64(s.capacity), 1)
	if s.capacity == 0 {
		capacity = uint64(max(len(ds), 1))
	}
	if capacity > math.MaxUint32 || uint64(len(ds)) > math.MaxUint32 {
		return squid.Digest{}, fmt.Errorf("a digest is for at most %v objects", quantity.Count(math.MaxUint32))
	}
	d, err := s.choose(ds, uint32(capacity))
	if errors.Is(err, squid.ErrOverfull) {
		return d, fmt.Errorf("%.1f%% of the bits would be set, and Squid refuses digests above 65%%; give more "+
			"--bits-per-object or a larger --capacity", 100*d.Fill())
	}
	return d, err
}

// choose returns the digest with the bits of the flags.
func (s digestSize) choose(ds []umbel.Digest, capacity uint32) (squid.Digest, error) {
	switch {
	case s.bits == 0 && s.tolerant:
		return squid.TolerantOf(ds, capacity)
	case s.bits == 0:
		return squid.DigestOf(ds, capacity, squid.DefaultBits)
	}
	d, err := squid.DigestOf(ds, capacity, s.bits)
	if err == nil && s.tolerant {
		d = d.Tolerant()
		err = d.Check()
	}
	return d, err
}
