// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package release

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// runsAs is the user of the image, an unprivileged one as in the manifests.
const runsAs = "65532:65532"

// writeImage writes an OCI layout with one index of the program's platforms, and
// returns the index's digest. The image stands on nothing: the program is
// static, and trusts no certificate but that which its pod is given.
func writeImage(dir string, programs []program, license string) (string, error) {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, p := range programs {
		image, err := imageOf(p, license)
		if err != nil {
			return "", fmt.Errorf("make the image for %s: %w", p.platform, err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add:        image,
			Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: p.platform.OS, Architecture: p.platform.Arch}},
		})
	}
	index = mutate.Annotations(index, annotations(programs[0])).(v1.ImageIndex)
	to, err := layout.Write(dir, empty.Index)
	if err != nil {
		return "", fmt.Errorf("write the image: %w", err)
	}
	named := map[string]string{"org.opencontainers.image.ref.name": programs[0].version}
	if err := to.AppendIndex(index, layout.WithAnnotations(named)); err != nil {
		return "", fmt.Errorf("write the image: %w", err)
	}
	digest, err := index.Digest()
	return digest.String(), err
}

// imageOf returns a program's image for its platform.
func imageOf(p program, license string) (v1.Image, error) {
	var files bytes.Buffer
	err := writeTar(&files, []entry{
		{name: "etc/passwd", mode: 0o644, data: "nonroot:x:65532:65532:nonroot:/:/sbin/nologin\n"},
		{name: "etc/group", mode: 0o644, data: "nonroot:x:65532:\n"},
		{name: "LICENSE", mode: 0o644, from: license},
		{name: p.name, mode: 0o755, from: p.path},
	}, p.date)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(
		func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(files.Bytes())), nil },
		tarball.WithMediaType(types.OCILayer), tarball.WithCompressionLevel(gzip.BestCompression))
	if err != nil {
		return nil, err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err = mutate.Append(image, mutate.Addendum{Layer: layer, History: v1.History{Created: v1.Time{Time: p.date}, CreatedBy: "make release-snapshot"}})
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = p.platform.OS, p.platform.Arch, v1.Time{Time: p.date}
	config.Config = v1.Config{Entrypoint: []string{"/" + p.name}, User: runsAs, WorkingDir: "/", Labels: annotations(p)}
	if image, err = mutate.ConfigFile(image, config); err != nil {
		return nil, err
	}
	return mutate.Annotations(image, annotations(p)).(v1.Image), nil
}

// annotations returns the annotations of an image, with OCI's names.
func annotations(p program) map[string]string {
	return map[string]string{
		"org.opencontainers.image.title":    p.name,
		"org.opencontainers.image.source":   "https://" + module,
		"org.opencontainers.image.version":  p.version,
		"org.opencontainers.image.revision": p.revision,
		"org.opencontainers.image.created":  p.date.UTC().Format("2006-01-02T15:04:05Z"),
		"org.opencontainers.image.licenses": "Apache-2.0",
	}
}
