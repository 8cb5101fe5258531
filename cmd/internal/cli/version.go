package cli

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// versionInfo is the result of the verb version.
type versionInfo struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

func versionCommand(program string) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "print the version",
		Long:    "Print the version of " + program + ", the Go version that built it, and its platform.",
		Example: "  " + program + " version",
		Args:    NoArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return printVersion(streamsOf(cmd)) },
	}
}

// printVersion prints the version, for the verb and for the flag.
func printVersion(s *Streams) error {
	v := versionInfo{"(devel)", "", runtime.Version(), runtime.GOOS, runtime.GOARCH}
	if b, ok := debug.ReadBuildInfo(); ok {
		if b.Main.Version != "" {
			v.Version = b.Main.Version
		}
		for _, b := range b.Settings {
			if b.Key == "vcs.revision" {
				v.Revision = b.Value
			}
		}
	}
	return s.Answer(v, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%s %s, %s, %s/%s\n", s.program, v.Version, v.Go, v.OS, v.Arch)
		return err
	})
}
