// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package clusters

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/test/images"
	"github.com/kubectl-etcd/kubectl-etcd/test/programs"
)

// Image returns the image that the members of a StatefulSet run.
func (l layout) Image() string {
	i := slices.IndexFunc(images.Known(), func(image images.Image) bool {
		return strings.HasPrefix(image.Name, images.Etcd("v"+l.Version+"."))
	})
	if i < 0 {
		return images.Etcd("v" + l.Version)
	}
	return images.Known()[i].Name
}

// ToolImage returns an image with a shell, which etcd's image doesn't have.
func (l layout) ToolImage() string { return images.Alpine }

// images returns the images that the registry must have for the cluster.
func (l layout) images() []string {
	switch {
	case l.Flavour == Druid:
		return druidImages()
	case l.Plain.Shell:
		return []string{l.Image(), l.ToolImage()}
	}
	return []string{l.Image()}
}

// druidImages returns the images of druid and of everything that it puts into pods, with every
// tag that it chooses.
func druidImages() []string {
	names := []string{images.Druid, images.Alpine}
	for _, image := range images.Known() {
		if strings.Contains(image.Name, "/etcd-wrapper:") || strings.Contains(image.Name, "/etcdbrctl:") {
			names = append(names, image.Name)
		}
	}
	return names
}

// pushImages builds missing images and pushes them to the testbed's registry.
func pushImages(ctx context.Context, tb Testbed, names []string, progress io.Writer) error {
	if progress == nil {
		progress = io.Discard
	}
	return images.Push(ctx, programs.Cache{}, tb.Registry(), names, progress)
}
