// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package images makes the container images of the testbed from the programs
// that package programs builds, and pushes them to a registry under the names
// that pods ask for. It pulls nothing and knows nothing of clusters.
//
// An image is a function of its programs: the same programs give the same
// digest on every machine, so images are made when they are pushed and need no
// cache of their own.
package images

import (
	"context"
	"fmt"
	"io"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/kubectl-etcd/kubectl-etcd/test/programs"
)

// Image is one image that this package can make.
type Image struct {
	// Name is the full reference that a pod spec uses.
	Name string

	programs   []installed
	busybox    bool     // with a shell and the usual tools
	folders    []string // empty folders
	entrypoint []string
	command    []string
	user       string // root where empty
}

// installed is a program in an image.
type installed struct {
	name string // as package programs knows it
	path string // where it stands in the image
}

// Known returns every image that this package can make.
func Known() []Image { return slices.Clone(known) }

// Build returns the content of the named images, building what they are made of
// where the cache lacks it.
func Build(ctx context.Context, cache programs.Cache, names []string, progress io.Writer) (map[string]v1.Image, error) {
	wanted, err := find(names)
	if err != nil {
		return nil, err
	}
	built, err := ensure(ctx, cache, wanted, progress)
	if err != nil {
		return nil, err
	}
	contents := make(map[string]v1.Image, len(wanted))
	for _, image := range wanted {
		if contents[image.Name], err = image.content(built); err != nil {
			return nil, fmt.Errorf("make image %s: %w", image.Name, err)
		}
	}
	return contents, nil
}

// find returns the images of the given names.
func find(names []string) ([]Image, error) {
	images := make([]Image, 0, len(names))
	for _, name := range names {
		at := slices.IndexFunc(known, func(image Image) bool { return image.Name == name })
		if at < 0 {
			return nil, fmt.Errorf("no image is called %q", name)
		}
		images = append(images, known[at])
	}
	return images, nil
}

// parts are the files that images are made of.
type parts struct {
	programs map[string]string // paths by name
	busybox  string            // path, empty where no image needs it
}

// ensure builds and fetches the parts of the images.
func ensure(ctx context.Context, cache programs.Cache, images []Image, progress io.Writer) (parts, error) {
	var names []string
	var busybox bool
	for _, image := range images {
		busybox = busybox || image.busybox
		for _, p := range image.programs {
			names = append(names, p.name)
		}
	}
	paths, err := programs.Ensure(ctx, cache, names, progress)
	if err != nil {
		return parts{}, err
	}
	found := parts{programs: paths}
	if busybox {
		if found.busybox, err = ensureBusybox(ctx, cache, progress); err != nil {
			return parts{}, err
		}
	}
	return found, nil
}
