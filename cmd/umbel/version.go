package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// versionInfo is the result of umbel version.
type versionInfo struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "print the version",
		Long:    "Print the version of umbel, the Go version that built it, and its platform.",
		Example: "  umbel version",
		Args:    noArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return printVersion(cmd) },
	}
}

// printVersion prints the version: umbel version and umbel --version.
func printVersion(cmd *cobra.Command) error {
	v := versionInfo{"(devel)", "", runtime.Version(), runtime.GOOS, runtime.GOARCH}
	if b, ok := debug.ReadBuildInfo(); ok {
		if b.Main.Version != "" {
			v.Version = b.Main.Version
		}
		for _, s := range b.Settings {
			if s.Key == "vcs.revision" {
				v.Revision = s.Value
			}
		}
	}
	return answer(cmd, v, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "umbel %s, %s, %s/%s\n", v.Version, v.Go, v.OS, v.Arch)
		return err
	})
}

// manDate is the date on the pages, the same for each build.
var manDate = time.Unix(0, 0).UTC()

func manCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "man DIRECTORY",
		Short:   "write the manual pages",
		Long:    "Write a manual page for umbel and one for each verb into a directory, which is created\nif necessary.",
		Example: "  umbel man ~/.local/share/man/man1\n  man umbel-make",
		Args:    arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o777); err != nil {
				return err
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true
			header := &doc.GenManHeader{Title: "UMBEL", Section: "1", Source: "umbel", Manual: "umbel manual", Date: &manDate}
			if err := doc.GenManTree(root, header, args[0]); err != nil {
				return err
			}
			if isQuiet(cmd) {
				return nil
			}
			return answer(cmd, map[string]string{"directory": args[0]}, func(w io.Writer) error {
				_, err := fmt.Fprintf(w, "manual pages written to %s\n", args[0])
				return err
			})
		},
	}
}
