// Command umbel is the program of cmd/umbel with the libraries of S3, Google Cloud Storage, Azure and NATS: groups of nodes can
// keep their log there, and umbel make and merge read and write objects in buckets.
package main

import (
	_ "gocloud.dev/blob/s3blob"

	"github.com/umbel-filters/umbel/cmd/cloud/logbucket"
	"github.com/umbel-filters/umbel/cmd/cloud/lognats"
	"github.com/umbel-filters/umbel/cmd/cloud/objects"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/cli/program"
	"github.com/umbel-filters/umbel/cmd/internal/files/object"
	"github.com/umbel-filters/umbel/cmd/internal/group/logdir"
	"github.com/umbel-filters/umbel/cmd/internal/group/sharedlog"
)

func main() {
	buckets := object.Stores{"s3": objects.Store{}, "gs": objects.Store{}, "azblob": objects.Store{}}
	cli.Main(cli.Root(program.Umbel(program.Engines{Objects: buckets, Logs: sharedlog.Openers{
		"file": logdir.Open, "s3": logbucket.Open, "gs": logbucket.Open, "azblob": logbucket.Open, "nats": lognats.Open, "tls": lognats.Open,
	}})))
}
