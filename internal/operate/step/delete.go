// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"context"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Delete deletes objects and waits until they are gone, as kubectl delete does.
type Delete struct {
	Kind  Kind
	Names []string
	// IgnoreMissing accepts that an object doesn't exist.
	IgnoreMissing bool
}

// deleteTimeout is how long Delete waits. kubectl has no limit.
const deleteTimeout = time.Hour

// Command implements Action.
func (d Delete) Command(f Flags) string {
	flags := ""
	switch {
	case d.IgnoreMissing:
		flags = " --ignore-not-found"
	case d.Kind == Pod:
		flags = " --wait"
	}
	return f.kubectl("delete %s%s %s", d.Kind, flags, strings.Join(d.Names, " "))
}

// Do implements Action.
func (d Delete) Do(ctx context.Context, c Clients) error {
	for _, name := range d.Names {
		err := c.Kube.Delete(ctx, c.object(d.Kind, name))
		if err != nil && (!d.IgnoreMissing || !apierrors.IsNotFound(err)) {
			return fmt.Errorf("delete %s %s: %w", d.Kind, name, err)
		}
	}
	return Wait{Kind: d.Kind, Names: d.Names, For: Deleted, Timeout: deleteTimeout}.Do(ctx, c)
}
