// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/test/images"
)

func TestImagesOf(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		args []string
		want int // -1 for an error
	}{
		{"all", nil, len(images.Known())},
		{"full name", []string{images.Webhook}, 1},
		{"short name of four releases", []string{"etcd"}, 4},
		{"twice the same", []string{"etcd-webhook", images.Webhook}, 1},
		{"one of them unknown", []string{"etcd", "nonsense"}, -1},
	} {
		got, err := imagesOf(row.args)
		if (err != nil) != (row.want < 0) || err == nil && len(got) != row.want {
			t.Errorf("%s: %q, %v; want %d", row.name, got, err, row.want)
		}
		if slices.Contains(got, "") {
			t.Errorf("%s: an image without a name in %q", row.name, got)
		}
	}
}
