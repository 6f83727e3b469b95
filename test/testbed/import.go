// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// ImportImage makes every image of a docker archive available to the nodes
// under the names that the archive gives them.
func (t *Testbed) ImportImage(ctx context.Context, archive string) error {
	manifest, err := tarball.LoadManifest(func() (io.ReadCloser, error) { return os.Open(archive) })
	if err != nil {
		return fmt.Errorf("import %s: %w", archive, err)
	}
	for _, d := range manifest {
		for _, tag := range d.RepoTags {
			parsed, err := name.NewTag(tag)
			if err != nil {
				return fmt.Errorf("import %s: %w", archive, err)
			}
			image, err := tarball.ImageFromPath(archive, &parsed)
			if err != nil {
				return fmt.Errorf("import %s from %s: %w", tag, archive, err)
			}
			if err := t.PushImage(ctx, tag, image); err != nil {
				return err
			}
		}
	}
	return nil
}

// PushImage makes an image available to the nodes under a name, whatever
// registry that name contains.
func (t *Testbed) PushImage(ctx context.Context, image string, content v1.Image) error {
	parsed, err := name.ParseReference(image)
	if err != nil {
		return err
	}
	registry, err := name.NewRegistry(t.registry(), name.Insecure)
	if err != nil {
		return err
	}
	// The repository as a node asks for it: docker.io/library/x for x.
	target := registry.Repo(parsed.Context().RepositoryStr()).Tag(parsed.Identifier())
	if err := remote.Write(target, content, remote.WithContext(ctx)); err != nil {
		return fmt.Errorf("push image %s to the testbed: %w", image, err)
	}
	return nil
}
