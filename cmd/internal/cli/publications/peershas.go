package publications

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
)

const peersHasHelp = `Print the publications that may contain each KEY, in the order in which to try them: by zone, cost and name
(--config). The options are those of umbel peers. Publications that are out of date answer as --stale
of the replica states; without a replica they answer from their last version, and standard error names them. Those
that have no answer, because they are out of date with --stale error or no version has arrived, are named on
standard error, and with --json in the field unanswered; they may contain every key.

The exit code is 0 if some publication may contain each key. If none may contain some key, it is 1 if all
publications have answered, and 3 if some have not, or are out of date, so that the key may be there.`

const peersHasExample = `  umbel peers has https://example.org/large.iso
  umbel peers has --config peers.yaml a b c --json`

func peersHasCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "has KEY...", Short: "print the publications that may contain keys", Long: peersHasHelp, Example: peersHasExample,
		Args: cli.Arguments(1, -1),
	}
	o := new(peersOptions)
	o.add(cmd)
	return cli.Verb(cmd, o.has)
}

// has prints the publications that may contain each key.
func (o *peersOptions) has(ctx context.Context, streams *cli.Streams, keys []string) error {
	if i := slices.IndexFunc(keys, func(k string) bool { return !utf8.ValidString(k) }); i >= 0 {
		return fmt.Errorf("the key %q is not UTF-8; query its filter with umbel has --addr", keys[i])
	}
	if o.node.Addr == "" {
		ctx = streams.Interruptible(ctx)
	}
	f, err := o.open(ctx, streams)
	if err != nil {
		return err
	}
	owners, err := f.owners(ctx, keys)
	var all []api.Subscription
	if err == nil {
		all, err = f.list(ctx)
	}
	if err := errors.Join(err, f.close()); err != nil {
		return err
	}
	for i, key := range keys {
		o := keyOwners{key, owners.Filters[i], owners.Unanswered}
		if err := streams.Answer(o, o.Write); err != nil {
			return err
		}
	}
	none := slices.ContainsFunc(owners.Filters, func(o []string) bool { return len(o) == 0 })
	switch text := doubts(owners.Unanswered, all); {
	case none && text != "":
		return cli.WithCode(cli.ExitStale, errors.New(text))
	case text != "":
		streams.Warn("%s", text)
	case none:
		return cli.ErrAbsent
	}
	return nil
}

// keyOwners is the answer for a key.
type keyOwners struct {
	Key        string           `json:"key"`
	Filters    []string         `json:"filters"`
	Unanswered []api.Unanswered `json:"unanswered"`
}

func (o keyOwners) Write(w io.Writer) error {
	var names []string
	for _, n := range o.Filters {
		names = append(names, cli.NameWords(n))
	}
	_, err := fmt.Fprintf(w, "%s: %s\n", o.Key, strings.Join(names, " "))
	return err
}

// doubts names the publications that could not answer, and those that answered out of date; "" if there is none.
func doubts(unanswered []api.Unanswered, all []api.Subscription) string {
	var silent, old, texts []string
	for _, u := range unanswered {
		silent = append(silent, fmt.Sprintf("%s (%s: %s)", cli.NameWords(u.Filter), u.State, u.Error))
	}
	for _, p := range all {
		isSilent := slices.ContainsFunc(unanswered, func(u api.Unanswered) bool { return u.Filter == p.Filter })
		if p.State == api.SubscriptionStale && !isSilent {
			old = append(old, cli.NameWords(p.Filter))
		}
	}
	if len(silent) > 0 {
		texts = append(texts, "no answer from "+strings.Join(silent, ", "))
	}
	if len(old) > 0 {
		texts = append(texts, "out of date: "+strings.Join(old, ", "))
	}
	return strings.Join(texts, "; ")
}
