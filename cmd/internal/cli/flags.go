package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/umbel-filters/umbel/cmd/internal/cli/suggest"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
)

// usageError is an error of a command line. Its report adds how to print the help.
type usageError struct {
	error
	path string // of the command whose help helps, "" for the command that has failed
}

func (e usageError) Unwrap() []error { return []error{e.error, ErrUsage} }

// ErrUsage is the class of errors of a command line.
var ErrUsage = errors.New("usage")

// UsageError marks an error of a verb's arguments or flags: its report adds how to print the help.
func UsageError(err error) error { return usageError{error: err} }

// flagError is UsageError for an error of the parser of flags.
func flagError(cmd *cobra.Command, err error) error {
	if before := cmd.Flags().Args(); cmd.HasSubCommands() && len(before) > 0 {
		return NoArguments(cmd, before) // the flag belongs to a mistyped verb
	}
	return UsageError(describeFlagError(cmd, err))
}

func describeFlagError(cmd *cobra.Command, err error) error {
	if e, ok := errors.AsType[*pflag.NotExistError](err); ok {
		word := e.GetSpecifiedShortnames()
		switch {
		case word == "":
			return unknownFlag(cmd, e.GetSpecifiedName())
		case strings.Trim(word, "0123456789.,") == "":
			return fmt.Errorf("-%s is not accepted: no number here may be negative", word)
		case len(word) == 1:
			return fmt.Errorf("unknown flag -%s", word)
		}
		return fmt.Errorf("unknown flag -%s in -%s", e.GetSpecifiedName()[:1], word)
	}
	if e, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return fmt.Errorf("--%s needs a value", e.GetFlag().Name)
	}
	if e, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		flag := e.GetFlag()
		if want, ok := wantedValues[flag.Value.Type()]; ok {
			return fmt.Errorf("--%s %q: want %s", flag.Name, e.GetValue(), want)
		}
		if cause := e.Unwrap(); strings.Contains(cause.Error(), e.GetValue()) {
			return fmt.Errorf("--%s: %w", flag.Name, cause)
		}
		return fmt.Errorf("--%s %q: %w", flag.Name, e.GetValue(), e.Unwrap())
	}
	return err
}

// wantedValues describes the values of flags whose types are pflag's own.
var wantedValues = map[string]string{
	"bool":    "true or false",
	"float64": "a number", "int": "a whole number", "int64": "a whole number",
	"uint": "a whole number of at least 0", "uint16": "a whole number from 0 to 65535",
	"uint32": "a whole number from 0 to 4294967295", "uint64": "a whole number of at least 0",
}

// unknownFlag returns the error for a flag that cmd does not have, with the name that it has now, or the nearest that cmd has.
func unknownFlag(cmd *cobra.Command, name string) error {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	err := fmt.Errorf("unknown flag --%s", name)
	if now := suggest.Renamed(name, names); now != "" {
		return fmt.Errorf("%w; it is --%s now", err, now)
	}
	if near := suggest.Nearest(name, names); len(near) > 0 {
		return fmt.Errorf("%w; did you mean --%s?", err, strings.Join(near, " or --"))
	}
	return err
}

// before makes cmd check its flags before it runs. Cobra would check groups of flags later, with messages
// that name its functions.
func before(cmd *cobra.Command, check func(given func(string) bool) error) {
	prepare(cmd, func(cmd *cobra.Command, _ []string) error {
		if err := check(cmd.Flags().Changed); err != nil {
			return UsageError(err)
		}
		return nil
	})
}

// Given has the flags of a verb that were given, for what a flag's value does not show.
type Given map[string]bool

// GivenFlags returns the flags of cmd that are given, when it runs.
func GivenFlags(cmd *cobra.Command) Given {
	g := Given{}
	prepare(cmd, func(cmd *cobra.Command, _ []string) error {
		cmd.Flags().Visit(func(f *pflag.Flag) { g[f.Name] = true })
		return nil
	})
	return g
}

// prepare makes cmd run check before it runs, and before the checks that were added earlier.
func prepare(cmd *cobra.Command, check func(*cobra.Command, []string) error) {
	next := cmd.PreRunE
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil || next == nil {
			return err
		}
		return next(cmd, args)
	}
}

// Positive makes it an error to give one of these flags a duration of 0 or less.
func Positive(cmd *cobra.Command, names ...string) {
	prepare(cmd, func(cmd *cobra.Command, _ []string) error {
		for _, name := range names {
			f := cmd.Flag(name)
			if d, err := quantity.ParseDuration(f.Value.String()); f.Changed && (err != nil || d <= 0) {
				return UsageError(fmt.Errorf("--%s is %v, want more than 0, such as 10s", name, f.Value))
			}
		}
		return nil
	})
}

// Exclusive makes it an error to combine two of the flags.
func Exclusive(cmd *cobra.Command, names ...string) {
	cmd.MarkFlagsMutuallyExclusive(names...) // for completion
	before(cmd, func(given func(string) bool) error {
		if set := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !given(n) }); len(set) > 1 {
			return fmt.Errorf("%s can't be combined", dashes(set, " and "))
		}
		return nil
	})
}

// OneOf makes it an error to give none of the flags.
func OneOf(cmd *cobra.Command, names ...string) {
	before(cmd, func(given func(string) bool) error {
		if !slices.ContainsFunc(names, given) {
			last := len(names) - 1
			return fmt.Errorf("give %s or --%s", dashes(names[:last], ", "), names[last])
		}
		return nil
	})
}

// Needs makes it an error to give a flag without another one; remedy is what to give.
func Needs(cmd *cobra.Command, name, other, remedy string) {
	before(cmd, func(given func(string) bool) error {
		if given(name) && !given(other) {
			return fmt.Errorf("--%s needs %s", name, remedy)
		}
		return nil
	})
}

// Required makes it an error to leave out a flag; remedy is what to give.
func Required(cmd *cobra.Command, name, remedy string) {
	before(cmd, func(given func(string) bool) error {
		if !given(name) {
			return errors.New(remedy)
		}
		return nil
	})
}

func dashes(names []string, separator string) string {
	return "--" + strings.Join(names, separator+"--")
}
