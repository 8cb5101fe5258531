package verbs

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/webcache/squidpeer"
	"github.com/umbel-filters/umbel/filter/foreign/squid"
)

const squidFetchHelp = `Fetch the cache digest of a Squid, and write the bytes as it sent them. For HOST:PORT the path is
/squid-internal-periodic/store_digest. The Squid must permit requests from this machine
(http_access). It has no digest for some seconds after its start.

A digest that is damaged, or that a Squid would refuse, is not written.`

const squidFetchExample = `  umbel-cache squid fetch 127.0.0.1:3128 -o squid.digest`

// fetchedInfo is the result of umbel-cache squid fetch.
type fetchedInfo struct {
	File     string     `json:"file"`
	URL      string     `json:"url"`
	Bytes    int        `json:"bytes"`
	Keys     uint32     `json:"keys"` // objects
	Fill     cli.Float  `json:"fill"`
	Modified *time.Time `json:"modified,omitempty"`
	Expires  time.Time  `json:"expires"`
}

func squidFetchCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "fetch HOST:PORT|URL -o FILE",
		Short:   "fetch the cache digest of a Squid",
		Long:    squidFetchHelp,
		Example: squidFetchExample,
		Args:    cli.Arguments(1, 1),

		DisableFlagsInUseLine: true,
	}
	o := new(squidFetchOptions)
	addDigestFlag(cmd, &o.output, cli.OutputFlag{Fetches: true})
	quantity.DurationVar(cmd.Flags(), &o.timeout, "transfer-timeout", squidpeer.DefaultTimeout, "`DURATION` of a transfer at most")
	return cli.Verb(cmd, o.run)
}

// squidFetchOptions are the flags of umbel-cache squid fetch.
type squidFetchOptions struct {
	output  string
	timeout time.Duration
}

func (o *squidFetchOptions) run(ctx context.Context, streams *cli.Streams, args []string) error {
	if o.output == "" {
		return cli.UsageError(cli.ErrNoOutput)
	}
	if o.timeout <= 0 {
		return cli.UsageError(fmt.Errorf("--transfer-timeout is %v, want more than 0", o.timeout))
	}
	url, err := squidpeer.URL(args[0])
	if err != nil {
		return cli.UsageError(err)
	}
	got, err := squidpeer.Fetcher{Timeout: o.timeout, MaxMask: squid.MaxMask}.Fetch(streams.Interruptible(ctx), url)
	if err != nil {
		return err
	}
	if err := writeBytes(o.output, got.Bytes); err != nil {
		return err
	}
	in := fetchedInfo{
		File: o.output, URL: url, Bytes: len(got.Bytes), Keys: got.Digest.Count, Fill: cli.Float(got.Digest.Fill()),
		Expires: time.Now().Add(got.Valid).Truncate(time.Second),
	}
	if !got.Modified.IsZero() {
		in.Modified = &got.Modified
	}
	return streams.Report(o.output, in, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%s: %s in %v bytes, valid until %s\n", in.File, quantity.Count(in.Keys).Of("object"),
			quantity.Count(in.Bytes), in.Expires.UTC().Format(time.RFC3339))
		return err
	})
}
