// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/test/images"
	"github.com/kubectl-etcd/kubectl-etcd/test/programs"
	"github.com/kubectl-etcd/kubectl-etcd/test/testbed"
)

func newPushCmd(o *testbed.Options) *cobra.Command {
	return &cobra.Command{
		Use:   "push [IMAGE...]",
		Short: "Put images into the registry from which a testbed's nodes get all of theirs",
		Long: "Put images into the registry from which a testbed's nodes get all of theirs, building what they are made\n" +
			"of. Without IMAGE it is all that there are; short names are enough: " + strings.Join(shortNames(), ", ") + ".",
		RunE: func(cmd *cobra.Command, args []string) error {
			names, err := imagesOf(args)
			if err != nil {
				return err
			}
			t, err := testbed.Attach(cmd.Context(), *o)
			if err != nil {
				return err
			}
			return images.Push(cmd.Context(), programs.Cache{}, t.Registry(), names, cmd.OutOrStdout())
		},
	}
}

// imagesOf returns the images of these names, full or short; all of them for none.
func imagesOf(args []string) ([]string, error) {
	var names []string
	for _, image := range images.Known() {
		if len(args) == 0 || slices.Contains(args, image.Name) || slices.Contains(args, shortName(image)) {
			names = append(names, image.Name)
		}
	}
	for _, arg := range args {
		if !slices.ContainsFunc(images.Known(), func(i images.Image) bool { return arg == i.Name || arg == shortName(i) }) {
			return nil, fmt.Errorf("no image is called %q; there are %s", arg, strings.Join(shortNames(), ", "))
		}
	}
	return names, nil
}

// shortName returns an image's without its registry and tag.
func shortName(i images.Image) string {
	name, _, _ := strings.Cut(path.Base(i.Name), ":")
	return name
}

func shortNames() []string {
	var names []string
	for _, i := range images.Known() {
		names = append(names, shortName(i))
	}
	slices.Sort(names)
	return slices.Compact(names)
}
