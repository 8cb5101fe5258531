package main

import (
	"bytes"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// image returns the container image for all platforms with Linux: an OCI layout in a tar archive. It contains
// only the program, the licenses of what it contains, the certificates of public authorities, and /data.
func (r *release) image(programs []built) (file, error) {
	text, err := os.ReadFile(filepath.Join(r.source, "cmd/packaging/image.json"))
	if err != nil {
		return file{}, err
	}
	var config v1.Config
	if err := json.Unmarshal(text, &config); err != nil {
		return file{}, err
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, p := range programs {
		arch, isLinux := strings.CutPrefix(p.platform, "linux/")
		if !isLinux {
			continue
		}
		img, err := r.imageOf(p, arch, config)
		if err != nil {
			return file{}, err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: img, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: arch}}})
	}
	dir := filepath.Join(r.scratch, "image")
	if _, err := layout.Write(dir, index); err != nil {
		return file{}, err
	}
	var files []file
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		files = append(files, file{filepath.ToSlash(name), 0o644, data})
		return err
	})
	if err != nil {
		return file{}, err
	}
	data, err := tarred(files, "", r.time, nil)
	return file{"umbel_" + strings.TrimPrefix(r.version, "v") + "_image.tar", 0o644, data}, err
}

// imageOf returns the image for one platform.
func (r *release) imageOf(p built, arch string, config v1.Config) (v1.Image, error) {
	number, _, _ := strings.Cut(config.User, ":")
	user, err := strconv.Atoi(number)
	if err != nil {
		return nil, fmt.Errorf("cmd/packaging/image.json: user %q is not a number", config.User)
	}
	contents, err := tarred(append(p.in(""), []file{
		{"etc/ssl/certs/ca-certificates.crt", 0o644, authorities()},
		{"data", fs.ModeDir | 0o700, nil},
		{"LICENSES-OTHERS.txt", 0o644, p.notices},
	}...), "", r.time, func(name string) int {
		if name == "data" {
			return user
		}
		return 0
	})
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(contents)), nil },
		tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	img := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	if img, err = mutate.ConfigFile(img, &v1.ConfigFile{OS: "linux", Architecture: arch, Created: v1.Time{Time: r.time},
		Config: config, RootFS: v1.RootFS{Type: "layers"}}); err != nil {
		return nil, err
	}
	return mutate.Append(img, mutate.Addendum{Layer: layer, History: v1.History{Created: v1.Time{Time: r.time}, CreatedBy: "make release"}})
}

// authorities returns the certificates of the authorities that Mozilla trusts without a condition.
func authorities() []byte {
	var b bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			b.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}))
		}
	}
	return b.Bytes()
}
