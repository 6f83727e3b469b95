// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package images

import (
	"context"
	"fmt"
	"io"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/kubectl-etcd/kubectl-etcd/test/programs"
)

// Push makes sure that the named images are in the registry at an address,
// host:port without TLS, under the repository and tag of their names: a node
// that takes the registry for the mirror of every other one finds them there.
// What is there with the same digest stays, in silence.
func Push(ctx context.Context, cache programs.Cache, registry string, names []string, progress io.Writer) error {
	contents, err := Build(ctx, cache, names, progress)
	if err != nil {
		return err
	}
	host, err := name.NewRegistry(registry, name.Insecure)
	if err != nil {
		return fmt.Errorf("push images: %w", err)
	}
	for _, image := range names {
		if err := push(ctx, host, image, contents[image], progress); err != nil {
			return fmt.Errorf("push image %s to %s: %w", image, registry, err)
		}
	}
	return nil
}

// push brings one image to the registry where it isn't there yet.
func push(ctx context.Context, registry name.Registry, image string, content v1.Image, progress io.Writer) error {
	reference, err := name.ParseReference(image)
	if err != nil {
		return err
	}
	target := registry.Repo(reference.Context().RepositoryStr()).Tag(reference.Identifier())
	digest, err := content.Digest()
	if err != nil {
		return err
	}
	if there, err := remote.Head(target, remote.WithContext(ctx)); err == nil && there.Digest == digest {
		return nil
	}
	fmt.Fprintf(progress, "pushing image %s\n", image)
	return remote.Write(target, content, remote.WithContext(ctx))
}
